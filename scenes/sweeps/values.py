"""Values of a parameter, given as a list or as text: "16,32", "linspace(15, 21, 25)", "range(5, 50, 5)"."""

import math
import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

import numpy as np

from pbd.core.messages import clipped, nearest, shown
from scenes.parameters import convert

MOST_VALUES = 1_000_000  # of one parameter
LARGEST = 1e100  # number in a call
CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
SEPARATOR = re.compile(r",(?![^()]*\))")  # a comma outside parentheses


def values_of(what, given, kind=None):
    """The values that a parameter takes.

    Args:
        what: name of the parameter, for messages.
        given: a list or array of values, one value, or text. Text is a list of values with commas between them;
            `linspace(first, last, count)` and `range(first, end, step)`, without the end, stand for several.
        kind: bool, int or float, to which values are converted; others stay as they are.

    Returns: a list of different values, at least one.

    Raises: ValueError for an empty list, a value of the wrong type, one that is given twice, and for text that cannot
        be read.
    """
    if isinstance(given, str):
        given = [value for word in SEPARATOR.split(given) for value in values_of_word(what, word.strip())]
    elif not isinstance(given, Iterable):
        given = [given]
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not values:
        raise ValueError(f"{what} is an empty list: expected at least one value")
    refuse_many(what, len(values))
    values = [convert(what, value, kind) for value in values]
    twice = next((value for k, value in enumerate(values) if value in values[:k]), None) if len(values) < 1000 else None
    if twice is not None or len(set(map(repr, values))) < len(values):
        raise ValueError(f"{what} has a value twice{'' if twice is None else f', {shown(twice)}'}: expected it once")
    return values


def values_of_word(what, word):
    """Values of one word of a list: itself, or what a call stands for. Raises: see `values_of`."""
    if not word:
        raise ValueError(f"{what} has an empty value: expected values with commas between them")
    call = CALL.fullmatch(word)
    if call is None and not set("()") & set(word):
        return [word]
    if call is None:
        raise ValueError(f"{what} is {clipped(word, 60)}: expected {' or '.join(FORMS)}")
    name, arguments = call[1], [each.strip() for each in call[2].split(",")]
    if name not in FUNCTIONS:
        raise ValueError(f"{what} is {clipped(word, 60)}: expected {' or '.join(FORMS)}{nearest(name, FUNCTIONS)}")
    try:
        numbers = [Decimal(each) for each in arguments]
        if len(numbers) != 3 or not all(number.is_finite() and abs(number) < LARGEST for number in numbers):
            raise ValueError
    except (InvalidOperation, ValueError):
        raise ValueError(f"{what} is {clipped(word, 60)}: expected {FORMS[list(FUNCTIONS).index(name)]}") from None
    return FUNCTIONS[name](f"{what} is {clipped(word, 60)}", *numbers)


def evenly_spaced(what, first, last, count):
    """Numbers at equal distances, both ends among them. Args: what: for messages; others: Decimals."""
    if count != int(count) or count < 2:
        raise ValueError(f"{what}: expected a whole number of two or more as the count")
    refuse_many(what, count)
    return np.linspace(float(first), float(last), int(count)).tolist()


def numbers_until(what, first, end, step):
    """Numbers from the first in steps, without the end. Args: what: for messages; others: Decimals."""
    if not step:
        raise ValueError(f"{what}: expected a step that is not zero")
    count = max(math.ceil((end - first) / step), 0)
    refuse_many(what, count)
    numbers = (first + k * step for k in range(count))
    return [int(number) if number == int(number) else float(number) for number in numbers]


def refuse_many(what, count):
    """Raise ValueError for more values than MOST_VALUES."""
    if count > MOST_VALUES:
        raise ValueError(f"{what}: expected at most {MOST_VALUES:,} values, not {count:.3g}")


FUNCTIONS = {"linspace": evenly_spaced, "range": numbers_until}
FORMS = ("linspace(FIRST, LAST, COUNT)", "range(FIRST, END, STEP)")
