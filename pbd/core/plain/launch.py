"""Kernels and launches in plain Python, in place of those of pbd/core/kernels.py: see the package."""

import numpy as np

from pbd.core.arrays import HostArray, NoArrays, arrays_of, fields_of, is_array, is_declaration, memory
from pbd.core.plain.functions import plain
from pbd.core.plain.values import Array, number
from pbd.core.runtime import LOCK, on_cpu, present_program, require_program


class Kernel:
    """A kernel in plain Python. Args: see pbd.core.kernels.make_kernel."""

    def __init__(self, body, declaration, lanes=1, **static):
        self.body, self.declaration, self.static = body, declaration, static


class Launch:
    """A kernel bound to its arrays. Args: see pbd.core.kernels.Launch."""

    def __init__(self, kernel, *data):
        if not on_cpu():
            raise RuntimeError("VERLETLAB_KERNELS is 'plain', on the processor: expected ti.init(arch=ti.cpu)")
        self.kernel, self.program = kernel, present_program()
        first, *others = data
        left_out = {name: NoArrays() for name, value in kernel.static.items() if value is NoArrays}
        self.arrays = []
        for group in (first._replace(**left_out) if left_out else first, *others):
            self.arrays += arrays_of(group) if hasattr(group, "_fields") else [group]

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
            found[name] = Array(memory(array), array.element_shape[0] if array.element_shape else 1)
        elif isinstance(annotation, type) and issubclass(annotation, HostArray):
            found[name] = Array(next(given))
        elif name not in static and annotation in (float, int):
            found[name] = number(next(given))
        else:
            found[name] = annotation
    return declaration(**found)
