"""Rotations as unit quaternions (w, x, y, z), on numpy arrays of any leading shape.

A quaternion q turns a vector v into q v q*; multiply(a, b) turns by b first, then by a, as matrices on columns do. q
and -q are one rotation. A triad is three unit vectors n0, n1, n2 as the rows of a matrix (3, 3), right-handed; the
matrix that takes x, y, z to them is its transpose.
"""

import numpy as np

from pbd.core.rotation import IDENTITY, rotate
from pbd.core.validate import finite_array


def normalised(q):
    """Quaternions (..., 4) scaled to length one."""
    q = np.asarray(q, dtype=float)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def multiply(a, b):
    """The product a b (..., 4): the rotation by b, then by a. Arguments: a, b (..., 4)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    scalar = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(axis=-1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([scalar, vector], axis=-1)


def conjugate(q):
    """The inverse rotation (..., 4) of unit quaternions (..., 4)."""
    return np.asarray(q, dtype=float) * (1.0, -1.0, -1.0, -1.0)


def rotate_back(q, v):
    """Vectors v (..., 3) turned by the inverses of unit quaternions q (..., 4)."""
    return rotate(conjugate(q), v)


def to_matrix(q):
    """Matrices (..., 3, 3) of unit quaternions (..., 4); they act on columns."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(matrix):
    """Unit quaternions (..., 4) with w >= 0 of rotation matrices (..., 3, 3).

    Raises: ValueError where a matrix is off a rotation by more than 1e-6, or mirrors.

    Source: Shepperd, Quaternion from Rotation Matrix (1978): divide by the largest of the four components.
    """
    R = np.asarray(matrix, dtype=float)
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    if not off < 1e-6 or (np.linalg.det(R) < 0).any():
        raise ValueError(f"matrix is off a rotation by {off:g}: expected orthonormal columns, right-handed")
    trace = np.trace(R, axis1=-2, axis2=-1)
    # The symmetric matrix 4 q qᵀ; each of its rows is q times a number.
    outer = np.empty((*R.shape[:-2], 4, 4))
    outer[..., 0, 0] = 1 + trace
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        outer[..., k + 1, k + 1] = 1 + 2 * R[..., k, k] - trace
        outer[..., 0, k + 1] = outer[..., k + 1, 0] = R[..., j, i] - R[..., i, j]
        outer[..., i + 1, j + 1] = outer[..., j + 1, i + 1] = R[..., i, j] + R[..., j, i]
    largest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    q = normalised(np.take_along_axis(outer, largest[..., None, None], axis=-2)[..., 0, :])
    return np.where(q[..., :1] < 0, -q, q)


def exponential(rotation_vector):
    """Unit quaternions (..., 4) of rotation vectors (..., 3): axis times angle [rad]."""
    v = np.asarray(rotation_vector, dtype=float)
    half = np.linalg.norm(v, axis=-1, keepdims=True) / 2
    return np.concatenate([np.cos(half), v / 2 * np.sinc(half / np.pi)], axis=-1)


def logarithm(q):
    """Rotation vectors (..., 3) [rad] of unit quaternions (..., 4), the shorter way round: no longer than π."""
    q = np.asarray(q, dtype=float)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    # The angle over its half's sine goes to 2 where both go to zero.
    factor = 2 * np.arctan2(sine, q[..., :1]) / np.where(sine > 0, sine, 1.0)
    return np.where(sine > 0, factor, 2.0) * q[..., 1:]


def from_axis_angle(axis, angle):
    """Unit quaternions (..., 4) of turns about axes, right-handed.

    Arguments: axis (..., 3), of any length but zero; angle (...) [rad]. Raises: ValueError for an axis of length zero.
    """
    axis = np.asarray(axis, dtype=float)
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    if not (length > 0).all():
        raise ValueError("axis is (0, 0, 0): expected a direction")
    half = np.asarray(angle, dtype=float)[..., None] / 2
    scalar, vector = np.broadcast_arrays(np.cos(half), np.sin(half) * (axis / length))
    return np.concatenate([scalar[..., :1], vector], axis=-1)


def swing_twist(q, axis):
    """Unit quaternions as a twist about an axis and then a swing about one at a right angle to it: q = swing twist.

    Arguments: q (..., 4); axis (..., 3) of length one.

    Returns: swing (..., 4) and twist (..., 4), w >= 0 in both. The swing's angle is the one between the axis and where
    q takes it; at a swing of π any twist would do, and none is taken.

    Source: Dobrowolski, Swing-twist decomposition in Clifford algebra (2015).
    """
    q, axis = np.asarray(q, dtype=float), np.asarray(axis, dtype=float)
    along = (q[..., 1:] * axis).sum(axis=-1, keepdims=True)
    twist = np.concatenate([q[..., :1], along * axis], axis=-1)
    length = np.linalg.norm(twist, axis=-1, keepdims=True)
    none = length < 1e-15  # round-off, of which no direction is to be taken
    twist = np.where(none, IDENTITY, twist / np.where(none, 1.0, length))
    twist = np.where(twist[..., :1] < 0, -twist, twist)
    swing = multiply(q, conjugate(twist))
    return np.where(swing[..., :1] < 0, -swing, swing), twist


def swing_twist_angles(q, axis):
    """Swing angle in [0, π] and twist angle in [-π, π] (...) [rad]. Arguments: as for swing_twist."""
    swing, twist = swing_twist(q, axis)
    swing_angle = 2 * np.arctan2(np.linalg.norm(swing[..., 1:], axis=-1), swing[..., 0])
    return swing_angle, 2 * np.arctan2((twist[..., 1:] * axis).sum(axis=-1), twist[..., 0])


def triad(axis):
    """A right-handed triad (3, 3) of rows n0, n1, n2 whose n0 is the axis (3,) scaled to length one.

    n1 is at a right angle to the world axis that lies furthest from n0 (of equals the first).
    """
    n0 = finite_array("axis", axis, (3,))
    n0 = n0 / np.linalg.norm(n0)
    n1 = np.cross(n0, np.eye(3)[np.argmin(np.abs(n0))])
    n1 /= np.linalg.norm(n1)
    return np.stack([n0, n1, np.cross(n0, n1)])


def between_triads(a, b):
    """The rotations (..., 4) that take triads a to triads b, row by row. Arguments: a, b (..., 3, 3), of rows."""
    return from_matrix(np.swapaxes(np.asarray(b, float), -1, -2) @ np.asarray(a, float))
