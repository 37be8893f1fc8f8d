"""What all fuzzers check: refusals in one clear line, and descriptions that are sound and as they were."""

import linecache
import re
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings

import pbd

PACKAGES = tuple(str(Path(pbd.__file__).parents[1] / name) for name in ("pbd", "rigid", "scenes"))
ERRORS = {TypeError, ValueError, IndexError, FileNotFoundError, NotImplementedError}


def content(value, seen=()):
    """Everything in a description, as tuples that can be compared bit for bit."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list) and value and all(isinstance(each, np.ndarray) for each in value):
        value = np.concatenate(value)  # pieces of a column: reading joins them
        return "column", value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(content(each, seen) for each in value)
    if isinstance(value, (set, frozenset)):
        return "set", tuple(sorted(value))
    if isinstance(value, dict):
        return "dict", tuple((repr(key), content(each, seen)) for key, each in value.items()), bool(vars_of(value))
    if vars_of(value) is not None and not callable(value):
        assert id(value) not in seen
        return type(value).__name__, id(value), content(vars_of(value), (*seen, id(value)))
    return repr(value)


def vars_of(value):
    return getattr(value, "__dict__", None)


def numbers(value, name=""):
    """All numbers in a description: (name, array)."""
    if isinstance(value, np.ndarray) or (isinstance(value, float) and not isinstance(value, bool)):
        yield name, np.asarray(value)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from numbers(each, name)
    elif isinstance(value, dict) or (vars_of(value) is not None and not callable(value)):
        for key, each in (value if isinstance(value, dict) else vars_of(value)).items():
            yield from numbers(each, key if isinstance(key, str) else name)


INFINITE = ("break_force", "break_torque", "mass", "limits", "swing_limit", "stiffness", "max_effort")


def check_sound(description):
    """No NaN; infinite only what may be; masses above zero; rotations of length one; names of one line."""
    for name, array in numbers(vars(description)):
        if array.dtype.kind == "f":
            assert not np.isnan(array).any(), name
            assert any(each in name for each in INFINITE) or np.isfinite(array).all(), name
        if name == "rotation" and array.shape == (4,):
            assert abs(np.linalg.norm(array) - 1) < 1e-12
        if name in ("parent_axes", "child_axes"):
            assert np.abs(array @ array.T - np.eye(3)).max() < 1e-9
    for body in getattr(description, "bodies", []):
        assert body.mass == 0 or np.linalg.eigvalsh(body.inertia).min() > 0
        assert body.name.strip()
        assert "\n" not in body.name


def raised_on_purpose(error):
    """Whether a `raise` statement of the packages raised an error, not numpy or Python within them."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return False
    path, line = frame.tb_frame.f_code.co_filename, frame.tb_lineno
    statement = linecache.getline(path, line).strip()
    return path.startswith(PACKAGES) and statement.startswith("raise ")


def names_one_of(message, names):
    """Whether a message has the words of an argument's name."""
    for name in names:
        words = [word if word.endswith("ss") else word.removesuffix("s") for word in name.split("_")]
        if re.search(r"\b" + r"s?[ _]".join(map(re.escape, words)) + r"(s|x|ices)?\b", message, re.IGNORECASE):
            return True
    return False


def check_clear(error, names):
    """Check that an error says in one line what was wrong. Args: error; names: of the arguments that were changed."""
    message = str(error)
    assert type(error) in ERRORS or type(error).__module__.startswith(("pbd", "rigid", "scenes")), repr(error)
    assert len(message.splitlines()) == 1, message
    assert len(message) <= 200, message
    assert raised_on_purpose(error), message
    assert isinstance(error, FileNotFoundError) or names_one_of(message, names), f"{message!r} names none of {names}"


@contextmanager
def no_foreign_warnings():
    """Check that the block warns of nothing, but for warnings of the packages."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield
    for each in warned:
        assert each.category is UserWarning, each
        assert "expected" in str(each.message), each


def fuzz(count, test):
    """Make a test of hypothesis run so many examples, the same in each run."""
    suppressed = [HealthCheck.too_slow, HealthCheck.differing_executors, HealthCheck.data_too_large]
    test = settings(
        max_examples=count, deadline=None, derandomize=True, database=None, suppress_health_check=suppressed
    )(test)
    test()
