"""Kernels and launches in plain Python, in place of those of pbd/core/kernels/define.py: see the package."""

import numpy as np

from pbd.core.kernels.arrays import HostArray, fields_of, is_array, is_declaration, view
from pbd.core.kernels.define import bound_arrays, left_out_of
from pbd.core.kernels.plain.functions import plain
from pbd.core.kernels.plain.values import Array, number
from pbd.core.kernels.runtime import LOCK, on_cpu, present_program, require_program


class Kernel:
    """A kernel in plain Python. Args: see pbd.core.kernels.make_kernel."""

    def __init__(self, body, declaration, lanes=1, packed=False, **static):
        self.body, self.declaration, self.static = body, declaration, static


make_kernel = Kernel


class Launch:
    """A kernel bound to its arrays. Args: see pbd.core.kernels.Launch."""

    def __init__(self, kernel, *data):
        if not on_cpu():
            raise RuntimeError("VERLETLAB_KERNELS is 'plain', on the processor: expected ti.init(arch=ti.cpu)")
        self.kernel, self.program = kernel, present_program()
        self.arrays = bound_arrays(left_out_of(kernel.static), data)

    def __call__(self, *given):
        """Run the kernel. Args: see pbd.core.kernels.Launch."""
        require_program(self.program)
        with LOCK, np.errstate(all="ignore"):
            arrays, rest = iter(self.arrays), iter(given)
            data = instance(self.kernel.declaration, self.kernel.static, arrays, rest)
            plain(self.kernel.body)(data, *rest)


def instance(declaration, static, arrays, given):
    """The data of a kernel. Args: declaration, static: see `make_kernel`; arrays, given: iterators."""
    found = {}
    for name, annotation in fields_of(declaration).items():
        annotation = static.get(name, annotation)
        if is_declaration(annotation):
            found[name] = instance(annotation, {}, arrays, given)
        elif is_array(annotation):
            array = next(arrays)
            found[name] = Array(view(array), array.element_shape[0] if array.element_shape else 1)
        elif isinstance(annotation, type) and issubclass(annotation, HostArray):
            found[name] = Array(next(given))
        elif name not in static and annotation in (float, int):
            found[name] = number(next(given))
        else:
            found[name] = annotation
    return declaration(**found)
