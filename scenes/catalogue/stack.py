"""A stack of boxes: contacts and friction at rest."""

import math

import rigid
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BodyVisual, Camera


@register(small={"count": 4})
def stack(count: int = 10, size: float = 0.3, turn: float = 9.0, gap: float = 0.005, friction: float = 0.6):
    """A stack of boxes, each rotated a little, settles and stands."""
    whole("count", count), positive("size", size)
    model = rigid.Model()
    model.add_ground(friction=friction)
    for k in range(count):
        half = math.radians(turn * k) / 2
        model.add_box(
            (size, size, size), density=400.0, position=(0, 0, (k + 0.5) * size + (k + 1) * gap),
            rotation=(math.cos(half), 0, 0, math.sin(half)), friction=friction,
        )  # fmt: skip
    height = count * size
    return Scene(
        model=model,
        duration=5.0,
        settings={
            "verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 30, "solve": "iterative"},
            "impulse": {"dt": 1 / 60, "substeps": 8, "iterations": 15},
        },
        visuals=[BodyVisual(model)],
        camera=Camera((0.9 * height, -1.5 * height - 1.2, 0.75 * height), (0, 0, 0.48 * height)),
    )
