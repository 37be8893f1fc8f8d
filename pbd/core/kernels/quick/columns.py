"""Vectors in the columns of arrays, as expressions: they are read in a tenth of the time of public/columns.py."""

from taichi.lang import impl, matrix

from pbd.core.kernels.lanes.values import in_taichi, once
from pbd.core.kernels.quick.reading.vector_methods import component, components


@in_taichi
def load_vector(array, row, column, world):
    """Three columns of a row, as a vector."""
    return matrix.make_matrix(places(array, row, column, world, 3))


@in_taichi
def load_quaternion(array, row, column, world):
    """Four columns of a row, as a quaternion."""
    return matrix.make_matrix(places(array, row, column, world, 4))


@in_taichi
def store_vector(array, row, column, v, world):
    """Write a vector into three columns of a row."""
    store(places(array, row, column, world, 3), v)


@in_taichi
def store_quaternion(array, row, column, q, world):
    """Write a quaternion into four columns of a row."""
    store(places(array, row, column, world, 4), q)


@in_taichi
def three_of(vector, first):
    """Three components of a longer vector. Args: first: index of the first."""
    return components(vector, first, 3)


def places(array, row, column, world, width):
    """Columns of a row, as Taichi's expressions."""
    row, column, world = once(row), once(column), once(world)
    return [impl.subscript(None, array, world, row, column + k) for k in range(width)]


def store(targets, vector):
    """Write the components of a vector into places."""
    vector = once(vector)
    for k, target in enumerate(targets):
        target._assign(component(vector, k))
