"""Vectors in the columns of arrays (worlds, rows, columns), as all arrays of bodies are.

The world stands first, so that what one thread reads lies together. With the world last, as particles have it for the
sake of graphics cards, a chain of five took 14 µs a step instead of 11.
"""

import taichi as ti


@ti.func
def triple(array: ti.template(), row, column, world):
    """Three columns of a row, as a vector."""
    return ti.Vector([array[world, row, column + k] for k in ti.static(range(3))])


@ti.func
def quadruple(array: ti.template(), row, column, world):
    """Four columns of a row, as a vector."""
    return ti.Vector([array[world, row, column + k] for k in ti.static(range(4))])


@ti.func
def put_triple(array: ti.template(), row, column, v, world):
    """Write a vector into three columns of a row."""
    for k in ti.static(range(3)):
        array[world, row, column + k] = v[k]
