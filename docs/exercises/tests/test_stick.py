"""A stick: both ends move along it until the distance is the length, and their centre of mass stays."""

from exercise import use

use("pbd.constraints.stick", __file__)

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)

import pbd


def projected(masses):
    """Ends of a stick of length 1 after one projection. They begin at a distance of 2."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0, 2, 0)], mass=masses)
    particles.add_stick(0, 1, length=1.0)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=1, direction="current")
    system.step()
    return system.positions()


def test_stick_gets_its_length_and_the_centre_of_mass_stays():
    x = projected((1.0, 3.0))
    assert abs(np.linalg.norm(x[1] - x[0]) - 1.0) < 1e-12
    np.testing.assert_allclose((x[0] + 3 * x[1]) / 4, (0, 1.5, 0), atol=1e-12)


def test_pinned_end_stays():
    np.testing.assert_allclose(projected((float("inf"), 1.0)), [(0, 0, 0), (0, 1, 0)], atol=1e-12)
