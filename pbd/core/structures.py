"""All arguments of a kernel as members of one structure, which is one argument for Taichi.

At each launch Taichi 1.7.4 copies its list of arguments, and for each it makes several vectors of indices. It looks up
arrays again, too. That costs about 0.1 µs for an argument, 0.3 for an array, and solvers have up to 77 arrays. Of a
structure it copies nothing: kernels read it where `Launch` writes it (pbd/core/kernels.py). An array is the same there
as in an argument of its own: its lengths and its address. So kernels have the same code.

Only on the processor: a graphics card has to be told which arguments are arrays.
"""

from taichi._lib import core as taichi_core
from taichi.lang import impl, kernel_arguments
from taichi.lang.any_array import AnyArray
from taichi.lang.expr import Expr
from taichi.lang.util import cook_dtype, to_taichi_type

declare_array, declare_number = kernel_arguments.decl_ndarray_arg, kernel_arguments.decl_scalar_arg


def declared_in_a_structure(kernel, arguments):
    """What is replaced in Taichi while it reads a kernel: its parameters become members of a structure.

    Args: kernel: a taichi Kernel; arguments: of a call. Returns: list of (owner, name, replacement).
    """
    kinds = [kind_of(each.annotation, argument) for each, argument in zip(kernel.arguments, arguments)]
    places = iter([[0, index] for index in range(len(kinds))])

    def next_place():
        """Indices of the next parameter; None after the last, for those of functions that the kernel calls."""
        place = next(places, None)
        if place == [0, 0]:
            members = [(kind, f"member_{index}") for index, kind in enumerate(kinds)]
            structure = taichi_core.get_type_factory_instance().get_struct_type(members)
            impl.get_runtime().compiling_callable.insert_scalar_param(structure, "structure")
        return place

    def array(element, dimensions, name, needs_grad, boundary):
        place = next_place()
        if place is None:
            return declare_array(element, dimensions, name, needs_grad, boundary)
        return AnyArray(taichi_core.make_external_tensor_expr(element, dimensions, place, needs_grad, 0, boundary))

    def number(kind, name, depth):
        place = next_place()
        if place is None:
            return declare_number(kind, name, depth)
        return Expr(taichi_core.make_arg_load_expr(place, cook_dtype(kind)))

    owner = kernel_arguments
    return [(owner, "decl_ndarray_arg", array), (owner, "decl_scalar_arg", number)]


def kind_of(annotation, argument):
    """Taichi's type of a member. Args: annotation: of the parameter, int, float or of an array; argument."""
    if annotation in (int, float):
        return cook_dtype(annotation)
    kind = to_taichi_type(argument.dtype)
    array = taichi_core.get_type_factory_instance().get_ndarray_struct_type(kind, len(argument.shape), False)
    return taichi_core.DataType(array)
