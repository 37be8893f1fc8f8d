"""Rotations as unit quaternions (w, x, y, z) in numpy. rigid/rotation.py has more functions."""

import numpy as np

from pbd.core.validate import alike, components, scaled

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def rotate(q, v):
    """Vectors v (..., 3) rotated by unit quaternions q (..., 4)."""
    q, v = alike("q and v", components("q", q, 4), components("v", v, 3))
    t = 2.0 * np.cross(q[..., 1:], v)
    return v + q[..., :1] * t + np.cross(q[..., 1:], t)


def rotation_between(a, b):
    """Unit quaternion (w, x, y, z) of the shortest rotation from direction a (3,) to direction b (3,)."""
    a, b = scaled(a), scaled(b)
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    if a @ b < -1 + 1e-12:  # opposite directions: half a turn about any perpendicular axis
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        return np.concatenate([[0.0], axis / np.linalg.norm(axis)])
    q = np.concatenate([[1 + a @ b], np.cross(a, b)])
    return q / np.linalg.norm(q)
