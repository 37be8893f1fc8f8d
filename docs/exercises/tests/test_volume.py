"""A tetrahedron gets its volume back, and the projection keeps momentum and angular momentum."""

from exercise import use

use("pbd.constraints.volume", __file__)

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)

import pbd

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.0)])
MASSES = np.array([1.0, 2.0, 3.0, 4.0])


def volume(x):
    return np.dot(x[1] - x[0], np.cross(x[2] - x[0], x[3] - x[0])) / 6


def test_volume_grows_to_its_rest_value():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(CORNERS, mass=MASSES)
    particles.add_volumes([(0, 1, 2, 3)], volume=0.25)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=30)
    system.step()
    x = system.positions()
    assert abs(volume(x) - 0.25) < 1e-12
    moved = MASSES[:, None] * (x - CORNERS)
    np.testing.assert_allclose(moved.sum(axis=0), 0, atol=1e-12)  # the gradients have the sum zero


def test_first_correction_has_no_angular_momentum():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(CORNERS, mass=MASSES)
    particles.add_volumes([(0, 1, 2, 3)], volume=0.25)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=1)
    system.step()
    moved = MASSES[:, None] * (system.positions() - CORNERS)
    assert np.abs(moved).max() > 1e-3
    np.testing.assert_allclose(np.cross(CORNERS, moved).sum(axis=0), 0, atol=1e-12)  # nothing turns
