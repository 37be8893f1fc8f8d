"""Coulomb's friction: a particle on a slope stays while tan θ <= μ, else it accelerates at g (sin θ - μ cos θ)."""

from exercise import use

use("pbd.collision.contact", __file__)

import math

import numpy as np
import pytest
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)

import pbd

FRICTION, G, H, STEPS = 0.5, 9.81, 1e-3, 500


def slide(slope):
    """Way of a particle that begins at rest on a slope [m]. Args: slope: its angle [rad]."""
    particles = pbd.Particles(gravity=(G * math.sin(slope), 0, -G * math.cos(slope)))
    particles.add_particle((0, 0, 0), mass=2.0)
    particles.add_collider(pbd.Plane(), friction=FRICTION)
    system = pbd.ParticleSystem(particles, dt=H)
    system.step(STEPS)
    return system.positions()[0]


def test_particle_stays_on_a_gentle_slope():
    np.testing.assert_allclose(slide(0.9 * math.atan(FRICTION)), 0, atol=1e-9)


@pytest.mark.parametrize("factor", [1.2, 2.0])
def test_particle_slides_on_a_steep_slope(factor):
    slope = factor * math.atan(FRICTION)
    acceleration = G * (math.sin(slope) - FRICTION * math.cos(slope))
    time = STEPS * H
    # The scheme's own error is at most of one step: a t h.
    assert abs(slide(slope)[0] - 0.5 * acceleration * time**2) < acceleration * time * H
