"""Heavy bodies on light ones: a high mass ratio is hard for solvers that iterate over constraints."""

import numpy as np

import rigid
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import (
    BLUE,
    CHALK,
    GOLD,
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

SIZE, LINK = 0.3, 0.2  # of a box, of a link [m]


@register(slow=True)
def high_mass_ratio(ratio: float = 100.0, boxes: int = 4, links: int = 6):
    """A heavy box stands on light ones, and a heavy ball hangs from a light chain."""
    positive("ratio", ratio), whole("boxes", boxes, least=0), whole("links", links)
    model, colours = rigid.Model(), []
    model.add_ground(friction=0.6)
    for k in range(boxes + 1):
        mass = ratio if k == boxes else 1.0
        name = "heavy box" if k == boxes else f"box {k + 1}"
        model.add_box((SIZE,) * 3, mass=mass, position=(-0.6, 0, (k + 0.5) * SIZE), friction=0.6, name=name)
        colours.append(RED if k == boxes else (CHALK, SAND)[k % 2])
    foot, before = 0.55, rigid.GROUND
    top = np.array([0.6, 0, foot + links * LINK])
    for k in range(links):
        place = top - (0, 0, (k + 0.5) * LINK)
        link = model.add_box((0.05, 0.05, 0.9 * LINK), mass=1.0, position=place, name=f"link {k + 1}")
        model.add_ball(before, link, top - (0, 0, k * LINK))
        colours.append((STEEL, GOLD)[k % 2])
        before = link
    end = top - (0, 0, links * LINK)
    ball = model.add_sphere(0.2, mass=ratio, position=end - (0, 0, 0.2), velocity=(0.5, 0, 0), name="ball")
    model.add_ball(before, ball, end)
    colours.append(BLUE)
    height = max(top[2], (boxes + 1) * SIZE)
    post = tubes([(0.6, 0.7, 0), (0.6, 0.7, top[2])], [(0.6, 0.7, top[2]), top], 0.035, WOOD)
    return Scene(
        model=model,
        duration=6.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 8, "iterations": 50},
            "verlet": {"dt": 1 / 60, "substeps": 16, "iterations": 50, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, np.array(colours)), JointVisual(model, 0.03, WOOD, ("ball",)), StaticVisual([post])],
        camera=Camera((0.9 * height, -2.7 * height, 1.05 * height), (0, 0, 0.48 * height)),
    )
