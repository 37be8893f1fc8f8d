"""Elements of arrays and vectors in kernels: those that Taichi finds, and its errors for what is none."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import taichi as ti

from pbd.core.kernels import Launch, Real, Vector, allocate, count, make_kernel, read


class Numbers(NamedTuple):
    """Arrays of numbers and of vectors, and the function to test."""

    x: Real(count.rows, 3)
    v: Vector(3, count.rows)
    results: Real(count.rows)
    function: Any


@ti.func
def run(s: ti.template()):
    for row in range(s.x.shape[0]):
        s.results[row] = s.function(s, row)


@ti.func
def by_all_kinds_of_indices(s: ti.template(), row):
    """By constants, variables, expressions and a vector; and by those of a loop that is unrolled."""
    place = ti.Vector([row, 1])
    a = s.v[row]
    total = s.x[row, 0] + 10.0 * s.x[place] + 100.0 * s.x[row, 1 + 1]
    for k in ti.static(range(3)):
        total += 1000.0 * a[k] * s.v[row][2 - k]
    return total


def launch(function):
    """Run a function in a kernel. Returns: x, v and the results."""
    rows = np.arange(12.0).reshape(4, 3)
    data = allocate(Numbers, {"x": rows, "v": rows + 1.0}, rows=4)
    Launch(make_kernel(run, Numbers, function=function), data)()
    return rows, rows + 1.0, read(data.results)


def test_elements_are_those_of_numpy():
    x, v, results = launch(by_all_kinds_of_indices)
    expected = x[:, 0] + 10.0 * x[:, 1] + 100.0 * x[:, 2] + 1000.0 * np.sum(v * v[:, ::-1], axis=1)
    np.testing.assert_array_equal(results, expected)


@ti.func
def negative(s: ti.template(), row):
    return s.x[row, -1]


@ti.func
def too_few(s: ti.template(), row):
    return s.x[row]


@ti.func
def of_a_number(s: ti.template(), row):
    a = s.x[row, 0]
    return a[0]


@pytest.mark.parametrize("function", [negative, too_few, of_a_number])
def test_wrong_subscripts_have_taichis_errors(function):
    with pytest.raises(ti.TaichiCompilationError, match=f"in {function.__name__}"):
        launch(function)
