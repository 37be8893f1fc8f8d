"""Values of kernels in plain Python, with Taichi's operations in Taichi's order: see the package."""

import copy
import functools
import itertools

import numpy as np
import taichi as ti

from pbd.core.kernels.runtime import real_type


class Vector:
    """A vector. Args: components: numbers."""

    __slots__ = ("components",)
    __array_ufunc__ = None  # so that a number of numpy leaves its product with a vector to the vector

    def __init__(self, components):
        self.components = [number(each) for each in components]

    def __getitem__(self, k):
        return self.components[k]

    def __setitem__(self, k, value):
        self.components[k] = number(value)

    def __len__(self):
        return len(self.components)

    def __iter__(self):
        return iter(self.components)

    def __repr__(self):
        return f"[{', '.join(f'{each:g}' for each in self)}]"

    def each(self, operation, other):
        """A vector of what an operation makes of each component and a number, or the component of a vector."""
        others = other if isinstance(other, Vector) else itertools.repeat(other)
        return type(self)([operation(a, b) for a, b in zip(self, others)])

    def __add__(self, other):
        return self.each(lambda a, b: a + b, other)

    def __sub__(self, other):
        return self.each(lambda a, b: a - b, other)

    def __rsub__(self, other):
        return self.each(lambda a, b: b - a, other)

    def __mul__(self, other):
        return self.each(lambda a, b: a * b, other)

    def __truediv__(self, other):
        return self.each(divided, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __pos__(self):
        return self

    def __abs__(self):
        return type(self)([abs(each) for each in self])

    def sum(self):
        """Sum of the components: the first two, then one after another."""
        return functools.reduce(lambda a, b: a + b, self)

    def max(self):
        """The largest component."""
        return functools.reduce(largest, self)

    def min(self):
        """The least component."""
        return functools.reduce(least, self)

    def dot(self, other):
        """Scalar product."""
        return (self * other).sum()

    def cross(self, other):
        """Vector product of three components."""
        return Vector([self[i] * other[j] - self[j] * other[i] for i, j in ((1, 2), (2, 0), (0, 1))])

    def norm_sqr(self):
        """Square of the length."""
        return self.dot(self)

    def norm(self):
        """Length."""
        return np.sqrt(self.norm_sqr())

    def normalized(self):
        """A vector of length one in the same direction."""
        return self * (1 / self.norm())

    def outer_product(self, other):
        """The matrix a bᵀ."""
        return Matrix([[a * b for b in other] for a in self])

    def fill(self, value):
        """Set all components."""
        self.components = [number(value)] * len(self)


class Matrix(Vector):
    """A matrix. Args: rows: lists of numbers, or vectors."""

    __slots__ = ()

    def __init__(self, rows):
        self.components = [Vector(row) for row in rows]

    rows = classmethod(lambda cls, rows: cls(rows))
    identity = classmethod(lambda cls, kind, n: cls(np.eye(n).tolist()))

    def __getitem__(self, place):
        row, column = place
        return self.components[row][column]

    def __setitem__(self, place, value):
        row, column = place
        self.components[row][column] = value

    def __abs__(self):
        return Matrix([abs(row) for row in self])

    def __matmul__(self, other):
        if not isinstance(other, Matrix):
            return Vector([row.dot(other) for row in self])
        columns = other.transpose()
        return Matrix([[row.dot(column) for column in columns] for row in self])

    def transpose(self):
        """The transpose."""
        return Matrix(zip(*self))


class Array:
    """A Taichi array, or a numpy array that is given at each launch. Args: values: numpy; width: of its vectors."""

    def __init__(self, values, width=1):
        self.values, self.width = values, width
        self.shape = values.shape if width == 1 else values.shape[:-1]

    def __getitem__(self, place):
        found = self.values[place]
        return number(found) if self.width == 1 else Vector(found)

    def __setitem__(self, place, value):
        self.values[place] = value.components if isinstance(value, Vector) else value

    def fill(self, value):
        """Set all elements."""
        self.values.fill(value)


def number(value):
    """A number of a kernel: an int of Python, a truth value, or a real number in the precision of `ti.init`."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    return value if isinstance(value, np.floating) else real_type()(value)


def assigned(value):
    """The value that a variable has after an assignment: vectors and records are copied, as in Taichi."""
    if isinstance(value, Vector):
        return type(value)(value)
    if isinstance(value, Record):
        return copy.copy(value)
    if type(value) in (list, tuple):
        return type(value)(map(assigned, value))
    return number(value) if isinstance(value, (float, np.generic)) else value


class Record:
    """A structure. Args: kinds: {member: its type}; members: values of some, the others are zero."""

    def __init__(self, kinds, members):
        for name, kind in kinds.items():
            setattr(self, name, cast(members.get(name, 0), kind))


def divided(a, b):
    """A quotient, as IEEE 754 has it: infinite or not a number for a divisor of zero."""
    return (a if isinstance(a, (Vector, np.floating)) else real_type()(a)) / b


def largest(*values):
    """The largest number; that of two which is a number."""
    return functools.reduce(lambda a, b: b if b > a or a != a else a, values)


def least(*values):
    """The least number; that of two which is a number."""
    return functools.reduce(lambda a, b: b if b < a or a != a else a, values)


def cast(value, kind):
    """A number of another type, or a vector of such numbers."""
    if isinstance(value, Vector):
        return Vector([cast(each, kind) for each in value])
    if kind in (int, ti.i32, ti.i64):
        return int(value)
    if kind in (bool, ti.u1):
        return bool(value)
    kinds = {ti.f64: np.float64, ti.f32: np.float32}
    return kinds.get(kind, real_type())(value)
