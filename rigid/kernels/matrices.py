"""Small matrices in the columns of arrays (worlds, rows, columns), in kernels.

A symmetric matrix is six columns: xx, yy, zz, xy, xz, yz.
"""

import numpy as np
import taichi as ti

# A pivot that has decreased below this part of its first value is round-off: its row depends on the others.
DEPENDENT = 1e-12


def symmetric_columns(matrices):
    """The six columns of symmetric matrices, in numpy. Args: matrices (..., 3, 3)."""
    return np.stack([matrices[..., i, k] for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=-1)


@ti.func
def multiply_symmetric(array: ti.template(), row, column, v, world):
    """A symmetric matrix times a vector."""
    a = ti.Vector([array[world, row, column + k] for k in ti.static(range(6))])
    return ti.Vector(
        [
            a[0] * v[0] + a[3] * v[1] + a[4] * v[2],
            a[3] * v[0] + a[1] * v[1] + a[5] * v[2],
            a[4] * v[0] + a[5] * v[1] + a[2] * v[2],
        ]
    )


@ti.func
def load_symmetric(array: ti.template(), row, column, world):
    """A symmetric matrix (3, 3)."""
    a = ti.Vector([array[world, row, column + k] for k in ti.static(range(6))])
    return ti.Matrix([[a[0], a[3], a[4]], [a[3], a[1], a[5]], [a[4], a[5], a[2]]])


@ti.func
def add_symmetric(array: ti.template(), row, column, m, world):
    """Add a symmetric matrix (3, 3) to six columns."""
    for k, i, j in ti.static(((0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 0, 1), (4, 0, 2), (5, 1, 2))):
        array[world, row, column + k] = array[world, row, column + k] + m[i, j]


@ti.func
def cross_matrix(r):
    """The matrix [r]× of a cross product."""
    return ti.Matrix([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


@ti.func
def inverse_or_zero(x):
    """1/x, or 0 for x = 0."""
    return ti.select(x > 0.0, 1.0 / ti.max(x, 1e-30), 0.0)


@ti.func
def inverse_of_two(xx, xy, yy):
    """The inverse of a symmetric matrix (2, 2), as `invert` finds it: its xx, xy and yy (3,)."""
    scale = inverse_or_zero(xx)
    part = scale * xy
    left = yy - xy * part
    last = 0.0
    if left > DEPENDENT * yy:
        last = 1.0 / left
    mixed = -(last * (xy * scale))
    return ti.Vector([scale - part * mixed, -(part * last), last])


@ti.func
def invert(array: ti.template(), first, count, column, scratch, world):
    """Invert a matrix in place by Gauss-Jordan elimination.

    The matrix is positive definite, so no pivoting is needed. If a row depends on others to round-off, or moves
    nothing, its pivot vanishes and it is left out.

    Args: first: its first row; count: of rows; column: its first column; scratch: a column for the first diagonal.
    """
    for k in range(count):
        array[world, first + k, scratch] = array[world, first + k, column + k]
    for k in range(count):
        pivot, scale = array[world, first + k, column + k], 0.0
        if pivot > DEPENDENT * array[world, first + k, scratch]:
            scale = 1.0 / pivot
        array[world, first + k, column + k] = 1.0
        for b in range(count):
            array[world, first + k, column + b] = scale * array[world, first + k, column + b]
        for a in range(count):
            if a != k:
                part = array[world, first + a, column + k]
                array[world, first + a, column + k] = 0.0
                for b in range(count):
                    array[world, first + a, column + b] = (
                        array[world, first + a, column + b] - part * array[world, first + k, column + b]
                    )
