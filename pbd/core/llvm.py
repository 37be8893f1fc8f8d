"""Options of LLVM that Taichi does not offer: passes that cost our kernels more time to compile than they gain.

LLVM 15, which compiles for Taichi 1.7.4, believes that processors of the families Zen 3 and Zen 4 keep loops of 4096
instructions in a buffer. There it writes the body of each loop up to eight times, so that it goes around less often.
Kernels became twice as long for it, took up to twice as long to compile and to start, and were no faster. Here loops
are unrolled on all processors up to the length that LLVM takes for those that it does not know.

What is compiled again later (compilation.py) does without further passes: those that seek numbers for vectors, and
those that order instructions by a model of the processor. A start that compiles a ragdoll takes 0.83 of the time for
it, and its steps 1.0 to 1.05; the steps of cloth take 1.07. At the full level they pay: without vectors of numbers in a
row sticks outside of lanes take 1.24 times as long.

Results have the same bits with all of these options.

Taichi offers no access to LLVM's options. LLVM has a function that reads them as from a command line. Taichi's library
contains it, hidden but with its name, so it is found by name. If it is not found, as on macOS and Windows, kernels are
compiled as Taichi does it.

Source: LLVM's issue 50802, "LoopMicroOpBufferSize too large?", which version 19 corrects.
"""

import contextlib
import ctypes
import functools
import mmap
import sys

import numpy as np

from pbd.core.runtime import on_cpu

# Loops are unrolled up to so many instructions.
USUAL = (b"-unroll-partial-threshold=28",)

# No vectors of numbers in a row or of turns of a loop; no pointers that a loop moves on; instructions are combined
# once, not moved to where only some paths need them, selected one by one, and not ordered.
QUICK = (
    *USUAL, b"-vectorize-slp=false", b"-vectorize-loops=false", b"-disable-lsr", b"-instcombine-max-iterations=1",
    b"-enable-pre=false", b"-enable-load-pre=false", b"-fast-isel", b"-enable-misched=false", b"-disable-post-ra",
)  # fmt: skip

# Functions of Taichi's library: one that it exports, and two that are hidden in it.
EXPORTED, READ_OPTIONS = b"PyInit_taichi_python", b"LLVMParseCommandLineOptions"
FORGET_OPTIONS = b"_ZN4llvm2cl25ResetAllOptionOccurrencesEv"

# Parts of a file in the format ELF, of 64 bits: its header, a section, and a symbol in a section of SYMBOLS.
HEADER = np.dtype(
    [("magic", "S4"), ("", "V36"), ("sections", "<u8"), ("", "V12"), ("section_count", "<u2"), ("", "V2")]
)
SECTION = np.dtype(
    [("", "V4"), ("kind", "<u4"), ("", "V16"), ("offset", "<u8"), ("size", "<u8"), ("names", "<u4"), ("", "V20")]
)
SYMBOL = np.dtype([("name", "<u4"), ("", "V4"), ("address", "<u8"), ("", "V8")])
SYMBOLS = 2


@contextlib.contextmanager
def llvm_options(options=USUAL):
    """Give LLVM options in this context, on the processor. It must not be nested.

    Taichi's kernels become LLVM's code when they are compiled, and machine code at their first launch.

    Args: options: a tuple of bytes. Without any the functions are not sought, which takes 18 ms.
    """
    functions = hidden_functions() if options and on_cpu() else None
    if functions is None:
        yield
        return
    read_options, forget_options = functions
    read_options(1 + len(options), (ctypes.c_char_p * (1 + len(options)))(b"", *options), b"")
    try:
        yield
    finally:
        forget_options()  # LLVM asks whether an option was given, and then for its value


@functools.cache
def hidden_functions():
    """LLVM's functions that read options, and forget that they were given; None if they are not found."""
    library = sys.modules.get("taichi._lib.core.taichi_python")
    if library is None:
        return None
    addresses = addresses_in(library.__file__, (EXPORTED, READ_OPTIONS, FORGET_OPTIONS))
    if addresses is None:
        return None
    exported = ctypes.cast(ctypes.CDLL(library.__file__)[EXPORTED.decode()], ctypes.c_void_p).value
    read_options, forget_options = (exported + address - addresses[0] for address in addresses[1:])
    declare = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.c_char_p)
    return declare(read_options), ctypes.CFUNCTYPE(None)(forget_options)


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
