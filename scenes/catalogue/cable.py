"""A heavy cable hangs between two posts. One end is turned, so that it twists and swings out of its plane."""

import numpy as np

import pbd
from pbd import build
from scenes.catalogue.components.chucks import chucks, smooth
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, WOOD, Camera, Instances, RodVisual, StaticVisual, box

SPAN, HEIGHT, LENGTH = 1.6, 1.25, 2.4  # between the posts; of the ends above the ground; of the cable [m]
RADIUS = 0.018  # of the cable [m]
DENSITY, YOUNG = 1500.0, 9e6  # [kg/m³], [Pa]
NATURAL = 2.0  # its curvature without load, as it came from a drum [1/m]
TURNING = 4.0  # time in which the end is turned [s]


@register(small={"segments": 16}, picture=3.2)
def cable(segments: int = 64, turns: float = 4.0):
    """A heavy cable hangs between two posts; one end is turned, and the cable twists and swings."""
    particles = pbd.Particles()
    line = build.rod(
        particles, hanging(), segments, radius=RADIUS, density=DENSITY, young=YOUNG, natural=((NATURAL, 0.0), 0.0),
        damping=0.01, friction=0.3, clamps=("start", "end"),
    )  # fmt: skip
    particles.turn(line.clamps["start"], lambda time: 2 * np.pi * turns * smooth(time / TURNING))
    ends = np.array([(x, 0.0, HEIGHT) for x in (-SPAN / 2, SPAN / 2)])
    posts = Instances(box((0.08, 0.08, HEIGHT), WOOD), ends * (1, 1, 0.5))
    return Scene(
        particles,
        duration=6.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 6, "iterations": 10, "solve": "iterative", "damping": 0.01}},
        visuals=[RodVisual(particles, line, BLUE), *chucks(particles, line), StaticVisual([posts])],
        camera=Camera((0.8, -5.0, 1.6), (0, 0, 0.66), field_of_view=22),
    )


def hanging():
    """Points of a parabola of length LENGTH between the posts (n, 3) [m], near to how the cable hangs."""
    x = np.linspace(-SPAN / 2, SPAN / 2, 400)
    low, high = 0.0, LENGTH
    for _ in range(50):  # the length grows with the sag
        sag = (low + high) / 2
        points = np.stack([x, 0 * x, HEIGHT - sag * (1 - (2 * x / SPAN) ** 2)], axis=1)
        short = np.linalg.norm(np.diff(points, axis=0), axis=1).sum() < LENGTH
        low, high = (sag, high) if short else (low, sag)
    return points
