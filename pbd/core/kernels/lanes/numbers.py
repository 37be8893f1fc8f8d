"""Functions that treat one item after another, in kernels whose arrays are in lanes."""

from functools import wraps
from typing import Any, NamedTuple

from taichi.lang import impl, ops

from pbd.core.kernels.lanes.arrays import VectorArray
from pbd.core.kernels.lanes.values import LaneVector, Reading, in_taichi, lane, make_matrix, once


def in_numbers(function, see=lambda data: data, needed=lambda data: True):
    """Make the Taichi function that reads numbers as numbers, within one that is read in lanes.

    Args: function: (data, ...); see: function that makes of the data in lanes what `function` is given; needed:
    function that says of the data whether they need this.

    Its arrays are SingleItems, or have no lanes. It acts whatever the enclosing conditions on lanes are.
    """

    @wraps(function)
    def read(data, *arguments):
        if not needed(data):
            return function(data, *arguments)
        before = Reading.width, Reading.masks
        Reading.width, Reading.masks = 1, []
        try:
            return function(see(data), *arguments)
        finally:
            Reading.width, Reading.masks = before

    read._is_taichi_function, read.func = True, function.func  # Taichi asks for both where it is called
    return read


class SingleItems(NamedTuple):
    """An array in lanes as `in_numbers` sees it, by items.

    Attributes: array: Taichi's, or a VectorArray; lanes: how many; places: Taichi's array of row · lanes + lane of each
    item; None if items are rows, of which the first lane is meant.
    """

    array: Any
    lanes: int
    places: Any = None

    def __getitem__(self, index):
        row, *others = index
        number = 0
        if self.places is not None:
            place = once(impl.subscript(None, self.places, row))
            row, number = ops.bit_sar(place, self.lanes.bit_length() - 1), ops.bit_and(place, self.lanes - 1)
        if isinstance(self.array, VectorArray):
            array, components = self.array.array, range(self.array.width)
            lanes = [impl.subscript(None, array, row, *others, k) for k in components]
            return LaneVector([impl.subscript(None, each, number) for each in lanes])
        return impl.subscript(None, impl.subscript(None, self.array, row, *others), number)


class FirstRows(NamedTuple):
    """A RowArray as `in_numbers` sees it: the rows of first lanes. Attributes: array: Taichi's."""

    array: Any

    def __getitem__(self, index):
        group, column = index
        return impl.subscript(None, self.array, group, 0, column)


@in_taichi
def rotated(value, by):
    """A vector with lane k + `by` in place of lane k, around the end. Args: value: a LaneVector; by: an integer."""
    components = [once(each) for each in value]
    lanes = range(Reading.width)
    return LaneVector([make_matrix([lane(each, (k + by) % Reading.width) for k in lanes]) for each in components])


@in_taichi
def largest_of_lanes(value):
    """The largest number of all lanes. Args: value: in lanes."""
    value = once(value)
    found = lane(value, 0)
    for k in range(1, Reading.width):
        found = once(ops.max(found, lane(value, k)))
    return found
