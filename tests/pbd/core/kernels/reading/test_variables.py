"""Functions read with fewer variables compute what Python does: assignments copy, parameters are passed by value."""

from typing import Any, NamedTuple

import pytest
import taichi as ti
from taichi.lang import impl

from pbd.core.kernels import Launch, Real, allocate, count, make_kernel, read
from pbd.core.kernels.quick.reading import variables


class Numbers(NamedTuple):
    """Numbers, and the function to test."""

    x: Real(count.numbers)
    function: Any


@ti.func
def run(s: ti.template()):
    """Write what a function returns into the first numbers."""
    a, b, c = s.function(s.x[0], s.x[1])
    s.x[0], s.x[1], s.x[2] = a, b, c


def result_of(function, x=(2.0, 3.0)):
    """What a function (x, y) -> three numbers returns in a kernel."""
    numbers = allocate(Numbers, {"x": [*x, 0.0]}, numbers=3)
    Launch(make_kernel(run, Numbers, function=function), numbers)()
    return tuple(read(numbers.x))


@ti.func
def doubled(x):
    return 2.0 * x


@ti.func
def same(x):
    return x


@ti.func
def add(total: ti.template(), x):
    """Change a template parameter by another parameter, which may be the same variable."""
    total = total + x
    total = total + x


@ti.func
def add_twice(x, y):
    """Change a parameter by way of a function."""
    add(x, y)
    return x


@ti.func
def count_up(x):
    """Change a parameter in a loop."""
    for _ in range(3):
        x += 1.0
    return x


@ti.func
def with_first(v, x):
    """Change an element of a parameter."""
    v[0] = x
    return v


@ti.func
def assignments(x, y):
    a = x
    b = a
    a = 5.0
    c = d = y
    c += 1.0
    return a, b, c + 10.0 * d


@ti.func
def swap(x, y):
    a, b = x, y
    a, b = b, a
    c = same(a)
    a = 7.0
    return a, b, c


@ti.func
def values_of_calls(x, y):
    a = same(x)
    b = doubled(a)
    kept = same(b)
    b = b + 1.0
    return a, b, kept


@ti.func
def by_value(x, y):
    total = x
    after = add_twice(total, y)
    counted = count_up(total)
    return total, after, counted


@ti.func
def by_reference(x, y):
    total = x
    add(total, total)  # 2, 2 + 2, 4 + 2: the second parameter is a value
    other = y
    add(other, x)
    return total, other, x


@ti.func
def vectors(x, y):
    v = ti.Vector([x, y])
    w = with_first(v, 9.0)
    u = v
    u[1] = 8.0
    return v[0] + 10.0 * v[1], w[0], u[1]


@ti.func
def lists(x, y):
    pair = [x, y]
    twice = [pair[0], pair[0]]
    twice[0] += 1.0
    return pair[0], twice[0], twice[1]


@ti.func
def name_again(x):
    """Give a parameter another name, and change that."""
    other = x
    other += 1.0
    return other, x


@ti.func
def name_template(x: ti.template()):
    """As `name_again`, for a template parameter."""
    other = x
    other += 1.0
    return other - x


@ti.func
def results_of_calls(x, y):
    a, b = name_again(doubled(x))
    return a, b, name_template(doubled(y))


@ti.func
def pair_of(x):
    """The same variable twice."""
    y = x + 1.0
    return [y, y]


@ti.func
def pairs(x, y):
    pair = pair_of(x)
    pair[0] += 5.0
    return pair[0], pair[1], y


@ti.func
def call(same: ti.template(), x, y):
    """Call a parameter that has the name of another function."""
    same(x, y)
    return x


@ti.func
def called_by_a_local_name(x, y):
    total = x
    return call(add, total, y), total, y


@ti.func
def in_a_branch(x, y):
    a = x
    if y > 2.5:
        b = a
        b += 1.0
        a = b + doubled(b)
    return a, x, y


@ti.func
def in_a_loop(x, y):
    total = 0.0
    for k in range(4):
        before = total
        total = total + k
        total = total + before
    return total, x, y


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (assignments, (5.0, 2.0, 34.0)),
        (swap, (7.0, 2.0, 3.0)),
        (values_of_calls, (2.0, 5.0, 4.0)),
        (by_value, (2.0, 8.0, 5.0)),
        (by_reference, (6.0, 7.0, 2.0)),
        (vectors, (32.0, 9.0, 8.0)),
        (lists, (2.0, 3.0, 2.0)),
        (results_of_calls, (5.0, 4.0, 1.0)),
        (pairs, (8.0, 3.0, 3.0)),
        (called_by_a_local_name, (8.0, 2.0, 3.0)),
        (in_a_branch, (9.0, 2.0, 3.0)),
        (in_a_loop, (11.0, 2.0, 3.0)),
    ],
    ids=lambda value: getattr(getattr(value, "func", None), "func", value).__name__ if callable(value) else "",
)
def test_functions_compute_what_python_does(function, expected):
    assert result_of(function) == expected


@ti.func
def nested(x, y):
    a = same(same(same(x + y)))
    return a, same(a), same(same(a))


def test_names_and_parameters_share_variables(monkeypatch):
    made, make_variable = [], variables.make_variable
    monkeypatch.setattr(impl.current_cfg(), "offline_cache", False)  # where this kernel would be found, and not read
    monkeypatch.setattr(variables, "make_variable", lambda value: made.append(value) or make_variable(value))
    assert result_of(nested) == (5.0, 5.0, 5.0)
    # The parameters x and y of `nested`, which are elements of an array; x + y; a; b and c of `run`, as all three are
    # one variable; and the three values that `run` writes, as in a swap. Taichi itself makes 21.
    assert len(made) == 9
