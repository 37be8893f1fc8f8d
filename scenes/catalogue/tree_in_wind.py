"""A tree in gusts of wind. Its stems are rods that bend and twist, and its leaves turn with them."""

import math

import numpy as np

import pbd
from pbd import build
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import Camera, ClothVisual, PlantVisual

HEIGHT, RADIUS = 4.0, 0.06  # of the trunk, and at its foot [m]
YOUNG, DENSITY = 2e9, 700.0  # of green wood [Pa], [kg/m³]
LEAF = 0.34  # length of a leaf [m]
CALM = 7.0  # when the wind has ended [s]
GREENS = ((0.30, 0.52, 0.24), (0.42, 0.62, 0.28), (0.55, 0.66, 0.27))
BACK = (0.60, 0.74, 0.44)  # of leaves
BARK = (0.46, 0.35, 0.25)


@register(small={"branches": 3, "levels": 2}, picture=2.4)
def tree_in_wind(seed: int = 5, branches: int = 8, levels: int = 3, speed: float = 12.0):
    """A tree bends and twists in gusts of wind, and comes to rest when they end."""
    particles = pbd.Particles(wind=lambda time: gusts(time, speed))
    tree = build.plant(
        particles, height=HEIGHT, radius=RADIUS, seed=seed, segments=24, branches=branches, levels=levels,
        leaf_length=LEAF, stiffness=YOUNG, density=DENSITY, poisson=0.3,
    )  # fmt: skip
    leaves = tree.triangles.reshape(2, -1, 3)  # the right halves, then the left ones
    colours = np.random.default_rng(seed).integers(len(GREENS), size=leaves.shape[1])
    return Scene(
        particles,
        duration=12.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 2, "iterations": 2, "solve": "iterative", "damping": 0.01}},
        visuals=[
            PlantVisual(tree, BARK),
            *(
                ClothVisual(leaves[:, colours == k].reshape(-1, 3), green, BACK)
                for k, green in enumerate(GREENS)
                if (colours == k).any()
            ),
        ],
        camera=Camera((4.5, -10.2, 2.5), (0.25, 0, 2.6)),
    )


def gusts(time, speed):
    """The wind (3,) [m/s]: gusts that turn, and grow until CALM. Args: time [s]; speed: of the strongest [m/s]."""
    if time >= CALM:
        return 0.0, 0.0, 0.0
    strength = speed * (0.25 + 0.75 * math.sin(1.35 * time) ** 2) * math.sin(math.pi * time / CALM) ** 0.5
    turn = 0.7 * math.sin(0.9 * time)
    return strength * math.cos(turn), strength * math.sin(turn), 0.1 * strength * math.sin(2.3 * time)
