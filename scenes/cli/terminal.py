"""What all commands have to do with a person at a terminal: what they understand, what they say, and how they end."""

import contextlib
import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pbd.core.launch import on_cpu
from scenes.simulate.device import initialise

out, errors = Console(), Console(stderr=True)


class WrongCommand(Exception):
    """What a person asked for does not exist or cannot be understood."""


def fail(message, status):
    """Say in one line what went wrong."""
    errors.print(f"verletlab: {' '.join(str(message).split())}", style="bold red", markup=False, highlight=False,
                 soft_wrap=True)  # fmt: skip
    return status


def reason(error):
    """What an error has to say to a person."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"out of memory{f': {error}' if str(error) else ''}"
    expected = ArithmeticError, ImportError, OSError, RuntimeError, ValueError
    return str(error) if isinstance(error, expected) and str(error) else f"{type(error).__name__}: {error}"


def keep(error, path, frames):
    """Note on an error that ended a run how many frames of it are left, and where."""
    if frames:
        error.kept = f"; {path} holds {frames_of(frames)} until then"


def kept(error):
    """What `keep` noted."""
    return getattr(error, "kept", "")


@contextlib.contextmanager
def understanding():
    """What fails in here, before anything is run, is the command's fault."""
    try:
        yield
    except (ValueError, TypeError, LookupError, OSError, NotImplementedError, ImportError) as error:
        if sys.flags.dev_mode:
            raise
        raise WrongCommand(reason(error)) from error


def pairs(words, flag):
    """NAME=VALUE words as a dict."""
    for word in words:
        if "=" not in word:
            raise WrongCommand(f"{flag} {word}: expected NAME=VALUE")
    return dict(word.split("=", 1) for word in words)


def start(given):
    """Start Taichi where it was asked for, and say where that could not be."""
    found = initialise(given.device, given.precision)
    if given.device == "gpu" and on_cpu() and not given.quiet:
        errors.print(f"verletlab: no GPU found, running on {found}", highlight=False, soft_wrap=True)


def frames_of(count):
    """A number of frames, in words."""
    return f"{count} frame{'' if count == 1 else 's'}"


class progress:  # noqa: N801 - used as a function, `with progress(...) as update`
    """A progress bar on the error stream, where there is a terminal and nobody asked for quiet."""

    def __init__(self, given, label):
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        shown = not given.quiet and errors.is_terminal
        self.bar = Progress(*columns, console=errors, disable=not shown, transient=True)
        self.task = self.bar.add_task(label, total=None)

    def __enter__(self):
        self.bar.__enter__()
        return lambda number, count, label=None: self.bar.update(
            self.task, completed=number, total=count, **({"description": label} if label else {})
        )

    def __exit__(self, *error):
        return self.bar.__exit__(*error)
