"""Functions in lanes within a kernel that has none: the items of one world lie in the lanes of vectors.

Such a kernel is read as one in lanes is, with a single lane (`make_kernel(..., packed=True)`). A function `in_packs` is
read with as many lanes as fill a vector register.
"""

from functools import wraps

from taichi.lang import impl, ops

from pbd.core.kernels.lanes.arrays import Row
from pbd.core.kernels.lanes.values import LaneVector, Reading, in_taichi, once, variable
from pbd.core.kernels.runtime import lanes_of_register


def in_packs(function):
    """Let a Taichi function (data, ...) be read in lanes. Args: function."""

    @wraps(function)
    def read(*arguments):
        before = Reading.width, Reading.masks
        Reading.width, Reading.masks = lanes_of_register(), []
        try:
            return function(*arguments)
        finally:
            Reading.width, Reading.masks = before

    read._is_taichi_function, read.func = True, function.func  # Taichi asks for both where it is called
    return read


def places(array, rows, world, item, first, columns):
    """Numbers of rows that differ between lanes. Args: see `gathered`. Returns: a list of Row, one for each column."""
    lanes = range(Reading.width)
    chosen = [once(impl.subscript(None, rows, world, item, ops.add(first, lane))) for lane in lanes]
    return [Row([impl.subscript(None, array, world, row, column) for row in chosen]) for column in columns]


@in_taichi
def gathered(array, rows, world, item, first, columns):
    """Columns of the rows that the lanes have, as a vector.

    Args: array: of numbers (worlds, rows, columns); rows: of integers (worlds, items, columns), where `item` has the
    row of each lane in the columns from `first` on; columns: of `array`, known when the kernel is compiled.
    """
    return LaneVector([variable(each) for each in places(array, rows, world, item, first, columns)])


@in_taichi
def scatter(array, rows, world, item, first, columns, values):
    """Write a vector to the rows that the lanes have. Args: see `gathered`; values: the vector."""
    for place, value in zip(places(array, rows, world, item, first, columns), values):
        place._assign(value)
