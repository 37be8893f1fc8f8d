"""Attachments that are solved directly: three scalar constraints each."""

import numpy as np
import pytest
from described import momenta_of_particles

import pbd

g = 9.81
H = 0.005


def attached(gravity=g, pinned=True):
    """Two bent ropes; a point between two particles of the first carries the first particle of the second."""
    particles = pbd.Particles(gravity=(0, 0, -gravity))
    first = [(0, 0, 0), (0.3, 0.1, -0.1), (0.5, 0.0, -0.3), (0.8, 0.1, -0.3)]
    middle = 0.25 * np.array(first[1]) + 0.75 * np.array(first[2])
    second = middle + [(0, 0, 0), (0.1, 0.2, -0.2), (0.3, 0.1, -0.4)]
    velocity = 0.4 * np.random.default_rng(2).normal(size=(7, 3))
    velocity[4] = 0.25 * velocity[1] + 0.75 * velocity[2]
    particles.add_particles([*first, *second], (1.0, 0.5, 2.0, 1.0, 0.2, 1.0, 30.0), velocity)
    if pinned:
        particles.pin([0])
    particles.add_sticks([(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)])
    particles.add_attachment([4], [1.0], [1, 2], [0.25, 0.75])
    return particles


def system(particles, iterations, solve="direct"):
    return pbd.ParticleSystem(particles, dt=H, iterations=iterations, direction="start", solve=solve)


def test_attachment_closes_in_two_rounds():
    # The rows are linear in positions, so each solve closes them. The equations are those of many iterations.
    direct, iterated = system(attached(), 6), system(attached(), 2000, "iterative")
    few, few_iterated = system(attached(), 2), system(attached(), 2, "iterative")
    for one in (direct, iterated, few, few_iterated):
        one.step(20)
    assert len(direct.direct.rows) == 8
    assert direct.positions() == pytest.approx(iterated.positions(), abs=1e-8)
    x = few.positions()
    assert x[4] == pytest.approx(0.25 * x[1] + 0.75 * x[2], abs=1e-14)
    few.step(1)
    few_iterated.step(1)
    assert few.statistics().residual < 1e-3 * few_iterated.statistics().residual


def test_attachment_keeps_momenta():
    # Its three multipliers are an impulse on two points that coincide, so Σ m v and Σ m x × v stay.
    one = system(attached(gravity=0.0, pinned=False), 4)
    one.step(1)
    before = np.concatenate(momenta_of_particles(one))
    one.step(200)
    assert np.concatenate(momenta_of_particles(one)) == pytest.approx(before, abs=1e-9)


@pytest.mark.slow
def test_rope_on_cloth_is_solved_without_its_attachment():
    # A cloth iterates, and does not keep what is attached to it from a direct solve.
    particles = pbd.Particles(gravity=(0, 0, -g))
    cloth = pbd.build.cloth(particles, (0, 0, 0), (1, 0, 0), (0, 1, 0), (20, 20))
    rope = particles.add_particles([(0.5, 0.5, -0.1 * k) for k in range(6)], 1.0)
    particles.add_sticks(np.stack([rope[:-1], rope[1:]], axis=1))
    particles.add_attachment([rope[0]], [1.0], [cloth.particles[210]], [1.0])
    one = system(particles, 5, "auto")
    one.step(20)
    assert len(one.direct.rows) == 5
    assert one.direct.components == 1
    assert "iterates" in one.direct.notes[0]
    x = one.positions()
    assert np.linalg.norm(np.diff(x[rope], axis=0), axis=1) == pytest.approx(0.1, abs=1e-8)
