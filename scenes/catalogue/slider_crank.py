"""A crank, a rod and a sliding piston at x = r cos φ + sqrt(l² - r² sin² φ) from the crank's pin."""

import math

import numpy as np

import rigid
from pbd.core.validate import finite_number, positive
from scenes.catalogue.components.linkage import LAYER, SETTINGS, add_bar, add_pin, board, disc, place
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, RED, STEEL, BodyVisual, Camera, StaticVisual, tubes

HEIGHT = 0.5  # of the crank's pin and of the piston [m]


@register(picture=0.7)
def slider_crank(crank: float = 0.14, rod: float = 0.4, piston: float = 1.5, speed: float = 4.0):
    """A crank turns and moves a piston to and fro."""
    for name, value in (("crank", crank), ("rod", rod), ("piston", piston)):
        positive(name, value)
    finite_number("speed", speed)
    if rod <= crank:
        raise ValueError(f"a rod of {rod:g} m on a crank of {crank:g} m cannot go round: expected a longer rod")
    o, a = np.array([0, HEIGHT]), np.array([crank, HEIGHT])
    b = a + (rod, 0)
    model = rigid.Model()
    wheel = add_bar(model, o, a, 1, name="crank")
    model.add_shape(wheel, disc(place(o, 2), crank + 0.03, 0.014), mask=0)
    bar = add_bar(model, a, b, 0, name="rod")
    block = model.add_box((0.12, 0.05, 0.08), mass=piston, position=place(b, 2), mask=0, name="piston")
    add_pin(model, rigid.GROUND, wheel, o, (1, 3), motor=rigid.Motor(speed=speed), name="crank")
    add_pin(model, wheel, bar, a, (0, 1), name="crank and rod")
    model.add_slider(rigid.GROUND, block, None, (1, 0, 0), name="piston")
    add_pin(model, bar, block, b, (0, 2), name="rod and piston")
    ends = np.array([[rod - crank - 0.1, 2 * LAYER, HEIGHT], [rod + crank + 0.1, 2 * LAYER, HEIGHT]])
    rails = [ends + (0, 0.02, side * 0.05) for side in (-1, 1)]
    return Scene(
        model=model,
        duration=3 * 2 * math.pi / max(abs(speed), 0.1),
        settings=SETTINGS,
        visuals=[
            BodyVisual(model, np.array([RED, GOLD, BLUE])),
            board((-crank - 0.1, HEIGHT - crank - 0.1), (rod + crank + 0.16, HEIGHT + crank + 0.1), 4),
            StaticVisual([tubes(*np.swapaxes(rails, 0, 1), 0.012, STEEL)]),
        ],
        camera=Camera((0.7, -1.5, 0.95), (0.24, 0, 0.42)),
    )
