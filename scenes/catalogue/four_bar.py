"""A four-bar linkage: crank, coupler, rocker, and the ground.

The lengths a (crank), b (coupler), c (rocker) and d (ground) close the loop a e^{iφ} + b e^{iβ} = d + c e^{iψ}, which
gives the rocker's angle ψ for the crank's angle φ (Freudenstein 1954). Grashof: the crank turns fully if it is the
shortest bar, and it and the longest bar together are no longer than the other two.
"""

import math

import numpy as np

import rigid
from pbd.core.validate import finite_number, positive
from scenes.catalogue.components.linkage import SETTINGS, add_bar, add_pin, board, crossing, disc, place
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, RED, BodyVisual, Camera

HEIGHT = 0.55  # of the two pins on the ground [m]


@register(picture=0.9)
def four_bar(crank: float = 0.14, coupler: float = 0.4, rocker: float = 0.3, ground: float = 0.42, speed: float = 3.0):
    """A crank turns and moves a rocker to and fro."""
    lengths = {"crank": crank, "coupler": coupler, "rocker": rocker, "ground": ground}
    for name, length in lengths.items():
        positive(name, length)
    finite_number("speed", speed)
    others = sorted((coupler, rocker, ground))
    if crank > others[0] or crank + others[2] > others[0] + others[1]:
        raise ValueError(f"a crank of {crank:g} m cannot go round: expected the shortest bar, and with the longest no "
                         f"longer than the other two together")  # fmt: skip
    o, q = np.array([0, HEIGHT]), np.array([ground, HEIGHT])
    a = o + (0, crank)
    b = crossing(a, q, coupler, rocker)
    model = rigid.Model()
    bars = (
        add_bar(model, o, a, 1, name="crank"),
        add_bar(model, a, b, 0, name="coupler"),
        add_bar(model, q, b, 1, name="rocker"),
    )
    model.add_shape(bars[0], disc(place(o, 2), 0.07, 0.014), mask=0)
    add_pin(model, rigid.GROUND, bars[0], o, (1, 3), motor=rigid.Motor(speed=speed), name="crank")
    add_pin(model, rigid.GROUND, bars[2], q, (1, 3), name="rocker")
    add_pin(model, bars[0], bars[1], a, (0, 1), name="crank and coupler")
    add_pin(model, bars[1], bars[2], b, (0, 1), name="coupler and rocker")
    reach = crank + 0.1
    return Scene(
        model=model,
        duration=3 * 2 * math.pi / max(abs(speed), 0.1),
        settings=SETTINGS,
        visuals=[
            BodyVisual(model, np.array([RED, GOLD, BLUE])),
            board((-reach, HEIGHT - 0.2), (ground + rocker, HEIGHT + rocker + 0.12), 3),
        ],
        camera=Camera((0.65, -1.85, 1.0), (0.24, 0, 0.5)),
    )
