"""A cord is twisted, then its ends approach: it winds about itself. It touches itself as capsules."""

import numpy as np

import pbd
from pbd import build
from scenes.catalogue.components.chucks import chucks, smooth
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import RED, Camera, RodVisual

LENGTH, HEIGHT = 1.2, 0.5  # of the cord; above the ground [m]
RADIUS = 0.008  # of the cord [m]
DENSITY, YOUNG = 1200.0, 3.5e6  # [kg/m³], [Pa]
TURNING, APPROACHING = 2.5, 4.0  # time in which an end is turned, and in which they approach [s]


@register(small={"segments": 24, "turns": 1.0}, slow=True, picture=4.5)
def plectoneme(segments: int = 72, turns: float = 6.0, closer: float = 0.6, friction: float = 0.1):
    """A twisted cord winds about itself as its ends approach, and does not pass through itself."""
    particles = pbd.Particles()
    x = np.linspace(-LENGTH / 2, LENGTH / 2, segments + 1)
    sag = 0.01 * np.cos(np.pi * x / LENGTH)  # so that it knows where to go
    points = np.stack([x, 0.3 * sag, HEIGHT - sag], axis=1)
    cord = build.rod(
        particles, points, radius=RADIUS, density=DENSITY, young=YOUNG, damping=0.02, friction=friction,
        clamps=("start", "end"),
    )  # fmt: skip
    particles.turn(cord.clamps["start"], lambda time: 2 * np.pi * turns * smooth(time / TURNING))
    held = particles.rod_segments()[cord.clamps["end"]]
    start = particles.positions()[held].copy()
    particles.add_path(held, lambda time: start - (closer * smooth((time - TURNING + 1.0) / APPROACHING), 0, 0))
    return Scene(
        particles,
        duration=TURNING + APPROACHING + 1.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 10, "iterations": 20, "solve": "iterative", "damping": 0.05}},
        visuals=[RodVisual(particles, cord, RED), *chucks(particles, cord)],
        camera=Camera((0.1, -2.6, 0.75), (-0.1, 0, HEIGHT - 0.1), field_of_view=20),
    )
