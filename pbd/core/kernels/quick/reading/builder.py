"""The nodes of a syntax tree: their readers are found quickly, and their lines are written only for an error.

For each expression Taichi 1.7.4 writes the lines that an error would show. That, and to seek and parse the source of a
function at each call (source.py), was four fifths of the time to read a kernel.
"""

import ast
import functools
from types import SimpleNamespace

from taichi.lang import impl
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext, Builder

write_position, build_node, PLACED = ASTTransformerContext.get_pos_info, Builder.__call__, (ast.stmt, ast.expr)


class Count:
    """Counter of what Taichi has read. Attributes: expressions: how many, since the program's start."""

    expressions = 0


def build(builder, context, node):
    """Read a node of a syntax tree, as Taichi's Builder does, which spends a sixth of the time on finding methods."""
    name, places = name_of(type(node)), impl.get_runtime().src_info_stack
    method = name and getattr(builder, name, None)  # not kept: pbd/core/kernels/lanes replaces some
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
    """Place of an expression for errors: with its lines if there is an error, otherwise without."""
    Count.expressions += 1
    if context.raised:
        return write_position(context, node)
    return place_in_file(context.file, node.lineno + context.lineno_offset, context.func.func.__name__)


@functools.cache
def place_in_file(file, line, function):
    """A line of a file in the words of Taichi's errors."""
    return f'File "{file}", line {line}, in {function}:\n'


# What is replaced in Taichi: (owner, name, replacement).
QUICK_NODES = [(Builder, "__call__", build), (ASTTransformerContext, "get_pos_info", position)]
