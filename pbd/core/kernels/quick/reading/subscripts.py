"""Elements of arrays and components of vectors, while Taichi reads a function.

Taichi 1.7.4 asks of each subscript what kinds of things it can be of, and whether each index is in the range of its
type. That took a quarter of the time to read a ragdoll's step. Here arrays and vectors with plain indices are known at
once. The rest is left to Taichi.
"""

from taichi._lib import core as taichi_core
from taichi.lang import impl
from taichi.lang.any_array import AnyArray
from taichi.lang.expr import Expr

subscript_of_taichi = impl.subscript


def subscript(builder, value, *indices, **options):
    """An element, in place of Taichi's `subscript`. Args: builder: not used; value: an array or vector; indices."""
    if options or not (type(value) is AnyArray or (type(value) is Expr and value.is_tensor())):
        return subscript_of_taichi(builder, value, *indices, **options)
    runtime, group = impl.get_runtime(), taichi_core.ExprGroup()
    for index in indices:
        if isinstance(index, Expr):
            group.push_back(index.ptr)
        elif type(index) is int and 0 <= index < MOST:
            group.push_back(taichi_core.make_const_expr_int(runtime.default_ip, index))
        else:
            return subscript_of_taichi(builder, value, *indices)
    place = taichi_core.DebugInfo(runtime.get_current_src_info())
    return Expr(runtime.compiling_callable.ast_builder().expr_subscript(value.ptr, group, place))


# Constant indices are below this, within the range of 32-bit integers.
MOST = 2**31


# What is replaced in Taichi: (owner, name, replacement).
QUICK_SUBSCRIPTS = [(impl, "subscript", subscript)]
