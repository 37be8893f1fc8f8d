"""Rods in the lanes of vectors have the bits of each rod alone: one step of Newton for all lanes, each with its own."""

import numpy as np
import pytest
from marks import needs_lanes, slow

import pbd
from pbd import build

pytestmark = needs_lanes


def rod_in(world, **options):
    """A rod of its own in each world, over a sphere that moves to and fro and a floor."""
    rng = np.random.default_rng(world)
    particles = pbd.Particles()
    points = [(0, 0, 0.3), (0.15, 0.02 * rng.normal(), 0.32), (0.3, 0.0, 0.3 + 0.05 * rng.normal())]
    build.rod(particles, points, 8, radius=rng.uniform(1e-3, 3e-3), density=1300, young=10 ** rng.uniform(6, 8),
              twist=rng.uniform(-1, 1), natural="given", damping=0.01 * (1 + world), **options)  # fmt: skip
    to_and_fro = {"motion": lambda time: (0.2, 0.0, 0.13 + 0.1 * np.sin(5 * time))}
    particles.add_collider(pbd.Sphere(0.1), friction=0.3, restitution=0.2, **to_and_fro)
    particles.add_collider(pbd.Plane(), friction=0.5)
    return particles


@pytest.mark.parametrize(
    ("lanes", "options", "built"),
    [
        slow(4, {"direction": "current"}, {"clamps": "start"}),
        slow(8, {"direction": "start", "substeps": 4}, {"pins": "end"}),
        slow(16, {"direction": "current", "iterations": 8}, {"clamps": ("start", "end"), "yield_curvature": 2.0}),
    ],
)
def test_rods_on_colliders_have_the_bits_of_each_world_alone(lanes, options, built):
    worlds = [rod_in(world, **built) for world in range(5)]
    options = {"dt": 1 / 60, "substeps": 2, "iterations": 3, "damping": 0.01, **options}
    together, apart = (pbd.ParticleSystem(worlds, lanes=each, **options) for each in (lanes, 1))
    contacts = 0
    for _ in range(5):
        together.step(12)
        apart.step(12)
        assert together.lanes == lanes
        assert together.digest() == apart.digest()
        contacts += apart.statistics().contacts
    assert np.count_nonzero(contacts) >= 3
    assert np.allclose(together.energy(), apart.energy(), rtol=1e-12)
