"""Device and precision of kernels: the only place of the project that calls ti.init."""

import contextlib
import io
import os
import time
from pathlib import Path

import taichi as ti

from pbd.core.kernels import default_config, on_cpu, real_bits, refuse_forked, require_taichi

# Interfaces of graphics cards in order of preference. Not ti.gpu: it also tries OpenGL, which crashes the process on a
# machine without a display.
GPUS = [ti.cuda, ti.amdgpu, ti.metal, ti.vulkan]
DEVICES = {"cpu": ti.cpu, "gpu": GPUS} | {arch.name: arch for arch in GPUS}

# Taichi holds the lock of its cache for a second or two. An older one is of a process that was killed [s].
STALE = 60.0


def initialise(device="cpu", precision=64, opt_level=None, one_thread=False):
    """Start Taichi, unless this process has already started it.

    Args:
        device: one of DEVICES: "cpu"; "gpu" for the first GPU that is found, and the CPU if there is none; or the
            interface by which a GPU is used, such as "vulkan".
        precision: 64 or 32 bits. With 32 bits and a step of 1 ms, x - x* resolves velocities to 1e-4 m/s only.
        opt_level: of compilation, see pbd/core/kernels/settings.py; None for Taichi's.
        one_thread: whether kernels run on one thread, as in a process that shares the processor with others.

    Returns: device and precision, see `running_on`.

    Raises: RuntimeError if there is no GPU with the named interface, in a child that was forked after Taichi started,
    or if kernels cannot have its types.
    """
    refuse_forked()
    if ti.cfg is None:
        threads = default_config().cpu_max_num_threads
        default_fp = ti.f64 if precision == 64 else ti.f32
        level = {} if opt_level is None else {"opt_level": opt_level}
        level |= {"cpu_max_num_threads": 1} if one_thread else {}
        remove_stale_lock()
        # Once a day Taichi asks the internet for its newest version, in a thread for which nobody waits. A process that
        # ends meanwhile crashes.
        os.environ.setdefault("TI_SKIP_VERSION_CHECK", "ON")
        with contextlib.redirect_stdout(io.StringIO()), drivers_quiet(device):  # it prints at any log level
            ti.init(arch=DEVICES[device], default_fp=default_fp, log_level=ti.ERROR, verbose=False, **level)
        if one_thread:
            # Kernels on disk are those of one number of threads, otherwise the processor's. Taichi has made its thread
            # by now, so with the other number again it finds the kernels that other processes compiled.
            ti.cfg.cpu_max_num_threads = threads
        if device not in ("cpu", "gpu") and on_cpu():
            ti.reset()
            raise RuntimeError(f"no GPU with a driver for {device} is found: expected device 'gpu' or 'cpu'")
    require_taichi()
    return running_on()


@contextlib.contextmanager
def drivers_quiet(device):
    """Discard what Taichi's library prints of missing drivers while it looks for a GPU. Args: device."""
    if device == "cpu":
        yield
        return
    kept = os.dup(2)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def remove_stale_lock():
    """Remove the lock of Taichi's cache of kernels if a process that was killed left it.

    Taichi 1.7.4 neither reads nor writes the cache while the file is there, so each start would compile all kernels.
    """
    folder = os.environ.get("TI_OFFLINE_CACHE_FILE_PATH") or default_config().offline_cache_file_path
    lock = Path(folder) / "ticache.lock"
    with contextlib.suppress(OSError):  # there is none, or it is another user's
        if time.time() - lock.stat().st_mtime > STALE:
            lock.unlink()


def running_on():
    """Device and precision of kernels, such as "x64, 64 bits"."""
    return f"{ti.cfg.arch.name}, {real_bits()} bits"
