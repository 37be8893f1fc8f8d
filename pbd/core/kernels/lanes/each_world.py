"""Functions that treat one world after another, in kernels that have worlds in lanes (pbd/core/kernels/lanes)."""

from functools import wraps
from typing import Any, NamedTuple

from taichi._lib import core
from taichi.lang import impl, ops
from taichi.lang.expr import Expr

from pbd.core.kernels.arrays import RowsOfWorld, fields_of, is_array, is_declaration
from pbd.core.kernels.lanes.arrays import RowArray, VectorArray
from pbd.core.kernels.lanes.numbers import in_numbers
from pbd.core.kernels.lanes.values import LaneVector, Reading, has_lanes, in_taichi


def each_world(function):
    """Make the Taichi function that does for each world of a group in turn what another does for one.

    What cannot be done in lanes, because its loops and branches differ between worlds, is done so. It acts whatever the
    enclosing conditions on lanes are.

    Args: function: (data, ..., world), which returns nothing: `data` are groups of arrays or integers.
    """
    single = in_numbers(function)

    @wraps(function)
    def call(*arguments):
        if Reading.width == 1:
            return function(*arguments)
        *data, group = arguments
        width, builder = Reading.width, impl.get_runtime().compiling_callable.ast_builder()
        lane = Expr(builder.make_id_expr(""))
        builder.begin_frontend_range_for(lane.ptr, Expr(0).ptr, Expr(width).ptr, core.DebugInfo(""))
        seen = [of_worlds(each, width, lane) if isinstance(each, tuple) else each for each in data]
        single(*seen, ops.add(ops.mul(group, width), lane))
        return builder.end_frontend_range_for()

    call._is_taichi_function, call.func = True, function.func  # Taichi asks for both where it is called
    return call


def in_all_lanes(function):
    """Make the Taichi function that acts in all lanes, whatever the enclosing conditions on lanes are.

    So it may change what is common to all worlds. Args: function.
    """

    @wraps(function)
    def call(*arguments):
        before, Reading.masks = Reading.masks, []
        try:
            return function(*arguments)
        finally:
            Reading.masks = before

    call._is_taichi_function, call.func = True, function.func  # Taichi asks for both where it is called
    return call


@in_taichi
def in_lanes():
    """Whether the function that is read has worlds in lanes."""
    return Reading.width > 1


def of_worlds(data, width, lane):
    """The data of a kernel as a function sees it that treats one world.

    Args: data: a NamedTuple; width: lanes; lane: of the world, for numbers that are no arrays.
    """
    found = {}
    for name, annotation in fields_of(type(data)).items():
        value = getattr(data, name)
        if isinstance(value, RowsOfWorld):
            found[name] = LaneOfRows(value, lane)
        elif isinstance(value, RowArray):
            found[name] = RowItems(value.array, width)
        elif is_array(annotation) and annotation.has_worlds():
            axis = annotation.axes.index("worlds")
            found[name] = (CommonItems if annotation.common else WorldItems)(value, axis, width)
        elif isinstance(value, tuple) and is_declaration(type(value)) and not isinstance(value, VectorArray):
            found[name] = of_worlds(value, width, lane)
        elif has_lanes(value):
            found[name] = impl.subscript(None, value, lane)
    return data._replace(**found)


def places(world, width):
    """Group and lane of a world. Args: world: an integer; width: lanes, a power of two."""
    return ops.bit_sar(world, width.bit_length() - 1), ops.bit_and(world, width - 1)


class CommonItems(NamedTuple):
    """An array with common contents of the worlds of a group, by worlds. Attributes: array: Taichi's; axis; width."""

    array: Any
    axis: int
    width: int

    @property
    def shape(self):
        """The array's shape, but for the number of worlds."""
        return self.array.shape

    def group(self, index):
        """The index of a group, and the lane in it. Args: index: of a world."""
        index = list(index) if isinstance(index, tuple) else [index]
        index[self.axis], lane = places(index[self.axis], self.width)
        return index, lane

    def __getitem__(self, index):
        return impl.subscript(None, self.array, *self.group(index)[0])


class WorldItems(CommonItems):
    """An array with worlds in lanes, by worlds. Attributes: array: Taichi's, or a VectorArray; axis; width."""

    def __getitem__(self, index):
        index, lane = self.group(index)
        if isinstance(self.array, VectorArray):
            vectors = [impl.subscript(None, self.array.array, *index, k) for k in range(self.array.width)]
            return LaneVector([impl.subscript(None, each, lane) for each in vectors])
        return impl.subscript(None, impl.subscript(None, self.array, *index), lane)


class LaneOfRows(NamedTuple):
    """RowsOfWorld by worlds. Attributes: rows: of a group; lane: of the world."""

    rows: Any
    lane: Any

    @property
    def shape(self):
        """Number of rows."""
        return self.rows.shape

    def __getitem__(self, index):
        return impl.subscript(None, self.rows[index], self.lane)


class RowItems(NamedTuple):
    """A RowArray by worlds. Attributes: array: Taichi's; width: lanes."""

    array: Any
    width: int

    def __getitem__(self, index):
        world, column = index
        return impl.subscript(None, self.array, *places(world, self.width), column)
