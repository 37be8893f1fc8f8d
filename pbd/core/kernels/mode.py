"""How kernels run: `KERNELS` is "quick", "public" or "plain".

    quick    as machine code, read and launched by private functions of Taichi TESTED, which takes less time
    public   as machine code, by Taichi's public interface alone
    plain    as Python, for debuggers

All three have the same bits. The environment variable VERLETLAB_KERNELS chooses before the first import of pbd. Without
it kernels are quick with Taichi TESTED and public with any other.
"""

import os
import warnings

import taichi as ti

from pbd.core.messages import shown

# The version whose private functions pbd/core/kernels/quick and lanes know.
TESTED = (1, 7, 4)
MODES = ("quick", "public", "plain")


def choose(given, version):
    """Choose how kernels run. Args: given: by the user, or None; version: of Taichi. Returns: one of MODES."""
    tested, found = (".".join(map(str, each)) for each in (TESTED, version))
    if given is None:
        if version == TESTED:
            return "quick"
        text = f"Taichi {found}: pbd.KERNELS is 'public', and kernels start slowly; they are quick with Taichi {tested}"
        warnings.warn(text, stacklevel=2)
        return "public"
    if given not in MODES:
        raise ValueError(f"VERLETLAB_KERNELS is {shown(given)}: expected {', '.join(map(repr, MODES))}")
    if given == "quick" and version != TESTED:
        raise ValueError(f"VERLETLAB_KERNELS is 'quick' with Taichi {found}: expected 'public', or Taichi {tested}")
    return given


KERNELS = choose(os.environ.get("VERLETLAB_KERNELS"), ti.__version__)
