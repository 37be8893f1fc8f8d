"""Rotations as unit quaternions (w, x, y, z) in numpy. rigid/rotation.py has more functions."""

import numpy as np

from pbd.core.validate import alike, components, scaled

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
NEXT, LAST = (1, 2, 0), (2, 0, 1)  # components of a cross product


def rotate(q, v):
    """Vectors v (..., 3) rotated by unit quaternions q (..., 4)."""
    q, v = alike("q and v", components("q", q, 4), components("v", v, 3))
    t = 2.0 * cross(q[..., 1:], v)
    return v + q[..., :1] * t + cross(q[..., 1:], t)


def cross(a, b):
    """Cross products (..., 3) of a and b (..., 3): the bits of np.cross, which takes three times as long for few."""
    return a.take(NEXT, -1) * b.take(LAST, -1) - a.take(LAST, -1) * b.take(NEXT, -1)


def rotation_between(a, b):
    """Unit quaternion (w, x, y, z) of the shortest rotation from direction a (3,) to direction b (3,)."""
    a, b = scaled(a), scaled(b)
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    if a @ b < -1 + 1e-12:  # opposite directions: half a turn about any perpendicular axis
        axis = cross(a, np.eye(3)[np.argmin(np.abs(a))])
        return np.concatenate([[0.0], axis / np.linalg.norm(axis)])
    q = np.concatenate([[1 + a @ b], cross(a, b)])
    return q / np.linalg.norm(q)
