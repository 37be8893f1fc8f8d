"""Checks of words, flags, names, paths of files, lists and functions."""

import inspect
from collections.abc import Sequence, Set
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from pbd.core.messages import LONGEST_MESSAGE, clipped, listed, nearest, shown
from pbd.core.validate.scalars import refuse_gigabytes

LONGEST_NAME, LONGEST_PATH = 80, 4096  # characters


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
    refuse_gigabytes(name, value, 100 * len(value))
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
    """A function that takes a time, and gives something at time zero. Args: gives: what it returns, for messages."""
    try:
        takes_time = callable(value) and bool(inspect.signature(value).bind(0.0))
    except TypeError:  # other arguments
        takes_time = False
    except ValueError:  # a function of C, whose arguments nobody knows
        takes_time = True
    if not takes_time:
        raise TypeError(f"{name} is {shown(value)}: expected a function of time that gives {gives}")
    try:
        value(0.0)
    except Exception as error:
        reason = clipped(f"{type(error).__name__}: {error}")
        raise ValueError(f"{name} fails at 0 s with {reason}: expected that it gives {gives}") from error
    return value
