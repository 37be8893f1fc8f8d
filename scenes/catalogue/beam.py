"""Beams of one shape and three stiffnesses bend by their own weight, in the colours of von Mises' stress."""

import numpy as np

import pbd
from pbd import build
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import STONE, Camera, Instances, StaticVisual, StressVisual
from scenes.visuals.shapes import shape_surface

LENGTH, WIDTH, APART, HEIGHT = 0.6, 0.08, 0.2, 0.6  # of the beams, between them, and of their axes [m]
WALL = (0.12, 0.7, 0.9)  # [m]


@register(small={"resolution": 10}, slow=True, picture=1.5)
def beam(resolution: int = 24, young: float = 3e5, ratio: float = 3.0, density: float = 1000.0):
    """Three beams sag by their own weight: the softest has `young`, each next one `ratio` times as much."""
    import trimesh  # slow to import

    whole("resolution", resolution, least=4)
    positive("ratio", ratio)
    particles, bodies = pbd.Particles(), []
    bar = trimesh.creation.box((LENGTH, WIDTH, WIDTH)).subdivide().subdivide().subdivide()
    for k in range(3):
        solid = pbd.Solid(young=young * ratio**k, poisson=0.3, density=density, damping=0.02)
        place = np.array([LENGTH / 2, APART * (k - 1), HEIGHT])
        first = len(particles)
        body = build.soft_body(particles, bar, resolution, material=solid, position=place)
        own = np.arange(first, len(particles))
        clamped = own[particles.positions()[own, 0] < LENGTH / resolution]
        particles.pin(clamped)
        bodies.append(body)
    # A beam that is straight has M/W = ρ g L²/2 · 6/w of stress at its clamp.
    stress = 3 * density * 9.81 * LENGTH**2 / WIDTH
    visuals = [StressVisual(particles, stress, skin=body.skin) for body in bodies]
    wall = Instances(shape_surface(pbd.Box(WALL), STONE), [(-WALL[0] / 2, 0, WALL[2] / 2)], [(1, 0, 0, 0)])
    return Scene(
        particles,
        duration=3.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 1, "iterations": 4, "solve": "iterative"}},
        visuals=[*visuals, StaticVisual([wall])],
        camera=Camera((1.2, -1.5, 0.9), (0.2, 0, 0.45)),
    )
