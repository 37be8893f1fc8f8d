"""A plant sways in the wind: its stems are rods that bend and twist, and its leaves turn with them."""

import math

import pbd
from pbd import build
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GREEN, Camera, ClothVisual, PlantVisual


@register(small={"branches": 4}, picture=2)
def plant(seed: int = 3, height: float = 1.5, branches: int = 11, speed: float = 5.0):
    """A plant sways in gusts of wind."""

    def wind(time):
        gust = max(0.0, math.sin(1.3 * time)) + 0.4 * math.sin(4.1 * time) ** 2
        return speed * gust, 0.4 * speed * math.sin(0.7 * time), 0.0

    particles = pbd.Particles(wind=wind)
    grown = build.plant(
        particles, height=height, seed=seed, segments=18, branches=branches, leaf_length=0.14, stiffness=3e8
    )
    return Scene(
        particles,
        duration=8.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 3, "solve": "iterative", "damping": 0.01}},
        visuals=[PlantVisual(grown), ClothVisual(grown.triangles, GREEN, (0.52, 0.70, 0.38))],
        camera=Camera((1.9, -4.0, 1.5), (0, 0, 1.05)),
    )
