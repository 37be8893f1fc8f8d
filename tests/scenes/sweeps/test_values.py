"""Lists of values, given as text: what they stand for, and what is refused."""

import numpy as np
import pytest

from scenes.sweeps.values import values_of


@pytest.mark.parametrize(("text", "kind", "values"), [
    ("16,32", int, [16, 32]),
    ("0.5", float, [0.5]),
    ("yes,no", bool, [True, False]),
    ("auto, serial", str, ["auto", "serial"]),
    ("linspace(15, 21, 4)", float, [15.0, 17.0, 19.0, 21.0]),
    ("linspace(10,30,3)", int, [10, 20, 30]),
    ("range(5,50,15)", int, [5, 20, 35]),
    ("range(3,0,-1)", float, [3.0, 2.0, 1.0]),
    ("range(0.1,0.5,0.1)", float, [0.1, 0.2, 0.3, 0.4]),  # exact decimals: 3 · 0.1 is not 0.3 in binary
    ("1,linspace(2,3,3),9", float, [1.0, 2.0, 2.5, 3.0, 9.0]),
])  # fmt: skip
def test_text_stands_for_values(text, kind, values):
    found = values_of("x", text, kind)
    assert found == values
    assert [type(value) for value in found] == [kind] * len(values)


@pytest.mark.parametrize("given", [[1, 2], (1, 2), np.array([1, 2]), range(1, 3)])
def test_lists_and_arrays_are_values(given):
    assert values_of("x", given, int) == [1, 2]


@pytest.mark.parametrize(("given", "kind", "words"), [
    ("", float, "empty value"),
    ("1,,2", float, "empty value"),
    ([], float, "empty list"),
    ("range(5,5,1)", float, "empty list"),
    ("range(1,2,0)", float, "step that is not zero"),
    ("linspace(1,2)", float, "expected linspace(FIRST, LAST, COUNT)"),
    ("linspace(1,2,1)", float, "count"),
    ("linspace(1,2,2.5)", float, "count"),
    ("linspace(1,2,1e9)", float, "at most 1,000,000 values"),
    ("range(0,1,1e-99)", float, "at most 1,000,000 values"),
    ("range(nan,2,3)", float, "expected range(FIRST, END, STEP)"),
    ("linspase(1,2,3)", float, "did you mean 'linspace'"),
    ("linspace(1,2,3", float, "expected linspace"),
    ("__import__('os')", str, "expected linspace"),
    ("1,1.0", float, "twice, 1.0"),
    ("linspace(1,2,4)", int, "whole number"),
    ("x", float, "a finite number"),
    ("inf", float, "a finite number"),
])  # fmt: skip
def test_wrong_values_are_refused(given, kind, words):
    with pytest.raises(ValueError, match="x ") as error:
        values_of("x", given, kind)
    assert words in str(error.value)
