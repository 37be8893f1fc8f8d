"""Newton's cradle: an impact passes through a row of balls."""

import math

import numpy as np

import rigid
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import CHALK, STEEL, WOOD, BodyVisual, Camera, JointVisual, StaticVisual, tubes

RADIUS, SPREAD = 0.1, 0.28  # radius of a ball, and distance from it to each rail [m]


@register(small={"balls": 3}, slow=True, picture=0.9)
def newtons_cradle(balls: int = 5, lifted: int = 1, angle: float = 40.0, gap: float = 0.001, restitution: float = 1.0):
    """Balls on strings pass an impact through their row."""
    whole("balls", balls), whole("lifted", lifted, least=0), positive("gap", gap)
    model = rigid.Model()
    length, top = 0.85, 1.15
    pitch = 2 * RADIUS + gap  # without a gap, an impact ends in all balls at once
    for k in range(balls):
        x = (k - (balls - 1) / 2) * pitch
        swing = math.radians(angle) if k < lifted else 0.0
        middle = np.array([x - length * math.sin(swing), 0, top - length * math.cos(swing)])
        ball = model.add_sphere(RADIUS, density=2000.0, position=middle, restitution=restitution, friction=0.0)
        for side in (-SPREAD, SPREAD):
            model.add_distance(rigid.GROUND, ball, (x, side, top), middle)
    reach = balls * RADIUS + 0.25
    rails = [((-reach, side, top), (reach, side, top)) for side in (-SPREAD, SPREAD)]
    legs = [((end, side, top), (end, side, 0)) for end in (-reach, reach) for side in (-SPREAD, SPREAD)]
    starts, ends = zip(*rails, *legs)
    frame = tubes(starts, ends, 0.022, WOOD)
    return Scene(
        model=model,
        duration=6.0,
        # An impact takes a substep from each ball to the next. Substeps are so short that a ball moves less than
        # the gap in that time.
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 50, "iterations": 15, "restitution_threshold": 0.05},
            "verlet": {"dt": 1 / 60, "substeps": 50, "iterations": 10, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, STEEL), JointVisual(model, 0.004, CHALK), StaticVisual([frame])],
        camera=Camera((1.1, -2.9, 1.35), (0, 0, 0.6)),
    )
