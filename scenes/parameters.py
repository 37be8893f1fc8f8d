"""Parameters of scenes and options of solvers, given as values or as text."""

import math

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import is_number

TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class UnknownName(ValueError):
    """A scene, a parameter or an option that does not exist. The message suggests the most similar name."""


def convert(what, value, kind):
    """Convert a value, or text from a command line, to a type.

    Args:
        what: name of the value, for the message.
        value: the value or text; None stays None.
        kind: bool, int or float; a value for any other type stays as it is.

    Raises: ValueError for a value of another type, and for a number that is not finite.
    """
    if kind is bool:
        if not isinstance(value, (str, int, np.bool_)) or str(value).lower() not in TRUTH:
            raise ValueError(f"{what} is {shown(value)}: expected true or false")
        return TRUTH[str(value).lower()]
    if value is None or kind not in (int, float):
        return value
    try:
        if not isinstance(value, str) and not is_number(value):
            raise ValueError
        number = kind(value)
        if not math.isfinite(number) or not (isinstance(value, str) or number == value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        expected = "a whole number" if kind is int else "a finite number"
        raise ValueError(f"{what} is {shown(value)}: expected {expected}") from None
    return number
