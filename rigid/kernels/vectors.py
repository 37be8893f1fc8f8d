"""Vectors and quaternions in the columns of arrays (worlds, rows, columns), in kernels.

The world is the first axis, so that the numbers that one thread reads are adjacent in memory. With the world as the
last axis, as in the arrays of particles, a chain of five took 14 µs a step instead of 11.
"""

import taichi as ti
from taichi.lang import impl, matrix

from pbd.core.lanes.values import in_taichi, once
from pbd.core.plain import Vector, stands_in
from pbd.core.reading.vector_methods import component


@in_taichi
def load_vector(array, row, column, world):
    """Three columns of a row, as a vector."""
    return matrix.make_matrix(places(array, row, column, world, 3))


@in_taichi
def load_quaternion(array, row, column, world):
    """Four columns of a row, as a quaternion."""
    return matrix.make_matrix(places(array, row, column, world, 4))


@in_taichi
def store_vector(array, row, column, v, world):
    """Write a vector into three columns of a row."""
    store(places(array, row, column, world, 3), v)


@in_taichi
def store_quaternion(array, row, column, q, world):
    """Write a quaternion into four columns of a row."""
    store(places(array, row, column, world, 4), q)


def places(array, row, column, world, width):
    """Columns of a row, as Taichi's expressions. As Python's, they are read in a tenth of the time."""
    row, column, world = once(row), once(column), once(world)
    return [impl.subscript(None, array, world, row, column + k) for k in range(width)]


def store(targets, vector):
    """Write the components of a vector into places."""
    vector = once(vector)
    for k, target in enumerate(targets):
        target._assign(component(vector, k))


@stands_in(load_vector)
def plain_load_vector(array, row, column, world):
    """See load_vector."""
    return Vector([array[world, row, column + k] for k in range(3)])


@stands_in(load_quaternion)
def plain_load_quaternion(array, row, column, world):
    """See load_quaternion."""
    return Vector([array[world, row, column + k] for k in range(4)])


@stands_in(store_vector)
@stands_in(store_quaternion)
def plain_store(array, row, column, vector, world):
    """See store_vector."""
    for k, number in enumerate(vector):
        array[world, row, column + k] = number


@ti.func
def axis(k: ti.template()):
    """The unit vector along the world's x, y or z."""
    return ti.Vector([1.0 if i == k else 0.0 for i in ti.static(range(3))])
