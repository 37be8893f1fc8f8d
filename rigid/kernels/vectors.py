"""Vectors and quaternions in the columns of arrays (worlds, rows, columns), in kernels.

The world is the first axis, so that the numbers that one thread reads are adjacent in memory. With the world as the
last axis, as in the arrays of particles, a chain of five took 14 µs a step instead of 11.
"""

import taichi as ti


@ti.func
def load_vector(array: ti.template(), row, column, world):
    """Three columns of a row, as a vector."""
    return ti.Vector([array[world, row, column + k] for k in ti.static(range(3))])


@ti.func
def load_quaternion(array: ti.template(), row, column, world):
    """Four columns of a row, as a quaternion."""
    return ti.Vector([array[world, row, column + k] for k in ti.static(range(4))])


@ti.func
def store_vector(array: ti.template(), row, column, v, world):
    """Write a vector into three columns of a row."""
    for k in ti.static(range(3)):
        array[world, row, column + k] = v[k]


@ti.func
def store_quaternion(array: ti.template(), row, column, q, world):
    """Write a quaternion into four columns of a row."""
    for k in ti.static(range(4)):
        array[world, row, column + k] = q[k]


@ti.func
def axis(k: ti.template()):
    """The unit vector along the world's x, y or z."""
    return ti.Vector([1.0 if i == k else 0.0 for i in ti.static(range(3))])
