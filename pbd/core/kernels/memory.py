"""How much memory arrays need, and whether the device has it: asked before any of them is made."""

import shutil
import subprocess
from pathlib import Path

import taichi as ti

# Less than this is not worth a question [bytes].
MUCH = 1 << 29
MEMORY_OF_LINUX = Path("/proc/meminfo")
PREFIXES = "kMGT"


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
            f"{what} need {in_words(needed)}, and {in_words(free)} of memory are free on {ti.cfg.arch.name}: "
            "expected fewer particles, bodies or worlds"
        )


def free_memory():
    """Memory that is free on the device of `ti.init` [bytes], or None if that is not known."""
    if ti.cfg.arch == ti.cuda:
        return free_on_nvidia()
    if not MEMORY_OF_LINUX.exists():
        return None
    fields = dict(line.split(":") for line in MEMORY_OF_LINUX.read_text().splitlines())
    return 1024 * int(fields["MemAvailable"].split()[0])


def free_on_nvidia():
    """Memory that is free on the first NVIDIA card [bytes], as its driver's tool says, or None."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        return None
    asked = [tool, "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    found = done.stdout.split()
    return (1 << 20) * int(found[0]) if done.returncode == 0 and found and found[0].isdigit() else None


def in_words(size):
    """A number of bytes in decimal units, such as "4.2 GB". Args: size [bytes]."""
    for power in range(len(PREFIXES), 0, -1):
        if size >= 1000**power or power == 1:
            return f"{size / 1000**power:.3g} {PREFIXES[power - 1]}B"
