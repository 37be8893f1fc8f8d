"""Arrays of worlds in lanes, as kernels see them. Numbers are elements of Taichi's arrays and need no class here."""

from typing import Any, NamedTuple

from taichi.lang import impl, ops
from taichi.lang.expr import Expr

from pbd.core.kernels.lanes.values import LaneVector, Reading, as_integers, lane, make_matrix, once


class VectorArray(NamedTuple):
    """An array of LaneVectors in a kernel. Attributes: array: Taichi's, with one axis more; width: of a vector."""

    array: Any
    width: int

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        return LaneVector([impl.subscript(None, self.array, *index, k) for k in range(self.width)])


class RowArray(NamedTuple):
    """An array of the host (worlds, columns) in a kernel. Attributes: array: Taichi's, (groups, lanes, columns)."""

    array: Any

    @property
    def shape(self):
        """How many groups, lanes and columns there are."""
        return self.array.shape

    def __getitem__(self, index):
        group, column = index
        return Row([impl.subscript(None, self.array, group, k, column) for k in range(Reading.width)])


class Row(Expr):
    """Numbers of the lanes of a group, each in a place of its own. Args: places: a list of Expr."""

    def __init__(self, places):
        self.places = places
        super().__init__(make_matrix(places))

    def _assign(self, other):
        other = once(other)
        mask = as_integers(Reading.masks[-1]) if Reading.masks else None
        for k, place in enumerate(self.places):
            value = lane(other, k)
            if mask is not None:
                value = ops.select(ops.cmp_eq(lane(mask, k), 1), value, place)
            ops.assign(place, value if isinstance(value, Expr) else Expr(value))
