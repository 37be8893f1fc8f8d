"""The context in which Taichi reads our kernels quickly. Outside of it Taichi is as it was, for kernels of others."""

import contextlib
import gc

from pbd.core.kernels.quick.reading.builder import QUICK_NODES
from pbd.core.kernels.quick.reading.replacing import replacing
from pbd.core.kernels.quick.reading.source import IDLE, QUICK_SOURCE
from pbd.core.kernels.quick.reading.subscripts import QUICK_SUBSCRIPTS
from pbd.core.kernels.quick.reading.variables import FEWER_VARIABLES
from pbd.core.kernels.quick.reading.vector_methods import QUICK_VECTORS

# What is replaced in Taichi: (owner, name, replacement).
REPLACED = [*FEWER_VARIABLES, *QUICK_VECTORS, *QUICK_SUBSCRIPTS, *QUICK_NODES, *QUICK_SOURCE]


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
