"""Boxes with different friction on a slope: a box stays if its coefficient is above the tangent of the slope."""

import math

import numpy as np

import pbd
import rigid
from pbd.core.validate import whole
from rigid.rotation import from_axis_angle, rotate
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, GREEN, RED, STONE, BodyVisual, Camera


@register
def slope(angle: float = 25.0, count: int = 5, size: float = 0.3):
    """Boxes with different friction slide down a slope, or stay."""
    whole("count", count)
    tilt = math.radians(angle)
    turn = from_axis_angle((0, 1, 0), tilt)  # falls towards +x
    model = rigid.Model()
    model.add_ground(friction=0.8)
    long, wide, thick = 4.0, 1.6 * size * (count + 0.4), 0.25
    foot = np.array([0.4 * long * math.cos(tilt), 0, 0])
    up = rotate(turn, np.array([0.0, 0, 1]))
    middle = foot - (long / 2 - 0.1) * rotate(turn, np.array([1.0, 0, 0])) - thick / 2 * up
    # The friction of a contact is the geometric mean of both surfaces: with 1 and μ² it is μ.
    model.add_shape(rigid.GROUND, pbd.Box((long, wide, thick), centre=middle, rotation=turn), friction=1.0)
    stop = pbd.Box((0.2, wide, 0.24), centre=foot + (1.3, 0, 0.12))
    model.add_shape(rigid.GROUND, stop, friction=1.0)
    top = foot - (long - 0.6) * rotate(turn, np.array([1.0, 0, 0])) + 0.5 * size * up
    for k in range(count):
        rough = math.tan(tilt) * (1.25 * k / max(count - 1, 1))  # from ice to the tangent of the slope and a fifth more
        place = top + np.array([0, 1.6 * size * (k - (count - 1) / 2), 0])
        model.add_box((size, size, size), density=400.0, position=place, rotation=turn, friction=rough**2)
    tones = np.array([CHALK, BLUE, GREEN, GOLD, RED])
    along = np.linspace(0, len(tones) - 1, count)
    colours = np.stack([np.interp(along, np.arange(len(tones)), tone) for tone in tones.T], axis=1)
    return Scene(
        model=model,
        duration=4.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 2, "iterations": 20},
            "verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 10, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, colours, STONE)],
        camera=Camera((3.6, -5.2, 3.3), (0.2, 0, 0.55)),
    )
