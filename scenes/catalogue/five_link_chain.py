"""The five-link chain of the literature on joint friction: rods on hinges that fall from level.

After ten seconds with "articulated" the chain has lost 63 % of the energy of the fall, and still swings.
"""

import numpy as np

import rigid
from pbd.core.validate import whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import (
    BLUE,
    GOLD,
    GREEN,
    RED,
    SAND,
    STEEL,
    WOOD,
    BodyVisual,
    Camera,
    JointVisual,
    StaticVisual,
    tubes,
)

LENGTH, THICK = 0.5, 0.05  # of a rod [m]


@register(picture=0.35)
def five_link_chain(links: int = 5, friction: float = 0.5):
    """Five rods on hinges with friction fall from level and swing less and less."""
    whole("links", links)
    model = rigid.Model()
    top = links * LENGTH + 0.3
    before = rigid.GROUND
    for k in range(links):
        # A body without a shape: the rods pass through one another, as in the literature.
        across = (LENGTH**2 + THICK**2) / 12
        inertia = (THICK**2 / 6, across, across)
        middle = ((k + 0.5) * LENGTH, 0, top)
        rod = model.add_body(mass=1.0, inertia=inertia, position=middle, name=f"rod {k + 1}")
        hinge = (k * LENGTH, 0, top)
        model.add_hinge(before, rod, hinge, (0, 1, 0), friction=friction, name=f"hinge {k + 1}")
        before = rod
    colours = np.array([(RED, GOLD, GREEN, SAND, BLUE)[k % 5] for k in range(links)])
    post = tubes([(0, 0.5, 0), (0, 0.5, top)], [(0, 0.5, top), (0, 0.05, top)], 0.05, WOOD)
    return Scene(
        model=model,
        duration=10.0,
        settings={
            "impulse": {"dt": 0.01, "iterations": 150, "tolerance": 1e-6},
            "verlet": {"dt": 0.01, "substeps": 2, "iterations": 2, "solve": "direct"},
        },
        visuals=[BodyVisual(model, colours), JointVisual(model, 0.045, STEEL, ("hinge",)), StaticVisual([post])],
        camera=Camera((0.4 * top, -1.9 * top, 0.85 * top), (0, 0, 0.58 * top)),
    )
