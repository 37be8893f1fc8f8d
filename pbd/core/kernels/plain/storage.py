"""Arrays of plain kernels: numpy's, with the interface of Taichi's."""

import numpy as np

from pbd.core.kernels.runtime import numpy_type, present_program, require_taichi


class PlainArray:
    """An array of zeros. Args: see `zeros`. Attributes: values: numpy; shape; element_shape; dtype: Taichi's type."""

    lanes = None

    def __init__(self, shape, number, width):
        require_taichi()
        self.dtype, self.program, self.shape = number, present_program(), tuple(shape)
        self.element_shape = () if width == 1 else (width,)
        self.values = np.zeros((*self.shape, *self.element_shape), numpy_type(number))

    def to_numpy(self):
        """A copy of the contents."""
        return self.values.copy()

    def from_numpy(self, values):
        """Fill it. Args: values: of its shape."""
        self.values[...] = values

    fill = from_numpy

    def on_device(self):
        """Refuse. Raises: RuntimeError."""
        raise RuntimeError("VERLETLAB_KERNELS is 'plain', which has no Taichi arrays: expected 'quick' or 'public'")


def zeros(shape, number, width=1):
    """Make an array of zeros: see quick/storage.py."""
    return PlainArray(shape, number, width)


def view(array):
    """The contents of an array."""
    return array.values


def fill(array, values):
    """Fill an array. Args: array; values: a numpy array of its shape."""
    array.values[...] = values


def element(array, *index):
    """An element of an array in a kernel."""
    return array[index]
