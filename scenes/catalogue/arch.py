"""An arch of wedges without mortar, held up by friction and its weight."""

import math

import numpy as np

import rigid
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import CHALK, RED, SAND, STONE, BodyVisual, Camera


@register(small={"stones": 5}, picture=0.1)
def arch(stones: int = 11, radius: float = 1.0, thick: float = 0.32, depth: float = 0.45, friction: float = 0.7):
    """An arch of stones stands by friction and its weight."""
    whole("stones", stones, least=3)
    for name, length in (("radius", radius), ("thick", thick), ("depth", depth)):
        positive(name, length)
    model = rigid.Model()
    model.add_ground(friction=0.9)
    # Wedges of a half circle on two blocks.
    plinth = 0.5 * radius
    for end in (-1, 1):
        model.add_box(
            (thick, depth, plinth), density=2400.0, position=(end * (radius + thick / 2), 0, plinth / 2),
            friction=friction,
        )  # fmt: skip
    for k in range(stones):
        angles = math.pi * np.array([k, k + 1]) / stones
        corners = [
            (r * math.cos(a), y, plinth + r * math.sin(a))
            for a in angles for r in (radius, radius + thick) for y in (-depth / 2, depth / 2)
        ]  # fmt: skip
        hull = rigid.ConvexHull(np.array(corners))
        place, _ = hull.pose()
        model.add_mesh((hull.vertices, hull.triangles), density=2400.0, position=place, friction=friction)
    colours = [STONE, STONE] + [(CHALK, SAND)[k % 2] for k in range(stones)]
    if stones % 2:
        colours[2 + stones // 2] = RED  # the keystone
    height = plinth + radius + thick
    return Scene(
        model=model,
        duration=5.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 30},
            "verlet": {"dt": 1 / 60, "substeps": 10, "iterations": 30, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, np.array(colours))],
        camera=Camera((1.2 * height, -2.1 * height, 0.95 * height), (0, 0, 0.47 * height)),
    )
