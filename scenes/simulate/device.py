"""Where kernels run, and in which precision: the one place of the project that calls ti.init."""

import contextlib
import io

import taichi as ti
from taichi.lang import impl

DEVICES = ("cpu", "gpu")

# By preference. Not ti.gpu, which also asks for OpenGL, and that crashes the process on a machine without a display.
GPUS = [ti.cuda, ti.amdgpu, ti.metal, ti.vulkan]


def initialise(device="cpu", precision=64):
    """Start Taichi, unless the process has already.

    Arguments: device: "cpu", or "gpu" for the first one found, and the CPU where there is none; precision: 64 or 32
    bits. In 32, x - x* at a step of 1 ms holds velocities to 1e-4 m/s only; numbers that are to be trusted want 64.

    Returns: what it runs on, in a word, as `running_on`.
    """
    if impl.get_runtime().prog is None:
        arch = GPUS if device == "gpu" else ti.cpu
        default_fp = ti.f64 if precision == 64 else ti.f32
        with contextlib.redirect_stdout(io.StringIO()):  # where it starts, it prints whatever the level
            ti.init(arch=arch, default_fp=default_fp, log_level=ti.ERROR, verbose=False)
    return running_on()


def running_on():
    """What kernels run on and in which precision, such as "x64, 64 bits"."""
    bits = 64 if impl.get_runtime().default_fp == ti.f64 else 32
    return f"{impl.current_cfg().arch.name}, {bits} bits"
