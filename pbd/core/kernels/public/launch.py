"""Kernels and launches by Taichi's public interface.

Each launch passes on all arrays, which takes 50 to 200 µs. Taichi takes at most 64 arguments. So a kernel is made for a
launch, and what is the same array to it is passed once, as empty arrays of one type are; and so are numbers, as arrays.

Kernels are compiled once, at the cheap level but for `ti.init(opt_level=2)`.
"""

import math
import weakref

import numpy as np
import taichi as ti

from pbd.core.kernels import settings
from pbd.core.kernels.define import bound_arrays, define, left_out_of, parameters_of
from pbd.core.kernels.runtime import BUFFERED, LOCK, present_program, real_type, require_program

# Drivers have as few as 31 storage buffers for a kernel, Taichi's own among them. Of a kernel with more arrays Taichi
# 1.7.4 loses the last ones without an error, or the process crashes.
MOST_BUFFERS = 24


class Kernel:
    """A kernel. Args: see quick/launch.py, `make_kernel`."""

    def __init__(self, body, declaration, lanes=1, **static):
        self.body, self.declaration, self.static = body, declaration, static
        self.made = {}

    def made_for(self, alike):
        """The Taichi kernel, and the programs for which it is compiled, as a set. Args: alike: see `define`."""
        if alike not in self.made:
            numbers = [f"{name}: int" for name in parameters_of(self.body)[1:]]
            kernel = define("kernel", self.body, self.declaration, self.static, numbers, alike=alike)
            self.made[alike] = kernel, weakref.WeakSet()
        return self.made[alike]


make_kernel = Kernel


class Launch:
    """A kernel bound to its arrays: see quick/launch.py."""

    def __init__(self, kernel, *data):
        arrays, first, self.program = bound_arrays(left_out_of(kernel.static), data), {}, present_program()
        alike = tuple(first.setdefault(what_it_is(array), index) for index, array in enumerate(arrays))
        self.kernel, self.compiled = kernel.made_for(alike)
        self.arrays = [arrays[index] for index in sorted(set(alike))]

    def __call__(self, *given):
        """Run the kernel. Args: C-contiguous numpy arrays, floats and ints, in the kernel's order."""
        require_program(self.program)
        with LOCK:
            arguments = [*self.arrays, *few(given)]
            if self.program() in self.compiled:
                self.kernel(*arguments)
                return
            check_buffers(arguments)
            level = settings.FULL if ti.cfg.opt_level > settings.FULL else settings.CHEAP
            with settings.exactly(), settings.at_level(level), settings.around(math.inf):
                self.kernel(*arguments)
            self.compiled.add(self.program())


def check_buffers(arguments):
    """Raise RuntimeError if a graphics card has too few storage buffers. Args: arguments: of a launch, arrays all."""
    name = ti.cfg.arch.name
    if ti.cfg.arch in BUFFERED and len(arguments) > MOST_BUFFERS:
        raise RuntimeError(
            f"a kernel has {len(arguments)} arrays, and {name} would lose some of more than {MOST_BUFFERS}: "
            "expected ti.init(arch=ti.cpu), or --device cpu"
        )


def few(given):
    """What a launch is given, with integers as one array, and other numbers as one: see define.py, `few`."""
    numbers = {int: [], float: []}
    arrays = [value for value in given if type(value) not in numbers]
    for value in given:
        if type(value) in numbers:
            numbers[type(value)].append(value)
    kinds = {int: np.int32, float: real_type()}
    return arrays + [np.array(values, kinds[kind]) for kind, values in numbers.items() if values]


def what_it_is(array):
    """A key that is the same for arrays that may be passed as one: of one type if nobody reads them."""
    if getattr(array, "is_empty", False):
        return str(array.dtype), len(array.shape), array.element_shape
    return id(array)
