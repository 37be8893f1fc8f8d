"""Layouts of arrays whose elements have lanes: one world, or one band of a cloth, in each lane."""

from typing import NamedTuple

import numpy as np


class Layout(NamedTuple):
    """Layout of an array with worlds in lanes: an axis of groups of worlds replaces the axis of worlds.

    Lanes that are left over in the last group hold copies of the last world.

    Attributes: axis: of worlds; worlds: how many; lanes: how many in an element.
    """

    axis: int
    worlds: int
    lanes: int

    @property
    def groups(self):
        """Number of elements that hold all worlds."""
        return -(-self.worlds // self.lanes)

    def shape(self, shape):
        """The array's shape. Args: shape: with an axis of worlds."""
        return (*shape[: self.axis], self.groups, *shape[self.axis + 1 :])

    def pack(self, values):
        """Arrange values as in memory, with lanes as the last axis. Args: values: with an axis of worlds."""
        worlds = np.minimum(np.arange(self.groups * self.lanes), self.worlds - 1)
        found = np.take(values, worlds, axis=self.axis)
        shape = (*found.shape[: self.axis], self.groups, self.lanes, *found.shape[self.axis + 1 :])
        return np.moveaxis(found.reshape(shape), self.axis + 1, -1)

    def unpack(self, memory):
        """Copy values out of memory, with an axis of worlds. Args: memory: as `pack` returns it."""
        found = np.moveaxis(memory, -1, self.axis + 1)
        shape = (*found.shape[: self.axis], self.groups * self.lanes, *found.shape[self.axis + 2 :])
        return np.take(found.reshape(shape), np.arange(self.worlds), axis=self.axis)


class Common(NamedTuple):
    """Layout of an array whose contents the worlds of a group share: one number for all of them.

    Attributes: axis: of worlds, in whose place there is one of groups; worlds: how many; in_group: how many in a group.
    """

    axis: int
    worlds: int
    in_group: int

    lanes = 1

    def shape(self, shape):
        """The array's shape. Args: shape: with an axis of worlds."""
        return (*shape[: self.axis], -(-self.worlds // self.in_group), *shape[self.axis + 1 :])

    def pack(self, values):
        """The contents of each group's first world. Args: values: with an axis of worlds."""
        return np.take(values, np.arange(0, self.worlds, self.in_group), axis=self.axis)

    def unpack(self, memory):
        """Copy the contents for each world. Args: memory: with an axis of groups."""
        return np.take(memory, np.arange(self.worlds) // self.in_group, axis=self.axis)


class Placed:
    """Layout of an array whose first axis lies in rows and lanes: each item is in the lane of its band.

    Args: places: (items,) row · lanes + lane of each item; rows, lanes: how many. Other places hold zeros.
    """

    def __init__(self, places, rows, lanes):
        self.places, self.rows, self.lanes = places, int(rows), lanes

    def shape(self, shape):
        """The array's shape. Args: shape: with items as the first axis."""
        return (self.rows, *shape[1:])

    def pack(self, values):
        """Arrange values as in memory, with lanes as the last axis. Args: values: with items as the first axis."""
        memory = np.zeros((self.rows * self.lanes, *values.shape[1:]), values.dtype)
        memory[self.places] = values
        return np.moveaxis(memory.reshape(self.rows, self.lanes, *values.shape[1:]), 1, -1)

    def unpack(self, memory):
        """Copy values out of memory, with items as the first axis. Args: memory: as `pack` returns it."""
        rows = np.moveaxis(memory, -1, 1)
        return rows.reshape(self.rows * self.lanes, *rows.shape[2:])[self.places]


class Substitute:
    """An array of integers that kernels see with other contents than the host, which do not change.

    Args: contents: what kernels see.
    """

    lanes = 1

    def __init__(self, contents):
        self.contents = np.asarray(contents, np.int32)

    def shape(self, shape):
        """The array's shape. Args: shape: that the host sees."""
        return self.contents.shape

    def pack(self, values):
        """Convert the array of the host to that of kernels. Args: values."""
        self.values = np.array(values, np.int32)
        return self.contents

    def unpack(self, memory):
        """Convert the array of kernels to that of the host. Args: memory."""
        return self.values.copy()
