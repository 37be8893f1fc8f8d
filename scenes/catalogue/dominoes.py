"""A row of dominoes along a bend; the first one starts tipped over its edge."""

import math

import numpy as np

import rigid
from pbd.core.validate import whole
from rigid.rotation import from_axis_angle, multiply, rotate
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, GREEN, RED, BodyVisual, Camera

SIZE = np.array([0.09, 0.4, 0.8])  # thick, wide, high [m]: balanced on its edge at 6.4°


@register(small={"count": 6}, picture=2.2)
def dominoes(count: int = 24, spacing: float = 0.36, bend: float = 0.9, friction: float = 0.4, tip: float = 9.0):
    """A row of dominoes falls along a bend."""
    whole("count", count)
    model = rigid.Model()
    model.add_ground(friction=0.7)
    # An S: the direction of the row turns by `bend` [rad] and back; by less if the row is too short.
    heading = bend * min(1.0, count / 24) * np.sin(2 * np.pi * np.arange(count) / max(count - 1, 1))
    places = np.concatenate([[(0, 0)], np.cumsum(spacing * np.stack([np.cos(heading), np.sin(heading)], 1), axis=0)])
    places = places[:count] - places[:count].mean(axis=0)
    for k, (place, angle) in enumerate(zip(places, heading)):
        turn = from_axis_angle((0, 0, 1), angle)
        middle = np.array([0, 0, SIZE[2] / 2])
        if k == 0:  # about its lower front edge
            edge = np.array([SIZE[0] / 2, 0, 0])
            lean = from_axis_angle((0, 1, 0), math.radians(tip))
            middle, tilted = edge + rotate(lean, middle - edge), multiply(turn, lean)
        model.add_box(
            SIZE, density=300.0, position=(*place, 0) + rotate(turn, middle), rotation=turn if k else tilted,
            friction=friction,
        )  # fmt: skip
    # Colours change from one end to the other.
    tones = np.array([RED, GOLD, CHALK, GREEN, BLUE])
    along = np.linspace(0, len(tones) - 1, count)
    colours = np.stack([np.interp(along, np.arange(len(tones)), tone) for tone in tones.T], axis=1)
    width = spacing * count
    return Scene(
        model=model,
        duration=5.0,
        settings={
            "verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 15, "solve": "iterative"},
            "impulse": {"dt": 1 / 60, "substeps": 2, "iterations": 10},
        },
        visuals=[BodyVisual(model, colours)],
        camera=Camera((-0.28 * width, -0.8 * width, 0.46 * width), (0, 0, 0.15)),
    )
