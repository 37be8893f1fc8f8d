"""A suspension bridge: two chains between towers, a deck of panels that hangs from them, and a robot that drives on it.

The pins of a chain lie exactly on a parabola if all links have the same mass, and all inner pins the same load and the
same spacing along the bridge. From link to link the slope changes by load/H. H is the horizontal force in the chain,
(load/spacing) span²/(8 sag). The bridge is built in that shape.
"""

import numpy as np

import rigid
from pbd.core.validate import positive, whole
from rigid.rotation import from_axis_angle
from scenes.catalogue.components.wheel import RADIUS, add_wheel
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import (
    BLUE,
    GOLD,
    SAND,
    STEEL,
    STONE,
    BodyVisual,
    Camera,
    Instances,
    JointVisual,
    StaticVisual,
    primitives,
)

LEVEL, WIDTH, THICK = 0.9, 1.0, 0.06  # of the deck: height of its middle, and size [m]
LOWEST = 0.3  # height of the lowest pins of the chains above the deck [m]
DECK = 2  # group of the panels, which do not collide with the banks
Y = (0, 1, 0)


@register(small={"panels": 6}, slow=True, picture=4)
def suspension_bridge(panels: int = 14, span: float = 7.0, sag: float = 1.0, panel_mass: float = 6.0,
                      link_mass: float = 1.0, robot: float = 10.0, speed: float = 1.0):  # fmt: skip
    """A robot drives over a suspension bridge; --param robot=0 for none."""
    whole("panels", panels, least=2)
    for name, value in (("span", span), ("sag", sag), ("panel_mass", panel_mass), ("link_mass", link_mass)):
        positive(name, value)
    model = rigid.Model()
    x = span * (np.arange(panels + 1) / panels - 0.5)
    height = LEVEL + LOWEST + 4 * sag * (x / span) ** 2
    deck = add_deck(model, x, panel_mass)
    colours = [SAND] * panels
    for side, name in ((-1, "near"), (1, "far")):
        pins = np.stack([x, np.full_like(x, side * WIDTH / 2), height], axis=1)
        links = add_chain(model, pins, link_mass, name)
        colours += [STEEL] * panels
        for k in range(1, panels):
            below = np.array([x[k], side * WIDTH / 2, LEVEL])
            model.add_distance(links[k], deck[k], pins[k], below, name=f"{name} hanger {k}")
    if robot > 0:
        colours += add_robot(model, x[0] - 0.55, robot, speed)
    towers = [(end * (span / 2 + 0.08), side * WIDTH / 2, height[0] / 2) for end in (-1, 1) for side in (-1, 1)]
    upright = np.tile((1.0, 0, 0, 0), (4, 1))
    posts = Instances(primitives.box((0.14, 0.12, height[0] + 0.1), STONE), np.array(towers), upright)
    return Scene(
        model=model,
        duration=8.0,
        settings={
            "impulse": {"dt": 1 / 120, "iterations": 60},
            "verlet": {"dt": 1 / 120, "substeps": 2, "iterations": 12, "solve": "direct"},
        },
        visuals=[
            BodyVisual(model, np.array(colours), STONE), JointVisual(model, 0.012, STEEL, ("distance",)),
            StaticVisual([posts]),
        ],
        camera=Camera((2.6, -7.2, 2.9), (0, 0, 1.05)),
    )  # fmt: skip


def add_deck(model, x, mass):
    """Add the panels of the deck and the banks on both sides.

    Hinges join the panels, and the first panel to the ground. The last panel hangs from the ground and can move along
    the bridge.

    Args: model: a rigid.Model; x: ends of the panels (panels + 1,) [m]; mass: of a panel [kg].

    Returns: indices of the panels.
    """
    gap, panels, before = 0.004, [], rigid.GROUND
    for k, (start, end) in enumerate(zip(x, x[1:])):
        size = end - start - gap, WIDTH, THICK
        panel = model.add_box(
            size, mass=mass, position=((start + end) / 2, 0, LEVEL), friction=0.9, group=DECK, name=f"panel {k}"
        )
        model.add_hinge(before, panel, (start, 0, LEVEL), Y, name=f"deck {k}")
        panels.append(panel)
        before = panel
    for a, b in zip(panels, panels[2:]):
        model.exclude_contact(a, b)
    for side in (-1, 1):
        end = np.array([x[-1], side * WIDTH / 2, LEVEL])
        model.add_distance(rigid.GROUND, before, end + (0, 0, 0.4), end, name=f"end {side}")
    for edge, away in ((x[0], -1), (x[-1], 1)):
        bank = rigid.Box((1.59, 1.6, LEVEL + THICK / 2), centre=(edge + away * 0.8, 0, (LEVEL + THICK / 2) / 2))
        model.add_shape(rigid.GROUND, bank, friction=0.9, mask=1)
    return panels


def add_chain(model, pins, mass, name):
    """Add a chain of links between pins; the ground holds the first and the last. Returns: indices of the links."""
    links, before = [], rigid.GROUND
    damping = rigid.Spring(0.0, 0.5)  # of the pins, so that the bridge comes to rest
    for k, (start, end) in enumerate(zip(pins, pins[1:])):
        along = end - start
        turn = from_axis_angle(Y, -np.arctan2(along[2], along[0]))
        size = np.linalg.norm(along), 0.03, 0.05
        link = model.add_box(
            size, mass=mass, position=(start + end) / 2, rotation=turn, mask=0, name=f"{name} link {k}"
        )
        model.add_hinge(before, link, start, Y, spring=damping, name=f"{name} pin {k}")
        links.append(link)
        before = link
    model.add_ball(rigid.GROUND, before, pins[-1], name=f"{name} pin {len(links)}")
    return links


def add_robot(model, x, mass, speed):
    """Add a robot with four wheels on the left bank. Returns: colours of its bodies."""
    level = LEVEL + THICK / 2 + RADIUS
    chassis = model.add_box((0.7, 0.36, 0.14), mass=mass, position=(x, 0, level + 0.06), name="robot")
    model.add_shape(chassis, rigid.Box((0.4, 0.3, 0.14), centre=(x - 0.06, 0, level + 0.2)), mask=0)
    for end in (1, -1):
        for side in (1, -1):
            add_wheel(model, chassis, (x + 0.22 * end, 0.25 * side, level), speed, 15.0, f"wheel {end} {side}")
    return [GOLD, *[BLUE] * 4]
