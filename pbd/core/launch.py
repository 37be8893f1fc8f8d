"""A kernel with its arrays bound, for quick launches.

Calling a Taichi kernel from Python costs about 18 µs for one argument and 51 µs for twelve (1.7.4, two x86 cores),
nearly all of it spent in checking types that never change. The arrays of a system never change either, so kernels may
name each array that they read instead of packing many into few: bound once, 52 of them and the nine arguments that do
change cost 35 µs, where binding them for each launch took 110.

On the processor an array is bound as if it were numpy's, by its address. A launch replaces what Taichi binds of an
array of its own by that address in place, so that a second launch with it would take the address for the array.

Kernels are compiled without fast math, whatever the caller's ti.init says. With it, LLVM fuses a multiplication with an
addition where it sees fit, and on processors that can (x86 since 2013) that differs from one kernel to the next: a
world among many had other bits than the same world alone. Sticks pay 2 % for it. Nor with Taichi's analysis of control
flow, whose time grows with the square of a kernel and worse: bodies in contact took 32 s to compile with it, or
minutes, and 4 s without, to run as fast (LLVM does the same again) and to the same bits.

Before all that, Taichi reads a kernel's Python, and that of a function as often as it is called, compiled before or
not. For each expression it writes the lines that an error would show, wrapped to a terminal's width, and for each call
it looks for the function's source: three fifths of the reading's time. Here both are kept.

This goes below Taichi's public interface, to what `Kernel.__call__` does itself; pyproject.toml pins the version.
"""

import ctypes
import functools

import numpy as np
import taichi as ti
from taichi.lang import impl, kernel_impl
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext
from taichi.lang.util import to_numpy_type

# Most arguments that change from launch to launch.
CHANGING = 16


class Launch:
    """A kernel whose first arguments are fixed.

    Arguments:
        kernel: a `ti.kernel` whose parameters are `arrays`, then numpy arrays and scalars.
        arrays: its ndarrays.
    """

    def __init__(self, kernel, *arrays):
        self.kernel = kernel
        self.arrays = arrays
        self.slots = [(slot,) for slot in range(len(arrays), len(arrays) + CHANGING)]
        self.compiled, self.context = None, None

    def __call__(self, *changing):
        """Run the kernel. Arguments: C-contiguous numpy arrays, floats and ints, in the kernel's order."""
        if self.compiled is None:
            self._compile(changing)
        elif self.program is not impl.get_runtime().prog:
            raise RuntimeError("ti.init was called again since this system was made: make it anew, its arrays are gone")
        launch = self.context or self._bind()
        for slot, value in zip(self.slots, changing):
            if type(value) is float:
                launch.set_arg_float(slot, value)
            elif type(value) is int:
                launch.set_arg_int(slot, value)
            else:
                launch.set_arg_external_array_with_shape(slot, value.ctypes.data, value.nbytes, value.shape, 0)
        self.program.launch_kernel(self.compiled, launch)

    def _compile(self, changing):
        kernel = self.kernel._primal
        key = kernel.ensure_compiled(*self.arrays, *changing)
        self.definition = kernel.compiled_kernels[key]
        self.program = impl.get_runtime().prog
        config = self.program.config()
        callers = config.fast_math, config.cfg_optimization
        config.fast_math = config.cfg_optimization = False
        self.compiled = self.program.compile_kernel(config, self.program.get_device_caps(), self.definition)
        config.fast_math, config.cfg_optimization = callers

    def _bind(self):
        """Taichi's launch context with the arrays in it; on the processor it is kept for all launches."""
        context = self.definition.make_launch_context()
        for slot, array in enumerate(array.arr for array in self.arrays):
            if on_cpu():
                address, size = self.program.get_ndarray_data_ptr_as_int(array), array.nelement() * array.element_size()
                context.set_arg_external_array_with_shape((slot,), address, size, array.shape, 0)
            else:
                context.set_arg_ndarray((slot,), array)
        self.context = context if on_cpu() else None
        return context


def _kept_positions(write):
    """What an error would show of an expression, written once. Arguments: write: Taichi's function that writes it."""
    kept = {}

    def position(context, node):
        place = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        key = context.func.func, type(node), *place
        if key not in kept:
            kept[key] = write(context, node)
        return kept[key]

    return position


ASTTransformerContext.get_pos_info = _kept_positions(ASTTransformerContext.get_pos_info)
kernel_impl.getsourcelines = functools.cache(kernel_impl.getsourcelines)
kernel_impl.getsourcefile = functools.cache(kernel_impl.getsourcefile)


def read(array):
    """What a Taichi array holds, as a numpy array of its own.

    On the processor it is copied from memory: `to_numpy` launches a kernel for that, which takes 55 µs, and several
    times as long as copying where there is much.
    """
    return memory(array).copy() if on_cpu() else array.to_numpy()


def write(array, values):
    """Fill a Taichi array. Arguments: values: numbers in the array's shape, vectors as a last axis."""
    shape = (*array.shape, *array.element_shape)
    if np.shape(values) != shape:
        raise ValueError(f"values have shape {np.shape(values)}: expected {shape}")
    if on_cpu():
        memory(array)[...] = values
    else:
        array.from_numpy(np.ascontiguousarray(values, to_numpy_type(array.dtype)))


def memory(array):
    """The memory of a Taichi array on the processor, as numpy's; whoever keeps it keeps the array."""
    kind, shape = np.dtype(to_numpy_type(array.dtype)), (*array.shape, *array.element_shape)
    address = impl.get_runtime().prog.get_ndarray_data_ptr_as_int(array.arr)
    size = int(np.prod(shape)) * kind.itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address), kind).reshape(shape)


def device_array(values):
    """A Taichi array with the contents of a numpy array, in the precision the caller gave `ti.init`.

    Arguments: values: numbers; a last axis of three or four, of an array of three axes, becomes vectors.
    """
    values = np.asarray(values)
    if np.issubdtype(values.dtype, np.integer):
        array = ti.ndarray(ti.i32, values.shape)
    elif values.ndim == 3:
        array = ti.Vector.ndarray(values.shape[-1], impl.get_runtime().default_fp, values.shape[:-1])
    else:
        array = ti.ndarray(impl.get_runtime().default_fp, values.shape)
    write(array, values)
    return array


def real():
    """The numpy type of the default precision."""
    return np.float64 if impl.get_runtime().default_fp == ti.f64 else np.float32


def require_taichi():
    """Say what to do if `ti.init` has not been called."""
    if impl.get_runtime().prog is None:
        raise RuntimeError("Taichi is not initialised: call ti.init(arch=ti.cpu, default_fp=ti.f64) once, first")


def on_cpu():
    """Whether kernels run on the processor rather than on a graphics card."""
    return impl.current_cfg().arch in (ti.x64, ti.arm64)
