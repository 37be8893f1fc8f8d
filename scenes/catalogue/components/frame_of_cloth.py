"""A frame for a square cloth that is pinned at its border: a hoop to draw, and four legs."""

import numpy as np

import pbd
import rigid


def hoop(sheet, count):
    """Sticks along the border of a cloth (n, 2). Args: sheet: a Cloth of count x count particles."""
    rows = sheet.particles.reshape(count, count)
    border = np.concatenate([rows[0], rows[1:, -1], rows[-1, -2::-1], rows[-2:0:-1, 0]])
    return np.stack([border, np.roll(border, -1)], axis=1)


def add_legs(model, side, level):
    """Add legs to a model, as shapes of the ground, below each corner. Args: side, level: of the cloth [m]."""
    reach = side / 2 + 0.02
    for x in (-reach, reach):
        for y in (-reach, reach):
            model.add_shape(rigid.GROUND, pbd.Capsule(0.03, start=(x, y, 0.03), end=(x, y, level - 0.05)))
