"""Settings of Taichi's compiler: large kernels are compiled quickly at first, and all always to the same bits.

Most of a large kernel's time to compile is Taichi's own search for common subexpressions, `whole_kernel_cse`, whose
time grows faster than the kernel. At `opt_level=0` Taichi leaves it out. Of the rest, a quarter to a third is Taichi's
other simplifications, which `advanced_optimization=False` leaves out. LLVM does the same again, so steps take 1 to 1.3
times as long, and have the same bits.

With `opt_level=0` alone Taichi 1.7.4 miscompiles `x[world] = x[world] + 1` in an inner loop: it adds 1 once, however
often the loop runs. Its pass `cache_loop_invariant_global_vars` keeps the element in a local variable for each place
where its address is computed before the loop. Among the simplifications that we leave out, too, is the one that moves
addresses there. At the full level all places have one address.

Kernels are compiled without fast math, whatever the caller's ti.init says. With it, LLVM fuses a multiplication with an
addition where it sees fit, and on processors that can (x86 since 2013) that differs from one kernel to the next: a
world among many had other bits than the same world alone. Sticks pay 2 % for it. Kernels are also compiled without
Taichi's analysis of control flow, whose time grows faster than the square of a kernel's length: bodies in contact took
32 s to compile with it, and 4 s without, with the same speed and the same bits (LLVM does the same analysis again).
"""

import contextlib

import taichi as ti

# Taichi's levels: without its own search for common subexpressions and its other simplifications, and with them.
CHEAP, FULL = 0, 1

# A kernel of more expressions takes seconds to compile.
MEDIUM = 15_000

# Whether quick kernels are compiled again, see quick/compilation.py. What must not pause, such as a viewer, sets this
# to False.
AGAIN = True

# Makes the context in which a kernel is compiled at first, given how many expressions it has, infinity if not known.
around = contextlib.nullcontext


@contextlib.contextmanager
def at_level(level):
    """Compile at another of Taichi's levels in this context. Args: level."""
    before = ti.cfg.opt_level, ti.cfg.advanced_optimization
    ti.cfg.opt_level, ti.cfg.advanced_optimization = level, before[1] and level > CHEAP
    try:
        yield
    finally:
        ti.cfg.opt_level, ti.cfg.advanced_optimization = before


@contextlib.contextmanager
def exactly(fast_math=False):
    """Compile kernels in this context to the same bits everywhere, and without analysis of control flow.

    Args: fast_math: see ti.init; False unless the last bits of the results do not matter.
    """
    before = ti.cfg.fast_math, ti.cfg.cfg_optimization
    ti.cfg.fast_math, ti.cfg.cfg_optimization = fast_math, False
    try:
        yield
    finally:
        ti.cfg.fast_math, ti.cfg.cfg_optimization = before
