"""Tetrahedra of four particles and six sticks: the simplest rigid bodies."""

import numpy as np

import pbd
from pbd.core.validate import whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import (
    BLUE,
    GOLD,
    GREEN,
    RED,
    STEEL,
    BoxEdgesVisual,
    Camera,
    ClothVisual,
    ParticleVisual,
    StickVisual,
)

CORNERS = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
FACES = np.array([(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)])
EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])


@register(small={"count": 3}, picture=2.2)
def tetrahedron(count: int = 6, restitution: float = 0.4, friction: float = 0.35, seed: int = 4):
    """Tetrahedra of four particles and six sticks tumble in a box."""
    whole("count", count), whole("seed", seed, least=0)
    rng = np.random.default_rng(seed)
    particles = pbd.Particles()
    visuals = []
    for k in range(count):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        turn *= np.linalg.det(turn)  # a rotation, not a reflection
        middle = np.array([*rng.uniform(-0.5, 0.5, 2), 0.7 + 0.55 * k])
        arms = 0.16 * CORNERS @ turn.T
        spin = rng.normal(0, 4, 3)
        corners = particles.add_particles(middle + arms, 0.25, np.cross(spin, arms) + rng.normal(0, 1, 3), radius=0.035)
        particles.add_sticks(corners[EDGES])
        colour = (RED, GOLD, BLUE, GREEN)[k % 4]
        visuals += [ClothVisual(corners[FACES], colour, None, smooth=False), StickVisual(corners[EDGES], 0.02, colour),
                  ParticleVisual(corners, 0.035, colour)]  # fmt: skip
    lower, upper = (-0.8, -0.8, 0), (0.8, 0.8, 4)
    particles.add_box(lower, upper, restitution=restitution, friction=friction)
    particles.add_particle_contacts(friction=0.2)
    return Scene(
        particles,
        duration=6.0,
        settings={"verlet": {"dt": 1 / 120, "substeps": 2, "iterations": 12, "solve": "iterative"}},
        visuals=[*visuals, BoxEdgesVisual(np.array(lower), np.array([0.8, 0.8, 0.012]), 0.012, STEEL)],
        camera=Camera((1.6, -2.5, 1.5), (0, 0, 0.32)),
    )
