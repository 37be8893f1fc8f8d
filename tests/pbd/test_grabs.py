"""Grab springs, which pull particles to targets, and sticks that are cut. See pbd/grabs.py."""

import numpy as np
import pytest

import pbd
from pbd import build

h, k, c = 1 / 120, 300.0, 4.0
TARGET, G = np.array([0.3, -0.2, 1.1]), np.array([0.0, 0.0, -9.81])


def free_particles(masses, schedule="auto"):
    particles = pbd.Particles(gravity=G)
    places = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    for place, mass in zip(places, masses):
        particles.add_particle(place, mass, velocity=(0.1, 0.0, -0.3))
    return pbd.ParticleSystem(particles, dt=h, iterations=3, grabs=2, schedule=schedule)


@pytest.mark.parametrize("schedule", ["auto", "coloured"])
def test_a_grab_spring_is_an_implicit_spring(schedule):
    # m (x' - 2x + x*)/h² = m g - k (x' - target) - c (x' - x)/h for any number of iterations, as C is linear in x.
    masses = [0.5, 2.0, 1.0, 1.0]
    system = free_particles(masses, schedule)
    system.grab(0, 0, TARGET, k, c)
    system.grab(1, 1, -TARGET, k)
    for target, damping, which in ((TARGET, c, 0), (-TARGET, 0.0, 1)):
        m, state = masses[which], system.state()
        x, before = state.position[which], state.previous_position[which]
        for _ in range(5):
            free = 2 * x - before + G * h**2
            expected = (m * free + h**2 * k * target + h * damping * x) / (m + h**2 * k + h * damping)
            before, x = x, expected
        system.step(5)
        np.testing.assert_allclose(system.positions()[which], x, rtol=0, atol=1e-13)
        system.set_state(state)


def test_a_grabbed_point_between_particles_has_their_common_mass():
    # p = Σ b x has the mass 1/Σ b²/m for a force on p alone. Each particle gets its share b w of the impulse.
    masses, weights = np.array([0.5, 2.0, 1.0, 4.0]), np.array([0.7, 0.5, 0.2, -0.4])
    system = free_particles(masses)
    state = system.state()
    system.grab(0, [0, 1, 2, 3], TARGET, k, c, weights)
    system.step()
    m = 1 / (weights**2 / masses).sum()
    p, before = weights @ state.position, weights @ state.previous_position
    free = 2 * p - before + G * h**2
    expected = (m * free + h**2 * k * TARGET + h * c * p) / (m + h**2 * k + h * c)
    moved = system.positions() - (2 * state.position - state.previous_position + G * h**2)
    np.testing.assert_allclose(weights @ system.positions(), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(moved, np.outer(weights / masses, m * (expected - free)), rtol=0, atol=1e-13)


def test_a_released_particle_falls():
    system = free_particles([1.0] * 4)
    system.grab(0, 2, TARGET, k, c)
    system.step(10)
    system.release(0)
    state = system.state()
    system.step()
    expected = 2 * state.position - state.previous_position + G * h**2
    np.testing.assert_allclose(system.positions(), expected, rtol=0, atol=1e-14)


def test_gravity_and_wind_can_change_between_steps():
    system = free_particles([1.0] * 4)
    system.step()
    state = system.state()
    system.gravity = (1.0, 2.0, 3.0)
    system.step()
    expected = 2 * state.position - state.previous_position + np.array([1.0, 2.0, 3.0]) * h**2
    np.testing.assert_allclose(system.positions(), expected, rtol=0, atol=1e-14)
    system.wind = (0.0, 3.0, 0.0)
    assert np.array_equal(system.wind, (0.0, 3.0, 0.0))
    with pytest.raises(ValueError, match="gravity"):
        system.gravity = (0, 0, np.nan)
    with pytest.raises(ValueError, match="wind"):
        system.wind = (0, np.inf, 0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((2, 0, TARGET, k), "grab is 2: expected a number below 2"),
        ((-1, 0, TARGET, k), "grab is -1"),
        ((0, 4, TARGET, k), "held particles"),
        ((0, [1, 1], TARGET, k), "each once"),
        ((0, [], TARGET, k), "one to 4"),
        ((0, 0, (0, 0), k), "target of a grab"),
        ((0, 0, TARGET, 0.0), "stiffness of a grab"),
        ((0, 0, TARGET, k, -1.0), "damping of a grab"),
        ((0, [0, 1], TARGET, k, 0.0, [1.0]), "weights of held particles"),
        ((0, [0, 1], TARGET, k, 0.0, [1.0, 1.0]), "weights of held particles sum to 2: expected one"),
    ],
)
def test_invalid_grabs_are_refused(given, message):
    system = free_particles([1.0] * 4)
    with pytest.raises((ValueError, IndexError), match=message):
        system.grab(*given)


def test_a_system_without_grab_springs_refuses_grabs():
    particles = pbd.Particles()
    particles.add_particle((0, 0, 0))
    with pytest.raises(ValueError, match="grabs=1"):
        pbd.ParticleSystem(particles).grab(0, 0, TARGET, k)


def test_cut_cloth_falls_in_one_piece():
    # A part that is cut off falls with g: its centre of mass does, to round-off, because inner impulses cancel.
    particles = pbd.Particles(gravity=G)
    cloth = build.cloth(particles, (0, 0, 1), (0.5, 0, 0), (0, 0, -0.5), (6, 6), pins=("top",), bending=1e-4)
    system = pbd.ParticleSystem(particles, dt=h, substeps=2, iterations=4)
    pairs, lengths = system.sticks()
    assert {tuple(sorted(pair)) for pair in pairs} == {tuple(sorted(pair)) for pair in cloth.sticks}
    x = system.positions()
    np.testing.assert_allclose(lengths, np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1), rtol=0, atol=1e-15)
    system.step(20)
    row = pairs // 6
    torn = np.flatnonzero(row.min(axis=1) + row.max(axis=1) == 2 * 2 + 1)  # between rows 2 and 3
    assert len(torn) == 6 + 2 * 5
    system.cut(torn)
    system.cut(torn[:2])  # again: no more sticks are cut
    pairs, lengths = system.sticks()
    assert (pairs[torn, 0] == pairs[torn, 1]).all()
    assert (lengths[torn] == 0).all()
    lower = np.arange(36) >= 18
    masses = particles.masses()[lower]
    start = np.average(system.velocities()[lower], axis=0, weights=masses)
    system.step(30)
    end = np.average(system.velocities()[lower], axis=0, weights=masses)
    np.testing.assert_allclose(end - start, G * 30 * h, rtol=0, atol=1e-11)
    assert system.positions()[~lower, 2].min() > 0.7  # the rest still hangs
    assert system.statistics().residual < 1e-3
    with pytest.raises(IndexError, match=f"there are {len(pairs)} sticks"):
        system.cut([len(pairs)])
