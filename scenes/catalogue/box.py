"""Particles and sticks in a box: the first example of Jakobsen, Advanced Character Physics (2001)."""

import numpy as np

import pbd
from pbd.core.validate import whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, BoxEdgesVisual, Camera, ParticleVisual, StickVisual


@register(small={"grains": 20, "sticks": 5})
def box(grains: int = 60, sticks: int = 12, restitution: float = 0.75, friction: float = 0.1, seed: int = 1):
    """Particles and sticks bounce in a box, the first example of Jakobsen's paper."""
    whole("grains", grains, least=0), whole("sticks", sticks, least=0), whole("seed", seed, least=0)
    rng = np.random.default_rng(seed)
    particles = pbd.Particles()
    radius = 0.04
    loose = particles.add_particles(
        rng.uniform((-0.9, -0.9, 0.4), (0.9, 0.9, 1.8), (grains, 3)), 0.1, rng.normal(0, 2.5, (grains, 3)), radius
    )
    first = rng.uniform((-0.6, -0.6, 0.6), (0.6, 0.6, 1.6), (sticks, 3))
    along = rng.normal(size=(sticks, 3))
    along *= 0.35 / np.linalg.norm(along, axis=1, keepdims=True)
    ends = particles.add_particles(
        np.concatenate([first, first + along]), 0.1, rng.normal(0, 2.5, (2 * sticks, 3)), radius
    )
    pairs = np.stack([ends[:sticks], ends[sticks:]], axis=1)
    particles.add_sticks(pairs)
    lower, upper = (-1, -1, 0), (1, 1, 2)
    particles.add_box(lower, upper, restitution=restitution, friction=friction)
    return Scene(
        particles,
        duration=6.0,
        settings={"verlet": {"dt": 1 / 120, "iterations": 4, "solve": "iterative"}},
        visuals=[
            ParticleVisual(loose, radius, GOLD), StickVisual(pairs, radius, BLUE),
            BoxEdgesVisual(np.array(lower), np.array(upper), 0.012),
        ],
        camera=Camera((3.6, -4.6, 2.6), (0, 0, 0.85)),
    )
