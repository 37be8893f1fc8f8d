"""How our kernels are compiled: quickly at first where they are large, and always to the same bits.

Most of a large kernel's time to compile is Taichi's own search for common subexpressions, `whole_kernel_cse`, whose
time grows faster than the kernel. At `opt_level=0` Taichi leaves it out. LLVM searches all the same, so steps take 1 to
1.3 times as long, and have the same bits. A kernel of more than LARGE expressions is compiled at that level first, and
again at the full level when its launches have taken so long that this pays. Smaller kernels are compiled fully at once.
`ti.init(opt_level=2)` compiles all of them fully at once, `opt_level=0` none.

At `opt_level=0` Taichi 1.7.4 miscompiles `x[world] = x[world] + 1` in an inner loop: it adds 1 once, however often the
loop runs. So kernels sum in a local variable and store the sum after the loop, or hide the index (`not_constant`).
Taichi's switch `cache_loop_invariant_global_vars=False` cures that, but with it `compiled_once` functions had other
bits.

Kernels are compiled without fast math, whatever the caller's ti.init says. With it, LLVM fuses a multiplication with an
addition where it sees fit, and on processors that can (x86 since 2013) that differs from one kernel to the next: a
world among many had other bits than the same world alone. Sticks pay 2 % for it. Kernels are also compiled without
Taichi's analysis of control flow, whose time grows faster than the square of a kernel's length: bodies in contact took
32 s to compile with it, and 4 s without, with the same speed and the same bits (LLVM does the same analysis again).
"""

import contextlib
import functools
import math
from dataclasses import dataclass
from typing import Any

import taichi as ti
from taichi.lang import impl, kernel_impl
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

# Taichi's levels: without its own search for common subexpressions, and with it.
CHEAP, FULL = 0, 1

# Kernels of more expressions are compiled at CHEAP first.
LARGE = 20_000

# A kernel of LARGE expressions is compiled again when its launches have taken so long [s], others when they have taken
# (expressions/LARGE)² times as long. By then about as much was lost as the second compilation costs: measured are 2.7 s
# for 30,000 expressions, 8.6 s for 80,000 and 128 s for 160,000, at FULL; and a seventh of the time of launches.
PAYS = 6.0

# Whether kernels are compiled again at all. What must not pause, such as a viewer, sets this to False.
AGAIN = True


@dataclass
class Reading:
    """A kernel as Taichi has read it from Python.

    Attributes: definition: Taichi's; level: at which it was read; expressions: how many; depends_on_level: whether its
    text is another at the other level.
    """

    definition: Any = None
    level: int = CHEAP
    expressions: int = 0
    depends_on_level: bool = False


# The Reading that is being made. Kernels are read on one thread at a time.
CURRENT = Reading()


def compile_kernel(kernel, arguments, full=False):
    """Compile a kernel.

    Args: kernel: a taichi Kernel; arguments: of a call; full: whether at FULL, whatever its size.

    Returns: its definition, the compiled kernel, and the time of launches until it is to be compiled at FULL [s].
    """
    wanted = impl.current_cfg().opt_level
    full = full or wanted > FULL or place_of(kernel, arguments, FULL) in kernel.compiled_kernels
    reading = read_kernel(kernel, arguments, FULL if full else CHEAP)
    later = False
    if wanted == FULL and not full:
        later = reading.expressions > LARGE
        if reading.depends_on_level and not later:
            reading = read_kernel(kernel, arguments, FULL)
    level = FULL if reading.level == FULL or (wanted == FULL and not later) else CHEAP
    program = impl.get_runtime().prog
    with at_level(level), compiling():
        compiled = program.compile_kernel(program.config(), program.get_device_caps(), reading.definition)
    until_full = PAYS * (reading.expressions / LARGE) ** 2 if later and AGAIN else math.inf
    return reading.definition, compiled, until_full


def place_of(kernel, arguments, level):
    """Where a kernel keeps a Reading, which ends with Taichi's program."""
    instance, _ = kernel.mapper.lookup(arguments)
    return kernel.func, instance, kernel.autodiff_mode, level


def read_kernel(kernel, arguments, level):
    """Read a kernel from Python, once for each level: Taichi keeps what it compiled from a reading.

    Args: see `compile_kernel`. Returns: a Reading.
    """
    global CURRENT
    place = place_of(kernel, arguments, level)
    if place not in kernel.compiled_kernels:
        CURRENT = Reading(level=level)
        with at_level(level), compiling():
            key = kernel.ensure_compiled(*arguments)
        CURRENT.definition = kernel.compiled_kernels.pop(key)
        kernel.compiled_kernels[place] = CURRENT
    return kernel.compiled_kernels[place]


@contextlib.contextmanager
def at_level(level):
    """Compile at another of Taichi's levels in this context. Args: level."""
    config = impl.current_cfg()
    before, config.opt_level = config.opt_level, level
    try:
        yield
    finally:
        config.opt_level = before


@ti.func
def not_constant(index):
    """The same index, hidden from Taichi where it would take it for constant in a loop.

    Constant in loops over parts or iterations, the index of a world would be miscompiled at opt_level=0: reads of an
    array would not see what the iteration before has stored.
    """
    found = index
    if ti.static(is_read_cheaply()):
        for _ in range(1):
            found = index
    return found


def is_read_cheaply():
    """Whether a kernel is being read for CHEAP."""
    CURRENT.depends_on_level = True
    return impl.current_cfg().opt_level == CHEAP


@contextlib.contextmanager
def compiling(fast_math=False):
    """Compile our kernels in this context: without control-flow analysis, and with quicker reading.

    Args: fast_math: see ti.init; False unless the last bits of the results do not matter.

    Taichi reads the Python of a function as often as it is called. For each expression it writes the lines that an
    error would show, wrapped to a terminal's width, and for each call it looks up the function's source: three fifths
    of the reading's time. Here both are cached. Outside this context Taichi is as it was, for kernels of others.
    """
    config = impl.current_cfg()
    settings = config.fast_math, config.cfg_optimization
    functions = ASTTransformerContext.get_pos_info, kernel_impl.getsourcelines, kernel_impl.getsourcefile
    config.fast_math, config.cfg_optimization = fast_math, False
    ASTTransformerContext.get_pos_info = get_position
    kernel_impl.getsourcelines, kernel_impl.getsourcefile = get_lines, get_file
    try:
        yield
    finally:
        config.fast_math, config.cfg_optimization = settings
        ASTTransformerContext.get_pos_info, kernel_impl.getsourcelines, kernel_impl.getsourcefile = functions


def cached_positions(write):
    """What an error would show of an expression, written once. Args: write: Taichi's function that writes it."""
    cache = {}

    def position(context, node):
        CURRENT.expressions += 1
        place = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        key = context.func.func, type(node), *place
        if key not in cache:
            cache[key] = write(context, node)
        return cache[key]

    return position


get_position = cached_positions(ASTTransformerContext.get_pos_info)
get_lines = functools.cache(kernel_impl.getsourcelines)
get_file = functools.cache(kernel_impl.getsourcefile)
