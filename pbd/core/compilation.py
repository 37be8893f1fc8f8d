"""How our kernels are compiled: quickly at first where they are large, and always to the same bits.

Most of a large kernel's time to compile is Taichi's own search for common subexpressions, `whole_kernel_cse`, whose
time grows faster than the kernel. At `opt_level=0` Taichi leaves it out. Of the rest, a quarter to a third is Taichi's
other simplifications, which `advanced_optimization=False` leaves out. LLVM does the same again, so steps take 1 to 1.3
times as long, and have the same bits. A kernel of more than SMALL expressions is compiled at that level first, and
again at the full level when its launches have taken so long that this pays, unless that took minutes. What is never
compiled again is compiled fully at once up to MEDIUM expressions.
`ti.init(opt_level=2)` compiles all of them fully at once, `opt_level=0` none. Kernels in lanes (pbd/core/lanes) of more
than MEDIUM expressions stay at the cheap level: a ragdoll in 16 lanes takes 9 s to compile there and more than 500 s at
the full one, at which steps in 4 lanes take 0.9 times as long.

With `opt_level=0` alone Taichi 1.7.4 miscompiles `x[world] = x[world] + 1` in an inner loop: it adds 1 once, however
often the loop runs. Its pass `cache_loop_invariant_global_vars` keeps the element in a local variable for each place
where its address is computed before the loop. Among the simplifications that we leave out, too, is the one that moves
addresses there. At the full level all places have one address.

Kernels are compiled without fast math, whatever the caller's ti.init says. With it, LLVM fuses a multiplication with an
addition where it sees fit, and on processors that can (x86 since 2013) that differs from one kernel to the next: a
world among many had other bits than the same world alone. Sticks pay 2 % for it. Kernels are also compiled without
Taichi's analysis of control flow, whose time grows faster than the square of a kernel's length: bodies in contact took
32 s to compile with it, and 4 s without, with the same speed and the same bits (LLVM does the same analysis again).
LLVM leaves out passes of its own (pbd/core/llvm.py).
"""

import contextlib
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from taichi.lang import impl

from pbd.core.lanes.statements import as_vectors
from pbd.core.llvm import QUICK, USUAL, llvm_options
from pbd.core.reading.builder import Count
from pbd.core.reading.quickly import reading_quickly
from pbd.core.reading.replacing import replacing
from pbd.core.runtime import on_cpu
from pbd.core.structures import Structure

# Taichi's levels: without its own search for common subexpressions and its other simplifications, and with them.
CHEAP, FULL = 0, 1

# Numbers of expressions, see above. Kernels of more than MOST are never compiled again.
SMALL, MEDIUM, MOST = 5_000, 15_000, 60_000

# A kernel of SMALL expressions is compiled again when its launches have taken so long [s], others when they have taken
# (expressions/SMALL)² times as long. By then about as much was lost as the second compilation costs: measured are 1 s
# for 14,000 expressions, 4 to 6 s for 20,000 to 33,000 and two minutes for 90,000, at FULL; and a tenth to a seventh of
# the time of launches.
PAYS = 0.8

# A kernel that was found may be of any length. It is read, to know it, when its launches have taken so long [s].
UNTIL_READ = 8.0

# Whether kernels are compiled again at all. What must not pause, such as a viewer, sets this to False.
AGAIN = True


@dataclass
class ReadKernel:
    """A kernel as Taichi has read it from Python.

    Attributes: definition: Taichi's; expressions: how many; has_lanes: whether vectors are compiled as such
    (pbd/core/lanes); wanted: level at which it is compiled in the end, None for kernels that Taichi launches;
    is_found: whether Taichi has it compiled, so that it was not read (kernel_lookup.py).
    """

    definition: Any = None
    expressions: int = 0
    has_lanes: bool = False
    wanted: int | None = None
    is_found: bool = False

    @property
    def seconds_until_full(self):
        """How long launches take until compiling this again at FULL pays [s]: infinite if it never does."""
        if self.is_found:
            return UNTIL_READ
        if self.expressions <= SMALL or self.expressions > (MEDIUM if self.has_lanes else MOST):
            return math.inf
        return PAYS * (self.expressions / SMALL) ** 2


# Makes the context in which a kernel is compiled at first, given how many expressions it has.
around = contextlib.nullcontext

# The ReadKernel that is being made. Kernels are read on one thread at a time.
CURRENT = ReadKernel()


class Compiled(NamedTuple):
    """A compiled kernel.

    Attributes: definition, kernel: Taichi's; until_full: how long launches take until it is time to ask for it again
    [s]; options: of LLVM, which makes the machine code at the first launch.
    """

    definition: Any
    kernel: Any
    until_full: float
    options: tuple


def compile_kernel(kernel, arguments, before=None, seconds=0.0):
    """Compile a kernel.

    Args: kernel: a taichi Kernel; arguments: of a call; before: the Compiled of the call before, when it is time to
    compile again; seconds: how long launches have taken.

    Returns: a Compiled.
    """
    wanted, place = impl.current_cfg().opt_level, place_of(kernel, arguments, FULL)
    is_full = place in kernel.compiled_kernels
    full = is_full or before is not None or wanted > FULL
    reading = read_kernel(kernel, arguments, FULL if full else CHEAP, wanted)
    pays = reading.seconds_until_full if wanted == FULL and AGAIN else math.inf
    if before is not None and not (is_full or reading.is_found) and seconds < pays:
        del kernel.compiled_kernels[place]  # read only to know how long it is
        return before._replace(until_full=pays)
    full = full and not (reading.has_lanes and reading.expressions > MEDIUM)
    level = FULL if full or (wanted == FULL and reading.expressions <= most_at_once()) else CHEAP
    is_for_now = level == CHEAP and (pays < math.inf or wanted == CHEAP)
    # What is found is LLVM's code already. Its level is not known, so its machine code is made as Taichi makes it.
    options = () if reading.is_found else QUICK if is_for_now else USUAL
    program, enclosing = impl.get_runtime().prog, contextlib.nullcontext if full or reading.is_found else around
    vectors = as_vectors if reading.has_lanes else contextlib.nullcontext
    with at_level(level), vectors(), compiling(), llvm_options(options), enclosing(reading.expressions):
        compiled = program.compile_kernel(program.config(), program.get_device_caps(), reading.definition)
    return Compiled(reading.definition, compiled, math.inf if full else pays, options)


def most_at_once():
    """Kernels of up to so many expressions are compiled fully at once."""
    return SMALL if AGAIN else MEDIUM


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
        structure = structure_of(kernel, arguments)
        declared = structure.declared() if structure else []
        with at_level(level), compiling(), replacing(declared):
            kernel.materialize(place, arguments, kernel.mapper.lookup(arguments)[1])
        reading.definition, reading.expressions = kernel.compiled_kernels[place], Count.expressions - first
        kernel.compiled_kernels[place], CURRENT = reading, ReadKernel()
    return kernel.compiled_kernels[place]


def structure_of(kernel, arguments):
    """The Structure that has a kernel's parameters; None if Taichi has them as a list. Args: see `read_kernel`."""
    if not on_cpu():
        return None
    parameters = [(each.annotation, argument) for each, argument in zip(kernel.arguments, arguments)]
    return Structure(parameters, kernel.has_lanes)


@contextlib.contextmanager
def at_level(level):
    """Compile at another of Taichi's levels in this context. Args: level."""
    config = impl.current_cfg()
    before = config.opt_level, config.advanced_optimization
    config.opt_level, config.advanced_optimization = level, before[1] and level > CHEAP
    try:
        yield
    finally:
        config.opt_level, config.advanced_optimization = before


@contextlib.contextmanager
def compiling(fast_math=False):
    """Compile our kernels in this context: without control-flow analysis, and read quickly (pbd/core/reading).

    Args: fast_math: see ti.init; False unless the last bits of the results do not matter.
    """
    config = impl.current_cfg()
    before = config.fast_math, config.cfg_optimization
    config.fast_math, config.cfg_optimization = fast_math, False
    try:
        with reading_quickly():
            yield
    finally:
        config.fast_math, config.cfg_optimization = before
