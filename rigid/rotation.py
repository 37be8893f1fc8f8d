"""Rotations as unit quaternions (w, x, y, z), on numpy arrays of any leading shape.

A quaternion q rotates a vector v to q v q*. multiply(a, b) rotates by b first and then by a, like matrices that act on
columns. q and -q are the same rotation. Frame axes are three unit vectors n0, n1, n2, right-handed, as the rows of a
matrix (3, 3); the matrix that rotates x, y, z to them is its transpose.
"""

import numpy as np

from pbd.core.rotation import IDENTITY, rotate
from pbd.core.validate import alike, components, scaled, unit_vector


def normalised(q):
    """Scale quaternions (..., 4), or other vectors, to length one."""
    q = components("q", q, None)
    if not q.ndim or not q.shape[-1]:
        raise ValueError(f"q has shape {q.shape}: expected (..., 4)")
    q = scaled(q)
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if not length.all():
        raise ValueError("q is zero: expected a rotation (w, x, y, z)")
    return q / length


def multiply(a, b):
    """Product a b (..., 4): the rotation by b, then by a. Args: a, b: (..., 4)."""
    a, b = alike("a and b", components("a", a, 4), components("b", b, 4))
    scalar = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(axis=-1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([scalar, vector], axis=-1)


def conjugate(q):
    """Inverse rotations (..., 4) of unit quaternions (..., 4)."""
    return components("q", q, 4) * (1.0, -1.0, -1.0, -1.0)


def rotate_back(q, v):
    """Rotate vectors v (..., 3) by the inverses of unit quaternions q (..., 4)."""
    return rotate(conjugate(q), v)


def to_matrix(q):
    """Matrices (..., 3, 3), acting on columns, of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(components("q", q, 4), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(matrix):
    """Unit quaternions (..., 4) with w >= 0 of rotation matrices (..., 3, 3).

    Raises: ValueError if a matrix differs from a rotation by more than 1e-6, or is a reflection.

    Source: Shepperd, Quaternion from Rotation Matrix (1978), https://doi.org/10.2514/3.55767b: divide by the largest of
    the four components.
    """
    R = components("matrix", matrix, 3)
    if R.ndim < 2 or R.shape[-2] != 3:
        raise ValueError(f"matrix has shape {R.shape}: expected (..., 3, 3)")
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    if not off < 1e-6:
        raise ValueError(f"matrix differs from a rotation by {off:g}: expected orthonormal columns")
    if (np.linalg.det(R) < 0).any():
        raise ValueError("matrix is a reflection: expected right-handed columns")
    trace = np.trace(R, axis1=-2, axis2=-1)
    # The symmetric matrix 4 q qᵀ. Each of its rows is a multiple of q.
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
    v = components("rotation_vector", rotation_vector, 3)
    half = np.linalg.norm(v, axis=-1, keepdims=True) / 2
    return np.concatenate([np.cos(half), v / 2 * np.sinc(half / np.pi)], axis=-1)


def logarithm(q):
    """Rotation vectors (..., 3) of unit quaternions (..., 4), at most π long [rad]."""
    q = components("q", q, 4)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    # The angle divided by the sine of its half approaches 2 as both approach zero.
    factor = 2 * np.arctan2(sine, q[..., :1]) / np.where(sine > 0, sine, 1.0)
    return np.where(sine > 0, factor, 2.0) * q[..., 1:]


def from_axis_angle(axis, angle):
    """Unit quaternions (..., 4) of rotations about axes, right-handed.

    Args: axis: (..., 3), of any length but zero; angle: (...) [rad].

    Raises: ValueError for an axis of length zero.
    """
    axis, angle = alike("axis and angle", components("axis", axis, 3), components("angle", angle, None)[..., None])
    axis = scaled(axis)
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    if not (length > 0).all():
        raise ValueError("axis is (0, 0, 0): expected a direction")
    half = angle / 2
    scalar, vector = np.broadcast_arrays(np.cos(half), np.sin(half) * (axis / length))
    return np.concatenate([scalar[..., :1], vector], axis=-1)


def swing_twist(q, axis):
    """Split rotations into a twist about an axis, then a swing about an axis at a right angle to it: q = swing twist.

    Args: q: (..., 4); axis: (..., 3) of length one.

    Returns: swing (..., 4) and twist (..., 4), both with w >= 0. The swing angle is the angle between the axis and the
    rotated axis. At a swing angle of π the twist is not determined; it is set to zero.

    Source: Dobrowolski, Swing-twist decomposition in Clifford algebra (2015), https://arxiv.org/abs/1506.05481.
    """
    q, axis = alike("q and axis", components("q", q, 4), components("axis", axis, 3))
    along = (q[..., 1:] * axis).sum(axis=-1, keepdims=True)
    twist = np.concatenate([np.broadcast_to(q[..., :1], along.shape), along * axis], axis=-1)
    length = np.linalg.norm(twist, axis=-1, keepdims=True)
    none = length < 1e-15  # round-off, which has no direction
    twist = np.where(none, IDENTITY, twist / np.where(none, 1.0, length))
    twist = np.where(twist[..., :1] < 0, -twist, twist)
    swing = multiply(q, conjugate(twist))
    return np.where(swing[..., :1] < 0, -swing, swing), twist


def swing_twist_angles(q, axis):
    """Swing angles in [0, π] and twist angles in [-π, π] (...) [rad]. Args: see swing_twist."""
    swing, twist = swing_twist(q, axis)
    axis = components("axis", axis, 3)
    swing_angle = 2 * np.arctan2(np.linalg.norm(swing[..., 1:], axis=-1), swing[..., 0])
    return swing_angle, 2 * np.arctan2((twist[..., 1:] * axis).sum(axis=-1), twist[..., 0])


def frame_axes(axis):
    """Right-handed frame axes n0, n1, n2 as rows (3, 3), with n0 along the axis (3,).

    n1 is at a right angle to the coordinate axis that is farthest from n0, the first of equal ones.
    """
    n0 = unit_vector("axis", axis)
    n1 = np.cross(n0, np.eye(3)[np.argmin(np.abs(n0))])
    n1 /= np.linalg.norm(n1)
    return np.stack([n0, n1, np.cross(n0, n1)])


def between_axes(a, b):
    """Rotations (..., 4) that take the frame axes a to the frame axes b, row by row. Args: a, b: (..., 3, 3)."""
    a, b = components("a", a, 3), components("b", b, 3)
    for name, axes in (("a", a), ("b", b)):
        if axes.ndim < 2 or axes.shape[-2] != 3:
            raise ValueError(f"{name} has shape {axes.shape}: expected (..., 3, 3)")
    alike("a and b", a[..., 0], b[..., 0])
    try:
        return from_matrix(np.swapaxes(b, -1, -2) @ a)
    except ValueError as error:
        raise ValueError(f"a and b are no frame axes: {error}") from None
