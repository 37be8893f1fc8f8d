"""Rotations as unit quaternions (w, x, y, z) in kernels."""

import taichi as ti


@ti.func
def rotate(q, v):
    """Rotate v (3,) by the unit quaternion q."""
    u = ti.Vector([q[1], q[2], q[3]])
    t = 2.0 * u.cross(v)
    return v + q[0] * t + u.cross(t)


@ti.func
def rotate_back(q, v):
    """Rotate v (3,) by the inverse of the unit quaternion q."""
    return rotate(ti.Vector([q[0], -q[1], -q[2], -q[3]]), v)
