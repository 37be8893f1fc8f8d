"""Rotations as unit quaternions (w, x, y, z) in numpy. rigid/rotation.py has more functions."""

import numpy as np

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def scaled(v):
    """Vectors (..., n), each times the power of two that brings its largest component to between a half and one.

    Then squares neither overflow nor vanish, and no other bits change. Zero stays zero.
    """
    v = np.asarray(v, dtype=float)
    _, exponent = np.frexp(np.abs(v).max(axis=-1, keepdims=True))
    return np.ldexp(v, -exponent)


def rotate(q, v):
    """Vectors v (..., 3) rotated by unit quaternions q (..., 4)."""
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
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
