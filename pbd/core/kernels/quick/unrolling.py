"""Loops are unrolled on Zen 3 and Zen 4 as on other processors: a first start of a ragdoll takes 0.6 of the time.

LLVM 15, which compiles for Taichi 1.7.4, believes that these processors keep loops of 4096 instructions in a buffer. So
it writes the body of each loop up to eight times. Kernels become twice as long for it, and no faster; results have the
same bits. LLVM 19 corrects it.

Taichi offers no access to LLVM's options. LLVM has a function that reads them as from a command line. Taichi's library
contains it, hidden but with its name, so it is found by name. Where it is not found, and on other processors, nothing
is done. The setting VERLETLAB_UNROLLING=taichi leaves it out, too. What else the process compiles with Taichi is
unrolled likewise.

Source: LLVM's issue 50802, "LoopMicroOpBufferSize too large?".
"""

import ctypes
import functools
import mmap
import os
import re

import numpy as np
from taichi._lib.core import taichi_python

from pbd.core.kernels.runtime import on_cpu
from pbd.core.messages import shown

# The length of unrolled loops in instructions that LLVM takes for processors that it does not know.
OPTION = b"-unroll-partial-threshold=28"

# A function of Taichi's library that it exports, and one that is hidden in it.
EXPORTED, READ_OPTIONS = b"PyInit_taichi_python", b"LLVMParseCommandLineOptions"

# Parts of a file in the format ELF, of 64 bits: its header, a section, and a symbol in a section of SYMBOLS.
HEADER = np.dtype(
    [("magic", "S4"), ("", "V36"), ("sections", "<u8"), ("", "V12"), ("section_count", "<u2"), ("", "V2")]
)
SECTION = np.dtype(
    [("", "V4"), ("kind", "<u4"), ("", "V16"), ("offset", "<u8"), ("size", "<u8"), ("names", "<u4"), ("", "V20")]
)
SYMBOL = np.dtype([("name", "<u4"), ("", "V4"), ("address", "<u8"), ("", "V8")])
SYMBOLS = 2


@functools.cache
def limit_unrolling():
    """Give LLVM the option, once, where it gains something. Returns: whether it was given.

    Raises: ValueError for a setting that is neither empty nor "taichi".
    """
    setting = os.environ.get("VERLETLAB_UNROLLING", "")
    if setting not in ("", "taichi"):
        raise ValueError(f"VERLETLAB_UNROLLING is {shown(setting)}: expected 'taichi', or nothing")
    if setting or not on_cpu() or not has_long_buffer("/proc/cpuinfo"):
        return False
    read_options = hidden_function(taichi_python.__file__)
    if read_options is None:
        return False
    read_options(2, (ctypes.c_char_p * 2)(b"", OPTION), b"")
    return True


def has_long_buffer(path):
    """Whether the processor is of AMD's family 25, Zen 3 and Zen 4. Args: path: of what Linux says about it."""
    try:
        with open(path) as file:
            said = file.read(4096)
    except OSError:  # not Linux
        return False
    return "AuthenticAMD" in said and re.search(r"^cpu family\s*: 25$", said, re.MULTILINE) is not None


def hidden_function(path):
    """LLVM's function that reads options, None if it is not found. Args: path: of Taichi's library, which is loaded."""
    addresses = addresses_in(path, (EXPORTED, READ_OPTIONS))
    if addresses is None:
        return None
    exported = ctypes.cast(ctypes.CDLL(path)[EXPORTED.decode()], ctypes.c_void_p).value
    declare = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.c_char_p)
    return declare(exported + addresses[1] - addresses[0])


def addresses_in(path, names):
    """Addresses of functions in a library, also of hidden ones.

    Args: path: of a file in the format ELF; names: bytes. Returns: list of addresses; None if one is not there.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        header = np.frombuffer(content[: HEADER.itemsize], HEADER)[0]
        if header["magic"] != b"\x7fELF":
            return None
        first, count = int(header["sections"]), int(header["section_count"])
        sections = np.frombuffer(content[first : first + count * SECTION.itemsize], SECTION)
        tables = sections[sections["kind"] == SYMBOLS]
        if len(tables) == 0:
            return None
        names_at, symbols_at = (span_of(section) for section in (sections[tables[0]["names"]], tables[0]))
        symbols = np.frombuffer(content[slice(*symbols_at)], SYMBOL)
        places = [content.find(b"\0" + name + b"\0", *names_at) + 1 - names_at[0] for name in names]
        found = [symbols["address"][symbols["name"] == place] for place in places]
    return [int(each[0]) for each in found] if all(len(each) == 1 for each in found) else None


def span_of(section):
    """Where a section begins and ends in its file [bytes]."""
    return int(section["offset"]), int(section["offset"]) + int(section["size"])
