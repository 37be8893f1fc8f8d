"""Taichi's arrays as ours: zero at first, and freed with the object."""

from taichi._lib import core as taichi_core
from taichi.lang import impl
from taichi.lang._ndarray import Ndarray, ScalarNdarray
from taichi.lang.enums import Layout
from taichi.lang.matrix import MatrixType, VectorNdarray

from pbd.core.runtime import on_cpu, present_program, require_taichi

vector_type = taichi_core.get_type_factory_instance().get_tensor_type


def zeros(shape, number, width=1):
    """Make a Taichi array of zeros. Args: shape; number: Taichi's type; width: of its vectors, 1 for numbers."""
    return OwnedScalars(shape, number) if width == 1 else OwnedVectors(shape, number, width)


def number_and_width(element):
    """Taichi's type of the numbers of an element, and how many it has. Args: element: type of a number or a vector."""
    return (element.dtype, element.n) if isinstance(element, MatrixType) else (element, 1)


class Owned:
    """Part of the class of our arrays: Taichi's memory is freed with the array, unless its program has ended.

    Attributes: lanes: how worlds lie in them, a Layout of pbd/core/lanes, or None.

    Taichi 1.7.4 frees arrays of vectors never. And it lets an array of an ended program free what is at its address in
    the program of now.
    """

    lanes, program = None, None

    def __init__(self, shape, number, element):
        """Args: shape; number: Taichi's type; element: Taichi's type, of numbers or vectors."""
        require_taichi()
        Ndarray.__init__(self)
        self.dtype, self.element_type = number, element
        program = impl.get_runtime().prog
        # On the processor each array has pages of its own, which are zero until someone writes to them. Filling them
        # took 0.06 s where a film starts, and memory for samples and neighbours that never were.
        self.arr = program.create_ndarray(element, list(shape), self.ORDER, zero_fill=not on_cpu())
        self.shape, self.program = tuple(shape), present_program()

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
