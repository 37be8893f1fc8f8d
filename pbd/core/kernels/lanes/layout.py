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


class InWorlds:
    """Layout of an array of one world whose items are parts of alike strands, as if each strand was a world.

    Args: row, world: of each item (items,); rows: of a strand; worlds: how many strands; lanes: of them in an element.
    Lanes that are left over hold copies of the last strand.
    """

    def __init__(self, row, world, rows, worlds, lanes):
        self.row, self.world, self.rows, self.worlds, self.lanes = row, world, rows, worlds, lanes

    @classmethod
    def of_blocks(cls, sizes, worlds, lanes):
        """The layout of items in blocks: in each, those of the first strand, then those of the next.

        Args: sizes: how many items of a block are of one strand; worlds, lanes: see InWorlds.
        """
        starts = np.cumsum([0, *sizes])
        row = [np.tile(start + np.arange(size), worlds) for start, size in zip(starts, sizes)]
        world = [np.repeat(np.arange(worlds), size) for size in sizes]
        return cls(np.concatenate(row), np.concatenate(world), int(starts[-1]), worlds, lanes)

    def shape(self, shape):
        """The array's shape. Args: shape: with items as the first axis and one world as the second."""
        return (self.rows, -(-self.worlds // self.lanes), *shape[2:])

    def pack(self, values):
        """Arrange values as in memory, with lanes as the last axis if there are any. Args: values (items, 1, ...)."""
        rows, groups, *others = self.shape(values.shape)
        memory = np.zeros((rows, groups * self.lanes, *others), values.dtype)
        memory[self.row, self.world] = values[:, 0]
        memory[:, self.worlds :] = memory[:, self.worlds - 1 : self.worlds]
        if self.lanes == 1:
            return memory
        return np.moveaxis(memory.reshape(rows, groups, self.lanes, *others), 2, -1)

    def unpack(self, memory):
        """Copy values out of memory, as items of one world. Args: memory: as `pack` returns it."""
        if self.lanes > 1:
            memory = np.moveaxis(memory, -1, 2)
            memory = memory.reshape(len(memory), -1, *memory.shape[3:])
        return memory[self.row, self.world][:, None]


class Scratch:
    """Layout of an array that kernels fill, with worlds of strands; the host sees zeros.

    Args: first: lengths of the axes before that of worlds; seen: those that the host sees; worlds: how many strands;
    lanes: of them in an element.
    """

    def __init__(self, first, seen, worlds, lanes):
        self.first, self.seen, self.lanes = (*first, -(-worlds // lanes)), (*seen, 1), lanes

    def shape(self, shape):
        """The array's shape. Args: shape: that the host sees."""
        return (*self.first, *shape[len(self.first) :])

    def pack(self, values):
        """Zeros in memory. Args: values: of which only the type counts."""
        shape = self.shape(values.shape)
        return np.zeros((*shape, self.lanes) if self.lanes > 1 else shape, values.dtype)

    def unpack(self, memory):
        """Zeros as the host sees them. Args: memory: of which only the shape and type count."""
        others = memory.shape[len(self.first) : -1 if self.lanes > 1 else None]
        return np.zeros((*self.seen, *others), memory.dtype)


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
