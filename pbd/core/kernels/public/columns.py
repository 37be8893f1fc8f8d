"""Vectors in the columns of arrays (worlds, rows, columns), and what worlds in lanes need, without lanes.

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
def three_of(vector, first: ti.template()):
    """Three components of a longer vector. Args: first: index of the first."""
    return ti.Vector([vector[first + k] for k in ti.static(range(3))])


# Worlds one after another; quick kernels have these names from lanes/ -------------------------------------------------


@ti.func
def any_world(condition):
    """Whether a condition is true in any world of a group."""
    return condition


@ti.func
def largest_of_lanes(value):
    """The largest number of all lanes."""
    return value


def in_lanes():
    """Whether the function that is read has worlds in lanes."""
    return False


def each_world(function):
    """The Taichi function that does for each world of a group in turn what another does for one."""
    return function


def in_all_lanes(function):
    """The Taichi function that acts in all lanes."""
    return function


def in_packs(function):
    """The Taichi function in lanes; there are none."""
    return function


def in_numbers(function, *_):
    """The Taichi function that reads numbers as numbers."""
    return function


rotated = gathered = scatter = SingleItems = FirstRows = None  # of bands, which lie in lanes or are none
