"""Small matrices in the columns of arrays (worlds, rows, columns), in kernels."""

import taichi as ti

# A pivot that has lost all but so much of what stood there is round-off: its row repeats others.
REPEATED = 1e-12


@ti.func
def one_over(x):
    """1/x, and 0 where nothing can move: two bodies that are one another's ground."""
    return ti.select(x > 0.0, 1.0 / ti.max(x, 1e-30), 0.0)


@ti.func
def invert(array: ti.template(), first, count, column, scratch, world):
    """Invert a matrix in place, by Gauss and Jordan. Positive definite, it needs no pivots; where a row repeats others
    to round-off, or moves nothing, its pivot vanishes and it is left out.

    Arguments: first: its first row; count: of rows; column: its first; scratch: another, for the diagonal as it was.
    """
    for k in range(count):
        array[world, first + k, scratch] = array[world, first + k, column + k]
    for k in range(count):
        pivot, scale = array[world, first + k, column + k], 0.0
        if pivot > REPEATED * array[world, first + k, scratch]:
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
