"""Segments of rods tear at a tension, and joints break at a torque."""

import numpy as np
import pytest
from marks import slow

import pbd
from pbd import build

STRENGTH, WEIGHT = 30.0, 1.0


def hanging():
    """A rod of 100 g on which 1 kg hangs, and that tears at 30 N. Returns: system, rod."""
    particles = pbd.Particles()
    weight = particles.add_particle((0, 0, 0), WEIGHT)
    rod = build.rod(
        particles, [(0, 0, 1), (0, 0, 0)], 10, radius=0.004, density=0.1 / (np.pi * 0.004**2), young=2e7, pins="start",
        end=weight, strength=STRENGTH, damping=0.02,
    )  # fmt: skip
    return pbd.ParticleSystem(particles, dt=1 / 60, substeps=8, iterations=8, damping=0.05), rod


def test_a_rod_tears_where_its_tension_is_above_its_strength():
    """At the pin it carries (1 + 0.1 - 0.005) g + F, the half segment there hangs on the pin itself."""
    system, rod = hanging()
    forces = np.zeros((system.count, 3))
    beyond = STRENGTH - (WEIGHT + 0.095) * 9.81
    system.step(200)
    for part in np.linspace(0, 0.97, 60):  # slowly: what is loaded at once swings to twice the tension
        forces[rod.particles[-1], 2] = -beyond * part
        system.set_forces(forces)
        system.step(10)
    assert not system.events
    forces[rod.particles[-1], 2] = -beyond * 1.03
    system.set_forces(forces)
    system.step(60)
    first = system.events[0]
    assert first.kind == "tear"
    assert set(first.members) <= set(rod.particles.tolist())
    assert np.isfinite(system.positions()).all()


def test_what_tore_falls_freely_and_goes_on_from_a_state():
    """A node of 5 g has only 4.95 g of mass, with the weight of all. From a state it has the same bits."""
    system, rod = hanging()
    forces = np.zeros((system.count, 3))
    forces[rod.particles[-1], 2] = -2 * STRENGTH
    system.set_forces(forces)
    while not system.events:
        system.step(1)
    system.set_forces(0 * forces)
    system.damping = 0.0
    system.step(1)
    before, state = system.velocities()[rod.particles[-1], 2], system.state()
    system.step(6)
    fallen = -9.81 * 0.1 * (WEIGHT + 5e-3) / (WEIGHT + 4.95e-3)
    assert system.velocities()[rod.particles[-1], 2] - before == pytest.approx(fallen, rel=1e-9)
    later = system.digest()
    system.set_state(state)
    system.step(6)
    assert system.digest() == later


LENGTH, RATE, CORD = 1.0, 0.5, {"radius": 0.005, "density": 1000, "bending": 1e-2, "twisting": 8e-3, "stretching": 1e3}


def turning(strength, rate=RATE, until=10.0, **given):
    """A rod between two clamps of which one turns by rate · t [rad] until a time [s]. Returns: particles, rod."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    rod = build.rod(
        particles, [(0, 0, 0), (LENGTH, 0, 0)], 20, **CORD, clamps=("start", "end"), damping=0.02,
        twist_strength=strength, **given,
    )  # fmt: skip
    particles.turn(rod.clamps["end"], lambda t: rate * min(t, until))
    return particles, rod


@pytest.mark.parametrize(("natural", "rate"), [(0.0, RATE), (0.0, -RATE), (1.5, RATE), (-1.5, RATE)])
def test_a_rod_breaks_at_its_torque_and_counts_from_its_natural_twist(natural, rate):
    """GJ (θ/L - natural twist) is the torque, so it breaks at θ = L (natural + M/GJ), within the turn of two steps.

    Such a rod begins with the twist natural · L that it had when it was made.
    """
    beyond = 1.2  # twist by length at which it breaks [rad/m]
    particles, rod = turning(beyond * CORD["twisting"], rate, natural=((0, 0), natural), twist=natural * LENGTH)
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=2, iterations=4)
    while not system.events and system.time < 10:
        system.step(1)
    # A clamp has half a segment's length, so the rod is twisted over all of L. A wave of the turning clamp adds 1 %.
    assert abs(rate) * system.time == pytest.approx(beyond * LENGTH, rel=0.01, abs=2 * RATE / 60)
    assert len(system.events) == 1
    assert system.events[0].kind == "tear"
    assert set(system.events[0].members) <= set(rod.particles.tolist())


def test_a_rod_that_broke_by_twist_comes_apart_and_gains_no_energy():
    """Nothing holds the turned piece to the other, its energy falls, and from a state it has the same bits."""
    particles, _ = turning(8e-3)
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, iterations=4)
    while not system.events:
        before = system.energy().total
        system.step(1)
    particles, state = turning(8e-3, until=system.time)[0], system.state()
    still = pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, iterations=4)
    still.set_state(state)
    energies = [before]
    for _ in range(60):
        still.step(1)
        energies.append(still.energy().total)
    assert (np.diff(energies) <= 1e-12 * before).all()
    assert energies[-1] < 0.05 * before
    assert len(still.events) == 0
    again = pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, iterations=4)
    again.set_state(state)
    again.step(60)
    assert again.digest() == still.digest()
    again.set_state(pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, iterations=4).state())
    assert not again.state().torn.any()


@pytest.mark.parametrize("worlds", [1, slow(2)])
def test_the_weakest_joint_breaks_and_a_strong_rod_does_not(worlds):
    """Its torque is the same everywhere, so the one weak segment tears; in two worlds each by its own."""
    strengths = np.full((2, 20), 0.1)
    strengths[0, 7] = 8e-3
    rods = [turning(each)[0] for each in strengths]
    given = [rods] if worlds == 2 else rods  # side by side, or one after the other
    systems = [pbd.ParticleSystem(each, dt=1 / 60, substeps=2, iterations=4) for each in given]
    for system in systems:
        system.step(150)
    events = [(event.world, event.members) for system in systems for event in system.events]
    assert events == [(0, (7, 8))]
    torn = np.concatenate([system.state().torn.reshape(worlds, -1) for system in systems])
    assert torn.sum(axis=1).tolist() == [1, 0]


def test_each_segment_tears_at_its_own_tension():
    particles = pbd.Particles()
    rod = build.rod(particles, [(0, 0, 0), (LENGTH, 0, 0)], 4, **CORD, strength=[40, 20, 30, 10])
    system = pbd.ParticleSystem(particles)
    state = system.state()
    state.position[:, 0] *= 1 + 25.0 / CORD["stretching"]
    system.set_state(state)
    events = system._tearing.tear(0.0)
    assert [event.members for event in events] == [tuple(rod.particles[k : k + 2]) for k in (1, 3)]


def test_each_world_breaks_by_its_own_strengths():
    # Before a step, whose kernels for worlds take long to compile.
    strengths = np.full((2, 20), 0.1)
    strengths[0, 7] = 8e-3
    system = pbd.ParticleSystem([turning(each, twist=1.2 * LENGTH)[0] for each in strengths])
    events = system._tearing.tear(0.0)
    assert [(event.world, event.members) for event in events] == [(0, (7, 8))]
    assert system.state().torn.sum(axis=1).tolist() == [1, 0]


@pytest.mark.parametrize("strength", [-1.0, 0.0, np.nan, np.inf])
def test_bad_strengths_are_refused(strength):
    """In one line, and nothing is added."""
    particles = pbd.Particles()
    with pytest.raises(ValueError, match=r"^twist_strength.*number") as refused:
        build.rod(particles, [(0, 0, 0), (1, 0, 0)], 4, **CORD, twist_strength=strength)
    assert "\n" not in str(refused.value)
    assert len(particles) == 0


def test_a_rod_without_joints_cannot_break_by_twist():
    """It falls as others do."""
    particles = pbd.Particles()
    build.rod(particles, [(0, 0, 0), (1, 0, 0)], 1, **CORD, twist_strength=1e-6)
    system = pbd.ParticleSystem(particles, dt=1 / 60)
    system.step(3)
    assert not system.events
