"""Taichi's arrays by its public interface. Taichi 1.7.4 frees arrays of vectors only when its program ends."""

import numpy as np
import taichi as ti

from pbd.core.kernels.runtime import numpy_type, present_program, require_taichi


def zeros(shape, number, width=1):
    """Make a Taichi array of zeros: see quick/storage.py."""
    require_taichi()
    array = ti.ndarray(number, tuple(shape)) if width == 1 else ti.Vector.ndarray(width, number, tuple(shape))
    array.lanes, array.program = None, present_program()
    return array


def view(array):
    """A copy of the contents of an array."""
    return array.to_numpy()


def fill(array, values):
    """Fill an array. Args: array; values: a numpy array of its shape."""
    array.from_numpy(np.ascontiguousarray(values, numpy_type(array.dtype)))


@ti.func
def element(array: ti.template(), row, column, world):
    """An element of an array (rows, columns, worlds)."""
    return array[row, column, world]
