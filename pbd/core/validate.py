"""Checks of arguments.

Each takes the name of an argument, for messages, and the given value. It returns the value as a number or an array, or
raises an error that says what was given and what was expected: a TypeError for another type, otherwise a ValueError.
Messages have one line of at most 200 characters.
"""

import inspect
import math
import numbers
from collections.abc import Sequence, Set
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from pbd.core.messages import LONGEST_MESSAGE, listed, nearest, shown
from pbd.core.rotation import scaled

# Numbers in descriptions are zero, or their magnitude is between 1/LARGEST and LARGEST. Then products of six of them
# neither overflow nor vanish, such as the inertia of a body: density times length to the fifth power.
LARGEST = 1e50

MOST_BYTES = 4e9  # of the arrays that one call asks for
MOST = 2**31 - 1  # of a count, for which kernels have 32 bits
LONGEST_NAME, LONGEST_PATH = 80, 4096  # characters
DEEPEST = 8  # levels of nested lists


# Words and functions --------------------------------------------------------------------------------------------------


def one_of(name, value, choices):
    """One of several words. The error for another word names the nearest of them. Args: choices: the words."""
    if not isinstance(value, str) or value not in choices:
        begin, hint = f"{name} is {shown(value)}: expected one of ", nearest(value, choices)
        known = listed(map(repr, choices), LONGEST_MESSAGE - len(begin) - len(hint))
        raise ValueError(f"{begin}{known}{hint}")
    return value


def boolean(name, value):
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {shown(value)}: expected True or False")
    return bool(value)


def one_line(name, value):
    """A name: one line of text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"{name} is {shown(value)}: expected a string that is not empty")
    if not value.isprintable() or len(value) > LONGEST_NAME:
        raise ValueError(f"{name} is {shown(value)}: expected one line of at most {LONGEST_NAME} characters")
    return value


def sequence(name, value, expected, length=None):
    """A list, tuple, set or array of things. Args: expected: what, for messages; length: of it, None for any."""
    text = isinstance(value, (str, bytes, bytearray, memoryview))
    if text or not isinstance(value, (Sequence, Set, np.ndarray)) or getattr(value, "ndim", 1) == 0:
        raise TypeError(f"{name} is {shown(value)}: expected {expected}")
    if length is not None and len(value) != length:
        raise ValueError(f"{name} has {len(value)} items: expected {expected}")
    return list(value)


def file_path(name, value, what="a file"):
    """The path of a file. Args: what: kind of file, for messages."""
    if not isinstance(value, (str, PathLike)):
        raise TypeError(f"{name} is {shown(value)}: expected the path of {what}")
    text = fspath(value)
    if not isinstance(text, str) or not text.isprintable() or not 0 < len(text) <= LONGEST_PATH:
        raise ValueError(f"{name} is {shown(text)}: expected one line of at most {LONGEST_PATH} characters")
    return Path(text)


def function_of_time(name, value, gives="positions"):
    """A function that takes a time. Args: gives: what it returns, for messages."""
    try:
        inspect.signature(value).bind(0.0)
    except TypeError:  # no function, or one of other arguments
        raise TypeError(f"{name} is {shown(value)}: expected a function of time that gives {gives}") from None
    except ValueError:  # a function of C, whose arguments nobody knows
        pass
    return value


# Numbers --------------------------------------------------------------------------------------------------------------


def is_number(value):
    """Whether a value is one real number. Booleans, complex numbers, dates and masked numbers are not."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.shape == () and value.dtype.kind in "iuf" and not isinstance(value, np.ma.MaskedArray)
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_infinite(value):
    """Whether a value is the number +∞, which some arguments may be."""
    return is_number(value) and value == math.inf


def are_numbers(value, kinds="iuf", depth=0):
    """Whether a value is a real number, an array of numbers, or nested lists of them.

    Args: kinds: of numpy's numbers that are allowed, "iu" for whole numbers; depth: of the lists around the value.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O" and value.size:
            return depth < DEEPEST and are_numbers(value.ravel().tolist(), kinds, depth + 1)
        return value.dtype.kind in kinds and not isinstance(value, np.ma.MaskedArray)
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


def real_array(name, value):
    """An array of floats of any shape, finite or not. It may be the given array itself.

    Raises: TypeError for anything but real numbers in rows of equal length; ValueError for too many.
    """
    if type(value) is np.ndarray and value.dtype == np.float64:
        array = value
    elif not are_numbers(value):
        raise TypeError(f"{name} is {shown(value)}: expected numbers")
    else:
        refuse_gigabytes(name, value, 8 * np.size(value) if isinstance(value, np.ndarray) else 0)
        try:
            with np.errstate(over="ignore"):  # of extended precision
                array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):  # rows of unequal length
            raise TypeError(f"{name} is {shown(value)}: expected numbers") from None
        except OverflowError:
            raise ValueError(f"{name} is {shown(value)}: expected at most {LARGEST:g}") from None
    refuse_gigabytes(name, value, array.size * array.itemsize)
    return array


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
        raise ValueError(f"{name} is {number:g}: expected at most {most:g}, and at least its negative")
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
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or isinstance(value, np.timedelta64):
        raise TypeError(f"{name} is {shown(value)}: expected a whole number")
    if value < least:
        raise ValueError(f"{name} is {shown(value)}: expected {least} or more")
    if value > most:
        raise ValueError(f"{name} is {shown(value)}: expected {most} or less")
    return int(value)


def derived(name, value, what):
    """Check numbers that follow from an argument, such as masses from a density: finite and above zero.

    Args: name: of the argument; value: a number or an array; what: what follows, for messages.

    Returns: the value.
    """
    array = np.asarray(value)
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        raise ValueError(f"{name} makes {what} {array[bad][0]:g}: expected a finite number above zero")
    return value


def refuse_gigabytes(name, value, size):
    """Raise ValueError for an argument that asks for more memory than MOST_BYTES. Args: name; value; size: [bytes]."""
    if size > MOST_BYTES:
        figure = f"{size / 1e9:.3g} GB of memory, expected at most {MOST_BYTES / 1e9:g} GB"
        raise ValueError(f"{name} is {shown(value)}: that takes {figure}")


# Arrays ---------------------------------------------------------------------------------------------------------------


def first_excess(array, most):
    """Index of the first number that is not finite or has a larger magnitude than `most`, as a tuple; else None."""
    bad = ~(np.abs(array) <= min(most, np.finfo(float).max))
    return tuple(int(k) for k in np.argwhere(bad)[0]) if bad.any() else None


def finite_array(name, value, shape, most=LARGEST):
    """A new array of finite floats. Args: shape: lengths of its axes, None for any length; most: largest magnitude."""
    array = real_array(name, value)
    if array.ndim != len(shape) or any(want is not None and have != want for have, want in zip(array.shape, shape)):
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ValueError(f"{name} has shape {shown(array.shape)}: expected {wanted}")
    where = first_excess(array, most)
    if where is not None:
        at = f" at index {where[0] if len(where) == 1 else where}"
        expected = f"magnitudes of at most {most:g}" if np.isfinite(array[where]) else "finite numbers"
        raise ValueError(f"{name} is {array[where]:g}{at}: expected {expected}")
    return np.array(array)


def finite_vector(name, value, most=LARGEST):
    """Three finite floats. Args: most: their largest magnitude."""
    return finite_array(name, value, (3,), most)


def unit_vector(name, value):
    """Three finite floats of any magnitude, scaled to length one."""
    vector = finite_vector(name, value, math.inf)
    if not vector.any():
        raise ValueError(f"{name} is (0, 0, 0): expected a direction")
    vector = scaled(vector)
    return vector / np.linalg.norm(vector)


def unit_quaternion(name, value):
    """A rotation (w, x, y, z) of any magnitude, scaled to length one."""
    quaternion = finite_array(name, value, (4,), math.inf)
    if not quaternion.any():
        raise ValueError(f"{name} is (0, 0, 0, 0): expected a rotation (w, x, y, z)")
    quaternion = scaled(quaternion)
    return quaternion / np.linalg.norm(quaternion)


def pose(what, given, rotation):
    """What a function of time gave: a position, or a position and a rotation.

    Args: what: such as "given by a path", for messages; given; rotation: (w, x, y, z), if it is a position alone.

    Returns: position [m] and rotation (7,).
    """
    if not hasattr(given, "__len__"):
        raise TypeError(f"{shown(given)} {what}: expected a position (3,), or (position, rotation)")
    if isinstance(given, (tuple, list)) and len(given) == 2:
        given, rotation = given[0], unit_quaternion(f"rotation {what}", given[1])
    # Of any magnitude: a solver reports a jump by its time.
    return np.concatenate([finite_vector(f"position {what}", given, math.inf), rotation])


def indices(name, value, count, width=None, of="particles"):
    """Indices of particles or other items, as 64-bit integers.

    Args: name, value; count: number of items; width: of a row, None for no rows; of: what the items are, for messages.

    Returns: array (n,) or (n, width).

    Raises: TypeError for anything but integers; ValueError for another shape; IndexError for an index out of range.
    """
    try:
        array = np.asarray(value) if are_numbers(value, "iuf") else None
    except ValueError:  # rows of unequal length
        array = None
    if array is None or (array.size and array.dtype.kind not in "iuO"):
        raise TypeError(f"{name} is {shown(value)}: expected whole numbers, indices of {of}")
    if array.size == 0:
        array = array.reshape(0, width) if width else array.reshape(0)
    if width is None:
        array = np.atleast_1d(array)
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {shown(array.shape)}: expected (any,)")
    elif array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{name} has shape {shown(array.shape)}: expected (any, {width})")
    refuse_gigabytes(name, value, array.size * array.itemsize)
    bad = (array < 0) | (array >= count)
    if bad.any():
        raise IndexError(f"{name} holds {shown(array[bad][0])}: {_known(count, of)}")
    return array.astype(np.int64)


def _known(count, of):
    return f"there are {count} {of}, 0 to {count - 1}" if count else f"there are no {of} yet"


def one_index(name, value, count, of="particles"):
    """One index, as an integer. Args, Raises: see `indices`."""
    if not are_numbers(value, "iu") or np.ndim(value):
        raise TypeError(f"{name} is {shown(value)}: expected a whole number, the index of one of the {of}")
    if not 0 <= value < count:
        raise IndexError(f"{name} is {shown(value)}: {_known(count, of)}")
    return int(value)


def one_grab(grab, grabs):
    """The index of a grab spring, as an integer. Args: grab: as given; grabs: number of the solver's grab springs."""
    if not grabs:
        given = f"grab is {shown(grab)}, but there are no grab springs"
        raise ValueError(f"{given}: construct the solver with grabs=1 or more")
    if whole("grab", grab, least=0) >= grabs:
        raise ValueError(f"grab is {grab}: expected a number below {grabs}, the option grabs= of the solver")
    return int(grab)


def spread(name, value, shape, infinite=False, most=LARGEST):
    """A new array of floats, from one number for all or one for each.

    Args: name, value; shape: of the array; infinite: whether infinite numbers are allowed; most: largest magnitude.
    """
    given = real_array(name, value)
    try:
        array = np.array(np.broadcast_to(given, shape))
    except ValueError:
        raise ValueError(f"{name} is {shown(value)}: expected one for all, or an array of shape {shape}") from None
    where = first_excess(np.where(np.isinf(array), 0.0, array) if infinite else array, most)
    if where is not None:
        expected = "no NaN" if infinite else "a finite number"
        expected = f"a magnitude of at most {most:g}" if np.isfinite(array[where]) else expected
        raise ValueError(f"{name} is {array[where]:g}: expected {expected}")
    return array
