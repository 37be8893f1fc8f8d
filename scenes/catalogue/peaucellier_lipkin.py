"""The Peaucellier-Lipkin linkage: seven bars and ten hinges that turn a circle into a straight line.

O and C are fixed, `ground` apart. B turns about C on a circle through O. Two long bars of length L connect O with A and
D. Four short bars of length l form the rhombus A B D P. They keep O, B and P in line with |OB| |OP| = L² - l². P is
therefore the inverse of B, and it moves on a straight line at a distance of (L² - l²)/(2 ground) = 0.525 m from O.

In space the ten hinges have 50 rows, and nine of them are redundant: three for each loop, which closes in its plane
without them. With --param redundant=no, three hinges are universal joints and three are ball joints, and no row is
redundant.
"""

import math

import numpy as np

import rigid
from pbd.core.validate import positive
from scenes.catalogue.components.linkage import (
    add_bar,
    add_loose_pin,
    add_pin,
    add_round_pin,
    board,
    crossing,
    disc,
    place,
)
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, RED, WOOD, BodyVisual, Camera, StaticVisual, tubes

HEIGHT = 0.62  # of O and C [m]


@register(picture=1.5)
def peaucellier_lipkin(long: float = 0.5, short: float = 0.2, ground: float = 0.2, speed: float = 0.5,
                       reach: float = 60.0, redundant: bool = True):  # fmt: skip
    """A linkage turns the rotation of a crank into a straight line."""
    for name, value in (("long", long), ("short", short), ("ground", ground), ("speed", speed), ("reach", reach)):
        positive(name, value)
    # O, B and P are in line, so the rhombus closes if l > |OP - OB|/2.
    nearest = 2 * ground * math.cos(math.radians(reach) / 2)
    if reach >= 180 or nearest <= long - short or 2 * ground >= long + short:
        raise ValueError("the linkage cannot reach that far: expected long - short < OB < long + short")
    o, c, b = (np.array([x, HEIGHT]) for x in (0.0, ground, 2 * ground))
    a = crossing(o, b, long, short)
    d = a * (1, -1) + (0, 2 * HEIGHT)
    p = o + ((long**2 - short**2) / (2 * ground), 0)
    model = rigid.Model()
    crank = add_bar(model, c, b, 1, name="crank")
    upper, lower = add_bar(model, o, a, 0, name="upper long bar"), add_bar(model, o, d, 1, name="lower long bar")
    a_b, a_p = add_bar(model, a, b, 2, name="bar A B"), add_bar(model, a, p, 1, name="bar A P")
    d_b, d_p = add_bar(model, d, b, 0, name="bar D B"), add_bar(model, d, p, 2, name="bar D P")
    motor = rigid.Motor(speed=0.0)
    along, closing = (add_pin, add_pin) if redundant else (add_loose_pin, add_round_pin)
    add_pin(model, rigid.GROUND, crank, c, (1, 4), motor=motor, name="crank")
    add_pin(model, rigid.GROUND, upper, o, (0, 4), name="O upper")
    add_pin(model, rigid.GROUND, lower, o, (1, 4), name="O lower")
    along(model, upper, a_b, a, (0, 2), name="A B")
    add_pin(model, upper, a_p, a, (0, 2), name="A P")
    along(model, lower, d_b, d, (0, 2), name="D B")
    along(model, lower, d_p, d, (0, 2), name="D P")
    # The joints that close the three loops.
    closing(model, crank, a_b, b, (0, 2), name="B upper")
    closing(model, crank, d_b, b, (0, 2), name="B lower")
    closing(model, a_p, d_p, p, (1, 2), name="P")
    model.add_shape(d_p, disc(place(p, 2), 0.026, 0.02), mask=0)

    quarter = math.radians(reach) / speed  # of the crank, to and fro [s]

    def control(solver, time):
        solver.set_motor("crank", speed=speed if (time + quarter) % (4 * quarter) < 2 * quarter else -speed)

    end = p[0] * math.tan(math.radians(reach) / 2)
    rail = tubes([place(p - (0, end), 4)], [place(p + (0, end), 4)], 0.006, WOOD)
    mounting = board(o - (0.12, end + 0.12), (p[0] + 0.15, HEIGHT + end + 0.12), 4)
    return Scene(
        model=model,
        duration=4 * quarter,
        settings={
            "impulse": {"dt": 0.01, "iterations": 2300, "tolerance": 1e-6},
            "verlet": {"dt": 0.01, "iterations": 4, "solve": "direct"},
        },
        visuals=[
            BodyVisual(model, np.array([RED, BLUE, BLUE, GOLD, GOLD, GOLD, GOLD])), mounting, StaticVisual([rail]),
        ],
        camera=Camera((0.75, -1.9, 1.05), (0.27, 0, 0.56)),
        control=control,
    )
