"""Contacts as users read them: contact points and the forces in them."""

from typing import NamedTuple

import numpy as np

from rigid.collision.data import PAIR, POINT
from rigid.constraints.rows import ROW


class Contacts(NamedTuple):
    """The contact points of one world in the last substep, n of them."""

    bodies: np.ndarray  # (n, 2): bodies a and b; b is -1 for the ground
    points: np.ndarray  # (n, 3): on the surface of a [m]
    normals: np.ndarray  # (n, 3): unit, from b to a
    gaps: np.ndarray  # (n,): at the substep's start, negative for an overlap [m]
    forces: np.ndarray  # (n, 3): on a, friction included [N]


def contact_forces(points, rows, efforts):
    """Make a Contacts.

    Args: points: integers and numbers of n points (rigid/collision/data.py); rows: their rows (n, rows, columns);
    efforts (n, rows): the force along each row [N].
    """
    integers, numbers = points
    along = efforts[..., None] * rows[..., ROW["linear"]]
    return Contacts(
        integers[:, [PAIR.body_a, PAIR.body_b]], numbers[:, POINT["position"]], numbers[:, POINT["normal"]],
        numbers[:, POINT.gap], along.sum(axis=1).astype(float),
    )  # fmt: skip
