"""Checks of single numbers, of what follows from them, and of the memory that an argument asks for."""

import math
import numbers
import sys
from collections.abc import Sequence

import numpy as np

from pbd.core.messages import shown

# Numbers in descriptions are zero, or their magnitude is between 1/LARGEST and LARGEST. Then products of six of them
# neither overflow nor vanish, such as the inertia of a body: density times length to the fifth power.
LARGEST = 1e50

LARGEST_FLOAT = float(np.finfo(float).max)
MOST_BYTES = 4e9  # of the arrays that one call asks for
MOST = 2**31 - 1  # of a count, for which kernels have 32 bits
REMOTE = 1e9  # how many times its size a thing may be from the origin: seven digits of its shape are left then
DEEPEST = 8  # levels of nested lists


def is_number(value):
    """Whether a value is one real number. Booleans, complex numbers, dates and masked numbers are not."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.shape == () and value.dtype.kind in "iuf" and not is_masked(value)
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_masked(value):
    """Whether a value is a masked array of numpy.

    Until someone imports numpy.ma there are none. Its import takes 15 ms, as much as the description of a cloth.
    """
    return "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray)


def is_infinite(value):
    """Whether a value is the number +∞, which some arguments may be."""
    return is_number(value) and value == math.inf


def is_whole(value):
    """Whether a value is an integer of Python or numpy. Booleans and durations are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def are_numbers(value, kinds="iuf", depth=0):
    """Whether a value is a real number, an array of numbers, or nested lists of them.

    Args: kinds: of numpy's numbers that are allowed, "iu" for whole numbers; depth: of the lists around the value.
    """
    if type(value) is float:
        return "f" in kinds
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O" and value.size:
            return depth < DEEPEST and are_numbers(value.ravel().tolist(), kinds, depth + 1)
        return value.dtype.kind in kinds and not is_masked(value)
    if isinstance(value, np.generic):
        return value.dtype.kind in kinds
    if isinstance(value, numbers.Real):
        return not isinstance(value, bool) and ("f" in kinds or isinstance(value, numbers.Integral))
    if isinstance(value, range):
        return True
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        plain = {int, float} if "f" in kinds else {int}
        return depth < DEEPEST and (
            set(map(type, value)) <= plain or all(are_numbers(each, kinds, depth + 1) for each in value)
        )
    return hasattr(value, "__array__") and not isinstance(value, type) and are_numbers(np.asarray(value), kinds, depth)


def finite_number(name, value, most=LARGEST):
    """A finite float. Args: most: its largest magnitude."""
    if not is_number(value):
        raise TypeError(f"{name} is {shown(value)}: expected a number")
    try:
        with np.errstate(over="ignore"):
            number = float(value)
    except OverflowError:
        raise ValueError(f"{name} is {shown(value)}: expected at most {LARGEST:g}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}: expected a finite number")
    if abs(number) > most:
        raise ValueError(f"{name} is {number:g}: expected a magnitude of at most {most:g}")
    return number


def positive(name, value, most=LARGEST):
    """A finite float above zero. Args: most: it is at most this, and at least 1/most."""
    number = finite_number(name, value, most)
    if number <= 0:
        raise ValueError(f"{name} is {number:g}: expected a number above zero")
    if number < 1 / most:
        raise ValueError(f"{name} is {number:g}: expected at least {1 / most:g}")
    return number


def not_negative(name, value, most=LARGEST):
    """A finite float, zero or above. Args: most: see `positive`."""
    number = finite_number(name, value, most)
    if number < 0:
        raise ValueError(f"{name} is {number:g}: expected zero or more")
    if 0 < number < 1 / most:
        raise ValueError(f"{name} is {number:g}: expected zero, or at least {1 / most:g}")
    return number


def fraction(name, value):
    """A float in [0, 1]."""
    number = finite_number(name, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} is {number:g}: expected a number from 0 to 1")
    return number


def whole(name, value, least=1, most=MOST):
    """An integer of at least `least` and at most `most`."""
    if not is_whole(value):
        raise TypeError(f"{name} is {shown(value)}: expected a whole number")
    if value < least:
        raise ValueError(f"{name} is {shown(value)}: expected {least} or more")
    if value > most:
        raise ValueError(f"{name} is {shown(value)}: expected {most} or less")
    return int(value)


def derived(names, value, what, most=LARGEST):
    """Check numbers that follow from arguments, such as masses from a density: above zero, neither tiny nor huge.

    Args: names: of the arguments; value: a number or an array; what: what follows, for messages; most: see `positive`.

    Returns: the value.
    """
    array, limit = np.asarray(value), min(most, LARGEST_FLOAT)
    if not array.size or (array.min() > 0 and array.min() >= 1 / most and array.max() <= limit):  # false for NaN
        return value
    bad = ~((array > 0) & (array >= 1 / most) & (array <= limit))
    expected = f"from {1 / most:g} to {most:g}" if most < math.inf else "a finite number above zero"
    raise ValueError(f"{names} make {what} {array[bad][0]:g}: expected {expected}")


def refuse_remote(name, place, size):
    """Raise ValueError for a thing so far from the world's origin that its shape is lost in round-off.

    Args: name, place: of the argument (3,) [m]; size: of the smallest part [m].
    """
    far = np.abs(place).max()
    if far > REMOTE * size:
        expected = f"at most {REMOTE:g} times as far from the origin as its parts are long, {size:.3g} m"
        raise ValueError(f"{name} is {shown(place)}: expected {expected}")


def refuse_gigabytes(name, value, size):
    """Raise ValueError for an argument that asks for more memory than MOST_BYTES. Args: name; value; size: [bytes]."""
    if size > MOST_BYTES:
        text = value if isinstance(value, str) else shown(value)
        figure = f"{size / 1e9:.3g} GB of memory, expected at most {MOST_BYTES / 1e9:g} GB"
        raise ValueError(f"{name} is {text}: that takes {figure}")
