"""Parameters of constraints at rest, computed from the described positions. Plain numpy."""

import math

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import finite_array, indices, spread


def dihedral_angle(corners):
    """Angle between two triangles across their common edge, zero when flat.

    Args: corners: (n, 4, 3) positions [m] of the edge's ends and of the two opposite corners.

    Returns: (n,) [rad].
    """
    x0, x1, x2, x3 = np.moveaxis(corners, 1, 0)
    edge = x1 - x0
    n1, n2 = np.cross(x0 - x2, x1 - x2), np.cross(x1 - x3, x0 - x3)
    # 1e-30 as in the kernel: a triangle without area counts as flat.
    along = np.einsum("ij,ij->i", np.cross(n1, n2), edge) / (np.linalg.norm(edge, axis=1) + 1e-30)
    return np.arctan2(along, np.einsum("ij,ij->i", n1, n2))


def flat_bending_coefficients(edges, positions):
    """Parameters of flat bending, see pbd/constraints/flat_bending.py.

    Args: edges: (n, 4) indices of the edge's ends and of the opposite corners; positions: (particles, 3) [m].

    Returns: {"k0": (n,), ... "k3": (n,)} [1/m].

    Raises: ValueError for a triangle without area.
    """
    x0, x1, x2, x3 = np.moveaxis(positions[edges], 1, 0)
    edge = x1 - x0
    coefficients = np.zeros((4, len(edges)))
    with np.errstate(invalid="ignore", divide="ignore"):
        for k, corner in ((2, x2), (3, x3)):
            part = ((corner - x0) * edge).sum(axis=1) / (edge**2).sum(axis=1)
            height = np.linalg.norm(corner - x0 - part[:, None] * edge, axis=1)
            coefficients[[0, 1, k]] += np.array([part - 1, -part, np.ones_like(part)]) / height
    if not np.isfinite(coefficients).all():
        without = edges[~np.isfinite(coefficients).all(axis=0)][0]
        raise ValueError(f"flat bending of {shown(without)}: expected triangles with some area")
    return {f"k{k}": column for k, column in enumerate(coefficients)}


def signed_volumes(tetrahedra, positions):
    """Volumes of tetrahedra. Args: tetrahedra: (n, 4) indices; positions: (particles, 3) [m]. Returns: (n,) [m³]."""
    corner = positions[tetrahedra]
    return np.linalg.det(corner[:, 1:] - corner[:, :1]) / 6


def tear_limits(tear, lengths):
    """Distances at which sticks tear (n,) [m]. Args: tear: ratio to the length, for all or one each; lengths (n,) [m].

    Raises: ValueError for a ratio that is not above one, or a stick without length.
    """
    expected = "more than one, the ratio to a stick's length"
    tear = spread("tear", tear, lengths.shape, allowed=lambda ratio: ratio > 1, expected=expected)
    if not lengths.all():
        raise ValueError("tear of a stick of length zero: expected some length")
    return tear * lengths


def yield_angles(yield_angle, count):
    """Yield angles of hinges (count,) [rad]. Args: yield_angle: for all or one each.

    Raises: ValueError for one that is not between 0 and π.
    """

    def allowed(angle):
        return (angle > 0) & (angle < math.pi)

    return spread("yield_angle", yield_angle, (count,), allowed=allowed, expected="above 0 and below π")


def attachment_coefficients(particles, weights, to, to_weights, particle_count):
    """Members and coefficients of an attachment, see pbd/constraints/attachment.py.

    Args: particles, weights: of the first point; to, to_weights: of the second; particle_count: in the description.

    Returns: members (n,), coefficients {"c0": number, ...}.

    Raises: ValueError for weights that do not sum to one, or more than eight particles.
    """
    sides = []
    given = ("particles", particles, "weights", weights), ("to", to, "to_weights", to_weights)
    for what, members, name, coefficients in given:
        members = indices(f"{what} of an attachment", members, particle_count)
        coefficients = finite_array(f"{name} of {what}", coefficients, (len(members),))
        if abs(coefficients.sum() - 1) > 1e-9:
            raise ValueError(f"{name} sum to {coefficients.sum():g}: expected 1")
        sides.append((members, coefficients))
    (p, a), (q, b) = sides
    members, coefficients = np.concatenate([p, q]), np.concatenate([a, -b])
    if len(set(members.tolist())) < len(members):
        raise ValueError(f"particles and to of an attachment are {shown(members)}: expected different ones")
    if len(members) > 8:
        raise ValueError(f"attachment of {len(members)} particles: expected at most 8")
    return members, {f"c{k}": coefficient for k, coefficient in enumerate(coefficients)}
