"""Where kernels run, and in which precision: the one place of the project that calls ti.init."""

import taichi as ti
from taichi.lang import impl

DEVICES = ("cpu", "gpu")


def initialise(device="cpu", precision=64):
    """Start Taichi, unless the process has already.

    Arguments: device: "cpu", or "gpu" for the one Taichi finds; precision: 64 or 32 bits. In 32, x - x* at a step of 1 ms
    holds velocities to 1e-4 m/s only; numbers that are to be trusted want 64.

    Returns: what it runs on, in a word, as `running_on`.
    """
    if impl.get_runtime().prog is None:
        default_fp = ti.f64 if precision == 64 else ti.f32
        ti.init(arch=getattr(ti, device), default_fp=default_fp, log_level=ti.ERROR, verbose=False)
    return running_on()


def running_on():
    """What kernels run on and in which precision, such as "x64, 64 bits"; Taichi takes the CPU where it finds no GPU."""
    bits = 64 if impl.get_runtime().default_fp == ti.f64 else 32
    return f"{impl.current_cfg().arch.name}, {bits} bits"
