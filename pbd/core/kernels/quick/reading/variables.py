"""Fewer local variables than Taichi makes while it reads a function.

Taichi 1.7.4 makes two variables of `a = b + c` for a new name: one of the value, and one of the first. It gives each
parameter of a function a variable of its own, and what the function returns another one. Two thirds of the 17,000
variables in a ragdoll's step were such copies. Each takes time in all of Taichi's passes, one of which goes through the
whole kernel for each variable. LLVM removes them later, so kernels without them have the same bits and the same speed.

Here a new name is the value's variable, also if that is a function's own, and a parameter is the caller's variable. A
parameter that its function may change still gets a variable: Taichi passes it by value.
"""

import ast
import builtins
import types
import weakref

from taichi.lang import impl, matrix
from taichi.lang.ast.ast_transformer import ASTTransformer
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext
from taichi.lang.expr import Expr
from taichi.types.annotations import template

# Taichi's own.
build_statement, assign_value = ASTTransformer(), ASTTransformer.build_assign_basic
make_variable, make_parameter, create_variable = (
    impl.expr_init, impl.expr_init_func, ASTTransformerContext.create_variable
)  # fmt: skip


def initialise(value):
    """Make a local variable, and say so."""
    found = make_variable(value)
    if isinstance(found, Expr):
        found.is_variable = True
    return found


# Assignments ----------------------------------------------------------------------------------------------------------


def build_assignment(context, node):
    """Read an assignment. A variable that has no name yet belongs to the first new name."""
    build_statement(context, node.value)
    value = node.value.ptr
    is_static = isinstance(node.value, ast.Call) and node.value.func.ptr is impl.static
    if not is_static:
        value = without_name(value)
    for target in node.targets:
        ASTTransformer.build_assign_unpack(context, target, value, is_static)


def without_name(value):
    """A value in a variable that has no name yet, or in several."""
    if type(value) in (tuple, list):
        return type(value)(map(without_name, value))
    if getattr(value, "is_unnamed", False):
        return value
    found = impl.expr_init(value)
    if getattr(found, "is_variable", False):
        found.is_unnamed = True
    return found


def assign(context, target, value, is_static):
    """Assign a value to a name or a place."""
    is_new = isinstance(target, ast.Name) and not context.is_var_declared(target.id)
    values = all_of(value)
    are_free = all(getattr(each, "is_unnamed", False) for each in values) and len(set(map(id, values))) == len(values)
    if is_static or not (is_new and are_free):
        return assign_value(context, target, value, is_static)
    for each in values:
        each.owner = context
    context.create_variable(target.id, value)
    return value


def release(context, returned):
    """Let the caller name variables that a function made and returns. Args: context: of the function; returned."""
    for value in all_of(returned):
        if getattr(value, "owner", None) is context:
            value.is_unnamed, value.owner = True, None


def all_of(value):
    """A value, or those in a tuple or list."""
    return [found for each in value for found in all_of(each)] if type(value) in (tuple, list) else [value]


# Parameters -----------------------------------------------------------------------------------------------------------


class Passed:
    """A value on its way to a parameter whose name is not known yet. Args: value: the caller's."""

    def __init__(self, value):
        self.value = value


def name_value(context, name, value):
    """Give a name to a value. If it is a parameter that does not change, the name stands for the caller's variable."""
    if isinstance(value, Passed):
        changes = name in changed_names(context)
        value = make_parameter(value.value) if changes else shared(value.value, variables_in_templates(context))
    for each in all_of(value):
        if getattr(each, "is_unnamed", False):
            each.is_unnamed = False
    create_variable(context, name, value)


def shared(value, others):
    """The variables of a value, and new ones of what is none. Args: value; others: variables that may change."""
    if type(value) in (tuple, list):
        return type(value)(shared(each, others) for each in value)
    if getattr(value, "is_variable", False) and not any(value is other for other in others):
        return value
    return make_parameter(value)


def variables_in_templates(context):
    """Variables of the caller that a function may change: those that it is given for template parameters."""
    found = []
    for parameter, value in zip(context.func.arguments, context.argument_data):
        if isinstance(parameter.annotation, template):
            found += all_of(value)
    return found


def changed_names(context):
    """Names whose variables a function may change.

    It assigns to them, or it passes them on to a function that may change them: one with a template parameter there, or
    one that is not known.
    """
    function = context.func.func
    if function not in CHANGED:
        code = function.__code__
        known = {*code.co_names, *code.co_freevars} - {*code.co_varnames, *code.co_cellvars}
        known = {name: context.global_vars.get(name, getattr(builtins, name, None)) for name in known}
        CHANGED[function] = {name for node in ast.walk(context.tree) for name in changed_by(node, known)}
    return CHANGED[function]


CHANGED = weakref.WeakKeyDictionary()


def changed_by(node, known):
    """Names whose variables a node of a syntax tree may change. Args: node; known: what global names stand for."""
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
            node = node.value
        return names_in(node)
    if not isinstance(node, ast.Call):
        return set()
    is_safe = safe_places(node.func, known)
    unsafe = [argument for place, argument in enumerate(node.args) if not is_safe(place)]
    unsafe += [argument for argument in node.args if isinstance(argument, ast.Starred)]
    unsafe += [keyword.value for keyword in node.keywords]
    return {name for argument in unsafe for name in names_in(argument)}


def names_in(node):
    """All names in a part of a syntax tree."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def safe_places(node, known):
    """Arguments that a function cannot change. Args: node: the called expression; known: see `changed_by`.

    Returns: a function (place) of the truth.
    """
    function = meaning(node, known)
    if getattr(function, "_is_wrapped_kernel", False):  # Python of ours, which makes expressions of its arguments
        return lambda place: True
    if getattr(function, "_is_taichi_function", False):
        parameters = function.func.arguments
        return lambda place: place < len(parameters) and not isinstance(parameters[place].annotation, template)
    if function is None:  # such as a vector's method
        name = getattr(node, "attr", "fill")
        return lambda place: hasattr(matrix.Matrix, name) and name != "fill"
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    is_ours = not module.startswith(("taichi.", "builtins", "math"))
    return lambda place: not (is_ours or name.startswith("atomic") or function is impl.static)


def meaning(node, known):
    """The object of a name, or of a member of a module; None if it is not known. Args: see `safe_places`."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    owner = meaning(node.value, known) if isinstance(node, ast.Attribute) else None
    return getattr(owner, node.attr, None) if isinstance(owner, (types.ModuleType, type)) else None


# What is replaced in Taichi: (owner, name, replacement).
FEWER_VARIABLES = [
    (impl, "expr_init", initialise),
    (impl, "expr_init_func", Passed),
    (ASTTransformerContext, "create_variable", name_value),
    (ASTTransformer, "build_Assign", staticmethod(build_assignment)),
    (ASTTransformer, "build_assign_basic", staticmethod(assign)),
]
