"""Arrays by Taichi's public interface. All arrays of a kernel share a few buffers: one for each type of elements.

Taichi takes at most 64 arguments, and a graphics card binds as few as 31 arrays. So an array has its contents in numpy
until a launch needs it (launch.py). The launch then puts it into a buffer, where it stays.
"""

import numpy as np
import taichi as ti

from pbd.core.kernels.plain.storage import PlainArray
from pbd.core.kernels.runtime import numpy_type


class PublicArray(PlainArray):
    """An array of zeros. Args: see `zeros`.

    Attributes: those of PlainArray; buffer: its Buffer, None without a launch; offset: in it;
    is_empty: whether nobody reads it, see arrays.py; in_memory: see quick/storage.py.
    """

    buffer, offset, is_empty, in_memory = None, 0, False, False

    def to_numpy(self):
        """A copy of the contents."""
        if self.buffer is not None:
            copy_out(self.buffer.array, self.rows(), self.offset, self.width)
        return self.values.copy()

    def from_numpy(self, values):
        """Fill it. Args: values: of its shape."""
        self.values[...] = values
        if self.buffer is not None:
            copy_in(self.buffer.array, self.rows(), self.offset, self.width)

    fill = from_numpy

    def on_device(self):
        """A Taichi array of the present contents, copied on the device."""
        width, number = self.width, self.dtype
        array = ti.ndarray(number, self.shape) if width == 1 else ti.Vector.ndarray(width, number, self.shape)
        if self.buffer is None:
            array.from_numpy(self.values)
        else:
            copy_part(array, self.buffer.array, self.offset)
        return array

    def copy(self):
        """Another array of zeros, alike."""
        return PublicArray(self.shape, self.dtype, self.width)

    @property
    def width(self):
        """Numbers of an element."""
        return self.element_shape[0] if self.element_shape else 1

    @property
    def length(self):
        """How many elements it has."""
        return int(np.prod(self.shape))

    def rows(self):
        """The contents in numpy, with a row for each element."""
        return self.values.reshape(self.length, self.width)


class Buffer:
    """A Taichi array that holds several arrays, one after another. Args: arrays: of one type."""

    def __init__(self, arrays):
        self.array = new_array(sum(each.length for each in arrays), arrays[0].width, arrays[0].dtype)
        offset = 0
        for each in arrays:
            each.buffer, each.offset = self, offset
            each.from_numpy(each.values)
            offset += each.length


def new_array(length, width, number):
    """A Taichi array of zeros. Args: length; width: numbers of an element; number: Taichi's type.

    Raises: MemoryError if the driver gives no array of this size, as Mesa's gave none of 2.3 GB.
    """
    try:
        return ti.ndarray(number, (length,)) if width == 1 else ti.Vector.ndarray(width, number, (length,))
    except RuntimeError:
        size = length * width * np.dtype(numpy_type(number)).itemsize
        raise MemoryError(
            f"{ti.cfg.arch.name} gives no array of {size / 1e9:.3g} GB: expected fewer particles, bodies, contacts or "
            "worlds, or --device cpu"
        ) from None


@ti.kernel
def copy_in(array: ti.types.ndarray(ndim=1), rows: ti.types.ndarray(ndim=2), offset: int, width: ti.template()):
    """Copy rows of numpy into a part of a buffer."""
    for i in range(rows.shape[0]):
        if ti.static(width == 1):
            array[offset + i] = rows[i, 0]
        else:
            for k in ti.static(range(width)):
                array[offset + i][k] = rows[i, k]


@ti.kernel
def copy_part(target: ti.types.ndarray(ndim=2), array: ti.types.ndarray(ndim=1), offset: int):
    """Copy a part of a buffer into an array of two axes."""
    for i in range(target.shape[0]):
        for k in range(target.shape[1]):
            target[i, k] = array[offset + i * target.shape[1] + k]


@ti.kernel
def copy_out(array: ti.types.ndarray(ndim=1), rows: ti.types.ndarray(ndim=2), offset: int, width: ti.template()):
    """Copy a part of a buffer into rows of numpy."""
    for i in range(rows.shape[0]):
        if ti.static(width == 1):
            rows[i, 0] = array[offset + i]
        else:
            for k in ti.static(range(width)):
                rows[i, k] = array[offset + i][k]


def zeros(shape, number, width=1):
    """Make an array of zeros: see quick/storage.py."""
    return PublicArray(shape, number, width)


def view(array):
    """A copy of the contents of an array."""
    return array.to_numpy()


def fill(array, values):
    """Fill an array. Args: array; values: a numpy array of its shape."""
    array.from_numpy(values)


@ti.func
def element(array: ti.template(), row, column, world):
    """An element of an array (rows, columns, worlds)."""
    return array[row, column, world]
