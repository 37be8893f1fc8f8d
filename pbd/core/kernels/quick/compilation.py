"""When quick kernels are compiled, and how: cheaply at first where they are large (pbd/core/kernels/settings.py).

A kernel of more than SMALL expressions is compiled at the cheap level first, and again at the full level when its
launches have taken so long that this pays, unless that took minutes. What is never compiled again is compiled fully at
once up to MEDIUM expressions. `ti.init(opt_level=2)` compiles all of them fully at once, `opt_level=0` none. Kernels in
lanes (pbd/core/kernels/lanes) of more than MEDIUM expressions stay at the cheap level: a ragdoll in 16 lanes takes 9 s
to compile there and more than 500 s at the full one, at which steps in 4 lanes take 0.9 times as long.
"""

import contextlib
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import taichi as ti
from taichi.lang import impl

from pbd.core.kernels import settings
from pbd.core.kernels.lanes.statements import as_vectors
from pbd.core.kernels.quick.reading.builder import Count
from pbd.core.kernels.quick.reading.quickly import reading_quickly
from pbd.core.kernels.quick.reading.replacing import replacing
from pbd.core.kernels.quick.structures import Structure
from pbd.core.kernels.quick.unrolling import limit_unrolling
from pbd.core.kernels.settings import CHEAP, FULL, MEDIUM, at_level, exactly

# Numbers of expressions, see above. Kernels of more than MOST are never compiled again.
SMALL, MOST = 5_000, 60_000

# A kernel of SMALL expressions is compiled again when its launches have taken so long [s], others when they have taken
# (expressions/SMALL)² times as long. By then about as much was lost as the second compilation costs: measured are 1 s
# for 14,000 expressions, 4 to 6 s for 20,000 to 33,000 and two minutes for 90,000, at FULL; and a tenth to a seventh of
# the time of launches.
PAYS = 0.8

# A kernel that was found may be of any length. It is read, to know it, when its launches have taken so long [s].
UNTIL_READ = 8.0


@dataclass
class ReadKernel:
    """A kernel as Taichi has read it from Python.

    Attributes: definition: Taichi's; expressions: how many; has_lanes: whether vectors are compiled as such
    (pbd/core/kernels/lanes); wanted: level at which it is compiled in the end, None for kernels that Taichi launches;
    is_found: whether Taichi has it compiled, so that it was not read (kernel_lookup.py).
    """

    definition: Any = None
    expressions: int = 0
    has_lanes: bool = False
    wanted: int | None = None
    is_found: bool = False

    @property
    def seconds_until_full(self):
        """Time of launches after which compiling this again at FULL pays [s]; infinite if it never does."""
        if self.is_found:
            return UNTIL_READ
        if self.expressions <= SMALL or self.expressions > (MEDIUM if self.has_lanes else MOST):
            return math.inf
        return PAYS * (self.expressions / SMALL) ** 2


# The ReadKernel that is being made. Kernels are read on one thread at a time.
CURRENT = ReadKernel()


class Compiled(NamedTuple):
    """A compiled kernel.

    Attributes: definition, kernel: Taichi's; until_full: how long launches take until it is time to ask for it again
    [s].
    """

    definition: Any
    kernel: Any
    until_full: float


def compile_kernel(kernel, arguments, before=None, seconds=0.0):
    """Compile a kernel.

    Args: kernel: a taichi Kernel; arguments: of a call; before: the Compiled of the call before, when it is time to
    compile again; seconds: how long launches have taken.

    Returns: a Compiled.
    """
    limit_unrolling()
    wanted, place = ti.cfg.opt_level, place_of(kernel, arguments, FULL)
    is_full = place in kernel.compiled_kernels
    full = is_full or before is not None or wanted > FULL
    reading = read_kernel(kernel, arguments, FULL if full else CHEAP, wanted)
    pays = reading.seconds_until_full if wanted == FULL and settings.AGAIN else math.inf
    if before is not None and not (is_full or reading.is_found) and seconds < pays:
        del kernel.compiled_kernels[place]  # read only to know how long it is
        return before._replace(until_full=pays)
    full = full and not (reading.has_lanes and reading.expressions > MEDIUM)
    level = FULL if full or (wanted == FULL and reading.expressions <= most_at_once()) else CHEAP
    program = impl.get_runtime().prog
    enclosing = contextlib.nullcontext if full or reading.is_found else settings.around
    vectors = as_vectors if kernel.as_vectors else contextlib.nullcontext
    with at_level(level), vectors(), compiling(), enclosing(reading.expressions):
        compiled = program.compile_kernel(program.config(), program.get_device_caps(), reading.definition)
    return Compiled(reading.definition, compiled, math.inf if full else pays)


def most_at_once():
    """Kernels of up to so many expressions are compiled fully at once."""
    return SMALL if settings.AGAIN else MEDIUM


def place_of(kernel, arguments, level):
    """Where a kernel keeps a ReadKernel for a level, which ends with Taichi's program."""
    instance, _ = kernel.mapper.lookup(arguments)
    return kernel.func, instance, kernel.autodiff_mode, level


def read_kernel(kernel, arguments, level, wanted):
    """Read a kernel from Python, once for each level: Taichi keeps what it compiled from a reading.

    Args: kernel, arguments: see `compile_kernel`; level; wanted: see ReadKernel. Returns: a ReadKernel.
    """
    global CURRENT
    place = place_of(kernel, arguments, level)
    if place not in kernel.compiled_kernels:
        CURRENT = reading = ReadKernel(has_lanes=kernel.has_lanes, wanted=wanted)
        first = Count.expressions
        declared = structure_of(kernel, arguments).declared()
        with at_level(level), compiling(), replacing(declared):
            kernel.materialize(place, arguments, kernel.mapper.lookup(arguments)[1])
        reading.definition, reading.expressions = kernel.compiled_kernels[place], Count.expressions - first
        kernel.compiled_kernels[place], CURRENT = reading, ReadKernel()
    return kernel.compiled_kernels[place]


def structure_of(kernel, arguments):
    """The Structure that has a kernel's parameters. Args: see `read_kernel`."""
    parameters = [(each.annotation, argument) for each, argument in zip(kernel.arguments, arguments)]
    return Structure(parameters, kernel.as_vectors)


@contextlib.contextmanager
def compiling(fast_math=False):
    """Compile our kernels in this context: see `exactly`; and read them quickly (quick/reading). Args: fast_math."""
    with exactly(fast_math), reading_quickly():
        yield
