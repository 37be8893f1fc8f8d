"""A chain of links on hinges, each hinge at a right angle to the one before, as in a real chain."""

import numpy as np

import rigid
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import GOLD, RED, STEEL, WOOD, BodyVisual, Camera, JointVisual, StaticVisual, tubes


@register(small={"links": 6}, slow=True, picture=0.8)
def chain(links: int = 12, length: float = 0.22, weight: float = 4.0, swing: float = 0.6):
    """A chain of links with a ball at its end is released level, and swings."""
    whole("links", links), positive("length", length)
    model = rigid.Model()
    top = 1.15 * (links * length + 0.35)
    radius = 0.16 * length
    before = rigid.GROUND
    for k in range(links):
        start, end = np.array([k * length, 0, top]), np.array([(k + 1) * length, 0, top])
        sideways = (0, swing * (k + 0.5) / links, 0)
        link = model.add_capsule(radius, start=start, end=end, mass=0.2, velocity=sideways)
        model.add_hinge(before, link, start, (0, 1, 0) if k % 2 == 0 else (0, 0, 1))
        before = link
    end = np.array([links * length, 0, top])
    ball = model.add_sphere(0.12, mass=weight, position=end + (0.12, 0, 0), velocity=(0, swing, 0))
    model.add_fixed(before, ball, end)
    colours = np.array([STEEL if k % 2 else GOLD for k in range(links)] + [RED])
    return Scene(
        model=model,
        duration=6.0,
        settings={
            "verlet": {"dt": 1 / 60, "substeps": 4, "iterations": 3, "solve": "direct"},
            "impulse": {"dt": 1 / 60, "substeps": 8, "iterations": 60},
        },
        visuals=[
            BodyVisual(model, colours), JointVisual(model, 1.3 * radius, STEEL, ("hinge",)),
            StaticVisual([tubes([(0, 1.2, 0), (0, 1.2, top)], [(0, 1.2, top), (0, 0, top)], 0.05, WOOD)]),
        ],
        camera=Camera((0.5 * top, -1.95 * top, 0.95 * top), (0, 0, 0.56 * top)),
    )
