"""Whether a device has the memory that arrays need: asked before any of them is made.

Arguments that ask for too much on any machine are refused before, by their names (`refuse_gigabytes`).
"""

import re
import shutil
import subprocess
from pathlib import Path

import taichi as ti

# Less than this is not worth a question [bytes].
MUCH = 1 << 29
MEMORY_OF_LINUX = Path("/proc/meminfo")


def refuse_too_large(needed, what):
    """Raise MemoryError if arrays do not fit into what is free. Args: needed [bytes]; what: the arrays, for the error.

    What nobody can tell is not refused: Vulkan does not say how much is free. If it takes the processor's memory, as
    integrated graphics does, this is the limit.
    """
    if needed < MUCH:
        return
    free = free_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} need {needed / 1e9:.3g} GB, and {free / 1e9:.3g} GB of memory are free on {ti.cfg.arch.name}: "
            "expected fewer particles, bodies or worlds"
        )


def free_memory():
    """Memory that is free on the device of `ti.init` [bytes], or None if that is not known."""
    if ti.cfg.arch == ti.cuda:
        return free_on_nvidia()
    text = MEMORY_OF_LINUX.read_text(encoding="ascii") if MEMORY_OF_LINUX.exists() else ""
    found = re.search(r"^MemAvailable: +(\d+) kB$", text, re.MULTILINE)
    return 1024 * int(found[1]) if found else None


def free_on_nvidia():
    """Memory that is free on the first NVIDIA card [bytes], as its driver's tool says, or None."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        return None
    asked = [tool, "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    found = done.stdout.split()
    return (1 << 20) * int(found[0]) if done.returncode == 0 and found and found[0].isdigit() else None
