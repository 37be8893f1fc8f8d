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
LLVM unrolls short loops only (pbd/core/llvm.py).
"""

import ast
import contextlib
import functools
import gc
import inspect
import linecache
import math
import textwrap
from collections import defaultdict
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from taichi.lang import impl, kernel_impl
from taichi.lang.ast import transform_tree
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext, Builder

from pbd.core.llvm import loops_not_unrolled
from pbd.core.runtime import on_cpu
from pbd.core.structures import Structure
from pbd.core.subscripts import QUICK_SUBSCRIPTS
from pbd.core.variables import FEWER, release
from pbd.core.vector_methods import QUICK_VECTORS

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
class Reading:
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

# The Reading that is being made. Kernels are read on one thread at a time.
CURRENT = Reading()


def compile_kernel(kernel, arguments, before=None, seconds=0.0):
    """Compile a kernel.

    Args: kernel: a taichi Kernel; arguments: of a call; before: definition and compiled kernel of the call before, when
    it is time to compile again; seconds: how long launches have taken.

    Returns: its definition, the compiled kernel, and after how many seconds of launches to ask again.
    """
    wanted, place = impl.current_cfg().opt_level, place_of(kernel, arguments, FULL)
    is_full = place in kernel.compiled_kernels
    full = is_full or before is not None or wanted > FULL
    reading = read_kernel(kernel, arguments, FULL if full else CHEAP, wanted)
    pays = reading.seconds_until_full if wanted == FULL and AGAIN else math.inf
    if before is not None and not (is_full or reading.is_found) and seconds < pays:
        del kernel.compiled_kernels[place]  # read only to know how long it is
        return *before, pays
    if reading.has_lanes and reading.expressions > MEDIUM:
        full, wanted = False, CHEAP
    level = FULL if full or (wanted == FULL and reading.expressions <= most_at_once()) else CHEAP
    program, enclosing = impl.get_runtime().prog, contextlib.nullcontext if full or reading.is_found else around
    vectors = with_vectors(reading.has_lanes)
    loops = contextlib.nullcontext if reading.is_found else loops_not_unrolled
    with at_level(level), vectors, compiling(), loops(), enclosing(reading.expressions):
        compiled = program.compile_kernel(program.config(), program.get_device_caps(), reading.definition)
    return reading.definition, compiled, math.inf if full else pays


def most_at_once():
    """Kernels of up to so many expressions are compiled fully at once."""
    return SMALL if AGAIN else MEDIUM


def place_of(kernel, arguments, level):
    """Where a kernel keeps a Reading for a level, which ends with Taichi's program."""
    instance, _ = kernel.mapper.lookup(arguments)
    return kernel.func, instance, kernel.autodiff_mode, level


def read_kernel(kernel, arguments, level, wanted):
    """Read a kernel from Python, once for each level: Taichi keeps what it compiled from a reading.

    Args: kernel, arguments: see `compile_kernel`; level; wanted: see Reading. Returns: a Reading.
    """
    global CURRENT
    place = place_of(kernel, arguments, level)
    if place not in kernel.compiled_kernels:
        CURRENT = reading = Reading(wanted=wanted)
        structure = structure_of(kernel, arguments)
        declared = structure.declared() if structure else []
        with at_level(level), compiling(), replacing(declared):
            kernel.materialize(place, arguments, kernel.mapper.lookup(arguments)[1])
        reading.definition = kernel.compiled_kernels[place]
        kernel.compiled_kernels[place], CURRENT = reading, Reading()
    return kernel.compiled_kernels[place]


def structure_of(kernel, arguments):
    """The Structure that has a kernel's parameters; None if Taichi has them as a list. Args: see `read_kernel`."""
    if not on_cpu():
        return None
    parameters = [(each.annotation, argument) for each, argument in zip(kernel.arguments, arguments)]
    return Structure(parameters, kernel.has_lanes)


def is_in_class(level_of_class_stackframe):
    """Whether a function that is decorated now is in a class: Taichi's question at each `@ti.func`.

    Taichi searches the source of all modules for the answer, which took half of the time to import ours. They have no
    Taichi functions in classes, nor has the module that `ti.init` imports.
    """
    frame = inspect.currentframe()
    for _ in range(level_of_class_stackframe - 1):
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "")
    return not module.startswith(WITHOUT_CLASSES) and search_source(level_of_class_stackframe + 1)


WITHOUT_CLASSES = ("pbd.", "rigid.", "scenes.", "taichi.lang.matrix_ops")
search_source, kernel_impl._inside_class = kernel_impl._inside_class, is_in_class


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
def with_vectors(wanted):
    """Compile Taichi's vectors as vectors of the processor in this context, instead of as numbers. Args: wanted."""
    config = impl.current_cfg()
    before, config.real_matrix_scalarize = config.real_matrix_scalarize, not wanted
    try:
        yield
    finally:
        config.real_matrix_scalarize = before


@contextlib.contextmanager
def compiling(fast_math=False):
    """Compile our kernels in this context: without control-flow analysis, and with quicker reading.

    Args: fast_math: see ti.init; False unless the last bits of the results do not matter.

    Taichi reads the Python of a function as often as it is called. Each time it looks up and parses the function's
    source, and for each expression it writes the lines that an error would show: four fifths of the reading's time.
    Here the source is cached, and the lines are written when there is an error. Python does not search for garbage
    meanwhile, which there is little of among many objects: 4 % of the time. Outside this context Taichi is as it was,
    for kernels of others.
    """
    config, collects = impl.current_cfg(), gc.isenabled()
    settings = config.fast_math, config.cfg_optimization
    config.fast_math, config.cfg_optimization = fast_math, False
    gc.disable()
    try:
        with replacing(QUICKER):
            yield
    finally:
        config.fast_math, config.cfg_optimization = settings
        if collects:
            gc.enable()
        IDLE.clear()  # they refer to Taichi's program


@contextlib.contextmanager
def replacing(replacements):
    """Replace functions of Taichi in this context. Args: replacements: list of (owner, name, replacement)."""
    before = [inspect.getattr_static(owner, name) for owner, name, _ in replacements]
    for owner, name, ours in replacements:
        setattr(owner, name, ours)
    try:
        yield
    finally:
        for (owner, name, _), taichis in zip(replacements, before):
            setattr(owner, name, taichis)


write_position, find_lines = ASTTransformerContext.get_pos_info, kernel_impl.getsourcelines
build_node, PLACED = Builder.__call__, (ast.stmt, ast.expr)


def build(builder, context, node):
    """Read a node of a syntax tree, as Taichi's Builder does, which spends a sixth of the time on finding methods."""
    name, places = name_of(type(node)), impl.get_runtime().src_info_stack
    method = name and getattr(builder, name, None)  # not kept: pbd/core/lanes replaces some
    if method is None:
        return build_node(builder, context, node)
    places.append(position(context, node))
    try:
        return method(context, node)
    except Exception as error:
        raised = error
    finally:
        places.pop()

    def fail(*_):
        raise raised

    return build_node(SimpleNamespace(**{name: fail}), context, node)


@functools.cache
def name_of(kind):
    """The name of Builder's method for a kind of node; None if its place in the source is not known."""
    return f"build_{kind.__name__}" if issubclass(kind, PLACED) else None


def position(context, node):
    """What an error shows of an expression: its lines, while there is an error, otherwise only its place."""
    CURRENT.expressions += 1
    if context.raised:
        return write_position(context, node)
    return place_in_file(context.file, node.lineno + context.lineno_offset, context.func.func.__name__)


@functools.cache
def place_in_file(file, line, function):
    """A line of a file in the words of Taichi's errors."""
    return f'File "{file}", line {line}, in {function}:\n'


@functools.cache
def source_of(function):
    """Lines of a function's source, and the number of the first."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    if not lines:  # in a shell
        return find_lines(function)
    return block_of(lines[code.co_firstlineno - 1 :]), code.co_firstlineno


def block_of(lines):
    """Lines of the function that begins with the first. Python's own `getblock` takes 20 times as long."""
    indent, in_body, end = indent_of(lines[0]), False, len(lines)
    for index, line in enumerate(lines):
        if in_body and indent_of(line) <= indent and line.strip() and not line.lstrip().startswith((")", "#")):
            end = index
            break
        in_body = in_body or line.lstrip().startswith("def ")
    ends_in_string = any(sum(line.count(quotes) for line in lines[:end]) % 2 for quotes in ('"""', "'''"))
    return inspect.getblock(lines) if ends_in_string or not in_body else lines[:end]


def indent_of(line):
    """How far a line is indented."""
    return len(line) - len(line.lstrip())


class text:  # noqa: N801 - stands for the module `textwrap` in Taichi
    """What Taichi does to the lines of a function: `fill` replaces tabs, and removes spaces at the end."""

    dedent = staticmethod(functools.cache(textwrap.dedent))

    @staticmethod
    def fill(line, tabsize, width):
        """A line of source, which is never wrapped."""
        return line.expandtabs(tabsize).rstrip()


# Trees that are not being read: {text: trees}.
IDLE = defaultdict(list)


class trees:  # noqa: N801 - stands for the module `ast` in Taichi
    """Taichi's parser. A tree that Taichi has read serves again: what it wrote into it is overwritten.

    Taichi empties the list of a kernel's parameters, so that is put back.
    """

    @staticmethod
    def parse(text):
        """A syntax tree of a function. Args: text: of its definition."""
        if IDLE[text]:
            return IDLE[text].pop()
        tree = ast.parse(text)
        tree.text, tree.parameters = text, tree.body[0].args.args
        return tree

    @staticmethod
    def read(tree, context):
        """Read a tree. Args: see Taichi's `transform_tree`. Returns: what the function returns."""
        context.tree = tree
        result = transform_tree(tree, context)
        release(context, result)
        tree.body[0].args.args = tree.parameters
        IDLE[tree.text].append(tree)
        return result


# What is replaced in Taichi: (owner, name, replacement).
QUICKER = [
    *FEWER,
    *QUICK_VECTORS,
    *QUICK_SUBSCRIPTS,
    (Builder, "__call__", build),
    (ASTTransformerContext, "get_pos_info", position),
    (kernel_impl, "getsourcelines", source_of),
    (kernel_impl, "getsourcefile", functools.cache(kernel_impl.getsourcefile)),
    (kernel_impl, "textwrap", text),
    (kernel_impl, "ast", trees),
    (kernel_impl, "transform_tree", trees.read),
]
