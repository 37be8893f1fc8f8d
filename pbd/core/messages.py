"""Texts of messages: given values, lists of words, and hints at similar words, each short enough for one line."""

import difflib
import reprlib

import numpy as np

LONGEST_MESSAGE = 200  # characters
LONGEST_VALUE = 60  # characters of a value in a message


class Abbreviation(reprlib.Repr):
    """Short texts of values."""

    def __init__(self):
        super().__init__()
        self.maxstring = self.maxlong = self.maxother = LONGEST_VALUE
        self.maxlist = self.maxtuple = self.maxdict = 7
        self.maxlevel = 3

    def repr1(self, value, level):
        """See reprlib; numpy's numbers are shown as Python's."""
        return super().repr1(value.item() if isinstance(value, np.generic) else value, level)

    def repr_float(self, number, _level):
        """A number with at most six digits, unless its repr is short."""
        return repr(number) if len(repr(number)) <= 8 else f"{number:.6g}"

    def repr_int(self, number, _level):
        """A number of many digits as a power of ten: Python refuses to print those of more than 4,300 digits."""
        return repr(number) if number.bit_length() < 150 else f"an integer of {number.bit_length()} bits"

    def repr_ndarray(self, array, level):
        """A small array as lists, a large one by its shape."""
        if array.size > 7 or array.dtype.kind not in "biuf":
            return f"{type(array).__name__} of {array.dtype}, shape {array.shape}"
        return self.repr1(array.tolist(), level)

    repr_MaskedArray = repr_ndarray  # noqa: N815 - reprlib finds methods by the names of types


_ABBREVIATION = Abbreviation()


def shown(value):
    """A value as text for a message: its repr, shortened to one line of at most 60 characters."""
    return clipped(_ABBREVIATION.repr(value), LONGEST_VALUE)


def clipped(text, room=LONGEST_MESSAGE // 2):
    """A text in one line of at most so many characters, without its middle if it is longer."""
    text, half = " ".join(str(text).split()), room // 2 - 2
    return text if len(text) <= room else f"{text[:half]}...{text[-half:]}"


def listed(words, room=LONGEST_MESSAGE // 2):
    """Words as a list for a message, shortened to so many characters. Args: words; room: [characters]."""
    words = list(words)
    text, k = ", ".join(words), len(words)
    while len(text) > room and k:
        k -= 1
        text = ", ".join([*words[:k], "..."])
    return text


def nearest(word, words):
    """Make a hint for the end of a message, "did you mean ...?".

    A word is near if it begins with the given one, or if difflib's similarity is at least 0.6, its default. With 0.5,
    'bullet' would be near 'verlet'.

    Args: word: the given one; words: the expected ones.

    Returns: the hint; an empty string if no word is near.
    """
    if not isinstance(word, str) or len(word) > LONGEST_VALUE:
        return ""
    near = [each for each in words if len(word) > 2 and str(each).startswith(word)]
    near = near or difflib.get_close_matches(word, list(words), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
