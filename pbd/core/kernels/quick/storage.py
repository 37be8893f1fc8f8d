"""Taichi's arrays as ours: zero at first, freed with the object, and on the processor read and written in memory.

`to_numpy` launches a kernel, which takes 55 µs, and several times as long as copying if the array is large.
"""

import ctypes

import numpy as np
from taichi._lib import core as taichi_core
from taichi.lang import impl
from taichi.lang._ndarray import Ndarray, ScalarNdarray
from taichi.lang.enums import Layout
from taichi.lang.matrix import VectorNdarray

from pbd.core.kernels.public.storage import PublicArray
from pbd.core.kernels.runtime import numpy_type, on_cpu, present_program, require_taichi

vector_type = taichi_core.get_type_factory_instance().get_tensor_type


def zeros(shape, number, width=1):
    """Make a Taichi array of zeros. Args: shape; number: Taichi's type; width: of its vectors, 1 for numbers."""
    if not on_cpu():
        return PublicArray(shape, number, width)
    return OwnedScalars(shape, number) if width == 1 else OwnedVectors(shape, number, width)


def view(array):
    """The contents of an array: on the processor its memory, valid as long as the array lives; otherwise a copy."""
    if not array.in_memory:
        return array.to_numpy()
    kind, shape = np.dtype(numpy_type(array.dtype)), (*array.shape, *array.element_shape)
    size = int(np.prod(shape)) * kind.itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(array.address()), kind).reshape(shape)


def fill(array, values):
    """Fill an array. Args: array; values: a numpy array of its shape."""
    if array.in_memory:
        view(array)[...] = values
    else:
        array.from_numpy(np.ascontiguousarray(values, numpy_type(array.dtype)))


def element(array, *index):
    """An element of an array in a kernel."""
    return impl.subscript(None, array, *index)


class Owned:
    """Part of the class of our arrays: Taichi's memory is freed with the array, unless its program has ended.

    Attributes: lanes: how worlds lie in them, a Layout of pbd/core/kernels/lanes, or None; in_memory: whether on the
    processor.

    Taichi 1.7.4 frees arrays of vectors never. And it lets an array of an ended program free what is at its address in
    the program of now.
    """

    lanes, program, in_memory = None, None, True

    def __init__(self, shape, number, element):
        """Args: shape; number: Taichi's type; element: Taichi's type, of numbers or vectors."""
        require_taichi()
        Ndarray.__init__(self)
        self.dtype, self.element_type = number, element
        program = impl.get_runtime().prog
        # On the processor each array has pages of its own, which are zero until someone writes to them. Filling them
        # took 0.06 s where a film starts, and memory for samples and neighbours that never were.
        self.arr = program.create_ndarray(element, list(shape), self.ORDER, zero_fill=False)
        self.shape, self.program = tuple(shape), present_program()

    def on_device(self):
        """The Taichi array: this itself."""
        return self

    def fill(self, value):
        """Fill it with one number. Taichi's own `fill` compiles a kernel for each kind of array."""
        view(self)[...] = value

    def address(self):
        """Where its memory begins."""
        return impl.get_runtime().prog.get_ndarray_data_ptr_as_int(self.arr)

    def __del__(self):
        program = self.program() if impl is not None and self.program else None
        if program is not None and program is impl.get_runtime().prog:
            program.delete_ndarray(self.arr)


class OwnedScalars(Owned, ScalarNdarray):
    """An array of numbers. Args: see Owned."""

    ORDER = Layout.NULL

    def __init__(self, shape, number):
        super().__init__(shape, number, number)


class OwnedVectors(Owned, VectorNdarray):
    """An array of vectors. Args: see Owned; width: of a vector."""

    ORDER = Layout.AOS

    def __init__(self, shape, number, width):
        super().__init__(shape, number, vector_type((width,), number))
        self.n = width
