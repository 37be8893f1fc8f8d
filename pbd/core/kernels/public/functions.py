"""Functions that quick kernels call, copied to each call: Vulkan and Metal have no others, nor have debuggers."""

import taichi as ti


def compiled_once(*_groups):
    """Decorate a Taichi function (data, integers ...): see quick/functions.py."""
    return ti.func


@ti.func
def hidden_if(calls: ti.template(), index):
    """The same index."""
    return index
