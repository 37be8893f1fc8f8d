"""The context in which Taichi reads our kernels quickly. Outside of it Taichi is as it was, for kernels of others."""

import contextlib
import gc

from taichi.lang import kernel_impl

from pbd.core.kernels.quick.reading.builder import QUICK_NODES
from pbd.core.kernels.quick.reading.replacing import replacing
from pbd.core.kernels.quick.reading.source import IDLE, QUICK_SOURCE, trees
from pbd.core.kernels.quick.reading.variables import FEWER_VARIABLES, release
from pbd.core.kernels.quick.reading.vector_methods import QUICK_VECTORS

transform_tree = kernel_impl.transform_tree


def read_tree(tree, context):
    """Read the syntax tree of a function. Args: see Taichi's `transform_tree`. Returns: what the function returns."""
    context.tree = tree
    result = transform_tree(tree, context)
    release(context, result)
    trees.put_back(tree)
    return result


# What is replaced in Taichi: (owner, name, replacement).
REPLACED = [
    *FEWER_VARIABLES, *QUICK_VECTORS, *QUICK_NODES, *QUICK_SOURCE, (kernel_impl, "transform_tree", read_tree),
]  # fmt: skip


@contextlib.contextmanager
def reading_quickly():
    """Replace functions of Taichi in this context, and do not search for garbage.

    There is little garbage among many objects: the search took 4 % of the time.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        with replacing(REPLACED):
            yield
    finally:
        if collects:
            gc.enable()
        IDLE.clear()  # they refer to Taichi's program
