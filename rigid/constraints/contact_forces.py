"""Contacts as a person reads them: where bodies touch, and with what force."""

from typing import NamedTuple

import numpy as np

from rigid.collision.data import PAIR, POINT
from rigid.constraints.rows import DIRECTION


class Contacts(NamedTuple):
    """Points of contact of the last substep, n of them in the world asked for.

    bodies (n, 2), the second -1 for the ground; points (n, 3) on the first [m]; normals (n, 3) from the second to the
    first; gaps (n,) [m] at the substep's start; forces (n, 3) on the first, friction included [N].
    """

    bodies: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    forces: np.ndarray


def contact_forces(points, rows, efforts):
    """Points of contact and the forces in them: a Contacts.

    Arguments: points: integers and numbers of n points (rigid/collision/data.py); rows: numbers of their rows (n, rows,
    columns); efforts (n, rows): the force along each [N].
    """
    integers, numbers = points
    along = efforts[..., None] * rows[..., DIRECTION : DIRECTION + 3]
    return Contacts(
        integers[:, [PAIR.body_a, PAIR.body_b]], numbers[:, POINT["position"]], numbers[:, POINT["normal"]],
        numbers[:, POINT.gap], along.sum(axis=1).astype(float),
    )  # fmt: skip
