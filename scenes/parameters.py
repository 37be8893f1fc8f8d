"""Parameters of scenes and options of solvers, given as values or as text."""

import math


class UnknownName(ValueError):
    """A scene, a parameter or an option that does not exist; the message names the nearest that does."""


def convert(what, value, default):
    """A value in the type of its default; text is read, as it comes from a command line.

    Errors: ValueError, which begins with `what`, for a value of another type, or a number that is not finite.
    """
    if isinstance(default, bool):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if str(value).lower() not in words:
            raise ValueError(f"{what} is {value!r}: expected true or false")
        return words[str(value).lower()]
    if value is None or not isinstance(default, (int, float)):
        return value
    try:
        number = type(default)(value)
        if not math.isfinite(number) or not (isinstance(value, str) or number == value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        expected = "a whole number" if isinstance(default, int) else "a finite number"
        raise ValueError(f"{what} is {value!r}: expected {expected}") from None
    return number
