"""Vectors in kernels."""

import taichi as ti


@ti.func
def tangent(n, steep: ti.template()):
    """A unit vector at a right angle to the unit vector n; always the same for the same n.

    Args: n; steep: the vector is also at a right angle to the x-axis, unless |n_x| is greater than this. Then it is at
    a right angle to the y-axis.
    """
    t = ti.Vector([0.0, n[2], -n[1]])
    if ti.abs(n[0]) > steep:
        t = ti.Vector([-n[2], 0.0, n[0]])
    return t / t.norm()


@ti.func
def axis(k: ti.template()):
    """The unit vector along the world's x, y or z."""
    return ti.Vector([1.0 if i == k else 0.0 for i in ti.static(range(3))])
