"""Kernels made from declared data (pbd/core/arrays.py): no signature is spelled and no argument packed by hand.

`make_kernel` generates the text of a kernel from the declaration, because Taichi reads a kernel's parameters from its
source, and puts it into `linecache`, where Taichi finds it. `Launch` binds a kernel to its arrays for quick launches.

Calling a Taichi kernel from Python costs about 18 µs for one argument and 51 µs for twelve (1.7.4, two x86 cores),
nearly all of it for checks of types that never change. The arrays of a solver never change either, so they are bound
once, and groups that a kernel does not read are left out (`NoArrays`), because each array takes time on graphics cards.
What a launch is given is set only if it is another object than before. On the processor all arguments are members of
one structure (pbd/core/structures.py): a launch then takes 1.5 µs, whatever the number of arrays.

Compilation is in pbd/core/compilation.py.

This goes below Taichi's public interface, to what `Kernel.__call__` does itself; pyproject.toml pins the version.
"""

import contextlib
import inspect
import itertools
import linecache
import math
import time

import taichi as ti

from pbd.core import plain
from pbd.core.arrays import HostArray, NoArrays, arrays_of, fields_of, is_array, is_declaration
from pbd.core.compilation import compile_kernel, structure_of
from pbd.core.kernel_lookup import lookup_of
from pbd.core.lanes import RowArray, VectorArray, in_lanes
from pbd.core.llvm import llvm_options
from pbd.core.runtime import KERNELS, LOCK, on_cpu, present_program, require_program

# Places of an array's shape and address, in an argument of its own or in a structure.
SHAPE, ADDRESS = 0, 1

# Numbers the generated kernels, because each needs a file name of its own.
NUMBER = itertools.count()


def make_kernel(body, declaration, lanes=1, **static):
    """Make the kernel that calls a Taichi function with declared data.

    A loop at the top of `body` runs in parallel, as one at the top of a kernel does.

    Args:
        body: a Taichi function (data, ...) whose parameters after the data are integers.
        declaration: a NamedTuple class; `data` in the kernel is an instance of it.
        lanes: how many worlds are in the lanes of a vector, see pbd/core/lanes.
        static: values of the fields that are annotated `Any`, known when the kernel is compiled. A NamedTuple class in
            place of a value declares more arrays there, or, as NoArrays, leaves out a group that `body` does not read.

    Returns: a Taichi kernel. Its arguments: all arrays, in the order of the declaration; then the numpy arrays and
    numbers that are given at each launch, in that order too; then the function's integers. `Launch` binds the first.
    """
    numbers = [f"{name}: int" for name in parameters_of(body)[1:]]
    kernel = define("kernel", body if lanes == 1 else in_lanes(body, lanes), declaration, static, numbers, lanes > 1)
    kernel._primal.has_lanes = lanes > 1
    kernel.left_out = {name: NoArrays() for name, value in static.items() if value is NoArrays}
    return kernel


def left_out(features):
    """What `make_kernel` is given to leave out the groups of arrays that a kernel does not read.

    Args: features: of a kernel; its `unread` are the names of the groups.
    """
    return dict.fromkeys(features.unread, NoArrays)


def parameters_of(function):
    """Names of a function's parameters."""
    return list(inspect.signature(function).parameters)


def define(decorator, body, declaration, static, numbers, has_lanes=False, order=None):
    """Define a Taichi kernel or function that calls `body` with declared data.

    Args: decorator: "kernel" or "real_func"; body, declaration, static: see `make_kernel`; numbers: the parameters of
    `body` after the data, with their types; has_lanes: whether worlds lie in lanes; order: indices of the parameters
    in another order.
    """
    names = {"ti": ti, "the_body": body, "VectorArray": VectorArray, "RowArray": RowArray}
    arrays, given = [], []
    value = expression("data", declaration, static, names, arrays, given, has_lanes)
    parameters = arrays + given + numbers
    if order is not None:
        parameters = [parameters[index] for index in order]
    passed = ["data", *[number.split(":")[0] for number in numbers]]
    call = f"the_body({', '.join(passed)})"
    text = "\n".join(
        [
            f"@ti.{decorator}",
            f"def defined({', '.join(parameters)}):",
            f"    data = ti.static({value})",
            f"    if ti.static(is_new()): {call}" if decorator == "kernel" else f"    {call}",
            "",
        ]
    )
    if decorator == "kernel":
        names["is_new"] = lookup_of(text, dict(names))
    file = f"<{decorator} {next(NUMBER)} {body.__module__}.{body.__name__}>"
    # An entry without a time of change is kept, although there is no such file.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names["__name__"] = __name__
    exec(compile(text, file, "exec"), names)  # our own text, of names that the declaration checked
    return names["defined"]


def expression(path, declaration, static, names, arrays, given, has_lanes):
    """Python text that builds an instance of a declaration from a kernel's parameters.

    Args: path: prefix of the parameters' names; declaration; static: see `make_kernel`; names: what the text refers to,
    to which this adds; arrays, given: parameters that are bound once, and at each launch, to which this adds;
    has_lanes: see `define`.
    """
    names[f"type_of_{path}"] = declaration
    members = []
    for name, annotation in fields_of(declaration).items():
        member = f"{path}_{name}"
        if name in static:
            annotation = static[name]  # a value, or a declaration of more arrays
        if is_declaration(annotation):
            members.append(expression(member, annotation, {}, names, arrays, given, has_lanes))
            continue
        if is_array(annotation):
            of_vectors = has_lanes and annotation.has_worlds() and annotation.width > 1
            arrays.append(f"{member}: ti.types.ndarray(ndim={len(annotation.axes) + of_vectors})")
            member = f"VectorArray({member}, {annotation.width})" if of_vectors else member
        elif isinstance(annotation, type) and issubclass(annotation, HostArray):
            of_rows = has_lanes and annotation.of_worlds
            given.append(f"{member}: ti.types.ndarray(ndim={annotation.dimensions + of_rows})")
            member = f"RowArray({member})" if of_rows else member
        elif name not in static and annotation in (float, int):
            given.append(f"{member}: {annotation.__name__}")
        elif name in static:
            names[member] = annotation
        else:
            raise TypeError(f"{declaration.__name__}.{name} is {annotation!r}: expected make_kernel(..., {name}=...)")
        members.append(member)
    return f"type_of_{path}({', '.join(members)})"


class Launch:
    """A kernel bound to its arrays.

    Args:
        kernel: as `make_kernel` returns it.
        data: an instance of the kernel's declaration, or several in the order of its groups of arrays.
    """

    def __init__(self, kernel, *data):
        self.kernel = kernel
        first, *others = data
        if kernel.left_out:
            first = first._replace(**kernel.left_out)
        self.arrays = []
        for group in (first, *others):
            self.arrays += arrays_of(group) if hasattr(group, "_fields") else [group]
        self.in_a_structure, self.places_of_given = on_cpu(), []
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
            elif self.in_a_structure:
                write_array(context, place, value.ctypes.data, value.shape)
            else:
                context.set_arg_external_array_with_shape(place, value.ctypes.data, value.nbytes, value.shape, 0)
        self.before = given
        if self.until_full == math.inf and not self.is_new:
            self.program().launch_kernel(self.compiled.kernel, context)
            return
        start = time.perf_counter()
        with llvm_options(self.compiled.options) if self.is_new else contextlib.nullcontext():
            self.program().launch_kernel(self.compiled.kernel, context)
        self.is_new = False
        self.seconds += time.perf_counter() - start

    def _compile(self, given):
        """Compile the kernel, and again when its launches have taken so long that it pays."""
        found = compile_kernel(self.kernel._primal, (*self.arrays, *given), self.compiled, self.seconds)
        self.compiled, self.until_full, self.is_new, self.context = found, found.until_full, True, None

    def _bind(self, given):
        """Taichi's launch context with the arrays in it; on the processor it is used for all launches."""
        arguments = (*self.arrays, *given)
        structure, self.before = structure_of(self.kernel._primal, arguments), [None] * len(given)
        if structure:
            context, places = structure.make_context()
        else:
            context, places = self.compiled.definition.make_launch_context(), [(k,) for k in range(len(arguments))]
        self.places_of_given = places[len(self.arrays) :]
        for place, array in zip(places, (array.arr for array in self.arrays)):
            if structure:
                write_array(context, place, self.program().get_ndarray_data_ptr_as_int(array), array.shape)
            else:
                context.set_arg_ndarray(place, array)
        self.context = context if structure else None
        return context


def write_array(context, place, address, shape):
    """Write an array into the structure of arguments. Args: context: Taichi's; place: indices; address; shape."""
    context.set_struct_arg_uint((*place, ADDRESS), address)
    for axis, length in enumerate(shape):
        context.set_struct_arg_int((*place, SHAPE, axis), length)


if KERNELS == "plain":
    make_kernel, Launch = plain.Kernel, plain.Launch
