"""Copies of numpy arrays on a graphics card, for launches that are given them.

Taichi 1.7.4 copies an array of the host to a device only if the kernel reads it, and always back. What the kernel does
not write would be lost. And it copies at each launch.
"""

import contextlib
import weakref

import numpy as np
import taichi as ti

from pbd.core.kernels.runtime import NUMPY_TYPES, on_cpu, present_program
from pbd.core.kernels.traffic import TRAFFIC

TAICHI_TYPES = {kind: number for number, kind in NUMPY_TYPES.items()}

# By the `id` of the numpy array.
COPIES = {}


class DeviceCopy:
    """A copy of a numpy array on the device. Args: host: the array, of which only shape and type count.

    Attributes: array: Taichi's; is_held: see `held`.
    """

    def __init__(self, host):
        self.array = ti.ndarray(TAICHI_TYPES[host.dtype.type], tuple(max(length, 1) for length in host.shape))
        self.program, self.is_held = present_program(), False
        self._contents = None

    def write(self, host):
        """Copy to the device, if it has other contents. Args: host: the numpy array."""
        if not self.is_held and host.size and not np.array_equal(self._contents, host):
            self.array.from_numpy(host)
            self._contents = host.copy()
            TRAFFIC.to_device += host.nbytes

    def read(self, host):
        """Copy to the host, unless the array cannot be written. Args: host: the numpy array."""
        if not self.is_held and host.flags.writeable:
            self._contents = self.array.to_numpy()[tuple(map(slice, host.shape))]
            host[...] = self._contents
            TRAFFIC.to_host += host.nbytes


def copy_of(host):
    """The DeviceCopy of a numpy array in the present program. Args: host."""
    key = id(host)
    found = COPIES.get(key)
    if found is None or found.program is not present_program():
        if found is None:
            weakref.finalize(host, COPIES.pop, key, None)
        found = COPIES[key] = DeviceCopy(host)
    return found


@contextlib.contextmanager
def held(host):
    """Keep a numpy array on the device during some launches, and copy it back at the end. Args: host.

    Until then the numpy array has its old contents on a graphics card.
    """
    if on_cpu():
        yield
        return
    copy = copy_of(host)
    copy.write(host)
    copy.is_held = True
    try:
        yield
    finally:
        copy.is_held = False
        copy.read(host)
