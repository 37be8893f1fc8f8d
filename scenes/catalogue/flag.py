"""A flag in a gusty wind."""

import math

import numpy as np

import pbd
from pbd.build import cloth
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import CHALK, RED, STEEL, Camera, ClothVisual, ColliderVisual


@register(small={"count": 15}, picture=2.6)
def flag(count: int = 48, speed: float = 7.0, gusts: float = 0.35):
    """A flag on a pole waves in a gusty wind."""

    def wind(time):
        strength = speed * (1 + gusts * math.sin(1.9 * time) + 0.6 * gusts * math.sin(5.3 * time + 1))
        turn = 0.25 * math.sin(0.9 * time) + 0.12 * math.sin(3.1 * time)
        return strength * math.cos(turn), strength * math.sin(turn), 0.0

    particles = pbd.Particles(wind=wind)
    sheet = cloth(
        particles, (0, 0, 2.6), (1.5, 0, 0), (0, 0, -1.0), (2 * count // 3, count),
        density=0.12, shear_compliance=1e-2, bending=2e-5, drag=1.3, pins=("left",),
    )  # fmt: skip
    # Slightly out of its plane, because a wind along the plane has no effect.
    wave = 0.02 * np.sin(9 * particles.positions()[:, 0]) * particles.positions()[:, 0]
    particles.positions()[:, 1] += wave
    pole = pbd.Capsule(0.025, start=(-0.03, 0, 0.03), end=(-0.03, 0, 2.7))
    particles.add_collider(pole)
    return Scene(
        particles,
        duration=6.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 3, "solve": "iterative", "damping": 0.005}},
        visuals=[ClothVisual(sheet.triangles, CHALK, RED), ColliderVisual(0, pole, STEEL)],
        camera=Camera((0.75, -5.2, 1.7), (0.75, 0, 1.55)),
    )
