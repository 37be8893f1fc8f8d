"""Statements in lanes: assignments and conditions. See the package."""

import ast
import contextlib
from functools import wraps

from taichi._lib import core
from taichi.lang import impl, matrix, ops
from taichi.lang.ast.ast_transformer import ASTTransformer, build_stmt, build_stmts
from taichi.lang.exception import TaichiSyntaxError
from taichi.lang.expr import Expr

from pbd.core.kernels.lanes import values
from pbd.core.kernels.lanes.values import OPERATORS, Reading, any_lane, broadcast, has_lanes, in_taichi, once, variable
from pbd.core.kernels.quick.reading.replacing import replacing


def read_in_lanes(function, width):
    """Make the Taichi function that does for `width` worlds what another does for one. Args: function; width."""

    @wraps(function)
    def read(*arguments):
        Reading.width, Reading.masks = width, []
        try:
            with replacing(REPLACED), as_vectors():
                return function(*arguments)
        finally:
            Reading.width = 1

    read._is_taichi_function, read.func = True, function.func  # Taichi asks for both where it is called
    return read


@contextlib.contextmanager
def as_vectors():
    """Compile Taichi's vectors as vectors of the processor in this context, instead of as numbers."""
    config = impl.current_cfg()
    before, config.real_matrix_scalarize = config.real_matrix_scalarize, False
    try:
        yield
    finally:
        config.real_matrix_scalarize = before


def assign(target, value):
    """Store a value in the lanes in which the enclosing conditions are true, in place of Taichi's `_assign`."""
    if Reading.masks and getattr(target, "depth", 0) < len(Reading.masks):
        if not has_lanes(target):
            raise TaichiSyntaxError("an integer, or a number of all lanes, changes in an `if` in which lanes differ")
        value = ops.select(Reading.masks[-1], value, target)
    elif has_lanes(target):
        value = broadcast(value)
    return ops.assign(target, value if isinstance(value, Expr) else Expr(value))


def change(target, value, operation):
    """Change a variable by a value, in place of Taichi's `_augassign`."""
    if not has_lanes(target):
        return change_number(target, value, operation)
    return target._assign(OPERATORS[operation](target, value))


def build_if(context, node):
    """Read an `if`, in place of Taichi's `build_If`."""
    condition = build_stmt(context, node.test)
    if ASTTransformer.get_decorator(context, node.test) == "static":
        build_stmts(context, node.body if condition else node.orelse)
        return
    outside = Reading.masks[-1:]
    with context.non_static_if_guard(node):
        if not has_lanes(condition):
            branch(context, node, Expr(condition), node.body, node.orelse)
            return
        condition = variable(condition)  # the body may change what it is made of
        for mask, body in ((condition, node.body), (ops.logical_not(condition), node.orelse)):
            if body:
                mask = variable(ops.bit_and(mask, *outside) if outside else mask)
                Reading.masks.append(mask)
                try:
                    if is_long(body):
                        branch(context, node, any_lane(mask), body, [])
                    else:
                        build_stmts(context, body)
                finally:
                    Reading.masks.pop()


def branch(context, node, condition, body, otherwise):
    """Read an `if` on a condition that all lanes share."""
    impl.begin_frontend_if(context.ast_builder, condition, core.DebugInfo(context.get_pos_info(node)))
    context.ast_builder.begin_frontend_if_true()
    build_stmts(context, body)
    context.ast_builder.pop_scope()
    context.ast_builder.begin_frontend_if_false()
    build_stmts(context, otherwise)
    context.ast_builder.pop_scope()


def is_long(body):
    """Whether statements call functions or have loops, so that skipping them pays."""
    return any(isinstance(node, (ast.Call, ast.For, ast.While)) for statement in body for node in ast.walk(statement))


@in_taichi
def any_world(condition):
    """Whether a condition is true in any of the worlds in which the enclosing ones are. Without lanes there is one."""
    if not has_lanes(condition):
        return condition
    return any_lane(once(ops.bit_and(condition, Reading.masks[-1]) if Reading.masks else condition))


def build_conditional(context, node):
    """Read `a if condition else b`, in place of Taichi's `build_IfExp`."""
    condition = build_stmt(context, node.test)
    if ASTTransformer.get_decorator(context, node.test) == "static":
        node.ptr = build_stmt(context, node.body if condition else node.orelse)
    elif has_lanes(condition):
        node.ptr = ops.select(condition, build_stmt(context, node.body), build_stmt(context, node.orelse))
    else:
        node.ptr = ops.ifte(condition, build_stmt(context, node.body), build_stmt(context, node.orelse))
    return node.ptr


change_number = Expr._augassign

# What is replaced in Taichi: (owner, name, replacement).
REPLACED = [
    (impl, "expr_init", values.initialise),
    (matrix, "make_matrix", values.make_vector),
    (core, "value_cast", values.value_cast),
    (ops, "_unary_operation", values.unary),
    (ops, "_binary_operation", values.binary),
    (ops, "_ternary_operation", values.ternary),
    (Expr, "_assign", assign),
    (Expr, "_augassign", change),
    (ASTTransformer, "build_If", staticmethod(build_if)),
    (ASTTransformer, "build_IfExp", staticmethod(build_conditional)),
]
