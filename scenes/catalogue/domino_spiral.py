"""Dominoes along a spiral; the outermost starts tipped over its edge."""

import math

import numpy as np

import rigid
from pbd.core.validate import positive, whole
from rigid.rotation import from_axis_angle, multiply, rotate
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, GREEN, RED, BodyVisual, Camera

SIZE = np.array([0.09, 0.4, 0.8])  # thick, wide, high [m]: balanced on its edge at 6.4°


@register(small={"count": 8}, slow=True, picture=2)
def domino_spiral(count: int = 90, spacing: float = 0.34, turns: float = 2.6, friction: float = 0.4, tip: float = 9.0):
    """Dominoes fall one after another along a spiral, from its end to its middle."""
    whole("count", count), positive("spacing", spacing), positive("turns", turns)
    model = rigid.Model()
    model.add_ground(friction=0.7)
    # Archimedes' spiral r = r0 + b φ from its inner end, as long as the row. Its turns are at least 1.1 m apart, so
    # that a domino that falls outwards does not reach the next turn.
    inner, length = 0.9, spacing * (count - 1)
    swept = 2 * math.pi * turns
    growth = max(0.0, 2 * (length / swept - inner) / swept)
    angle, angles = 0.0, []
    for _ in range(count):
        angles.append(angle)
        angle += spacing / math.hypot(inner + growth * angle, growth)
    angles = np.array(angles[::-1])  # from outside
    radii = inner + growth * angles
    places = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    # Along the row the angle decreases: d(x, y)/d(-φ).
    headings = np.arctan2(-growth * np.sin(angles) - radii * np.cos(angles), -growth * np.cos(angles)
                          + radii * np.sin(angles))  # fmt: skip
    for k, (place, heading) in enumerate(zip(places, headings)):
        turn, lean = from_axis_angle((0, 0, 1), heading), np.array([1.0, 0, 0, 0])
        middle = np.array([0, 0, SIZE[2] / 2])
        if k == 0:  # about its lower front edge
            edge, lean = np.array([SIZE[0] / 2, 0, 0]), from_axis_angle((0, 1, 0), math.radians(tip))
            middle = edge + rotate(lean, middle - edge)
        model.add_box(
            SIZE, density=300.0, position=(*place, 0) + rotate(turn, middle), rotation=multiply(turn, lean),
            friction=friction,
        )  # fmt: skip
    tones = np.array([RED, GOLD, CHALK, GREEN, BLUE])
    along = np.linspace(0, len(tones) - 1, count)
    colours = np.stack([np.interp(along, np.arange(len(tones)), tone) for tone in tones.T], axis=1)
    wide = radii.max() + 0.6
    return Scene(
        model=model,
        duration=11.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 2, "iterations": 10},
            "verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 10, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, colours)],
        camera=Camera((0.5 * wide, -2.1 * wide, 1.7 * wide), (0, -0.1 * wide, 0)),
    )
