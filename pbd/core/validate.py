"""Checks of arguments.

Each takes the name of an argument, for messages, and the given value. It returns the value as a number or an array, or
raises an error that says what was given and what was expected: a TypeError for another type, otherwise a ValueError.
"""

import difflib

import numpy as np


def finite_number(name, value):
    """A finite float."""
    if isinstance(value, str):
        raise TypeError(f"{name} is {value!r}: expected a number")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}: expected a number") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} is {number}: expected a finite number")
    return number


def positive(name, value):
    """A finite float above zero."""
    number = finite_number(name, value)
    if number <= 0:
        raise ValueError(f"{name} is {number:g}: expected a number above zero")
    return number


def not_negative(name, value):
    """A finite float, zero or above."""
    number = finite_number(name, value)
    if number < 0:
        raise ValueError(f"{name} is {number:g}: expected zero or more")
    return number


def fraction(name, value):
    """A float in [0, 1]."""
    number = finite_number(name, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} is {number:g}: expected a number from 0 to 1")
    return number


def whole(name, value, least=1):
    """An integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is {value!r}: expected a whole number")
    if value < least:
        raise ValueError(f"{name} is {value}: expected {least} or more")
    return int(value)


def one_of(name, value, choices):
    """One of several words. The error for another word names the nearest of them. Args: choices: the words."""
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise ValueError(f"{name} is {value!r}: expected one of {known}{nearest(value, choices)}")
    return value


def nearest(word, words):
    """Make a hint for the end of a message, "did you mean ...?".

    A word is near if it begins with the given one, or if difflib's similarity is at least 0.6, its default. With 0.5,
    'bullet' would be near 'verlet'.

    Args: word: the given one; words: the expected ones.

    Returns: the hint; an empty string if no word is near.
    """
    given = str(word)
    near = [each for each in words if len(given) > 2 and str(each).startswith(given)]
    near = near or difflib.get_close_matches(given, list(words), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def finite_array(name, value, shape):
    """An array of finite floats. Args: shape: lengths of its axes, None for any length."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}: expected numbers") from None
    if array.ndim != len(shape) or any(want is not None and have != want for have, want in zip(array.shape, shape)):
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ValueError(f"{name} has shape {array.shape}: expected {wanted}")
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(k) for k in np.argwhere(bad)[0])
        at = f" at index {where[0] if len(where) == 1 else where}"
        raise ValueError(f"{name} is {array[where]}{at}: expected finite numbers")
    return array


def finite_vector(name, value):
    """Three finite floats."""
    return finite_array(name, value, (3,))


def unit_vector(name, value):
    """Three finite floats, scaled to length one."""
    vector = finite_vector(name, value)
    length = np.linalg.norm(vector)
    if length == 0:
        raise ValueError(f"{name} is (0, 0, 0): expected a direction")
    return vector / length


def unit_quaternion(name, value):
    """A rotation (w, x, y, z), scaled to length one."""
    quaternion = finite_array(name, value, (4,))
    length = np.linalg.norm(quaternion)
    if length == 0:
        raise ValueError(f"{name} is (0, 0, 0, 0): expected a rotation (w, x, y, z)")
    return quaternion / length


def indices(name, value, count, width=None, of="particles"):
    """Indices of particles or other items, as 64-bit integers.

    Args: name, value; count: number of items; width: of a row, None for no rows; of: what the items are, for messages.

    Returns: array (n,) or (n, width).

    Raises: TypeError for anything but integers; ValueError for another shape; IndexError for an index out of range.
    """
    try:
        array = np.asarray(value)
    except ValueError:  # rows of unequal length
        raise TypeError(f"{name} is {value!r}: expected whole numbers, indices of {of}") from None
    if array.size == 0:
        array = array.reshape(0, width) if width else array.reshape(0)
    elif not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} is {value!r}: expected whole numbers, indices of {of}")
    if width is None:
        array = np.atleast_1d(array)
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}: expected (any,)")
    elif array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{name} has shape {array.shape}: expected (any, {width})")
    bad = (array < 0) | (array >= count)
    if bad.any():
        known = f"there are {count} {of}, 0 to {count - 1}" if count else f"there are no {of} yet"
        raise IndexError(f"{name} holds {array[bad][0]}: {known}")
    return array.astype(np.int64)


def one_grab(grab, grabs):
    """The index of a grab spring, as an integer. Args: grab: as given; grabs: number of the solver's grab springs."""
    if not grabs:
        raise ValueError(f"grab is {grab}, but there are no grab springs: construct the solver with grabs=1 or more")
    if whole("grab", grab, least=0) >= grabs:
        raise ValueError(f"grab is {grab}: expected a number below {grabs}, the option grabs= of the solver")
    return int(grab)


def spread(name, value, shape, infinite=False):
    """An array of floats, from one number for all or one for each.

    Args: name, value; shape: of the array; infinite: whether infinite numbers are allowed.
    """
    try:
        array = np.array(np.broadcast_to(np.asarray(value, dtype=float), shape))
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}: expected one for all, or an array of shape {shape}") from None
    bad = np.isnan(array) if infinite else ~np.isfinite(array)
    if bad.any():
        raise ValueError(f"{name} is {array[bad][0]}: expected {'no NaN' if infinite else 'a finite number'}")
    return array
