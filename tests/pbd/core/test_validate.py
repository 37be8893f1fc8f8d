"""Hints of error messages."""

import pytest

from pbd.core.messages import nearest
from pbd.core.validate import one_of

SOLVERS = ("verlet", "impulse", "articulated", "penalty")


@pytest.mark.parametrize(
    ("given", "words", "expected"),
    [
        ("impulses", SOLVERS, "impulse"),
        ("verlett", SOLVERS, "verlet"),
        ("iteration", ("tolerance", "iterations"), "iterations"),
        ("split", ("warm_start", "split_impulse"), "split_impulse"),
    ],
)
def test_similar_words_get_a_hint(given, words, expected):
    assert nearest(given, words) == f"; did you mean {expected!r}?"


@pytest.mark.parametrize("given", ["bullet", "mujoco", "xpbd", "v", ""])
def test_other_words_get_no_hint(given):
    assert nearest(given, SOLVERS) == ""
    with pytest.raises(ValueError, match=r"solver is '.*': expected one of 'verlet', .*'penalty'$"):
        one_of("solver", given, SOLVERS)
