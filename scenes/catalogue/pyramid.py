"""A pyramid of boxes: hundreds of contacts at rest."""

import numpy as np

import rigid
from pbd.core.validate import not_negative, positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, RED, SAND, BodyVisual, Camera


@register(small={"rows": 4}, picture=1.2, picture_parameters={"strike": 9})
def pyramid(rows: int = 10, size: float = 0.3, friction: float = 0.6, strike: float = 0.0):
    """A pyramid of boxes stands; --param strike=12 throws a ball at it [m/s]."""
    whole("rows", rows), positive("size", size), not_negative("strike", strike)
    model, colours = rigid.Model(), []
    model.add_ground(friction=friction)
    tones = np.array([RED, SAND, GOLD])
    for row in range(rows):
        for k in range(rows - row):
            place = (1.08 * size * (k - (rows - row - 1) / 2), 0, (row + 0.5) * size)
            model.add_box((size, size, size), density=400.0, position=place, friction=friction)
            colours.append(tones[row % 3] if (k + row) % 2 else CHALK)
    height = rows * size
    if strike:
        at, start = np.array([0.15 * size, 0, 0.35 * height]), np.array([1.2 * size, -2.4 * height, 0.5 * height])
        flight = np.linalg.norm((at - start)[:2]) / strike
        velocity = (at - start) / flight - 0.5 * model.gravity * flight
        model.add_sphere(0.9 * size, density=900.0, position=start, velocity=velocity, friction=friction, name="ball")
        colours.append(np.array(BLUE))
    return Scene(
        model=model,
        duration=5.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 2, "iterations": 20},
            "verlet": {"dt": 1 / 60, "substeps": 10, "iterations": 30, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, np.array(colours))],
        camera=Camera((0.75 * height, -1.7 * height - 1.0, 0.75 * height), (0, 0, 0.42 * height)),
    )
