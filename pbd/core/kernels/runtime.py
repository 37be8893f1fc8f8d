"""What the caller's `ti.init` chose: processor, precision; and what ends with it."""

import ctypes
import os
import threading
import warnings
import weakref
from functools import cache, wraps
from types import FunctionType

import numpy as np
import taichi as ti
from taichi.lang import impl

from pbd.core.kernels.mode import KERNELS

# Taichi's state. Its public name `ti.cfg` does not tell one program from the next, and takes 30 times as long. This and
# `default_config` are all that public and plain kernels need of Taichi's private interface.
RUNTIME = impl.get_runtime

# Devices on which Taichi binds a storage buffer for each array.
BUFFERED = (ti.vulkan, ti.metal, ti.opengl, ti.gles)

# Devices and numbers of which results were compared with the processor's: docs/compatibility.md.
COMPARED = ((ti.cuda, ti.f32), (ti.vulkan, ti.f32))

# Devices of which nobody has compared results with the processor's. The variable VERLETLAB_UNTESTED_DEVICE lets in who
# works on it.
UNTESTED = (ti.metal, ti.opengl, ti.gles)

# A parallel loop of fewer than 1,024 iterations runs on one thread, because Taichi 1.7.4 makes blocks of at least 512.
# Where there are fewer worlds or clusters, they stand this many loop indices apart. The idle iterations cost nothing
# measurable, as long as the compiler knows this number: division by an unknown number took a third of the time.
LOOP_STRIDE = 512


def require_taichi():
    """Raise RuntimeError, with what to do, if `ti.init` has not been called, or only before a fork, or for f16.

    Warns: UserWarning on a graphics card whose results are not compared with the processor's.
    """
    refuse_forked()
    if ti.cfg is None:
        raise RuntimeError("Taichi is not initialised: call ti.init(arch=ti.cpu, default_fp=ti.f64) once, first")
    for name, expected in (("default_fp", (ti.f64, ti.f32)), ("default_ip", (ti.i32,))):
        given, names = getattr(ti.cfg, name), " or ".join(f"ti.{each}" for each in expected)
        if given not in expected:
            raise RuntimeError(f"Taichi was initialised with {name}=ti.{given}: expected {names} in ti.init")
    if ti.cfg.arch in UNTESTED and not os.environ.get("VERLETLAB_UNTESTED_DEVICE"):
        name = ti.cfg.arch.name
        remedy = "expected ti.init(arch=ti.cpu), or --device cpu"
        raise RuntimeError(f"results on {name} are not shown to be right: {remedy}")
    if ti.cfg.arch in BUFFERED and ti.cfg.default_fp == ti.f64:
        raise RuntimeError(
            f"Taichi has no sines and powers of 64 bits on {ti.cfg.arch.name}: expected ti.init(default_fp=ti.f32), or "
            "--precision 32"
        )
    warn_of_card(present_program())


@cache
def warn_of_card(program):
    """Warn once in a program on a graphics card that is not COMPARED. Args: program: see `present_program`."""
    if not on_cpu() and (ti.cfg.arch, ti.cfg.default_fp) not in COMPARED:
        where = f"{ti.cfg.arch.name} with {real_bits()} bits"
        text = f"results on {where} were not compared with the processor's: see docs/compatibility.md"
        warnings.warn(text, UserWarning, stacklevel=3)


class Fork:
    """What a forked child has of its parent. Attributes: program: the parent's Taichi program, or None."""

    program = None


def after_fork():
    """Keep the parent's Taichi program alive: its destructor would wait for threads that are not in the child."""
    Fork.program = RUNTIME().prog
    if Fork.program is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(Fork.program))


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=after_fork)


def refuse_forked():
    """Raise RuntimeError if Taichi's program is that of a parent process: its kernels would wait for ever."""
    if Fork.program is not None and Fork.program is RUNTIME().prog:
        raise RuntimeError(FORKED)


def on_cpu():
    """Whether kernels run on the processor rather than on a graphics card."""
    return ti.cfg.arch in (ti.x64, ti.arm64)


def in_taichi(function):
    """Decorate a function of Python that kernels call: Taichi need not warn of it."""
    function._is_wrapped_kernel = True
    return function


def default_config():
    """Taichi's settings where ti.init is given none."""
    return impl.default_cfg()


def threads():
    """On how many threads the processor may run a kernel."""
    return 1 if KERNELS == "plain" else ti.cfg.cpu_max_num_threads


def real_bits():
    """Bits of the default precision, 32 or 64."""
    return 8 * np.dtype(real_type()).itemsize


def lanes_of_register():
    """How many numbers of the default precision a vector register of 32 bytes holds: 8 or 4."""
    return 256 // real_bits()


def real_type():
    """The numpy type of the default precision."""
    return NUMPY_TYPES[RUNTIME().default_fp]


def default_real():
    """Taichi's type of the default precision."""
    return RUNTIME().default_fp


def numpy_type(number):
    """The numpy type of a Taichi type of numbers. Args: number: such as ti.f64."""
    return NUMPY_TYPES[number]


NUMPY_TYPES = {ti.f32: np.float32, ti.f64: np.float64} | {
    getattr(ti, name[:1] + name.lstrip("uint")): getattr(np, name)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
}

# Taichi makes arrays and compiles kernels on one thread at a time.
LOCK = threading.RLock()

GONE = "Taichi was initialised or reset since this was made: make it anew, its arrays are gone"
CLOSED = "this was closed: make it anew, its arrays are gone"
FORKED = (
    "this process was forked after ti.init, and has none of Taichi's threads: start processes by 'spawn', as "
    "multiprocessing.get_context('spawn') does, or call ti.init in the child"
)


def present_program():
    """A weak reference to Taichi's program, always the same one; None if there is no program.

    A strong one would keep the program after `ti.reset`. When the last array of it died, its end would destroy memory
    of the program that is there by then.
    """
    program = RUNTIME().prog
    return None if program is None else weakref.ref(program)


def require_program(program):
    """Raise RuntimeError if a Taichi program has ended. Args: program: of `present_program` when an array was made."""
    if program is not present_program():
        raise RuntimeError(GONE)


class UsesTaichi:
    """Base of systems and solvers, which have Taichi arrays.

    Their public methods and properties run on one thread at a time. After `ti.init`, `ti.reset` or `close` each raises
    RuntimeError. It is a context manager that closes itself.
    """

    _program = None

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            if name == "__init__":
                setattr(cls, name, started(member))
            elif isinstance(member, FunctionType) and not name.startswith("_"):
                setattr(cls, name, guarded(member))
            elif isinstance(member, property) and not name.startswith("_"):
                setattr(cls, name, property(*(each and guarded(each) for each in (member.fget, member.fset))))

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def close(self):
        """Free all arrays now. Kernels stay compiled until the process ends, for the next of the same kind."""
        with LOCK:
            vars(self).clear()
            self._program = CLOSED


def started(make):
    """Wrap a constructor: it needs Taichi, and runs on one thread at a time. Args: make: a function."""

    @wraps(make)
    def start(self, *arguments, **options):
        refuse_forked()
        with LOCK:
            if self._program is None:
                require_taichi()
                self._program = present_program()
            make(self, *arguments, **options)

    return start


def guarded(act):
    """Wrap a method of UsesTaichi: it needs the arrays, and runs on one thread at a time. Args: act: a function."""

    @wraps(act)
    def guard(self, *arguments, **options):
        refuse_forked()
        if self._program is not present_program():
            raise RuntimeError(CLOSED if self._program is CLOSED else GONE)
        with LOCK:
            return act(self, *arguments, **options)

    return guard
