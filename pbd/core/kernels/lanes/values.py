"""Values in lanes: numbers, truth values and vectors, and the operations on them. See the package."""

from taichi._lib import core
from taichi.lang import impl, matrix, ops
from taichi.lang.common_ops import TaichiOperations
from taichi.lang.exception import TaichiSyntaxError
from taichi.lang.expr import Expr
from taichi.types.primitive_types import f32, f64, real_types, u1

from pbd.core.kernels.runtime import in_taichi


class Reading:
    """The kernel that Taichi reads now. Attributes: width: number of lanes; masks: of the enclosing conditions, the
    last of all."""

    width, masks = 1, []


def has_lanes(value):
    """Whether a value of a kernel is a vector of lanes."""
    return isinstance(value, Expr) and value.is_tensor() and value.get_shape() == (Reading.width,)


def is_real(value):
    """Whether a value of a kernel is a real number, the same in all lanes."""
    if isinstance(value, Expr):
        return not value.is_tensor() and value.ptr.get_rvalue_type() in real_types
    return isinstance(value, float)


def type_of(value):
    """Taichi's type of a number or of the numbers in its lanes."""
    kind = value.ptr.get_rvalue_type()
    return value.element_type() if value.is_tensor() else kind


def once(value):
    """A value that is computed once, however often it is used: Taichi computes an expression at each use."""
    return value if getattr(value, "is_variable", False) or not isinstance(value, Expr) else variable(value)


def variable(value):
    """A new local variable. Args: value: at first."""
    found = new_variable(value)
    found.is_variable, found.depth = True, len(Reading.masks)
    return found


def broadcast(value):
    """A number in all lanes."""
    if has_lanes(value) or Reading.width == 1:
        return value
    if isinstance(value, Expr) and not getattr(value, "is_variable", False):
        value = new_variable(value)
    if isinstance(value, bool) or (isinstance(value, Expr) and type_of(value) == u1):
        # Taichi makes no vectors of truth values.
        number = operate_on_three(core.expr_select, None, Expr(value), Expr(1.0), Expr(0.0))
        return operate_on_two(core.expr_cmp_gt, None, broadcast(number), Expr(0.5))
    return make_matrix([value] * Reading.width)


def lane(value, k):
    """The number in lane k, or a number that all lanes share."""
    return impl.subscript(None, value, k) if has_lanes(value) else value


def each_lane(function, *values):
    """Apply a function of numbers to each lane. Returns: a vector of lanes."""
    values = [once(value) for value in values]
    return make_matrix([function(*[lane(value, k) for value in values]) for k in range(Reading.width)])


def alike(values):
    """Numbers of one type: the widest of all. Integers become real."""
    values = [value if isinstance(value, Expr) else Expr(float(value)) for value in values]
    widest = f64 if any(type_of(value) == f64 for value in values) else f32
    return [value if type_of(value) == widest else Expr(value_cast(value.ptr, widest)) for value in values]


def value_cast(pointer, kind):
    """Taichi's conversion, also of lanes. Args: pointer: of an expression; kind: a type."""
    value = Expr(pointer)
    if not has_lanes(value):
        return convert(pointer, kind)
    if kind not in real_types and kind != u1:
        raise TaichiSyntaxError("an integer that differs between worlds in lanes: expected real numbers")
    if type_of(value) == u1 and kind != u1:
        return ops.select(value, 1.0, 0.0).ptr  # Taichi reads no parts of vectors of truth values
    return pointer if type_of(value) == kind else each_lane(lambda x: Expr(convert(x.ptr, kind)), value).ptr


# Variables ------------------------------------------------------------------------------------------------------------


def initialise(value):
    """A new local variable, in place of Taichi's `expr_init`."""
    if isinstance(value, LaneVector):
        found = LaneVector([initialise(each) for each in value])
        found.is_variable = True
        return found
    if is_real(value) or isinstance(value, bool):
        value = broadcast(value)
    return variable(value) if isinstance(value, (Expr, int)) else new_variable(value)


def make_vector(entries, dt=None):
    """A vector, in place of Taichi's `make_matrix`: of lanes, if its components are real."""
    entries = list(entries)
    if not any(is_real(each) or has_lanes(each) for each in entries):
        if any(isinstance(each, (list, tuple, LaneVector)) for each in entries):
            raise TaichiSyntaxError("a matrix in lanes: expected vectors")
        return make_matrix(entries, dt) if Reading.width > 1 else LaneVector(entries)
    return LaneVector([float(each) if isinstance(each, int) else each for each in entries])


# Vectors --------------------------------------------------------------------------------------------------------------


class LaneVector(TaichiOperations):
    """A vector whose components are vectors of lanes, or numbers that all lanes share. Args: components: a list."""

    def __init__(self, components):
        self.components = list(components)

    def __getitem__(self, index):
        if isinstance(index, Expr):
            return Component(self, index)
        if isinstance(index, slice):
            return LaneVector(self.components[index])
        return self.components[index]

    def __iter__(self):
        return iter(self.components)

    def __len__(self):
        return len(self.components)

    def once(self):
        """The same vector, computed once."""
        return LaneVector([once(each) for each in self])

    @in_taichi
    def sum(self):
        """Sum of the components, as Taichi sums: the first two, then one after another."""
        total = self.components[0]
        for each in self.components[1:]:
            total = ops.add(total, each)
        return total

    @in_taichi
    def dot(self, other):
        """Scalar product."""
        return ops.mul(self, other).sum()

    @in_taichi
    def cross(self, other):
        """Vector product of three components."""
        a, b = self.once(), other.once()
        pairs = (1, 2), (2, 0), (0, 1)
        return LaneVector([ops.sub(ops.mul(a[i], b[j]), ops.mul(a[j], b[i])) for i, j in pairs])

    @in_taichi
    def norm_sqr(self):
        """Square of the length."""
        same = self.once()
        return same.dot(same)

    @in_taichi
    def norm(self):
        """Length."""
        return ops.sqrt(self.norm_sqr())

    @in_taichi
    def normalized(self):
        """A vector of length one in the same direction, as Taichi computes it."""
        same = self.once()
        return ops.mul(ops.truediv(1.0, same.norm()), same)

    def _assign(self, other):
        for mine, value in zip(self, other):
            mine._assign(value)

    def _augassign(self, other, operation):
        self._assign(initialise(OPERATORS[operation](self, other)))


class Component(Expr):
    """A component of a vector by an index that is known when the kernel runs. Args: vector; index: an Expr."""

    def __init__(self, vector, index):
        self.vector, self.index = vector, index
        found = vector[0]
        for k in range(1, len(vector)):
            found = ops.select(ops.cmp_eq(index, k), vector[k], found)
        super().__init__(found)

    def _assign(self, other):
        other = once(other)
        for k, each in enumerate(self.vector):
            each._assign(ops.select(ops.cmp_eq(self.index, k), other, each))


# Operations -----------------------------------------------------------------------------------------------------------

OPERATORS = {"Add": ops.add, "Sub": ops.sub, "Mult": ops.mul, "Div": ops.truediv}
COMPARISONS = {getattr(core, f"expr_cmp_{name}") for name in ("lt", "le", "gt", "ge", "eq", "ne")}
LOGICAL = {core.expr_logical_and, core.expr_logical_or, core.expr_bit_and, core.expr_bit_or}
NATIVE = COMPARISONS | {core.expr_add, core.expr_sub, core.expr_mul, core.expr_truediv, core.expr_max, core.expr_min}


def componentwise(function, *values):
    """Apply a function to each component of the vectors among some values."""
    values = [value.components if isinstance(value, LaneVector) else once(value) for value in values]
    count = next(len(value) for value in values if isinstance(value, list))
    return LaneVector(
        [function(*[value[k] if isinstance(value, list) else value for value in values]) for k in range(count)]
    )


def unary(operation, python, a):
    """An operation on a number, lanes or a vector. Args: operation, python: Taichi's."""
    if isinstance(a, LaneVector):
        return componentwise(lambda x: unary(operation, python, x), a)
    if not has_lanes(a) or operation in (core.expr_sqrt, core.expr_logic_not):
        return operate_on_one(operation, python, a)
    if operation == core.expr_neg:
        return ops.mul(a, -1.0)
    if operation == core.expr_abs:
        a = once(a)
        return ops.select(ops.cmp_le(a, 0.0), ops.sub(0.0, a), a)  # 0 - (-0) is 0
    return each_lane(lambda x: operate_on_one(operation, python, x), a)


def binary(operation, python, a, b):
    """An operation on two. Args: see `unary`."""
    if isinstance(a, LaneVector) or isinstance(b, LaneVector):
        return componentwise(lambda x, y: binary(operation, python, x, y), a, b)
    if not has_lanes(a) and not has_lanes(b):
        return operate_on_two(operation, python, a, b)
    if operation in LOGICAL:
        a, b = (each if isinstance(each, Expr) else bool(each) for each in (a, b))  # `not False` is 1
        return operate_on_two(operation, python, broadcast(a), broadcast(b))
    a, b = alike([a, b])
    if operation in NATIVE:
        return operate_on_two(operation, python, a, b)
    return each_lane(lambda x, y: operate_on_two(operation, python, x, y), a, b)


def ternary(operation, python, condition, a, b):
    """A choice between two. Args: see `unary`."""
    if isinstance(a, LaneVector) or isinstance(b, LaneVector):
        return componentwise(lambda c, x, y: ternary(operation, python, c, x, y), condition, a, b)
    if not any(map(has_lanes, (condition, a, b))):
        return operate_on_three(operation, python, condition, a, b)
    if type_of(a if isinstance(a, Expr) else Expr(a)) != u1:
        a, b = alike([a, b])
    return operate_on_three(core.expr_select, python, *map(broadcast, (condition, a, b)))


def any_lane(mask):
    """Whether a condition is true in any lane."""
    mask = as_integers(mask)
    parts = [lane(mask, k) for k in range(Reading.width)]
    while len(parts) > 1:
        parts = [ops.bit_or(a, b) for a, b in zip(parts[::2], parts[1::2])]
    return ops.cmp_eq(parts[0], 1)


def as_integers(mask):
    """1 in the lanes in which a condition is true, and 0. Taichi reads no parts of vectors of truth values."""
    ones, zeros = (make_matrix([Expr(value)] * Reading.width) for value in (1, 0))
    return variable(operate_on_three(core.expr_select, None, mask, ones, zeros))


new_variable, make_matrix, convert = impl.expr_init, matrix.make_matrix, core.value_cast
operate_on_one, operate_on_two, operate_on_three = (
    getattr(ops, f"_{name}_operation") for name in ("unary", "binary", "ternary")
)
