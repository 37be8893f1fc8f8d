"""A stick and a tetrahedron on bumps: contacts between the particles, figures 3 to 5 of Jakobsen's paper retold in [2]
of docs/solvers/sources.md."""

import numpy as np

import pbd
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GOLD, GREEN, RED, STONE, Camera, ClothVisual, ColliderVisual, ParticleVisual, StickVisual

FACES = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
EDGES = np.array([(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)])
RADIUS = 0.025  # of particles and sticks [m]


@register(picture=1.4)
def bump(elements: bool = True, height: float = 0.22, friction: float = 0.5):
    """A stick and a tetrahedron fall on bumps, with no particle inside; --param elements=false lets them through."""
    if not 0 < height < 0.4:
        raise ValueError(f"height is {height:g}: expected above 0 and below 0.4, the radius of the bumps")
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=friction)
    bumps = [pbd.Sphere(0.4, centre=(x, 0, height - 0.4)) for x in (-0.95, 0.8)]
    for each in bumps:
        particles.add_collider(each, friction=friction)
    # The stick meets its bump at c = 0.75, 0.25: a quarter of its length from the first end, as in the source.
    stick = particles.add_particles([(-1.3, 0.02, 0.7), (0.1, 0.02, 0.7)], 0.5, radius=RADIUS)
    particles.add_sticks([stick])
    # An upright tetrahedron of edges 1.1 m, whose lowest face is above the other bump.
    edge = 1.1
    around = np.radians([90, 210, 330])
    base = edge / np.sqrt(3) * np.stack([np.cos(around), np.sin(around), np.zeros(3)], axis=1)
    corners = np.concatenate([base, [(0, 0, edge * np.sqrt(2 / 3))]])
    solid = particles.add_particles(corners + (0.85, 0.05, 0.6), 0.5, radius=RADIUS)
    particles.add_sticks(solid[EDGES])
    if elements:
        particles.add_element_contacts([stick])
        particles.add_element_contacts([solid])
    return Scene(
        particles,
        duration=4.0,
        settings={"verlet": {"dt": 1 / 120, "substeps": 2, "iterations": 10, "solve": "iterative", "damping": 0.002}},
        visuals=[
            *(ColliderVisual(1 + k, each, STONE) for k, each in enumerate(bumps)),
            StickVisual(np.array([stick]), RADIUS, GOLD), ParticleVisual(stick, 1.6 * RADIUS, RED),
            ClothVisual(solid[FACES], GREEN, None, smooth=False), StickVisual(solid[EDGES], RADIUS, GREEN),
            ParticleVisual(solid, 1.6 * RADIUS, RED),
        ],
        camera=Camera((-0.5, -3.7, 1.9), (0.05, 0.0, 0.5)),
    )
