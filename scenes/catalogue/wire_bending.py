"""A bar goes round another one and bends a wire about it, then lets it go: the wire springs back a little."""

import numpy as np

import pbd
from pbd import build
from scenes.catalogue.components.chucks import chucks, smooth
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GOLD, WOOD, Camera, ColliderVisual, RodVisual

LENGTH, RADIUS = 0.9, 0.012  # of the wire [m]
FIXED, MOVING, HALF_WIDTH = 0.07, 0.035, 0.12  # radii of the bars, and half their length [m]
HEIGHT, ROUND = 0.55, 0.2  # of the fixed bar above the ground; radius of the moving bar's way about it [m]
FIRST, AHEAD = np.radians(50), 0.4  # where it begins, from the vertical; from the chuck to the fixed bar [m]
DENSITY, YOUNG = 1150.0, 2e8  # [kg/m³], [Pa]
THERE, BACK = (0.4, 1.8), (2.4, 0.5)  # when the bar begins to move, and how long it takes [s]


@register(small={"segments": 20}, picture=2.3)
def wire_bending(segments: int = 54, angle: float = 95.0, friction: float = 0.1, yield_curvature: float = 3.0):
    """A bar bends a wire about another bar, and it stays bent; with --param yield_curvature=0 it springs back."""
    particles = pbd.Particles()
    top = HEIGHT + FIXED + RADIUS
    wire = build.rod(
        particles, [(AHEAD, 0, top), (AHEAD - LENGTH, 0, top)], segments, radius=RADIUS, density=DENSITY, young=YOUNG,
        damping=2e-3, clamps="start", yield_curvature=yield_curvature or None,
    )  # fmt: skip
    bars = [pbd.Capsule(radius, start=(0, -HALF_WIDTH, 0), end=(0, HALF_WIDTH, 0)) for radius in (FIXED, MOVING)]

    def way(time):
        part = smooth((time - THERE[0]) / THERE[1]) - smooth((time - BACK[0]) / BACK[1])
        turned = FIRST + np.radians(angle) * part
        return -ROUND * np.sin(turned), 0.0, HEIGHT + ROUND * np.cos(turned)

    motions = (lambda time: (0.0, 0.0, HEIGHT), way)
    numbers = [particles.add_collider(bar, friction=friction, motion=each) for bar, each in zip(bars, motions)]
    return Scene(
        particles,
        duration=5.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 12, "iterations": 10, "solve": "iterative"}},
        visuals=[
            RodVisual(particles, wire, GOLD), *chucks(particles, wire),
            *(ColliderVisual(number, bar, WOOD) for number, bar in zip(numbers, bars)),
        ],
        camera=Camera((0.7, -2.5, 0.9), (-0.05, 0, HEIGHT - 0.14), field_of_view=21),
    )  # fmt: skip
