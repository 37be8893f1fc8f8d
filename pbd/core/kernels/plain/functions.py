"""Functions in place of Taichi's own, and plain functions made of the source text of ours: see the package."""

import ast
import ctypes
import functools
import inspect
import itertools
import math
import os
import textwrap
from types import CellType, CodeType, FunctionType

import numpy as np
import taichi as ti

from pbd.core.kernels.plain.values import Matrix, Record, Vector, assigned, cast, divided, largest, least, number
from pbd.core.kernels.runtime import real_type
from pbd.core.messages import shown


def componentwise(function):
    """Let a function of numbers take vectors, too."""

    def call(*values):
        lengths = [len(each) for each in values if isinstance(each, Vector)]
        if not lengths:
            return function(*values)
        columns = [each if isinstance(each, Vector) else [each] * lengths[0] for each in values]
        return Vector([function(*each) for each in zip(*columns)])

    return call


def real(function):
    """Let a function of numpy or of Python's library take and return real numbers of the precision of `ti.init`."""
    return componentwise(lambda *values: real_type()(function(*map(real_type(), values))))


def of_math(name):
    """A function such as sin, in 32 bits that of the C library, which Taichi calls. Args: name: in Python's math."""

    def call(*values):
        if real_type() == np.float64 or os.name == "nt":
            return getattr(math, name)(*values)
        function = getattr(ctypes.CDLL(None), f"{name}f")
        function.restype = ctypes.c_float
        return function(*map(ctypes.c_float, values))

    return real(call)


def half_away(x):
    """The nearest whole number, of two the one that is further from zero."""
    return math.copysign(math.floor(abs(x) + 0.5), x)


def changed(combine):
    """An atomic operation. Args: combine: of the old value and the operand."""

    def change(array, place, operand):
        before = array[place]
        array[place] = combine(before, operand)
        return before

    return change


# The class of structures, and what stands for functions of Taichi.
STRUCTURE = type(ti.types.struct(member=float))
OF_TAICHI = {
    ti.static: lambda *values: values[0] if len(values) == 1 else values,
    ti.Vector: Vector, ti.Matrix: Matrix, ti.Matrix.rows: Matrix, ti.Matrix.identity: Matrix.identity,
    ti.max: componentwise(largest), ti.min: componentwise(least), ti.abs: abs,
    ti.select: componentwise(lambda condition, a, b: a if condition else b),
    ti.cast: cast, int: lambda value: cast(value, int), float: lambda value: cast(value, float),
    ti.round: real(half_away), ti.ndrange: lambda *counts: itertools.product(*map(range, counts)),
    ti.atomic_add: changed(lambda a, b: a + b), ti.atomic_sub: changed(lambda a, b: a - b),
    ti.atomic_max: changed(largest), ti.atomic_min: changed(least), ti.loop_config: lambda **options: None,
    ti.sqrt: componentwise(lambda x: np.sqrt(number(x))),
    max: componentwise(largest), min: componentwise(least),
}  # fmt: skip
OF_TAICHI |= {getattr(ti, name): of_math(name) for name in ("sin", "cos", "atan2", "exp", "log", "pow")}
OF_TAICHI |= {kind: functools.partial(cast, kind=kind) for kind in (ti.i32, ti.i64, ti.f32, ti.f64)}
OF_TAICHI |= {ti.floor: real(math.floor), ti.ceil: real(math.ceil)}


def stands_in(function):
    """Decorate what stands for a function in plain Python. Args: function: one that makes expressions of Taichi."""

    def decorate(plain):
        OF_TAICHI[function] = plain
        return plain

    return decorate


def plain(function):
    """The plain Python function that a function of a kernel is, to call it by hand or to stop in it.

    Args: function: any that kernels call, such as one with `@ti.func`; other functions stand for themselves.

    Returns: a function. Vectors are pbd.core.kernels.plain.Vector.

    Raises: TypeError if it is no function.
    """
    try:
        found = OF_TAICHI.get(function)
    except TypeError:  # a method of an object that has no hash
        return function
    if found is not None:
        return found
    if isinstance(function, STRUCTURE):
        kinds = function.members
        return lambda **members: Record(kinds, members)
    if getattr(function, "_is_taichi_function", False):
        own = inspect.unwrap(function)
        if not hasattr(own, "in_plain_python"):
            own.in_plain_python = rewritten(own)
        return own.in_plain_python
    if not callable(function):
        raise TypeError(f"function is {shown(function)}: expected a function, such as one with @ti.func")
    return function


class Rewriter(ast.NodeTransformer):
    """Makes plain Python of the text of a Taichi function: see the package."""

    def visit_FunctionDef(self, node):
        """Copy arguments that are passed by value, which are those without `ti.template()`."""
        node.decorator_list = []
        by_value = [each.arg for each in node.args.args if each.annotation is None]
        for each in node.args.args:
            each.annotation = None
        self.generic_visit(node)
        copies = [ast.copy_location(copy_of(name), node) for name in by_value]
        documented = ast.get_docstring(node) is not None
        node.body[documented:documented] = copies
        return node

    def visit_Assign(self, node):
        """Copy what is assigned."""
        self.generic_visit(node)
        node.value = ast.Call(ast.Name("assigned", ast.Load()), [node.value], [])
        return node

    def visit_BinOp(self, node):
        """Divide as IEEE 754 does."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return ast.Call(ast.Name("divided", ast.Load()), [node.left, node.right], [])
        return node

    def visit_Call(self, node):
        """Call what stands for a function."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr.startswith("atomic_"):
            target = node.args[0]
            node.args[:1] = [target.value, target.slice]
        node.func = ast.Call(ast.Name("plain", ast.Load()), [node.func], [])
        return node


def copy_of(name):
    """The statement `name = assigned(name)`."""
    value = ast.Call(ast.Name("assigned", ast.Load()), [ast.Name(name, ast.Load())], [])
    return ast.Assign([ast.Name(name, ast.Store())], value)


HELPERS = {"assigned": assigned, "divided": divided, "plain": plain}


def rewritten(function):
    """The function that the text of a Taichi function is in plain Python. Args: function: as it was decorated."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    (definition,) = tree.body
    ast.increment_lineno(tree, first - 1)
    definition = Rewriter().visit(definition)
    outer = ast.parse(f"def outer({', '.join([*function.__code__.co_freevars, *HELPERS])}): pass")
    outer.body[0].body = [definition]
    code = compile(ast.fix_missing_locations(outer), inspect.getsourcefile(function), "exec")
    while code.co_name != function.__code__.co_name:
        code = next(each for each in code.co_consts if isinstance(each, CodeType))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells |= {name: CellType(value) for name, value in HELPERS.items()}
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    return functools.update_wrapper(made, function)
