"""An array that is a part of a buffer, as kernels see it."""

from typing import Any, NamedTuple

import taichi as ti


@ti.func
def place(buffer: ti.template(), index):
    """An element of a buffer, to read or to write."""
    return buffer[index]


class PartOfBuffer(NamedTuple):
    """An array in a buffer. Attributes: buffer: Taichi's array; offset: of its first element; shape."""

    buffer: Any
    offset: Any
    shape: Any

    def __getitem__(self, index):
        found = 0
        for each, length in zip(index if isinstance(index, tuple) else (index,), self.shape):
            found = found * length + each
        return place(self.buffer, self.offset + found)
