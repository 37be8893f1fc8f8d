"""Vectors in kernels."""

import taichi as ti


@ti.func
def length_or_huge(v):
    """|v|, or 1e30 if it is zero. So v / length_or_huge(v) is a unit vector or zero, also in 32 bits.

    There the square of what is shorter than 1e-22 is zero, and v / (|v| + 1e-30) may be as long as 1e8.
    """
    length = v.norm()
    return ti.select(length > 0.0, length, 1e30)


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


@ti.func
def row(x, k: ti.template()):
    """Row k of a matrix (n, 3)."""
    return ti.Vector([x[k, 0], x[k, 1], x[k, 2]])


@ti.func
def one_hot(k):
    """The vector (4,) that is one at k and zero elsewhere."""
    return ti.Vector([ti.select(k == each, 1.0, 0.0) for each in ti.static(range(4))])


# Taichi 1.7.4 compiles no index of a vector that is known at run time only, in nested loops on Vulkan. Hence these two.


@ti.func
def component(x, k):
    """Component k of the vector x (3,), for a k that is known at run time only."""
    return ti.select(k == 0, x[0], ti.select(k == 1, x[1], x[2]))


@ti.func
def with_component(x, k, value):
    """The vector x (3,) with another component k, for a k that is known at run time only."""
    return ti.Vector([ti.select(k == each, value, x[each]) for each in ti.static(range(3))])
