"""Columns and arrays of sequential impulses."""

from typing import Any, NamedTuple

import numpy as np

from rigid.collision.data import array
from rigid.constraints.rows import OWN

# Columns of a row: its row of the inverse of its group's matrix J M⁻¹ Jᵀ + γ (six at most; of a group that is clamped
# the first is of the row alone); γ of J V + b + γ λ = 0; b, and behind it b' of J V' + b' = 0; λ, and behind it λ'
# [N s]; what is left of the equation. From BEYOND on a solver's.
INVERSE, SOFTNESS, BIAS, IMPULSE, RESIDUAL = (OWN + k for k in (0, 6, 7, 9, 11))
BEYOND = RESIDUAL + 1


class Kept(NamedTuple):
    """Impulses of contacts from the last step, found again by their shapes and feature, and the order of the next."""

    impulses: Any  # (W, capacity, 6 or 9): in the world [N s], where it acted [m], and a moment [N m s]
    keys: Any  # (W, capacity, 3) i32: the other shape, the feature, the next one of the same shape
    heads: Any  # (shapes, W) i32: the first one of each shape, -1 for none
    turns: Any  # (W,) i32: 1 where the next step takes contacts the last first


def kept(worlds, capacity, shapes, turning=False):
    """Room for the impulses of so many contacts of so many shapes, with a moment or without: a Kept."""
    return Kept(
        array(np.zeros((worlds, capacity, 9 if turning else 6))),
        array(np.zeros((worlds, capacity, 3), np.int32)),
        array(np.full((max(shapes, 1), worlds), -1, np.int32)),
        array(np.zeros(worlds, np.int32)),
    )
