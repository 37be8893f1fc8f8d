"""What an error in a kernel shows of its source, though each expression's lines are written once."""

import re

import pytest
import taichi as ti

import pbd.core.launch  # noqa: F401  (what is tested)


@ti.func
def twice(x):
    return 2.0 * x


@ti.func
def astray(x):
    return twice(x) + nowhere  # noqa: F821


@ti.kernel
def begins() -> float:
    return twice(twice(1.0)) + astray(twice(3.0))


@ti.kernel
def another() -> float:
    return twice(astray(5.0))


@ti.kernel
def right() -> float:
    return twice(twice(1.0))


@pytest.mark.parametrize(("kernel", "call"), [(begins, "astray(twice(3.0))"), (another, "astray(5.0)")])
def test_an_error_shows_the_lines_that_led_to_it(kernel, call):
    with pytest.raises(ti.TaichiNameError) as caught:
        kernel()
    said = str(caught.value)
    assert "test_launch.py" in said
    pointed = [
        line[marks.start() : marks.end()]
        for line, below in zip(said.splitlines(), said.splitlines()[1:])
        if (marks := re.search(r"\^+", below))
    ]
    assert call in pointed[-2]
    assert pointed[-1] == "nowhere"
    assert right() == 4.0  # and kernels go on
