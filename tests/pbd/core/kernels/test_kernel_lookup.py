"""Kernels that are found by their signatures."""

import time
from typing import Any, NamedTuple

import numpy as np
import pytest
import taichi as ti
from taichi.lang import impl

from pbd.core.kernels import Launch, Real, allocate, count, make_kernel, on_cpu, read, settings
from pbd.core.kernels.quick import compilation, kernel_lookup
from pbd.core.kernels.quick.compilation import CHEAP, FULL, at_level

pytestmark = pytest.mark.skipif(not on_cpu(), reason="kernels are looked up on the processor only")

FACTOR = 2.0
RUN = time.time_ns()  # kernels that refer to it were not compiled by an earlier run of these tests


class Mass(NamedTuple):
    """An array, and a value that is known when a kernel is compiled."""

    mass: Real(1, kept=True)
    static: Any


@ti.func
def add_factor(s: ti.template(), steps):
    for _ in range(ti.static(RUN > 0)):
        s.mass[0] = s.mass[0] + FACTOR * s.static * steps


@pytest.fixture
def reads(monkeypatch):
    """What `is_new` answered: whether each kernel was read."""
    answers, lookup_of = [], kernel_lookup.lookup_of

    def counting(*values):
        is_new = lookup_of(*values)

        def ask():
            answers.append(is_new())
            return answers[-1]

        ask._is_wrapped_kernel = True
        return ask

    monkeypatch.setattr("pbd.core.kernels.quick.launch.lookup_of", counting)
    return answers


def weighed(body, static, steps=3):
    """The mass after a launch of a new kernel."""
    mass = allocate(Mass)
    Launch(make_kernel(body, Mass, static=static), mass._replace(static=static))(steps)
    return read(mass.mass).tolist()


def test_a_kernel_is_read_once_for_each_signature(reads, monkeypatch):
    assert weighed(add_factor, 5.0) == [30.0]
    assert weighed(add_factor, 5.0) == [30.0]
    assert weighed(add_factor, 6.0) == [36.0]
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    assert weighed(add_factor, 5.0) == [60.0]
    assert reads == [True, False, True, True]


def test_a_kernel_that_refers_to_a_field_is_read_each_time(reads):
    numbers = ti.field(float, shape=1)
    numbers.fill(2.5)

    @ti.func
    def add_number(s: ti.template(), steps):
        for _ in range(1):
            s.mass[0] = s.mass[0] + numbers[0] * steps

    assert weighed(add_number, None) == [7.5]
    assert weighed(add_number, None) == [7.5]
    assert reads == [True, True]


class Several(NamedTuple):
    """Numbers of several worlds."""

    numbers: Real(count.worlds, count.rows)


@ti.func
def double(s: ti.template()):
    for group in range(s.numbers.shape[0] if ti.static(RUN > 0) else 0):
        for row in range(s.numbers.shape[1]):
            s.numbers[group, row] = 2.0 * s.numbers[group, row]


def test_kernels_in_more_or_fewer_lanes_are_others(reads):
    given = np.arange(12.0).reshape(6, 2)
    for lanes in (4, 8, 4):
        data = allocate(Several, {"numbers": given}, worlds=6, rows=2, lanes=lanes)
        Launch(make_kernel(double, Several, lanes), data)()
        assert np.array_equal(read(data.numbers), 2 * given)
    assert reads == [True, True, False]


def test_the_level_that_is_wanted_tells_kernels_apart(reads):
    # Both are read at CHEAP. A start with opt_level=0 keeps them there, so another start must not find them.
    for level in (CHEAP, FULL, CHEAP, FULL):
        with at_level(level):
            assert weighed(add_factor, 7.0) == [42.0]
    assert reads == [True, True, False, False]


@ti.func
def add_if_both(s: ti.template(), steps):
    for _ in range(ti.static(RUN > 0)):
        if steps > 1 and s.static > 0:
            s.mass[0] = s.mass[0] + steps


def test_short_circuits_tell_kernels_apart(reads, monkeypatch):
    for short in (True, False, True):
        monkeypatch.setattr(impl.get_runtime(), "short_circuit_operators", short)
        assert weighed(add_if_both, 1) == [3.0]
    assert reads == [True, True, False]


@ti.func
def add_in_steps(s: ti.template(), steps):
    ti.loop_config(serialize=True)
    for i in range(ti.static(RUN > 0)):
        for _ in range(steps):
            s.mass[i] = s.mass[i] + s.static


def two_launches(static):
    """Launches of two kernels with one signature, and their array."""
    mass = allocate(Mass)
    kernels = [make_kernel(add_in_steps, Mass, static=static) for _ in range(2)]
    return *(Launch(kernel, mass._replace(static=static)) for kernel in kernels), mass


@pytest.mark.parametrize("large", [1, 10_000])
def test_a_kernel_that_was_found_is_read_when_that_may_pay(monkeypatch, large):
    # PAYS·(expressions/SMALL)² s of launches pay: far more than PAYS with SMALL = 1; and never for a small kernel.
    monkeypatch.setattr(settings, "AGAIN", True)
    monkeypatch.setattr(compilation, "SMALL", large)
    first, found, mass = two_launches(1.0)
    with at_level(FULL):
        first(3)
        found(3)
        assert found.until_full == compilation.UNTIL_READ  # its length is not known
        found.seconds = 1.01 * found.until_full
        found(3)
        if large == 1:
            assert 100 * compilation.PAYS < found.until_full < np.inf
        else:
            assert found.until_full == np.inf
    assert read(mass.mass).tolist() == [9.0]


def test_a_kernel_is_found_at_both_levels(monkeypatch):
    monkeypatch.setattr(settings, "AGAIN", True)
    monkeypatch.setattr(compilation, "SMALL", 2)
    first, late, mass = two_launches(2.0)
    with at_level(FULL):
        first(3)
        first.seconds = 1.01 * first.until_full
        first(3)  # compiled fully
        late(3)
        assert late.until_full == compilation.UNTIL_READ
        late.seconds = 1.01 * late.until_full
        late(3)
        assert late.until_full == np.inf
    assert read(mass.mass).tolist() == [24.0]
