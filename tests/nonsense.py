"""Values that nobody should give: wrong types, wrong shapes, numbers that are too large, and text that is no name.

`values(d)` makes them anew for each call, because some can be used only once. Args: d: the descriptions of the call.
"""

import datetime
import decimal
import fractions

import numpy as np

import pbd
import rigid

NAN, INF = float("nan"), float("inf")


class Awkward:
    """An object whose every method misbehaves."""

    def __repr__(self):
        return "many\nlines " * 100

    def __bool__(self):
        raise RuntimeError("nobody may ask for the truth of this")

    def __eq__(self, other):
        return np.array([True, False])

    __hash__ = None


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


def endless():
    found = [1.0]
    found.append(found)
    return found


NUMBERS = [
    0, 1, 2, 3, -1, 7, 0.0, -0.0, 0.5, 1.0, 1.5, -2.5, 1e-3, 1e3, NAN, INF, -INF, 1e200, -1e200, 1e-200, -1e-200, 1e308,
    5e-324, 1e49, 1e-49, 1e51, 1e-51, 2**31, 2**63, 2**64, 10**9, 10**30, -(10**30), 10**400, 10**5000,
]  # fmt: skip

NO_NUMBERS = [
    True, False, None, np.True_, 1j, np.complex64(1), "", " ", "1.0", "x", "nan", "two\nlines", "\x00", "a\tb",
    "x" * 1000, "\ud800", "ground", b"", b"1.0", bytearray(b"123"), memoryview(b"123"), datetime.date(2026, 1, 2),
    datetime.datetime(2026, 1, 2), datetime.timedelta(1), np.datetime64("2026"), np.timedelta64(1), np.ma.masked,
    object(), Awkward(), Unprintable(), int, float, rigid.Box, pbd.Plane, NotImplemented, ..., slice(3),
    ValueError("wrong"), np, {}, {"a": 1}, {1: 2}, set(), {1.0, 2.0}, frozenset({0}),
]  # fmt: skip

ODD_NUMBERS = [
    fractions.Fraction(1, 2), decimal.Decimal("0.5"), np.float32(1.5), np.int8(1), np.uint64(2**63), np.array(1.0),
    np.array(1), np.array([1.0]), np.longdouble("1e1000"), range(3), range(10**9),
]  # fmt: skip

ARRAYS = [
    [], (), [[]], (0, 0), (0, 0, 0), (0, 0, 1), (1, 2, 3), (0.1, 0.2, 0.3), (-1, 0, 0), (3, 2, 1, 0), (1, 0, 0, 0),
    (0, 0, 0, 0), (1e-200, 0, 0), (1e200, 0, 0), (1e200, 1e200, 1e200), (5e-324, 0, 0), (1e-200, 1e200, 0),
    (1e-200, 0, 0, 0), (1e200, 0, 1e200, 0), (1e50, 1e-50, 1), (NAN, 0, 0), (0, INF, 0), (1e51, 0, 0), (0, 10**400, 0),
    [1, [2, 3]], [[1, 2], [3]], [True, 1.0, 2.0], [False, False, True], ["a", "b", "c"], ["1", "2", "3"], [None] * 3,
    [1j, 0, 0], [b"1", b"2", b"3"], [np.ma.masked, 0.0, 0.0], [(0, 1), (1, 2)], [(0, 1, 2)], [(0, 1, 2, 3)],
    [(0, 0, 0), (1, 0, 0)], [(0.0, 0.0, NAN)], [[[1.0]]], [[[[[[[[[[1.0]]]]]]]]]], (-INF, INF), (-1, 1), (1, -1),
    (0, 0.5), ("a", 1), ([0], 0), ((0, 0, 0), (1, 0, 0, 0)), ((0, 0, 0), (0, 0, 0, 0)),
    np.zeros(0), np.zeros((0, 3)), np.zeros(3), np.ones(3), np.zeros((2, 3)), np.eye(3), np.eye(4), np.eye(3) * 1e50,
    np.zeros((3, 3, 3)), np.arange(3), np.arange(12).reshape(4, 3), np.array([0, 1]), np.array([[0, 1]]),
    np.broadcast_to(0.0, (10**9, 3)), np.broadcast_to(0, (10**9, 2)), np.array("a"), np.array(["a", "b", "c"]),
    np.array([b"a"]), np.array([1j, 0, 0]), np.array([True, False, True]), np.array([None, 1, 2], dtype=object),
    np.array([1.0, 2.0, 3.0], dtype=object), np.array(["2026", "2027", "2028"], dtype="M8[Y]"),
    np.array([1, 2, 3], dtype="m8[s]"), np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    np.ma.array([0.0, 0.0, 1.0]), np.ma.array([0.0, 0.0, 1.0], mask=[1, 0, 0]), np.ma.array([0, 1], mask=[0, 1]),
    np.array([0.0, 0.0, 1.0], dtype=np.float16), np.array([0, 0, 1], dtype=np.uint8),
    np.full(3, np.longdouble("1e1000")),
]  # fmt: skip

FUNCTIONS = [
    lambda: 3, lambda t: 3, lambda t: None, lambda t: "up", lambda t: (0, 0, NAN), lambda t: (0, 0), lambda t: (t, t),
    lambda t: {"a": 1, "b": 2}, lambda t: [[0, 0, 0]], lambda t: (0, 0, 1), lambda t: ((0, 0, 0), (0, 0, 0, 0)),
    lambda t: ((0, 0, 0), (1e-200, 0, 0, 0)), lambda t: (1e200, 0, 0), lambda t: np.zeros((2, 2)), lambda t: [True] * 3,
    lambda a, b: 3, lambda *a: (0, 0, 0), len, np.sin, str,
]  # fmt: skip


def values(d):
    """All values, for descriptions d.particles and d.model."""
    other = rigid.Model()
    other.add_sphere(0.1, mass=1.0, name="stranger")
    fresh = [
        endless(), iter([0, 0, 1]), (k for k in range(3)), zip([0], [1]), d, d.particles, d.model, d.model.bodies[0],
        d.model.joints[0], other, other.bodies[0], other.joints, pbd.Particles(), "torso", "head", "hip", "trso",
        np.str_("torso"), rigid.Sphere(0.1), pbd.Plane(), rigid.Spring(1.0), rigid.Motor(speed=1.0), rigid.Soft(),
        rigid.ConvexHull(np.vstack([np.eye(3), np.zeros(3)])),
    ]  # fmt: skip
    return [*NUMBERS, *NO_NUMBERS, *ODD_NUMBERS, *ARRAYS, *FUNCTIONS, *fresh]
