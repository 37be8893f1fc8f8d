"""A house of cards that lean on one another."""

import math

import numpy as np

import rigid
from pbd.core.validate import not_negative, whole
from rigid.rotation import from_axis_angle
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, RED, BodyVisual, Camera

LONG, WIDE, THICK = 0.8, 0.55, 0.02  # of a card [m]


@register(small={"levels": 2}, picture=0.1)
def card_house(levels: int = 3, friction: float = 0.8, strike: float = 0.0):
    """A house of cards stands; --param strike=5 throws a ball at it [m/s]."""
    whole("levels", levels), not_negative("strike", strike)
    model, colours = rigid.Model(), []
    model.add_ground(friction=friction)
    # Two cards lean on one another at their upper edges. The angle a is such that a card spans the middles of two
    # pairs, with a gap of 1 mm: 2 (l sin a + t cos a) = l + 1 mm.
    lean = 0.4
    for _ in range(20):
        lean = math.asin((LONG + 1e-3 - 2 * THICK * math.cos(lean)) / (2 * LONG))
    pitch = 2 * (LONG * math.sin(lean) + THICK * math.cos(lean))
    pair_height, storey = THICK * math.sin(lean) + LONG * math.cos(lean), 0.0
    lean_back = {-1: from_axis_angle((0, 1, 0), lean), 1: from_axis_angle((0, 1, 0), -lean)}

    def card(size, colour, **placed):
        model.add_box(size, density=300.0, friction=friction, **placed)
        colours.append(colour)

    for level in range(levels):
        for k in range(levels - level):
            x = pitch * (k - (levels - level - 1) / 2)
            for side in (-1, 1):
                place = (x + side * pitch / 4, 0, storey + pair_height / 2)
                colour = RED if (k + level) % 2 else CHALK
                card((THICK, WIDE, LONG), colour, position=place, rotation=lean_back[side])
        for k in range(levels - level - 1):
            x = pitch * (k - (levels - level - 2) / 2)
            card((LONG, WIDE, THICK), GOLD, position=(x, 0, storey + pair_height + THICK / 2))
        storey += pair_height + THICK
    if strike:
        at, start = np.array([-0.2, 0, 0.5 * storey]), np.array([-2.6, -2.2, 0.5 * storey])
        flight = np.linalg.norm((at - start)[:2]) / strike
        velocity = (at - start) / flight - 0.5 * model.gravity * flight
        model.add_sphere(0.14, density=400.0, position=start, velocity=velocity, friction=friction, name="ball")
        colours.append(BLUE)
    return Scene(
        model=model,
        duration=5.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 30},
            "verlet": {"dt": 1 / 60, "substeps": 10, "iterations": 30, "solve": "iterative"},
        },
        visuals=[BodyVisual(model, np.array(colours))],
        camera=Camera((0.8 * storey, -1.9 * storey, 0.95 * storey), (0, 0, 0.45 * storey)),
    )
