"""Sticks: what each projection conserves, its order of convergence, and the rest shapes of chains."""

import math

import numpy as np
import pytest

import pbd

g = 9.81


def spinning_stick(direction, dt, masses=(1.0, 1.0), omega=2.0, iterations=20):
    """A free stick of length 1 that spins about its centre of mass at omega [rad/s]."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    total = sum(masses)
    arms = masses[1] / total, masses[0] / total
    particles.add_particle((-arms[0], 0, 0), masses[0], velocity=(0, -omega * arms[0], 0))
    particles.add_particle((arms[1], 0, 0), masses[1], velocity=(0, omega * arms[1], 0))
    particles.add_stick(0, 1)
    return pbd.ParticleSystem(particles, dt=dt, iterations=iterations, direction=direction)


def pendulum(direction, dt, iterations=20):
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particle((0, 0, 0), math.inf)
    particles.add_particle((1, 0, 0), 1.0)
    particles.add_stick(0, 1)
    return pbd.ParticleSystem(particles, dt=dt, iterations=iterations, direction=direction)


def chain(links, dt, length=0.1, mass=1.0, **options):
    """A chain that hangs down from its pinned top."""
    particles = pbd.Particles(gravity=(0, 0, -g))
    for k in range(links + 1):
        particles.add_particle((0, 0, -length * k), mass if k else math.inf)
    for k in range(links):
        particles.add_stick(k, k + 1, length, options.get("compliance", 0.0))
    options.pop("compliance", None)
    return pbd.ParticleSystem(particles, dt=dt, **options)


@pytest.mark.parametrize("direction", ["current", "start"])
def test_linear_momentum_of_a_pair_is_conserved_to_round_off(direction):
    # Corrections w1 s δ and -w2 s δ: m1 Δx1 + m2 Δx2 = 0 for all masses.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 0, 0), 1.0, velocity=(0.3, -0.2, 1.0))
    particles.add_particle((1, 0, 0), 7.0, velocity=(-2.0, 0.5, 0.1))
    particles.add_stick(0, 1)
    system = pbd.ParticleSystem(particles, dt=0.01, direction=direction)
    masses = np.array([[1.0], [7.0]])
    before = np.array([0.3, -0.2, 1.0]) * 1.0 + np.array([-2.0, 0.5, 0.1]) * 7.0
    for _ in range(100):
        system.step()
        assert np.abs((masses * system.velocities()).sum(axis=0) - before).max() < 1e-12


def test_start_direction_conserves_angular_momentum_to_round_off():
    # Impulses along δ0 at the positions at the start of the step have no moment: Σ m x_n × x_{n+1}/h is constant.
    masses = np.array([[1.0], [7.0]])
    system = spinning_stick("start", 0.01, (1.0, 7.0))

    def angular_momentum():
        before = system.positions()
        system.step()
        return (masses * np.cross(before, system.positions() - before)).sum(axis=0) / 0.01

    first = angular_momentum()
    for _ in range(500):
        last = angular_momentum()
    assert np.abs(last - first).max() < 1e-12


def test_current_direction_loses_angular_momentum_by_the_recurrence():
    # The angle of a free stick per step obeys φ' = atan2(sin φ, 2 - cos φ).
    dt, steps = 0.01, 300
    system = spinning_stick("current", dt)
    separation = [np.array([1.0, 0, 0])]
    for _ in range(steps):
        system.step()
        x = system.positions()
        separation.append(x[1] - x[0])
    angles = np.unwrap([math.atan2(d[1], d[0]) for d in separation])
    turned = np.diff(angles)
    phi = turned[0]
    for k in range(steps):
        assert turned[k] == pytest.approx(phi, abs=1e-9)
        phi = math.atan2(math.sin(phi), 2 - math.cos(phi))
    # so ω decreases as ω0 / sqrt(1 + 2 ω0² h t), to first order in h
    assert turned[-1] / dt == pytest.approx(2.0 / math.sqrt(1 + 2 * 4.0 * dt * steps * dt), rel=0.01)


PERIOD = 2.367841947576  # of a pendulum of length 1 released at a right angle: 4 sqrt(L/g) K(sin 45°)


def angle_after(system, time):
    system.step(round(time / system.dt))
    x = system.positions()[1]
    return math.atan2(x[0], -x[2])


def period(system):
    """Time between two passages through the lowest point in the same direction."""
    # The bob starts at rest at 90°. It passes the lowest point at T/4 and at 5T/4: their difference is T.
    passages, previous = [], None
    while len(passages) < 2:
        x = system.positions()[1]
        now = (system.time, math.atan2(x[0], -x[2]))
        if previous and previous[1] > 0 >= now[1]:
            (t0, a0), (t1, a1) = previous, now
            passages.append(t0 + (t1 - t0) * a0 / (a0 - a1))
        previous = now
        system.step()
    return passages[1] - passages[0]


def test_pendulum_is_second_order_in_the_start_direction():
    # |T(h) - T| ~ h²: halving h divides the error by four. (Linear interpolation of the passage is of order h³ there,
    # because the angular acceleration vanishes at the lowest point.)
    errors = [period(pendulum("start", h)) - PERIOD for h in (0.01, 0.005, 0.0025, 0.00125)]
    ratios = [a / b for a, b in zip(errors, errors[1:])]
    assert all(abs(ratio - 4) < 0.4 for ratio in ratios), ratios


def test_pendulum_is_first_order_in_the_current_direction():
    # |θ(h) - θ| ~ h at T/2, when an undamped pendulum is at -90°.
    errors = [abs(angle_after(pendulum("current", PERIOD / 2 / n), PERIOD / 2) + math.pi / 2) for n in (400, 800, 1600)]
    ratios = [a / b for a, b in zip(errors, errors[1:])]
    assert all(abs(ratio - 2) < 0.2 for ratio in ratios), ratios


@pytest.mark.parametrize("links", [8, 16])
def test_one_iteration_from_the_top_stretches_a_hanging_chain_by_the_discrete_law(links):
    # At rest each iteration undoes g h² for every particle. The projection below stick k (from the top) stretches it by
    # (k - 1) g h², so that the chain is longer by n(n - 1)/2 · g h².
    h = 0.01
    system = chain(links, h, iterations=1, damping=0.05, schedule="serial")
    system.step(20_000)
    stretch = -system.positions()[-1, 2] - 0.1 * links
    assert stretch == pytest.approx(links * (links - 1) / 2 * g * h * h, rel=1e-9)


@pytest.mark.parametrize("iterations", [1, 2, 10, 50])
@pytest.mark.parametrize("dt", [0.01, 0.0025])
def test_a_compliant_stick_stretches_by_weight_times_compliance(iterations, dt):
    # At rest λ/h² = m g and C + α λ/h² = 0: the stretch is m g α for all iterations and steps.
    compliance, mass = 1e-3, 2.0
    system = chain(1, dt, mass=mass, compliance=compliance, iterations=iterations, damping=0.1)
    system.step(4000)
    assert -system.positions()[1, 2] - 0.1 == pytest.approx(mass * g * compliance, rel=1e-6)


def test_the_multiplier_is_kept_over_the_iterations_of_a_step():
    # If λ were reset between iterations, each iteration would stiffen the stick. Two coupled sticks show it.
    # Chain of two, at rest: the upper carries 2 m g, the lower m g.
    for iterations in (20, 200):
        system = chain(2, 0.01, compliance=1e-4, iterations=iterations, damping=0.1)
        system.step(4000)
        z = system.positions()[:, 2]
        assert -z[1] - 0.1 == pytest.approx(2 * g * 1e-4, rel=1e-6)
        assert z[1] - z[2] - 0.1 == pytest.approx(g * 1e-4, rel=1e-6)


def test_a_hanging_chain_has_the_sag_of_least_energy():
    # 16 equal links of total length 2 between points 1 apart: minimum of potential energy, sag 0.799367 m.
    particles = pbd.Particles(gravity=(0, 0, -g))
    links, length = 16, 2.0
    angles = np.linspace(0, np.pi, links + 1)
    for k, angle in enumerate(angles):
        end = k in (0, links)
        particles.add_particle((0.5 - 0.5 * math.cos(angle), 0, -0.8 * math.sin(angle)), math.inf if end else 0.1)
    for k in range(links):
        particles.add_stick(k, k + 1, length / links)
    system = pbd.ParticleSystem(particles, dt=0.002, iterations=60, damping=0.02)
    system.step(4000)
    assert -system.positions()[:, 2].min() == pytest.approx(0.799367, abs=1e-3)


def test_root_free_sticks_converge_to_the_same_length():
    # δ *= L²/(δ·δ + L²) - 1/2 is one Newton step for the root: an error of 10 % becomes about 0.1²/2.
    for masses in ((1.0, 1.0), (1.0, 7.0)):
        particles = pbd.Particles(gravity=(0, 0, 0))
        particles.add_particle((0, 0, 0), masses[0])
        particles.add_particle((1.1, 0, 0), masses[1])
        particles.add_constraints("root-free stick", [(0, 1)], length=1.0)
        system = pbd.ParticleSystem(particles, iterations=1)
        system.step()
        x = system.positions()
        # |δ|' = |δ| (1 + (L² - δ²)/(L² + δ²))
        assert x[1, 0] - x[0, 0] == pytest.approx(1.1 * (1 + (1 - 1.21) / (1 + 1.21)), abs=1e-15)
        assert masses[0] * x[0, 0] + masses[1] * x[1, 0] == pytest.approx(1.1 * masses[1], abs=1e-14)


@pytest.mark.parametrize(("bound", "distance", "expected"), [
    ("at_least", 0.5, 1.0), ("at_least", 1.5, 1.5), ("at_most", 0.5, 0.5), ("at_most", 1.5, 1.0),
])  # fmt: skip
@pytest.mark.parametrize("direction", ["current", "start"])
@pytest.mark.parametrize("compliance", [0.0, 1e-15])
def test_one_sided_sticks_act_on_one_side_only(bound, distance, expected, direction, compliance):
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 0, 0), 1.0)
    particles.add_particle((0, distance, 0), 3.0)
    particles.add_stick(0, 1, length=1.0, bound=bound, compliance=compliance)
    system = pbd.ParticleSystem(particles, direction=direction, iterations=10)
    system.step()
    x = system.positions()
    assert np.linalg.norm(x[1] - x[0]) == pytest.approx(expected, abs=1e-9)
