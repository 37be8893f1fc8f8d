"""A robot pulls a trailer over bumps; a ball joint with limits connects them, as in [1] of docs/solvers/sources.md.

The trailer can turn by 18° about x (its heading) and z, and by 15° about y (across). That is a cone of 18° about y and
a twist of 15° about y.
"""

import math

import numpy as np

import pbd
import rigid
from pbd.core.validate import not_negative, whole
from scenes.catalogue.components.wheel import RADIUS, add_wheel
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, RED, STONE, BodyVisual, Camera, FollowingCamera


@register(small={"bumps": 4}, slow=True, picture=3.4)
def trailer(speed: float = 1.3, turn: float = 0.015, bumps: int = 14, height: float = 0.06):
    """A robot pulls a trailer over bumps, with a ball joint with limits."""
    whole("bumps", bumps, least=0), not_negative("height", height)
    model = rigid.Model()
    model.add_ground(friction=0.9)
    for k in range(bumps if height else 0):  # under the left and the right wheels in turn
        x, radius = 1.1 + 0.75 * k, 0.2
        middle = np.array([x, 0.38 if k % 2 else -0.38, height - radius])
        stone = pbd.Capsule(radius, start=middle - (0, 0.3, 0), end=middle + (0, 0.3, 0))
        model.add_shape(rigid.GROUND, stone, friction=0.9)
    robot = model.add_box((0.62, 0.36, 0.14), mass=20.0, position=(0, 0, RADIUS + 0.05), name="robot")
    model.add_shape(robot, rigid.Box((0.28, 0.26, 0.12), centre=(0.08, 0, RADIUS + 0.18)))
    colours = [GOLD]
    for end, name in ((1, "front"), (-1, "rear")):
        for side, where in ((1, "left"), (-1, "right")):
            pace = speed * (1 - side * turn)
            add_wheel(model, robot, (0.2 * end, side * 0.29, RADIUS), pace, 15.0, f"{name} {where} wheel")
            colours.append(BLUE)
    hitch = np.array([-0.48, 0, RADIUS + 0.05])
    cart = model.add_box((0.6, 0.4, 0.1), mass=10.0, position=hitch - (0.72, 0, 0), name="trailer")
    model.add_shape(cart, rigid.Box((0.5, 0.34, 0.22), centre=hitch + (-0.72, 0, 0.16)), mass=6.0)
    model.add_shape(cart, rigid.Capsule(0.025, start=hitch - (0.03, 0, 0), end=hitch - (0.42, 0, 0)))
    model.add_shape(robot, rigid.Capsule(0.025, start=hitch + (0.03, 0, 0), end=hitch + (0.18, 0, 0)))
    colours.append(RED)
    for side, where in ((1, "left"), (-1, "right")):
        hub = hitch + (-0.78, side * 0.31, -0.05)
        add_wheel(model, cart, hub, 0.0, 0.0, f"trailer's {where} wheel")
        colours.append(BLUE)
    model.add_ball(
        robot, cart, hitch, axis=(0, 1, 0), swing_limit=math.radians(18), twist_limits=np.radians((-15, 15)),
        name="hitch",
    )  # fmt: skip
    return Scene(
        model=model,
        duration=8.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 20},
            "verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 15, "solve": "direct"},
        },
        visuals=[BodyVisual(model, np.array(colours), STONE)],
        camera=FollowingCamera(robot, Camera((1.4, -2.9, 1.5), (-0.45, 0, 0.15))),
    )
