"""Functions that all commands share: arguments, messages, progress, exit status."""

import contextlib
import sys
import warnings
from dataclasses import replace

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pbd.core.kernels import on_cpu
from pbd.core.messages import LONGEST_MESSAGE, clipped
from pbd.core.validate import positive
from scenes.registry import load
from scenes.scene_files import name_of_scene
from scenes.simulate.device import initialise
from scenes.simulate.run import Run
from scenes.simulate.settings import checked_options
from scenes.visuals.stress import in_bands

SCENE = "name of a scene, see `verletlab list`, or FILE.py, FILE.py:FUNCTION, MODULE:FUNCTION"  # of each command

out, errors = Console(emoji=False), Console(stderr=True, emoji=False)  # ":x:" is a part of a message


class WrongCommand(Exception):
    """An error in the command line."""


def fail(message, status):
    """Print an error as one line. Returns: the exit status."""
    text = clipped(message, LONGEST_MESSAGE) if status == 2 else " ".join(str(message).split())
    errors.print(f"verletlab: {text}", style="bold red", markup=False, highlight=False,
                 soft_wrap=True)  # fmt: skip
    return status


def reason(error):
    """Make the message for an error."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"out of memory{f': {error}' if str(error) else ''}"
    expected = ArithmeticError, ImportError, OSError, RuntimeError, TypeError, ValueError
    return str(error) if isinstance(error, expected) and str(error) else f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def warnings_in_one_line():
    """Show warnings that are for users as one line each, without the line of code that gave them."""
    usual = warnings.formatwarning

    def formatted(message, category, *place, **line):
        for_users = category is UserWarning
        return f"verletlab: warning: {message}\n" if for_users else usual(message, category, *place, **line)

    warnings.formatwarning = formatted
    try:
        yield
    finally:
        warnings.formatwarning = usual


def note_saved(error, path, frames):
    """Store on an error how many frames of the run were saved, and where."""
    if frames:
        error.saved = f"; {path} holds the {frames_of(frames)} before it"


def saved_note(error):
    """The text that `note_saved` stored, or an empty string."""
    return getattr(error, "saved", "")


@contextlib.contextmanager
def usage_errors():
    """Turn errors into WrongCommand; for code that runs before the scene does."""
    try:
        yield
    except (ValueError, TypeError, LookupError, OSError, NotImplementedError, ImportError) as error:
        if sys.flags.dev_mode:
            raise
        raise WrongCommand(reason(error)) from error


def pairs(words, flag):
    """Make a dict of NAME=VALUE words. Raises: WrongCommand."""
    for word in words:
        if "=" not in word:
            raise WrongCommand(f"{flag} {clipped(word, 60)}: expected NAME=VALUE")
    return dict(word.split("=", 1) for word in words)


def scene_of(given):
    """Start Taichi, make the scene of the command line, print its notes. Raises: see `name_of_scene` and `load`."""
    parameters = pairs(given.param, "--param")
    start(given)
    scene = load(name_of_scene(given.scene), **parameters)
    for note in () if given.quiet else scene.notes:
        errors.print(f"verletlab: note: {note}", markup=False, highlight=False, soft_wrap=True)
    return coloured(scene, given)


def add_colours(parser):
    """Add the flags of `coloured`. Args: parser: of a command that draws."""
    either = parser.add_mutually_exclusive_group()
    for name, unit in (("stress", "[N/m] of fabrics, [Pa] of solids"), ("strain", "without a unit")):
        either.add_argument(f"--{name}", type=float, metavar="LARGEST",
                            help=f"draw fabrics and solids in bands of colour by their {name}, red from here: {unit}")


def coloured(scene, given):
    """A scene as its colours are chosen on the command line. Raises: ValueError if there is nothing to colour."""
    for name in ("stress", "strain"):
        largest = getattr(given, name, None)
        if largest is not None:
            positive(f"--{name}", largest)
            return replace(scene, visuals=in_bands(scene.visuals, scene.particles, name, largest))
    return scene


def options_of(given, scene):
    """Options of the solver that runs a scene. Args: given: the arguments; scene. Raises: see checked_options."""
    return checked_options(given.solver or scene.solver, pairs(given.option, "--option"), scene.model is None)


def run_of(given):
    """Make the Run of the command line."""
    pairs(given.option, "--option")  # refuses words without "=" before anything else
    scene = scene_of(given)
    return Run(scene, given.solver, given.duration, given.dt, given.fps, **options_of(given, scene))


def start(given, opt_level=None):
    """Start Taichi on the chosen device, and report if there is no GPU. Args: given; opt_level: see `initialise`."""
    found = initialise(given.device, given.precision, opt_level)
    if given.device == "gpu" and on_cpu() and not given.quiet:
        errors.print(f"verletlab: no GPU found, running on {found}", highlight=False, soft_wrap=True)


def frames_of(count):
    """Format a number of frames: "1 frame", "2 frames"."""
    return counted(count, "frame")


def counted(count, what):
    """Format a number of things: "1 run", "1,000 runs"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


class progress:  # noqa: N801 - used as a function, `with progress(...) as update`
    """Progress bar on the error stream, if that is a terminal and --quiet is not given."""

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
