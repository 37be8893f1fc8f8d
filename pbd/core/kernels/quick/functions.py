"""Taichi functions that are called, not copied into each place that calls them.

Taichi copies a function to each call, and its time to compile grows faster than the length of a kernel. An impulse step
that wrote the rows of a ragdoll's joints twice took 44 s to compile; with one copy that is called twice it takes 10 s,
with the same bits and the same speed.

Such a function is a real function of Taichi. Its parameters are generated from declared data, as those of a kernel are
(define.py).
"""

import contextlib
import functools
from typing import Any

import taichi as ti
from taichi.lang import impl, kernel_impl

from pbd.core.kernels.arrays import NoArrays, RowsOfWorld, arrays_of, fields_of, is_array, is_declaration
from pbd.core.kernels.define import define, parameters_of
from pbd.core.kernels.lanes.values import Reading
from pbd.core.kernels.quick.reading.replacing import replacing
from pbd.core.kernels.quick.structures import Structure
from pbd.core.kernels.runtime import on_cpu, present_program


def compiled_once(*groups):
    """Decorate a Taichi function (data, integers ...) that is long and called more than once. It returns nothing.

    A call passes on all arrays that the function uses, so the decorator says which groups these are in. With 60 arrays
    a call takes some 0.3 µs.

    Args: groups: names of the data's fields that the function uses. The others are None in it.
    """

    def decorate(function):
        body = ti.func(function)
        numbers = [f"{name}: int" for name in parameters_of(function)[1:]]
        variants = {}

        @functools.wraps(function)
        def call(data, *integers):
            if not on_cpu() or Reading.width > 1 or any(isinstance(value, RowsOfWorld) for value in data):
                return body(data, *integers)  # copied: Vulkan has no functions, and they take no such arrays
            static = static_values(data, groups)
            variant = present_program(), ti.cfg.opt_level, type(data), tuple(static.values())
            arrays, given = [], []
            collect(data, static, arrays, given)
            arguments = [*arrays, *given, *((int, value) for value in integers)]
            order = Structure(arguments, not impl.current_cfg().real_matrix_scalarize).order
            arguments = [arguments[index] for index in order]
            if variant not in variants:
                variants[variant] = define("real_func", body, type(data), static, numbers, order=order)
            declared = Structure(arguments, not impl.current_cfg().real_matrix_scalarize).declared()
            with copying_into_functions(), replacing(declared):
                variants[variant](*[value for _, value in arguments])

        call._is_taichi_function, call.func = True, body.func  # Taichi asks for both where it is called
        call.made_of = body, groups  # what a signature describes instead of the closure, where `variants` changes
        return call

    return decorate


@ti.func
def hidden_if(calls: ti.template(), index):
    """The same index, hidden from Taichi if there are calls of `compiled_once` functions.

    Where a loop writes an element of an array at an index that does not change, Taichi keeps it in a variable until the
    loop ends. A `compiled_once` function that the loop calls would not see it.
    """
    found = index
    if ti.static(calls):
        for _ in range(1):
            found = index
    return found


def static_values(data, groups):
    """Values of the data's fields that are known at compilation: see `make_kernel`. Args: groups: the fields in use."""
    static = {}
    for name, annotation in fields_of(type(data)).items():
        value = getattr(data, name)
        if name not in groups:
            static[name] = None
        elif isinstance(value, NoArrays):
            static[name] = NoArrays
        elif annotation is Any:
            declares_arrays = is_declaration(type(value)) and arrays_of(value)
            static[name] = type(value) if declares_arrays else value
    return static


def collect(data, static, arrays, given):
    """Add arrays and numbers of the data to two lists, in the order of a defined function's parameters.

    Args: data; static: see `static_values`; arrays, given: lists of (annotation, value).
    """
    for name, annotation in fields_of(type(data)).items():
        value = getattr(data, name)
        if is_declaration(static.get(name, annotation)):
            collect(value, {}, arrays, given)
        elif name not in static:
            (arrays if is_array(annotation) else given).append((annotation, value))


@contextlib.contextmanager
def copying_into_functions():
    """Let Taichi copy functions into the real function that calls them.

    Taichi 1.7.4 copies them into the kernel, wherever they are called, and ends in a segmentation fault.
    """
    ast_builder = kernel_impl.Kernel.ast_builder
    kernel_impl.Kernel.ast_builder = lambda kernel: impl.get_runtime().compiling_callable.ast_builder()
    try:
        yield
    finally:
        kernel_impl.Kernel.ast_builder = ast_builder
