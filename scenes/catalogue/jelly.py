"""Balls of gelatine, foam and rubber roll down a stair: tetrahedra of measured materials."""

import numpy as np

import pbd
from pbd import build
from pbd.core.validate import whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, RED, Camera, ColliderVisual, SkinVisual

RISE, TREAD, WIDTH, LANDING = 0.09, 0.24, 1.2, 0.9  # of the stair, and how deep its top is [m]
RADIUS, APART = 0.1, 0.4  # of the balls, and between their middles [m]
MATERIALS = {"gelatine": RED, "foam": GOLD, "natural rubber": BLUE}


@register(small={"resolution": 3}, picture=1.0)
def jelly(resolution: int = 5, steps: int = 4, speed: float = 1.0):
    """Three balls, of gelatine, foam and rubber, roll down a stair."""
    import trimesh  # slow to import

    whole("steps", steps, least=1)
    particles, visuals = pbd.Particles(), []
    particles.add_collider(pbd.Plane(), friction=0.9)
    for k in range(steps):
        # Slabs, one on the other, so that no side of one is inside the stair.
        length = LANDING + (steps - 1 - k) * TREAD
        slab = pbd.Box((length, WIDTH, RISE), centre=(length / 2 - LANDING, 0, (k + 0.5) * RISE))
        visuals.append(ColliderVisual(particles.add_collider(slab, friction=0.5), slab, (0.62, 0.64, 0.68)))
    ball = trimesh.creation.icosphere(subdivisions=3, radius=RADIUS)
    for k, (material, colour) in enumerate(MATERIALS.items()):
        place = np.array([-0.42, APART * (k - 1), steps * RISE + 2 * RADIUS])
        body = build.soft_body(
            particles, ball, resolution, material=material, position=place, velocity=(speed, 0, 0), radius=0.004
        )
        visuals.append(SkinVisual(body.skin, colour))
    return Scene(
        particles,
        duration=3.5,
        settings={"verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 4, "solve": "iterative"}},
        visuals=visuals,
        camera=Camera((1.7, -3.1, 1.4), (0.7, 0, 0.1)),
    )
