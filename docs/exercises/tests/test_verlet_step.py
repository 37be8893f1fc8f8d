"""Verlet integration: x' = x + (1 - d)(x - x*) + a h², then x* := x."""

from exercise import use

use("pbd.integrate", __file__)

import numpy as np
import pytest
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)

import pbd

GRAVITY = np.array([0, 0, -9.81])
H = 1e-2


@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_particle_follows_the_recurrence(damping):
    particles = pbd.Particles(gravity=GRAVITY)
    particles.add_particle((1, 2, 3), mass=2.0, velocity=(1, 0, 4))
    system = pbd.ParticleSystem(particles, dt=H, damping=damping)
    x = np.array([1.0, 2.0, 3.0])
    before = x - H * np.array([1.0, 0, 4]) + 0.5 * H * H * GRAVITY  # so that x of the first step is exact
    for _ in range(50):
        system.step()
        x, before = x + (1 - damping) * (x - before) + H * H * GRAVITY, x
        np.testing.assert_allclose(system.positions()[0], x, atol=1e-12)


def test_pinned_particle_stays():
    particles = pbd.Particles(gravity=GRAVITY)
    particles.add_particle((1, 2, 3), mass=float("inf"))
    particles.add_particle((0, 0, 3), mass=1.0)
    system = pbd.ParticleSystem(particles, dt=H)
    system.step(10)
    np.testing.assert_array_equal(system.positions()[0], (1, 2, 3))
    assert system.positions()[1, 2] < 3
