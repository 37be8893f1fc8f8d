"""A ball hits a door on a hinge with limits and a spring that closes it, an example of [0] in docs/solvers/sources.md.

Parameters: spring [N m/rad], zero for none; opening, the upper limit [degrees]; speed and mass of the ball [m/s, kg].
"""

import math

import numpy as np

import pbd
import rigid
from pbd.core.validate import not_negative
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, RED, WOOD, BodyVisual, Camera

WIDTH, HEIGHT, THICK = 0.9, 2.0, 0.05  # of the door [m]


@register(slow=True)
def door(speed: float = 6.0, mass: float = 6.0, opening: float = 100.0, spring: float = 12.0):
    """A ball hits a door, which swings open; its spring shuts it again."""
    not_negative("spring", spring)
    model = rigid.Model()
    model.add_ground(friction=0.6)
    gap = 0.012
    for side in (-1, 1):
        post = pbd.Box((0.7, 0.12, 2.3), centre=(side * (WIDTH / 2 + gap + 0.35), 0, 1.15))
        model.add_shape(rigid.GROUND, post)
    model.add_shape(rigid.GROUND, pbd.Box((WIDTH + 2 * gap, 0.12, 0.26), centre=(0, 0, 2.3 - 0.13)))
    leaf = model.add_box((WIDTH, THICK, HEIGHT), mass=18.0, position=(0, 0, HEIGHT / 2 + gap), name="leaf")
    # The hinge is at the far left corner. The door opens to the back, up to `opening`.
    corner = (-WIDTH / 2, THICK / 2, HEIGHT / 2)
    # The spring has a preload when the door is shut, and half of critical damping.
    inertia = 18.0 * WIDTH**2 / 3
    closer = rigid.Spring(spring, math.sqrt(spring * inertia), rest=-0.3) if spring else None
    limits = 0.0, math.radians(opening)
    model.add_hinge(rigid.GROUND, leaf, corner, (0, 0, 1), limits=limits, spring=closer, name="hinge")
    radius, start, at = 0.18, np.array([0.9, -2.6, 1.1]), np.array([0.2, -0.2, 1.15])
    flight = np.linalg.norm((at - start)[:2]) / speed
    velocity = (at - start) / flight - 0.5 * model.gravity * flight
    model.add_sphere(radius, mass=mass, position=start, velocity=velocity, restitution=0.3, name="ball")
    model.add_box((0.4, 0.4, 0.4), mass=5.0, position=(-0.1, 1.05, 0.2), name="crate")
    return Scene(
        model=model,
        duration=4.0,
        settings={
            "verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 8, "solve": "direct"},
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 20},
        },
        visuals=[BodyVisual(model, np.array([WOOD, RED, BLUE]), CHALK)],
        camera=Camera((2.1, -4.9, 2.3), (-0.15, -0.2, 0.95)),
    )
