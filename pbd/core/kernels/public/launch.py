"""Kernels and launches by Taichi's public interface.

A kernel takes buffers, of which its arrays are parts (storage.py). A launch takes 50 to 200 µs.
Kernels are compiled once, at the cheap level but for `ti.init(opt_level=2)`.
"""

import math
import weakref

import numpy as np
import taichi as ti

from pbd.core.kernels import settings
from pbd.core.kernels.define import bound_arrays, define, left_out_of, parameters_of
from pbd.core.kernels.device_copies import TAICHI_TYPES, copy_of
from pbd.core.kernels.launch_length import ends_loops
from pbd.core.kernels.public.storage import Buffer
from pbd.core.kernels.runtime import BUFFERED, LOCK, on_cpu, present_program, real_type, require_program
from pbd.core.kernels.traffic import TRAFFIC

# Drivers have as few as 31 storage buffers for a kernel, Taichi's own among them. Of a kernel with more arrays Taichi
# 1.7.4 loses the last ones without an error, or the process crashes.
MOST_BUFFERS = 24


class Kernel:
    """A kernel. Args: see quick/launch.py, `make_kernel`."""

    def __init__(self, body, declaration, lanes=1, packed=False, **static):
        self.body, self.declaration, self.static = body, declaration, static
        self.made = {}

    def made_for(self, buffers):
        """The Taichi kernel, and the programs for which it is compiled, as a set. Args: buffers: see `define`."""
        if buffers not in self.made:
            numbers = [f"{name}: int" for name in parameters_of(self.body)[1:]]
            kernel = define("kernel", self.body, self.declaration, self.static, numbers, buffers=buffers)
            self.made[buffers] = kernel, weakref.WeakSet()
        return self.made[buffers]

    def __call__(self, *given):
        """Run the kernel once. Args: its arrays, in its order, and what a Launch is given."""
        arrays = [each for each in given if not isinstance(each, (np.ndarray, int, float))]
        Launch(self, *arrays)(*given[len(arrays) :])


make_kernel = Kernel


class Launch:
    """A kernel bound to its arrays: see quick/launch.py."""

    def __init__(self, kernel, *data):
        self.program = present_program()
        ends_loops()  # finds it out in a launch, which no kernel can make while it is compiled
        # Empty arrays are those of all systems: a launch has its own instead, in its own buffers.
        arrays = [each.copy() if each.is_empty else each for each in bound_arrays(left_out_of(kernel.static), data)]
        put_into_buffers(arrays)
        buffers = list(dict.fromkeys(each.buffer for each in arrays))
        self.kernel, self.compiled = kernel.made_for(tuple(buffers.index(each.buffer) for each in arrays))
        self.buffers = [each.array for each in buffers]
        self.parts = [number for each in arrays for number in (each.offset, *each.shape)]
        self.own = len(parameters_of(kernel.body)) - 1  # integers that the kernel itself is given
        self.integers, self.reals = Numbers(np.int32), Numbers(real_type())

    def __call__(self, *given):
        """Run the kernel. Args: C-contiguous numpy arrays, floats and ints, in the kernel's order."""
        require_program(self.program)
        with LOCK:
            TRAFFIC.launches += 1
            data, own = given[: len(given) - self.own], given[len(given) - self.own :]
            hosts = [value for value in data if type(value) not in (int, float)]
            copies = [] if on_cpu() else [copy_of(host) for host in hosts]
            for host, copy in zip(hosts, copies):
                copy.write(host)
            arguments = [*self.buffers, *([each.array for each in copies] or hosts), *self.numbers(data), *own]
            if self.program() in self.compiled:
                self.kernel(*arguments)
            else:
                check_buffers(len(arguments) - len(own))
                level = settings.FULL if ti.cfg.opt_level > settings.FULL else settings.CHEAP
                with settings.exactly(), settings.at_level(level), settings.around(math.inf):
                    self.kernel(*arguments)
                self.compiled.add(self.program())
            for host, copy in zip(hosts, copies):
                copy.read(host)

    def numbers(self, data):
        """Arrays of integers, after offsets and shapes, and of other numbers. Args: data: values of the data."""
        integers = self.parts + [value for value in data if type(value) is int]
        reals = [value for value in data if type(value) is float]
        return [kept.array_of(each) for kept, each in ((self.integers, integers), (self.reals, reals)) if each]


class Numbers:
    """An array of numbers on the device, written anew when one changes: each argument of a launch takes some µs.

    Args: kind: a numpy type. Attributes: array: Taichi's.
    """

    def __init__(self, kind):
        self.kind, self.array, self._values = kind, None, None

    def array_of(self, values):
        """The array. Args: values: a list, always of the same length."""
        if values != self._values:
            if self.array is None:
                self.array = ti.ndarray(TAICHI_TYPES[self.kind], (len(values),))
            self.array.from_numpy(np.array(values, self.kind))
            self._values = values
        return self.array


def check_buffers(count):
    """Raise RuntimeError if a graphics card has too few storage buffers. Args: count: of arrays of a launch."""
    name = ti.cfg.arch.name
    if ti.cfg.arch in BUFFERED and count > MOST_BUFFERS:
        raise RuntimeError(
            f"a kernel has {count} arrays, and {name} would lose some of more than {MOST_BUFFERS}: "
            "expected ti.init(arch=ti.cpu), or --device cpu"
        )


def put_into_buffers(arrays):
    """Put those arrays into buffers that are in none yet."""
    new = {}
    for each in arrays:
        if each.buffer is None:
            new.setdefault((str(each.dtype), each.width), {})[id(each)] = each
    for alike in new.values():
        Buffer(list(alike.values()))
