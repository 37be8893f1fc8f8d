"""Checks of arrays: numbers, vectors, directions, rotations, poses and indices."""

import math
from contextlib import nullcontext

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate.scalars import LARGEST, LARGEST_FLOAT, are_numbers, is_whole, refuse_gigabytes, whole

MOST_GRABS = 1000


def real_array(name, value):
    """An array of floats of any shape, finite or not. It may be the given array itself.

    Raises: TypeError for anything but real numbers in rows of equal length; ValueError for too many.
    """
    if type(value) is np.ndarray and value.dtype == np.float64:
        array = value
    elif not are_numbers(value):
        raise TypeError(f"{name} is {shown(value)}: expected numbers")
    else:
        refuse_gigabytes(name, value, 8 * size_of(value))
        extended = isinstance(value, (np.ndarray, np.generic)) and value.dtype.itemsize > 8
        try:
            with np.errstate(over="ignore") if extended else nullcontext():
                array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):  # rows of unequal length
            raise TypeError(f"{name} is {shown(value)}: expected numbers") from None
        except OverflowError:
            raise ValueError(f"{name} is {shown(value)}: expected at most {LARGEST:g}") from None
    refuse_gigabytes(name, value, 8 * array.size)
    return array


def size_of(value):
    """Number of elements of an array or a range, which may be many more than its memory holds; zero for others."""
    return value.size if isinstance(value, np.ndarray) else len(value) if isinstance(value, range) else 0


def scaled(v):
    """Vectors (..., n), each times the power of two that brings its largest component to between a half and one.

    Then squares neither overflow nor vanish, and no other bits change. Zero stays zero.
    """
    v = np.asarray(v, dtype=float)
    _, exponent = np.frexp(np.abs(v).max(axis=-1, keepdims=True))
    return np.ldexp(v, -exponent)


def components(name, value, width):
    """Vectors (..., width) as an array of floats. An array of floats is not copied, and its numbers are not checked.

    Args: name; value; width: of the last axis; None for numbers (...).
    """
    array = real_array(name, value)
    if width is not None and (not array.ndim or array.shape[-1] != width):
        raise ValueError(f"{name} has shape {shown(array.shape)}: expected (..., {width})")
    if array is not value and first_excess(array, LARGEST) is not None:
        raise ValueError(f"{name} is {shown(value)}: expected finite numbers of at most {LARGEST:g}")
    return array


def alike(names, *arrays):
    """Check that arrays have leading axes that can be broadcast. Args: names: for messages. Returns: the arrays."""
    leading = {array.shape[:-1] for array in arrays} - {()}
    try:
        if len(leading) > 1:
            np.broadcast_shapes(*leading)
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise ValueError(f"{names} have shapes {shapes}: expected one for all, or as many of each") from None
    return arrays


def first_excess(array, most):
    """Index of the first number that is not finite or has a larger magnitude than `most`, as a tuple; else None."""
    limit = min(most, LARGEST_FLOAT)
    if not array.size or (array.min() >= -limit and array.max() <= limit):  # false for NaN
        return None
    return tuple(int(k) for k in np.argwhere(~(np.abs(array) <= limit))[0])


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
    """Check the pose that a function of time gave: a position, or a position and a rotation.

    Args: what: such as "given by a path", for messages; given; rotation: (w, x, y, z), if it is a position alone.

    Returns: position [m] and rotation (7,).
    """
    if not hasattr(given, "__len__"):
        raise TypeError(f"{shown(given)} {what}: expected a position (3,), or (position, rotation)")
    if isinstance(given, (tuple, list)) and len(given) == 2:
        given, rotation = given[0], unit_quaternion(f"rotation {what}", given[1])
    # Of any magnitude: a solver reports a jump by its time.
    return np.concatenate([finite_vector(f"position {what}", given, math.inf), rotation])


def whole_array(name, value, of):
    """An array of whole numbers of any shape. Args: of: what has these indices, for messages."""
    refuse_gigabytes(name, value, 8 * size_of(value))
    try:
        array = np.asarray(value) if are_numbers(value) else None
    except ValueError:  # rows of unequal length
        array = None
    if array is None or (array.size and not are_numbers(array, "iu")):
        raise TypeError(f"{name} is {shown(value)}: expected whole numbers, indices of {of}")
    return array


def indices(name, value, count, width=None, of="particles"):
    """Indices of particles or other items, as 64-bit integers.

    Args: name, value; count: number of items; width: of a row, None for no rows; of: what the items are, for messages.

    Returns: array (n,) or (n, width).

    Raises: TypeError for anything but integers; ValueError for another shape; IndexError for an index out of range.
    """
    array = whole_array(name, value, of)
    if array.size == 0:
        array = array.reshape(0, width) if width else array.reshape(0)
    if width is None:
        array = np.atleast_1d(array)
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {shown(array.shape)}: expected (any,)")
    elif array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{name} has shape {shown(array.shape)}: expected (any, {width})")
    bad = (array < 0) | (array >= count)
    if bad.any():
        raise IndexError(f"{name} holds {shown(array[bad][0])}: {_known(count, of)}")
    return array.astype(np.int64)


def _known(count, of):
    return f"there are {count} {of}, 0 to {count - 1}" if count else f"there are no {of} yet"


def one_index(name, value, count, of="particles"):
    """One index, as an integer. Args, Raises: see `indices`."""
    if not is_whole(value):
        raise TypeError(f"{name} is {shown(value)}: expected a whole number, the index of one of the {of}")
    if not 0 <= value < count:
        raise IndexError(f"{name} is {shown(value)}: {_known(count, of)}")
    return int(value)


def grab_count(name, value):
    """A number of grab springs."""
    return whole(name, value, least=0, most=MOST_GRABS)


def one_grab(grab, grabs):
    """The index of a grab spring, as an integer. Args: grab: as given; grabs: number of the solver's grab springs."""
    if not grabs:
        given = f"grab is {shown(grab)}, but there are no grab springs"
        raise ValueError(f"{given}: construct the solver with grabs=1 or more")
    if whole("grab", grab, least=0) >= grabs:
        raise ValueError(f"grab is {grab}: expected a number below {grabs}, the option grabs= of the solver")
    return int(grab)


def spread(name, value, shape, infinite=False, most=LARGEST, signed=True, allowed=None, expected="zero or more"):
    """A new array of floats, from one number for all or one for each.

    Args: name, value: checked even if the array is empty; shape: of the array; infinite: whether infinite numbers are
    allowed; most: largest magnitude; signed: whether numbers below zero are allowed; allowed: function of numbers that
    says which are, None for all; expected: words for these.
    """
    given = real_array(name, value)
    try:
        array = np.array(np.broadcast_to(given, shape))
    except ValueError:
        raise ValueError(f"{name} is {shown(value)}: expected one for all, or an array of shape {shape}") from None
    checked = array if array.size else given
    where = first_excess(np.where(np.isinf(checked), 0.0, checked) if infinite else checked, most)
    if where is not None:
        wanted = "no NaN" if infinite else "a finite number"
        wanted = f"a magnitude of at most {most:g}" if np.isfinite(checked[where]) else wanted
        raise ValueError(f"{name} is {checked[where]:g}: expected {wanted}")
    wrong = np.zeros(checked.shape, bool) if allowed is None else ~allowed(checked)
    wrong = wrong | (checked < 0) if not signed else wrong
    if wrong.any():
        raise ValueError(f"{name} is {checked[wrong][0]:g}: expected {expected}")
    return array


def unchanging(vector):
    """A copy whose elements cannot be set: a system reads it when it is replaced. What is no array stays."""
    if not isinstance(vector, np.ndarray):
        return vector
    vector = vector.copy()
    vector.setflags(write=False)
    return vector
