"""Two rings, each a straight rod that was turned by whole turns before it was closed: Michell's instability.

A ring leaves its plane if it was turned by more than 2π√3 EI/GJ, which is 2.25 turns if Poisson's ratio is 0.3.
Source: Zajac, Stability of Two Planar Loop Elasticas, Journal of Applied Mechanics 29 (1962).
"""

import numpy as np

import pbd
from pbd import build
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, RED, Camera, RodVisual

RING, RADIUS, HEIGHT = 0.22, 0.014, 0.3  # radius of a ring and of the rod; above the ground [m]
APART = 0.28  # from the middle to each ring [m]
DENSITY, YOUNG, POISSON = 1200.0, 1e6, 0.3
WAVE = 1e-3  # by which the rings are not plane [m]


@register(small={"segments": 24}, picture=2.0)
def michell(segments: int = 60, turns: int = 3):
    """A ring turned by two turns stays plane; one turned by three buckles and winds about itself."""
    particles = pbd.Particles(gravity=(0.0, 0.0, 0.0))
    angle = 2 * np.pi * np.arange(segments) / segments
    visuals = []
    for x, turned, colour in ((-APART, 2, BLUE), (APART, turns, RED)):
        points = np.stack([x + RING * np.cos(angle), RING * np.sin(angle), HEIGHT + WAVE * np.cos(2 * angle)], axis=1)
        ring = build.rod(
            particles, points, radius=RADIUS, density=DENSITY, young=YOUNG, poisson=POISSON, closed=True,
            twist=2 * np.pi * turned, damping=0.02, friction=0.1,
        )  # fmt: skip
        visuals.append(RodVisual(particles, ring, colour))
    return Scene(
        particles,
        duration=4.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 5, "iterations": 20, "solve": "iterative", "damping": 0.01}},
        visuals=visuals,
        camera=Camera((0.0, -2.6, 1.7), (0, 0, HEIGHT - 0.05), field_of_view=18),
    )
