"""Checks of arguments.

Each takes the name of an argument, for messages, and the given value. It returns the value as a number or an array, or
raises an error that says what was given and what was expected: a TypeError for another type, otherwise a ValueError.
Messages have one line of at most 200 characters.

    words.py     words, flags, names, paths of files, functions of time
    scalars.py   single numbers, what follows from them, memory
    arrays.py    vectors, directions, rotations, poses, indices
"""

from pbd.core.messages import nearest
from pbd.core.validate.arrays import (
    alike,
    components,
    finite_array,
    finite_vector,
    first_excess,
    grab_count,
    indices,
    one_grab,
    one_index,
    pose,
    real_array,
    scaled,
    size_of,
    spread,
    unchanging,
    unit_quaternion,
    unit_vector,
    whole_array,
)
from pbd.core.validate.scalars import (
    LARGEST,
    MOST,
    MOST_BYTES,
    are_numbers,
    derived,
    finite_number,
    fraction,
    is_infinite,
    is_number,
    is_whole,
    not_negative,
    positive,
    refuse_gigabytes,
    refuse_remote,
    whole,
)
from pbd.core.validate.words import (
    boolean,
    file_path,
    function_of_time,
    one_line,
    one_of,
    sequence,
)

__all__ = [
    "LARGEST",
    "MOST",
    "MOST_BYTES",
    "alike",
    "are_numbers",
    "boolean",
    "components",
    "derived",
    "file_path",
    "finite_array",
    "finite_number",
    "finite_vector",
    "first_excess",
    "fraction",
    "function_of_time",
    "grab_count",
    "indices",
    "is_infinite",
    "is_number",
    "is_whole",
    "nearest",
    "not_negative",
    "one_grab",
    "one_index",
    "one_line",
    "one_of",
    "pose",
    "positive",
    "real_array",
    "refuse_gigabytes",
    "refuse_remote",
    "scaled",
    "sequence",
    "size_of",
    "spread",
    "unchanging",
    "unit_quaternion",
    "unit_vector",
    "whole",
    "whole_array",
]
