"""All parameters of a kernel, or of a function, as members of one structure, which is one parameter for Taichi.

At each launch Taichi 1.7.4 copies its list of arguments, and for each it makes several vectors of indices. It looks up
arrays again, too. That costs about 0.1 µs for an argument, 0.3 for an array, and solvers have up to 77 arrays. Of a
structure it copies nothing: kernels read it where `Launch` writes it (launch.py). An array is the same there as in an
argument of its own: its lengths and its address. So kernels have the same code.

Members of one type stand together, as the elements of a tensor: a structure of 60 arrays then has a type of ten parts.
Taichi makes this type again at each access to an array, and writes it out in its files of compiled kernels. With 60
parts that was an eighth of the time to compile a ragdoll's step, and a fifth of a start that compiles nothing.

Only on the processor: a graphics card has to be told which arguments are arrays.
"""

from itertools import groupby

from taichi._lib import core as taichi_core
from taichi.lang import impl, kernel_arguments
from taichi.lang.any_array import AnyArray
from taichi.lang.enums import AutodiffMode
from taichi.lang.expr import Expr
from taichi.lang.util import cook_dtype, to_taichi_type

from pbd.core.kernels.runtime import present_program

declare_array, declare_number = kernel_arguments.decl_ndarray_arg, kernel_arguments.decl_scalar_arg
FACTORY = taichi_core.get_type_factory_instance()


class Structure:
    """The parameters of a kernel or function as members of a structure.

    Args: parameters: list of (annotation: int, float or of an array; argument of a call); has_lanes: whether Taichi
    makes vectors of the processor of tensors, which can have no arrays as elements.

    Attributes: order: indices of the parameters in the order in which their members lie in memory.
    """

    def __init__(self, parameters, has_lanes=False):
        self.kinds = [kind_of(*each) for each in parameters]
        self.in_groups = not has_lanes
        first = {kind: index for index, kind in reversed(list(enumerate(self.kinds)))}
        self.order = sorted(range(len(self.kinds)), key=lambda index: first[self.kinds[index]] if self.in_groups else 0)

    def listed(self):
        """Taichi's type with each member on its own, and the place of each parameter."""
        members = [(type_of(*self.kinds[index]), f"member_{place}") for place, index in enumerate(self.order)]
        places = {index: (0, place) for place, index in enumerate(self.order)}
        return FACTORY.get_struct_type(members), [places[index] for index in range(len(self.kinds))]

    def grouped(self):
        """Taichi's type with tensors of members of one type, and the place of each parameter."""
        members, places = [], {}
        for group, (kind, indices) in enumerate(groupby(self.order, self.kinds.__getitem__)):
            indices = list(indices)
            members.append((FACTORY.get_tensor_type([len(indices)], type_of(*kind)), f"group_{group}"))
            places |= {index: (0, group, place) for place, index in enumerate(indices)}
        return FACTORY.get_struct_type(members), [places[index] for index in range(len(self.kinds))]

    def declared(self):
        """Replacements in Taichi while it reads the parameters: list of (owner, name, replacement)."""
        structure, places = self.grouped() if self.in_groups else self.listed()
        places, is_first = iter(places), iter([True])

        def next_place():
            """Indices of the next parameter; None after the last, for those of functions that are called."""
            if next(is_first, False):
                impl.get_runtime().compiling_callable.insert_scalar_param(structure, "structure")
            place = next(places, None)
            return place and list(place)

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

    def make_context(self):
        """Memory for the arguments of a launch, and the place of each parameter in it.

        Taichi's functions that write arguments know no tensors of arrays. So the memory is that of a kernel without
        code, whose members are listed: they lie there as those in groups do.
        """
        structure, places = self.listed()
        program, key = present_program(), tuple(self.kinds[index] for index in self.order)
        if WITHOUT_CODE.get("program") is not program:
            WITHOUT_CODE.clear()
            WITHOUT_CODE["program"] = program
        if key not in WITHOUT_CODE:

            def declare(kernel):
                kernel.insert_scalar_param(structure, "structure")
                kernel.finalize_params()
                kernel.finalize_rets()

            create_kernel = impl.get_runtime().prog.create_kernel
            WITHOUT_CODE[key] = create_kernel(declare, "without_code", AutodiffMode.NONE)
        return WITHOUT_CODE[key].make_launch_context(), places


# Kernels without code by the kinds of their parameters, and their program.
WITHOUT_CODE = {}


def kind_of(annotation, argument):
    """Type of a member's numbers, and how many dimensions it has as an array; None for a number.

    Args: annotation: of the parameter, int, float or of an array; argument: of a call.
    """
    if annotation in (int, float):
        return cook_dtype(annotation), None
    in_kernel = isinstance(argument, AnyArray)  # which calls a function
    element = argument.get_type().element_type.element_type() if in_kernel else to_taichi_type(argument.dtype)
    return element, len(argument.shape)


def type_of(element, dimensions):
    """Taichi's type of a member. Args: see `kind_of`."""
    if dimensions is None:
        return element
    return taichi_core.DataType(FACTORY.get_ndarray_struct_type(element, dimensions, False))
