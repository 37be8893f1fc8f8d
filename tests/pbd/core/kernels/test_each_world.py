"""Functions that treat one world after another within kernels that have worlds in lanes."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import taichi as ti

from pbd.core.kernels import Integer, Launch, Real, Vector, allocate, count, each_world, make_kernel, on_cpu, read

WORLDS = 6


class Sums(NamedTuple):
    """What the kernel reads and writes."""

    numbers: Real(count.worlds, count.rows)
    steps: Integer(count.rows, count.worlds)
    largest: Integer(count.worlds, common=True)
    places: Vector(3, count.rows, count.worlds)
    features: Any


@each_world
@ti.func
def count_steps(s: ti.template(), row, world):
    """Halve a number until it is below one: the loop's length differs between worlds."""
    steps, number = 0, s.numbers[world, row]
    while number > 1.0:
        number, steps = 0.5 * number, steps + 1
    s.numbers[world, row] = number
    s.steps[row, world] = steps
    s.largest[world] = ti.max(s.largest[world], steps)
    s.places[row, world] = ti.Vector([number, 1.0 * steps, 0.0])


@ti.func
def run(s: ti.template()):
    for group in range(s.largest.shape[0]):
        for row in range(s.numbers.shape[1]):
            if s.numbers[group, row] > 0.0:
                s.numbers[group, row] = 3.0 * s.numbers[group, row]
            count_steps(s, row, group)


@pytest.mark.skipif(not on_cpu(), reason="lanes are those of the processor")
@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_each_world_has_loops_of_its_own(lanes):
    given = 4.0 ** np.arange(-2, 2 * WORLDS - 2).reshape(WORLDS, 2)
    data = allocate(Sums, {"numbers": given}, worlds=WORLDS, rows=2, lanes=lanes)
    Launch(make_kernel(run, Sums, lanes, features=None), data)()
    # 3·4ⁿ is halved until it is at most one: 2n + 2 times for n >= 0, and not at all for n < -1.
    exponents = np.arange(-2, 2 * WORLDS - 2).reshape(WORLDS, 2)
    steps = np.maximum(2 * exponents + 2, 0)
    assert np.array_equal(read(data.steps), steps.T)
    assert np.array_equal(read(data.numbers), 3 * given / 2.0**steps)
    assert np.array_equal(read(data.places)[..., 1], steps.T)
    groups = [steps[first : first + lanes].max() for first in range(0, WORLDS, lanes)]
    assert np.array_equal(read(data.largest), np.repeat(groups, lanes)[:WORLDS])
