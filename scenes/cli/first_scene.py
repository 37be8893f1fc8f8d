"""A scene of my own. This file is a start: change it, and see what happens.

    verletlab view FILE.py
    verletlab render FILE.py --param boxes=7 --out film.mp4
    verletlab compare FILE.py
"""

import math

import rigid
import scenes
from scenes.visuals import GOLD, RED, BodyVisual, Camera


def my_scene(boxes: int = 5, angle: float = 75.0):
    """A pendulum hits a tower of boxes."""
    # Arguments are the parameters of the scene: --param boxes=7. Each needs a default.
    model = rigid.Model()  # units are metres, kilograms and seconds, and z points upwards
    model.add_ground(friction=0.6)
    size, gap = 0.3, 1e-3
    for k in range(boxes):
        height = (k + 0.5) * size + k * gap
        model.add_box((size, size, size), mass=1.0, position=(0, 0, height), friction=0.6, name=f"box {k}")

    # A ball on a rod, which a hinge holds at the top. The two shapes make one body. The ball begins `angle` degrees
    # from where it would hang.
    top, length, turned = (-0.3, 0, 2.3), 1.4, math.radians(angle)
    end = (top[0] - length * math.sin(turned), 0, top[2] - length * math.cos(turned))
    rod = model.add_capsule(0.02, start=top, end=end, mass=0.2, name="rod")
    model.add_shape(rod, rigid.Sphere(0.15, centre=end), mass=4.0)
    model.add_hinge(rigid.GROUND, rod, top, (0, 1, 0))

    # Steps and options that suit each solver; the first is the default. docs/solvers/index.md explains them.
    settings = {
        "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 20},
        "verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 4},
    }
    return scenes.Scene(
        model=model,
        duration=4.0,
        settings=settings,
        visuals=[BodyVisual(model, [GOLD] * boxes + [RED])],
        camera=Camera((1.5, -5.2, 2.0), (0.3, 0, 1.05)),
    )
