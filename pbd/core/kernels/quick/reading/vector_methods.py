"""Products and norms of vectors, made as expressions while Taichi reads a function.

Taichi 1.7.4 has them as Taichi functions, so it reads their Python at each call. They were two fifths of what it read
of a ragdoll's step. Here they make the same operations in the same order, with fewer variables. Results have the same
bits.
"""

from taichi.lang import impl, matrix, matrix_ops, ops
from taichi.lang.expr import Expr

from pbd.core.kernels.lanes.values import in_taichi, once


def total(vector):
    """Sum of the components: the first two, then one after another."""
    found = component(vector, 0)
    for k in range(1, vector.get_shape()[0]):
        found = ops.add(found, component(vector, k))
    return found


def dot(a, b):
    """Scalar product."""
    return total(once(ops.mul(a, b)))


def cross(a, b):
    """Vector product of three components."""
    if a.get_shape() != (3,):
        return OF_TAICHI["cross"](a, b)
    pairs = (1, 2), (2, 0), (0, 1)
    return matrix.make_matrix(
        [
            ops.sub(ops.mul(component(a, i), component(b, j)), ops.mul(component(a, j), component(b, i)))
            for i, j in pairs
        ]
    )


def norm_sqr(vector):
    """Square of the length."""
    return dot(vector, vector)


def norm(vector):
    """Length. Taichi adds an `eps` to the square, which is zero."""
    return ops.sqrt(norm_sqr(vector))


def component(vector, k):
    """A component of a vector. Args: vector: a variable; k: an int."""
    return impl.subscript(None, vector, k)


def for_vectors(name, method):
    """A method for vectors of the precision of `ti.init`; Taichi's serves others. Args: name: Taichi's; method."""

    @in_taichi
    def call(*vectors, **options):
        options = {key: value for key, value in options.items() if type(value) not in (int, float) or value != 0}
        shapes = {value.get_shape() for value in vectors} if all(map(is_vector, vectors)) else ()
        if options or len(shapes) != 1:
            return OF_TAICHI[name](*vectors, **options)
        return method(*map(once, vectors))

    return call


def is_vector(value):
    """Whether a value of a kernel is a vector of the precision of `ti.init`."""
    if not isinstance(value, Expr) or not value.is_tensor():
        return False
    return len(value.get_shape()) == 1 and value.element_type() == impl.get_runtime().default_fp


METHODS = {"sum": total, "dot": dot, "cross": cross, "norm_sqr": norm_sqr, "norm": norm}
OF_TAICHI = {name: getattr(matrix_ops, name) for name in METHODS}

# What is replaced in Taichi: (owner, name, replacement).
QUICK_VECTORS = [(matrix_ops, name, for_vectors(name, method)) for name, method in METHODS.items()]
