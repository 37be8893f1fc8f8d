"""How worlds lie in the lanes of an array's elements."""

from typing import NamedTuple

import numpy as np


class Layout(NamedTuple):
    """How worlds lie in the lanes of an array's elements: an axis of groups takes the place of that of worlds.

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
