"""An angle limit opens two arms to the angle, and keeps momentum."""

from exercise import use

use("pbd.constraints.angle", __file__)

import math

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)

import pbd

POINTS = np.array([(0, 0, 0), (1, 0.2, 0), (1.5, -0.2, 0)])  # vertex, first, second
MASSES = np.array([2.0, 1.0, 3.0])


def after(iterations, minimum, maximum=None):
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(POINTS, mass=MASSES)
    particles.add_angle_limit(1, 0, 2, minimum=minimum, maximum=maximum)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=iterations)
    system.step()
    return system.positions()


def angle(x):
    u, v = x[1] - x[0], x[2] - x[0]
    return math.acos(np.dot(u, v) / np.linalg.norm(u) / np.linalg.norm(v))


def test_arms_open_to_the_limit():
    x = after(50, 1.0, 1.0)
    assert abs(angle(x) - 1.0) < 1e-9
    np.testing.assert_allclose((MASSES[:, None] * (x - POINTS)).sum(axis=0), 0, atol=1e-12)


def test_satisfied_limit_moves_nothing():
    np.testing.assert_array_equal(after(5, 0.9 * angle(POINTS)), POINTS)


def test_one_projection_is_right_to_first_order():
    # One step of Newton's method: the error that remains is of second order in the first error.
    start = angle(POINTS)
    errors = [abs(angle(after(1, start + gap)) - start - gap) for gap in (0.01, 0.005)]
    assert errors[0] < 0.01**2
    assert abs(errors[1] / errors[0] - 0.25) < 0.02  # and terms of third order
