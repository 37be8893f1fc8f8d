"""Iterations: every order leads to the same rest, and the tolerance stops them."""

import math
from itertools import pairwise

import numpy as np
import pytest
from marks import slow
from nets import grid

import pbd

g = 9.81


# The same rest ------------------------------------------------------------------------------------------------------


def hanging_net(compliance, rows=8, columns=12, **options):
    """A net with bending, hung by its upper corners, in a scrambled order of insertion."""
    x, sticks, hinges = grid(rows, columns, seed=2)
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles(x, np.random.default_rng(3).uniform(0.01, 0.05, len(x)))
    particles.pin([0, columns - 1])
    particles.add_sticks(sticks, length=0.1 * np.where(np.abs(sticks[:, 1] - sticks[:, 0]) > columns, math.sqrt(2), 1))
    particles.add_bending(hinges, 0.0, compliance)
    return pbd.ParticleSystem(particles, dt=0.01, damping=0.1, **options)


SCHEDULES = [("clusters", 1), ("clusters", 3), ("clusters", 8), ("coloured", None), ("auto", None)]


def compliant_net(dt=0.01, damping=0.05, **options):
    """The same net of compliant sticks alone, hung up, by default in the start direction."""
    x, sticks, _ = grid(5, 7, seed=2)
    particles = pbd.Particles(gravity=(0.5, 0.2, -g))
    particles.add_particles(x, np.random.default_rng(3).uniform(0.03, 0.07, len(x)))
    particles.pin([0, 6])
    particles.add_sticks(sticks, compliance=4e-3)
    return pbd.ParticleSystem(
        particles, dt=dt, damping=damping, **{"direction": "start", "iterations": 40, **options}
    )


@pytest.fixture(scope="module")
def rest():
    system = compliant_net(schedule="serial")
    system.step(3000)
    return system


def test_forces_balance_at_rest(rest):
    # Σ (C/α) n + m g = 0 at every free particle, independent of iterations. In the start direction, directions and
    # forces in the step are those at rest. The remaining motion, below 1e-12 m a step, is 1e-9 N at 4e-3 m/N.
    x, description = rest.positions(), rest.particles
    members, numbers = description.constraint_sets["stick", True].arrays()
    offset = x[members[:, 1]] - x[members[:, 0]]
    distance = np.linalg.norm(offset, axis=1)
    pull = ((distance - numbers[:, 0]) / numbers[:, 1] / distance)[:, None] * offset
    free = np.isfinite(description.masses())
    force = np.where(free, description.masses(), 0)[:, None] * description.gravity
    np.add.at(force, members[:, 0], pull)
    np.add.at(force, members[:, 1], -pull)
    assert np.abs(rest.velocities()).max() < 1e-10
    assert np.abs(force[free]).max() < 1e-9


@pytest.mark.parametrize(("schedule", "clusters"), SCHEDULES)
def test_every_schedule_has_the_same_rest(schedule, clusters, rest):
    # From the serial rest nothing moves. A constraint that is left out or projected twice would show: g t²/2 is 0.4 m.
    system = compliant_net(schedule=schedule, clusters=clusters)
    system.set_state(rest.state())
    system.step(30)
    assert np.abs(system.positions() - rest.positions()).max() < 1e-10


@pytest.mark.parametrize(
    ("schedule", "clusters"), [("clusters", 1), ("clusters", 3), slow("clusters", 8), ("auto", None)]
)
def test_a_falling_net_comes_to_the_same_rest(schedule, clusters, rest):
    # From another state. Motion decays at least by half the damping, 2.5/s: 6 s leave e^-15 = 3e-7 of 0.3 m.
    system = compliant_net(schedule=schedule, clusters=clusters)
    system.step(600)
    assert np.abs(system.positions() - rest.positions()).max() < 0.3 * 3e-7


@pytest.mark.slow
def test_in_the_current_direction_the_rest_depends_on_the_order_by_the_square_of_the_step(rest):
    # There the impulses of each step are along sticks that have just fallen by g h². Directions, and with them the
    # rest, are off by g h²/L, differently for each order. Half the step leaves a quarter of that.
    def apart(dt):
        found = []
        for options in ({"schedule": "serial"}, {"schedule": "clusters", "clusters": 1}):
            # α/h² grows with 1/h², and the speed of the iterations too; the damping per second is constant
            system = compliant_net(dt, 5 * dt, direction="current", **options)
            system.set_positions(rest.positions())
            system.step(round(8 / dt))
            found.append(system.positions())
        return np.abs(found[0] - found[1]).max()

    gaps = [apart(0.01), apart(0.005), apart(0.0025), apart(0.00125)]
    off = [abs(a / b - 4) for a, b in pairwise(gaps)]
    assert off[0] > off[1] > off[2]
    assert off[2] < 0.2


@pytest.mark.parametrize(("schedule", "clusters"), [("clusters", 1), slow("clusters", 2), slow("coloured", None)])
def test_one_converged_step_in_the_start_direction_is_the_same_in_every_order(schedule, clusters):
    # Directions of impulses are fixed at the start of the step. So the impulses that satisfy all constraints are one
    # solution for any order of the iterations.
    found = []
    for options in ({"schedule": "serial"}, {"schedule": schedule, "clusters": clusters}):
        system = hanging_net(0.05, 3, 4, direction="start", iterations=2000, tolerance=1e-16, **options)
        system.step(1)
        assert system.statistics().residual < 1e-15
        found.append(system.positions())
    assert np.abs(found[0] - found[1]).max() < 1e-12


# Adaptive stop ------------------------------------------------------------------------------------------------------

PATHS = [("serial", None), ("clusters", 4), ("coloured", None)]


@pytest.mark.parametrize(("schedule", "clusters"), PATHS)
def test_the_number_of_iterations_follows_from_halving_the_violation(schedule, clusters):
    # Two equal masses below a pin fall by D = g h²/2 in the first step. The upper stick is off by D and is projected.
    # The lower stick is then off by D and takes half of that from both ends, so the upper one is off by D/2. Each
    # iteration halves the violation: D 2^(1-k) before iteration k, and half of that after it. Slabs begin with the
    # lower stick: their first iteration sees only the upper stick's D, and all is one iteration later.
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles([(0, 0, 0), (0, 0, -1), (0, 0, -2)])
    particles.pin(0)
    particles.add_sticks([(0, 1), (1, 2)])
    options = {"schedule": schedule, "clusters": clusters, "iterations": 500}
    for tolerance in (1e-4, 1e-6, 1e-9):
        system = pbd.ParticleSystem(particles, dt=0.01, tolerance=tolerance, **options)
        system.step()
        iterations = 1 + math.ceil(math.log2(g * 0.01**2 / 2 / tolerance))
        assert system.statistics().iterations == iterations + (schedule == "clusters")
        assert system.statistics().residual == pytest.approx(g * 0.01**2 / 2 / 2**iterations, abs=1e-15)
        assert system.statistics().residual < tolerance


@pytest.mark.parametrize(("schedule", "clusters"), [PATHS[0], slow(*PATHS[1]), slow(*PATHS[2])])
def test_iterations_stop_when_no_violation_exceeds_the_tolerance(schedule, clusters):
    # The tolerance is compared with violations before projection. Other constraints move a projected constraint again,
    # by about as much if iterations converge. Hence the factor two.
    def run(iterations, tolerance):
        options = {"schedule": schedule, "clusters": clusters, "tolerance": tolerance}
        system = hanging_net(0.05, 4, 6, iterations=iterations, **options)
        system.step(3)
        return system, system.statistics()

    _, loose = run(2000, 1e-4)
    assert 1 < loose.iterations < 2000
    assert 0 < loose.residual < 2e-4
    _, tight = run(2000, 1e-6)
    assert loose.iterations < tight.iterations < 2000
    assert tight.residual < 2e-6
    # A tolerance that is never reached changes nothing. One that is always reached leaves one iteration.
    watched, never = run(7, 1e-300)
    plain = hanging_net(0.05, 4, 6, iterations=7, schedule=schedule, clusters=clusters)
    plain.step(3)
    assert never.iterations == plain.statistics().iterations == 7
    assert np.abs(watched.positions() - plain.positions()).max() < 1e-12
    _, once = run(2000, 1e6)
    assert once.iterations == 1


@pytest.mark.parametrize(("schedule", "clusters"), [*PATHS[:2], slow(*PATHS[2])])
def test_the_tolerance_includes_surfaces_and_contacts(schedule, clusters):
    # Two balls, one on the other, on a floor: moving the upper one up takes iterations, though there is no constraint.
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles([(0, 0, 0.1), (0, 0, 0.31)], radius=0.1)
    particles.add_collider(pbd.Plane())
    particles.add_particle_contacts()
    system = pbd.ParticleSystem(
        particles, dt=0.01, iterations=500, tolerance=1e-9, schedule=schedule, clusters=clusters
    )
    system.step(200)
    assert 1 < system.statistics().iterations < 500
    # Violations in the last iteration were below 1e-9, so at most as much again is left.
    z = system.positions()[:, 2]
    assert z[0] == pytest.approx(0.1, abs=2e-9)
    assert z[1] - z[0] == pytest.approx(0.2, abs=2e-9)


@pytest.mark.parametrize(("schedule", "clusters"), PATHS)
@pytest.mark.parametrize("tolerance", [None, 1e-3])
def test_without_iterations_particles_fall_freely(schedule, clusters, tolerance):
    # With or without sticks, each falls by Verlet with damping, Δ' = 0.9 Δ - g h² from Δ = -g h²/2, to round-off.
    system = hanging_net(0.05, iterations=0, schedule=schedule, clusters=clusters, tolerance=tolerance)
    expected = system.positions()
    free = system.inverse_masses() > 0
    system.step(3)
    fall = g * 0.01**2 / 2
    for _ in range(3):
        fall = 0.9 * fall - g * 0.01**2
        expected[free, 2] += fall
    assert np.abs(system.positions() - expected).max() < 1e-14
    assert system.statistics().iterations == 0
    assert system.statistics().residual > 1e-4
