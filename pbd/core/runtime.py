"""What the caller's `ti.init` chose: processor, precision."""

import numpy as np
import taichi as ti
from taichi.lang import impl

# A parallel loop of fewer than 1,024 iterations runs on one thread, because Taichi 1.7.4 makes blocks of at least 512.
# Where there are fewer worlds or clusters, they stand this many loop indices apart. The idle iterations cost nothing
# measurable, as long as the compiler knows this number: division by an unknown number took a third of the time.
LOOP_STRIDE = 512


def require_taichi():
    """Raise RuntimeError, with what to do, if `ti.init` has not been called."""
    if impl.get_runtime().prog is None:
        raise RuntimeError("Taichi is not initialised: call ti.init(arch=ti.cpu, default_fp=ti.f64) once, first")


def on_cpu():
    """Whether kernels run on the processor rather than on a graphics card."""
    return impl.current_cfg().arch in (ti.x64, ti.arm64)


def real_bits():
    """Bits of the default precision, 32 or 64."""
    return 8 * np.dtype(real_type()).itemsize


def real_type():
    """The numpy type of the default precision."""
    return np.float64 if impl.get_runtime().default_fp == ti.f64 else np.float32
