"""Parameters in a structure: each is found, whatever their types and their order."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
import taichi as ti

from pbd.core.kernels import (
    Host,
    Integer,
    Launch,
    Real,
    Typed,
    Vector,
    allocate,
    compiled_once,
    count,
    make_kernel,
    on_cpu,
    read,
)
from pbd.core.kernels.quick.structures import WITHOUT_CODE, Structure


class Mixed(NamedTuple):
    """Parameters of all types, none beside another of its type."""

    a: Real(count.few)
    b: Integer(count.few)
    c: Real(count.few, 3)
    first: int
    d: Real(count.few)
    given: Host(1)
    e: Vector(3, count.few)
    f: Typed(ti.f32, count.few)
    factor: float
    g: Integer(count.few)
    h: Real(count.few, 3)
    second: int
    i: Typed(ti.f32, count.few)
    total: Real(count.few)


@compiled_once("a", "b", "c", "first", "d", "e", "f", "factor", "g", "h", "second", "i", "total")
def sum_in_function(s: ti.template(), index):
    """Add one member of each parameter, with a weight of its own."""
    total = 1.0 * s.a[index] + 2.0 * s.b[index] + 3.0 * s.c[index, 1] + 4.0 * s.d[index] + 5.0 * s.e[index][2]
    total += 6.0 * s.f[index] + 7.0 * s.g[index] + 8.0 * s.h[index, 2] + 9.0 * s.i[index]
    s.total[index] = s.total[index] + total + 10.0 * s.first + 11.0 * s.second + 12.0 * s.factor


@ti.func
def advance(s: ti.template(), last):
    """Sum twice, and add what the kernel alone is given."""
    for _ in range(1):
        for index in range(s.a.shape[0]):
            sum_in_function(s, index)
            sum_in_function(s, index)
            s.total[index] = s.total[index] + 13.0 * s.given[index] + 14.0 * last


def test_a_kernel_and_its_function_find_every_parameter():
    few, numbers = 4, itertools.count(1)
    shapes = {"a": (), "b": (), "c": (3,), "d": (), "e": (3,), "f": (), "g": (), "h": (3,), "i": ()}
    values = {name: np.reshape([float(next(numbers)) for _ in range(few * max(shape or (1,)))], (few, *shape))
              for name, shape in shapes.items()}  # fmt: skip
    data, given = allocate(Mixed, values, few=few), np.arange(50.0, 50.0 + few)
    launch = Launch(make_kernel(advance, Mixed), data)
    launch(2, given, 0.5, 3, 7)
    sums = values["a"] + 2 * values["b"] + 3 * values["c"][:, 1] + 4 * values["d"] + 5 * values["e"][:, 2]
    sums += 6 * values["f"] + 7 * values["g"] + 8 * values["h"][:, 2] + 9 * values["i"] + 10 * 2 + 11 * 3 + 12 * 0.5
    np.testing.assert_array_equal(read(data.total), 2 * sums + 13 * given + 14 * 7)


@pytest.mark.skipif(not on_cpu(), reason="structures are for the processor")
def test_members_in_groups_lie_where_listed_members_do():
    # A listed member has the place (0, k) in memory, one in a group (0, group, k): the k-th in the order of groups.
    parameters = [(kind, np.zeros(shape)) for kind, shape in zip([1, int, 1, float, 1, int], [3, 1, (2, 2), 1, 5, 1])]
    structure = Structure(parameters)
    _, listed = structure.listed()
    _, grouped = structure.grouped()
    assert structure.order == [0, 4, 1, 5, 2, 3]
    assert [listed[index][1] for index in structure.order] == list(range(6))
    assert grouped == [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 0, 1), (0, 1, 1)]
    assert Structure(parameters, has_lanes=True).order == list(range(6))


@pytest.mark.skipif(not on_cpu(), reason="structures are for the processor")
def test_launches_of_like_parameters_share_a_kernel_without_code():
    parameters = [(1, np.zeros((2, 2, 2, 2, 2))), (int, 1)]
    Structure(parameters).make_context()
    before = len(WITHOUT_CODE)
    Structure(parameters).make_context()
    assert len(WITHOUT_CODE) == before
