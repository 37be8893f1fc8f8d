"""Device and precision of kernels: the only place of the project that calls ti.init."""

import contextlib
import io

import taichi as ti
from taichi.lang import impl

DEVICES = ("cpu", "gpu")

# In order of preference. Not ti.gpu: it also tries OpenGL, which crashes the process on a machine without a display.
GPUS = [ti.cuda, ti.amdgpu, ti.metal, ti.vulkan]


def initialise(device="cpu", precision=64, opt_level=None):
    """Start Taichi, unless this process has already started it.

    Args:
        device: "cpu", or "gpu" for the first GPU that is found, and the CPU if there is none.
        precision: 64 or 32 bits. With 32 bits and a step of 1 ms, x - x* resolves velocities to 1e-4 m/s only.
        opt_level: of compilation, see pbd/core/compilation.py; None for Taichi's.

    Returns: device and precision, see `running_on`.
    """
    if impl.get_runtime().prog is None:
        arch = GPUS if device == "gpu" else ti.cpu
        default_fp = ti.f64 if precision == 64 else ti.f32
        level = {} if opt_level is None else {"opt_level": opt_level}
        with contextlib.redirect_stdout(io.StringIO()):  # it prints at any log level
            ti.init(arch=arch, default_fp=default_fp, log_level=ti.ERROR, verbose=False, **level)
    return running_on()


def running_on():
    """Device and precision of kernels, such as "x64, 64 bits"."""
    bits = 64 if impl.get_runtime().default_fp == ti.f64 else 32
    return f"{impl.current_cfg().arch.name}, {bits} bits"
