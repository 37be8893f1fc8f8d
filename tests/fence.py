"""Arrays beside memory that nobody may touch: a kernel that reads or writes next to an array ends with a fault.

    python tests/fence.py SCENE SOLVER [before | behind]    a short run; its digest is printed if nothing was touched

Without a fence such a kernel reads what happens to be there. Taichi runs a function in a condition whatever stands
before it, also that of `i < 0 or f(i)`, so that an index of -1, which means "none", gets that far.

Taichi's arrays have their place in memory from `Owned.address`, which is replaced here: on Linux.
"""

import ctypes
import mmap
import sys
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
FORBIDDEN = 0  # PROT_NONE
PAGE = mmap.PAGESIZE
KEPT = []  # memory stays forbidden until the process ends


def fenced(size, side):
    """Memory of zeros with a forbidden page on either side. Args: size [bytes]; side: where it touches that page.

    Returns: its address.
    """
    length = -(-size // PAGE) * PAGE
    memory = mmap.mmap(-1, length + 2 * PAGE)
    KEPT.append(memory)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (first, first + PAGE + length):
        assert LIBC.mprotect(page, PAGE, FORBIDDEN) == 0, ctypes.get_errno()
    return first + PAGE + (length - size if side == "behind" else 0)


def put_fences(side):
    """Give each array that is made from now on fences. Args: side: "before" or "behind"."""
    import numpy as np

    from pbd.core.kernels.quick.storage import Owned
    from pbd.core.kernels.runtime import numpy_type

    def address(self):
        if not hasattr(self, "fenced"):
            count = int(np.prod((*self.shape, *self.element_shape)))
            self.fenced = fenced(count * np.dtype(numpy_type(self.dtype)).itemsize, side)
        return self.fenced

    Owned.address = address


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent / "golden")]
    from scenes.simulate.device import initialise

    initialise(precision=64)
    scene, solver, *given = sys.argv[1:]
    put_fences(*given or ["before"])
    import golden

    sys.stdout.write(golden.measure(scene, solver)["digest"] + "\n")
