"""Quick kernels and launches.

Calling a Taichi kernel from Python costs about 18 µs for one argument and 51 µs for twelve (1.7.4, two x86 cores),
nearly all of it for checks of types that never change. The arrays of a solver never change either, so they are bound
once. What a launch is given is set only if it is another object than before. All arguments are members of one structure
(structures.py): a launch then takes 1.5 µs, whatever the number of arrays.

This goes below Taichi's public interface, to what `Kernel.__call__` does itself.
"""

import math
import time

from pbd.core.kernels.define import bound_arrays, define, left_out_of, parameters_of
from pbd.core.kernels.lanes.arrays import RowArray, VectorArray
from pbd.core.kernels.lanes.statements import read_in_lanes
from pbd.core.kernels.public import launch as public
from pbd.core.kernels.quick.compilation import compile_kernel, structure_of
from pbd.core.kernels.quick.kernel_lookup import lookup_of
from pbd.core.kernels.runtime import LOCK, on_cpu, present_program, require_program

# Places of an array's shape and address, in an argument of its own or in a structure.
SHAPE, ADDRESS = 0, 1
IN_LANES = {"VectorArray": VectorArray, "RowArray": RowArray}


def make_kernel(body, declaration, lanes=1, packed=False, **static):
    """Make the kernel that calls a Taichi function with declared data.

    A loop at the top of `body` runs in parallel, as one at the top of a kernel does.

    Args:
        body: a Taichi function (data, ...) whose parameters after the data are integers.
        declaration: a NamedTuple class; `data` in the kernel is an instance of it.
        lanes: how many worlds are in the lanes of a vector, see pbd/core/kernels/lanes.
        packed: whether functions of `body` are `in_packs` (lanes/packs.py). These are for quick kernels alone.
        static: values of the fields that are annotated `Any`, known when the kernel is compiled. A NamedTuple class in
            place of a value declares more arrays there, or, as NoArrays, leaves out a group that `body` does not read.

    Returns: a Taichi kernel. Its arguments: all arrays, in the order of the declaration; then the numpy arrays and
    numbers that are given at each launch, in that order too; then the function's integers. `Launch` binds the first.
    """
    numbers = [f"{name}: int" for name in parameters_of(body)[1:]]
    if lanes > 1 or packed:
        body = read_in_lanes(body, lanes)
    kernel = define(
        "kernel", body, declaration, static, numbers, lanes=IN_LANES if lanes > 1 else None, guard=lookup_of
    )
    kernel._primal.has_lanes = lanes > 1
    kernel._primal.as_vectors = lanes > 1 or packed
    kernel.public = public.Kernel(body, declaration, **static)
    kernel.left_out = left_out_of(static)
    return kernel


class Launch:
    """A kernel bound to its arrays. On a graphics card it is a public.launch.Launch.

    Args:
        kernel: as `make_kernel` returns it.
        data: an instance of the kernel's declaration, or several in the order of its groups of arrays.
    """

    def __new__(cls, kernel, *data):
        """Make a launch for the device of `ti.init`."""
        return super().__new__(cls) if on_cpu() else public.Launch(kernel.public, *data)

    def __init__(self, kernel, *data):
        self.kernel = kernel
        self.arrays = bound_arrays(kernel.left_out, data)
        self.places_of_given = []
        self.compiled, self.context, self.program = None, None, present_program()
        self.before = []  # what the last launch was given, and the context still holds
        self.is_new = True  # compiled, and not launched yet
        self.seconds, self.until_full = 0.0, math.inf  # of launches, and after how many it may be compiled again

    def __call__(self, *given):
        """Run the kernel. Args: C-contiguous numpy arrays, floats and ints, in the kernel's order."""
        require_program(self.program)
        with LOCK:
            self._launch(given)

    def _launch(self, given):
        if self.compiled is None or self.seconds > self.until_full:
            self._compile(given)
        context = self.context or self._bind(given)
        for place, value, before in zip(self.places_of_given, given, self.before):
            if value is before:
                continue
            if type(value) is float:
                context.set_struct_arg_float(place, value)
            elif type(value) is int:
                context.set_struct_arg_int(place, value)
            else:
                write_array(context, place, value.ctypes.data, value.shape)
        self.before = given
        if self.until_full == math.inf and not self.is_new:
            self.program().launch_kernel(self.compiled.kernel, context)
            return
        start = time.perf_counter()
        self.program().launch_kernel(self.compiled.kernel, context)
        self.is_new = False
        self.seconds += time.perf_counter() - start

    def _compile(self, given):
        """Compile the kernel, and again when its launches have taken so long that it pays."""
        found = compile_kernel(self.kernel._primal, (*self.arrays, *given), self.compiled, self.seconds)
        self.compiled, self.until_full, self.is_new, self.context = found, found.until_full, True, None

    def _bind(self, given):
        """Taichi's launch context with the arrays in it; it is used for all launches."""
        structure, self.before = structure_of(self.kernel._primal, (*self.arrays, *given)), [None] * len(given)
        self.context, places = structure.make_context()
        self.places_of_given = places[len(self.arrays) :]
        for place, array in zip(places, self.arrays):
            write_array(self.context, place, array.address(), array.shape)
        return self.context


def write_array(context, place, address, shape):
    """Write an array into the structure of arguments. Args: context: Taichi's; place: indices; address; shape."""
    context.set_struct_arg_uint((*place, ADDRESS), address)
    for axis, length in enumerate(shape):
        context.set_struct_arg_int((*place, SHAPE, axis), length)
