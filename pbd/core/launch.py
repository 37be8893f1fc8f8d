"""Old names, until everything is declared: see arrays.py and kernels.py."""

import numpy as np
import taichi as ti
from taichi.lang import impl

from pbd.core.arrays import memory, read, write
from pbd.core.kernels import Launch
from pbd.core.runtime import on_cpu, real_type, require_taichi

real = real_type
__all__ = ["Launch", "device_array", "memory", "on_cpu", "read", "real", "require_taichi", "write"]


def device_array(values):
    """A Taichi array with the contents of a numpy array, in the precision the caller gave `ti.init`."""
    values = np.asarray(values)
    if np.issubdtype(values.dtype, np.integer):
        array = ti.ndarray(ti.i32, values.shape)
    elif values.ndim == 3:
        array = ti.Vector.ndarray(values.shape[-1], impl.get_runtime().default_fp, values.shape[:-1])
    else:
        array = ti.ndarray(impl.get_runtime().default_fp, values.shape)
    write(array, values)
    return array
