"""Compiled kernels are found by their signatures, so that a start does not read them again.

Taichi 1.7.4 keeps compiled kernels in files, under a digest of the kernel's code. To know the code it reads the kernel
from Python at each start, which took up to half of a start's time. A signature (signature.py) says as much of the code
in a hundredth of the time.

The text of our kernels is `if ti.static(is_new()): the_body(...)`. When Taichi asks, `is_new` writes the signature into
the kernel, as numbers that nothing uses, and has Taichi compile the kernel as it is then. Taichi makes its digest of
that, and keeps it for this kernel. If the files have a kernel of that digest, this is the one that an earlier start
compiled: Taichi returns it, and the body is not read. If not, Taichi would compile what there is. An `if` whose
condition has no type yet prevents that: Taichi makes its digest, and stops with an error, which nothing else in the
kernel can cause. The condition then gets its type, the body is read, and what is compiled is kept under that digest.
"""

from taichi._lib import core as taichi_core
from taichi.lang import impl
from taichi.types.primitive_types import i32

from pbd.core.kernels.lanes.values import in_taichi
from pbd.core.kernels.quick import compilation
from pbd.core.kernels.quick.signature import signature_of

# Hexadecimal digits that a 32-bit integer holds, without its sign.
DIGITS = 7


def lookup_of(*values):
    """Make the function `is_new` of a kernel's text. Args: values: all that the kernel is made of."""

    @in_taichi
    def is_new():
        """Whether the kernel that Taichi reads now was never compiled, so that its body has to be read."""
        runtime, reading = impl.get_runtime(), compilation.CURRENT
        # Settings that Taichi's digest lacks.
        settings = runtime.short_circuit_operators, reading.wanted, compilation.most_at_once()
        signature = signature_of(*values, settings)
        if signature is None:
            return True
        program, kernel = runtime.prog, runtime.compiling_callable
        condition = write(signature, kernel.ast_builder())
        try:
            program.compile_kernel(program.config(), program.get_device_caps(), kernel)
        except taichi_core.TaichiTypeError:
            condition.type_check(program.config())
            return True
        reading.is_found = True
        return False

    return is_new


def write(signature, builder):
    """Write a signature into a kernel. Args: signature; builder: of the kernel's code.

    Returns: the condition of an `if` without a body. The kernel can be compiled when the condition has a type.
    """
    for first in range(0, len(signature), DIGITS):
        builder.insert_expr_stmt(number(int(signature[first : first + DIGITS], 16)))
    condition = taichi_core.expr_cmp_lt(number(0), number(0))
    builder.begin_frontend_if(condition, taichi_core.DebugInfo())
    builder.begin_frontend_if_true()
    builder.pop_scope()
    builder.begin_frontend_if_false()
    builder.pop_scope()
    return condition


def number(value):
    """Taichi's expression of a 32-bit integer."""
    return taichi_core.make_const_expr_int(i32, value)
