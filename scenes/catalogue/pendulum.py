"""A pendulum: the first test of any solver with joints."""

import math

import numpy as np

import rigid
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GOLD, RED, STEEL, WOOD, BodyVisual, Camera, JointVisual, StaticVisual, tubes


@register(picture=0.3)
def pendulum(links: int = 1, length: float = 1.0, angle: float = 90.0, weight: float = 3.0, friction: float = 0.0):
    """A ball on a hinged rod swings from level; --param links=2 makes a double pendulum."""
    whole("links", links), positive("length", length), positive("weight", weight)
    model, colours = rigid.Model(), []
    top = np.array([0, 0, links * length + 0.45])
    turned = math.radians(angle)  # from hanging down, towards +x
    along = np.array([math.sin(turned), 0, -math.cos(turned)])
    before = rigid.GROUND
    for k in range(links):
        start = top + k * length * along
        rod = model.add_capsule(0.02, start=start, end=start + length * along, mass=0.4 * length)
        model.add_hinge(before, rod, start, (0, 1, 0), friction=friction)
        model.add_shape(rod, rigid.Sphere(0.11, centre=start + length * along), mass=weight)
        colours.append(GOLD if k % 2 else RED)
        before = rod
    post = tubes([(0, 0.5, 0), (0, 0.5, top[2])], [(0, 0.5, top[2]), top - (0, 0.05, 0)], 0.035, WOOD)
    return Scene(
        model=model,
        duration=6.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 32, "iterations": 20},
            "verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 2, "solve": "direct"},
        },
        visuals=[
            BodyVisual(model, np.array(colours)), JointVisual(model, 0.035, STEEL, ("hinge",)), StaticVisual([post]),
        ],
        camera=Camera((0.9 * top[2], -2.6 * top[2], 1.1 * top[2]), (0, 0, 0.55 * top[2])),
    )
