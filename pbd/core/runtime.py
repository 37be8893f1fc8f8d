"""What the caller's `ti.init` chose: processor, precision."""

import numpy as np
import taichi as ti
from taichi.lang import impl


def require_taichi():
    """Raise RuntimeError, with what to do, if `ti.init` has not been called."""
    if impl.get_runtime().prog is None:
        raise RuntimeError("Taichi is not initialised: call ti.init(arch=ti.cpu, default_fp=ti.f64) once, first")


def on_cpu():
    """Whether kernels run on the processor rather than on a graphics card."""
    return impl.current_cfg().arch in (ti.x64, ti.arm64)


def real_type():
    """The numpy type of the default precision."""
    return np.float64 if impl.get_runtime().default_fp == ti.f64 else np.float32
