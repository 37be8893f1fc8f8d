"""The command `verletlab`: list, run, render, bench.

Exit status 0 when done, 1 with one line for a run that failed, 2 with one line for a wrong command, 130 after Ctrl-C.
"""

import argparse
import inspect
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import pbd
from scenes import bench
from scenes.device import DEVICES, initialise
from scenes.render.film import film
from scenes.render.video import check_output
from scenes.run import SOLVERS, Run, run
from scenes.scene import UnknownName, available, convert, load, nearest

out, errors = Console(), Console(stderr=True)

# Options of the solver that the command line takes by name; dt has a flag of its own.
OPTIONS = {
    name: given.default
    for name, given in inspect.signature(pbd.ParticleSystem).parameters.items()
    if name in ("iterations", "substeps", "damping", "direction", "schedule", "tolerance", "sticks")
}


class WrongCommand(Exception):
    """What a person asked for does not exist or cannot be understood."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and end the program with status 2."""

    def error(self, message):
        """Say it and stop."""
        raise WrongCommand(f"{message} (`{self.prog} --help` tells more)")


def main(arguments=None):
    """Run the command. Arguments: a list of words, the shell's where None. Returns: the exit status."""
    try:
        given = parser().parse_args(arguments)
        given.command(given)
        return 0
    except (WrongCommand, UnknownName) as error:
        return fail(error, 2)
    except KeyboardInterrupt as stop:
        frames = getattr(stop, "frames", 0)
        kept = f"; {given.out} holds the {frames} frames that were done" if frames else ""
        return fail(f"stopped{kept}", 130)
    except pbd.Diverged as error:
        frames = getattr(error, "frames", 0)
        return fail(f"{error}{f'; {given.out} holds the {frames} frames before' if frames else ''}", 1)
    except (ValueError, TypeError, OSError, RuntimeError, MemoryError) as error:
        return fail(error, 1)


def fail(message, status):
    """Say in one line what went wrong."""
    errors.print(f"verletlab: {' '.join(str(message).split())}", style="bold red", markup=False, highlight=False,
                 soft_wrap=True)  # fmt: skip
    return status


def parser():
    """All commands and their flags."""
    top = Parser(prog="verletlab", description="Scenes of Verlet particle dynamics: run, film and measure them.")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)

    listed = commands.add_parser("list", help="the scenes there are, with their parameters")
    listed.set_defaults(command=list_scenes)

    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("scene", metavar="SCENE", help="its name, see `verletlab list`")
    shared.add_argument("--solver", default="verlet", choices=SOLVERS, help="which solver steps it (%(default)s)")
    shared.add_argument("--duration", type=float, metavar="SECONDS", help="how long (the scene's own)")
    shared.add_argument("--dt", type=float, metavar="SECONDS", help="time step (the scene's own)")
    shared.add_argument("--device", default="cpu", choices=DEVICES, help="where kernels run (%(default)s)")
    shared.add_argument("--precision", type=int, default=64, choices=(32, 64), help="bits of a number (%(default)s)")
    shared.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scene")
    shared.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help=f"an option of the solver: {', '.join(OPTIONS)}")  # fmt: skip
    shared.add_argument("--quiet", action="store_true", help="say nothing but errors")

    ran = commands.add_parser("run", parents=[shared], help="run a scene, tell how it went, record it")
    ran.add_argument("--out", metavar="FILE.npz", help="where to save the recording (nowhere)")
    ran.add_argument("--fps", type=float, default=60.0, metavar="N", help="frames recorded a second (%(default)g)")
    ran.set_defaults(command=run_scene)

    drawn = commands.add_parser("render", parents=[shared], help="film a scene, or draw its last moment")
    drawn.add_argument("--out", required=True, metavar="FILE", help=".mp4 or .gif for a video, .png for the last moment")
    drawn.add_argument("--fps", type=float, default=30.0, metavar="N", help="frames a second (%(default)g)")
    drawn.add_argument("--size", default="1280x720", metavar="WxH", help="of the picture, in pixels (%(default)s)")
    drawn.add_argument("--no-labels", action="store_true", help="no scene, solver and time in the corner")
    drawn.set_defaults(command=render_scene)

    benched = commands.add_parser("bench", help="measure speed; CSV, with a hash of the state beside each figure")
    benched.add_argument("name", nargs="*", metavar="NAME", help=f"which: {', '.join(bench.BENCHMARKS)} (all)")
    benched.add_argument("--device", default="cpu", choices=DEVICES, help="where kernels run (%(default)s)")
    benched.add_argument("--precision", type=int, default=32, choices=(32, 64), help="bits of a number (%(default)s)")
    benched.set_defaults(command=run_benchmarks)
    return top


# Commands --------------------------------------------------------------------------------------------------------------


def list_scenes(given):
    """Print a table of all scenes."""
    table = Table(box=None, pad_edge=False)
    for column in ("scene", "what it is", "parameters"):
        table.add_column(column, overflow="fold")
    for entry in available().values():
        table.add_row(entry.name, entry.summary, "  ".join(f"{k}={v}" for k, v in entry.parameters.items()))
    out.print(table)


def run_scene(given):
    """Run a scene, print how it went, and save the recording where one is wanted."""
    if given.out:
        if Path(given.out).suffix != ".npz":
            raise WrongCommand(f"--out {given.out}: expected a name that ends in .npz")
        check_writable(given.out)
    initialise(given.device, given.precision)
    scene = scene_of(given)
    options = options_of(given)
    count = Run(scene, given.solver, given.duration, given.dt, given.fps, **options).count
    with progress(given, f"run {scene.name}", count) as update:
        recording = run(scene, given.solver, given.duration, given.dt, given.fps, update, **options)
    if given.out:
        recording.save(given.out)
    if not given.quiet:
        tell(recording, given.out)
    if recording.about.get("interrupted"):
        raise KeyboardInterrupt


def render_scene(given):
    """Film a scene."""
    try:
        width, height = (int(part) for part in given.size.lower().split("x"))
    except ValueError:
        raise WrongCommand(f"--size {given.size}: expected WIDTHxHEIGHT, such as 1280x720") from None
    try:
        check_output(given.out)
    except ValueError as error:
        raise WrongCommand(f"--out {error}") from None
    initialise(given.device, given.precision)
    scene = scene_of(given)
    options = options_of(given)
    count = Run(scene, given.solver, given.duration, given.dt, given.fps, **options).count
    with progress(given, f"render {scene.name}", count) as update:
        frames = film(
            scene, given.out, given.solver, given.duration, given.dt, given.fps, width, height,
            labels=not given.no_labels, progress=update, **options,
        )  # fmt: skip
    if not given.quiet:
        what = "a picture" if frames == 1 else f"{frames} frames"
        out.print(f"{given.out}: {what} of {width} x {height}", highlight=False)


def run_benchmarks(given):
    """Print benchmarks as CSV."""
    for name in given.name:
        if name not in bench.BENCHMARKS:
            raise WrongCommand(f"no benchmark called {name!r}{nearest(name, bench.BENCHMARKS)}")
    initialise(given.device, given.precision)
    for line in bench.rows(given.name or list(bench.BENCHMARKS)):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


# What they share -------------------------------------------------------------------------------------------------------


def pairs(words, flag):
    """NAME=VALUE words as a dict."""
    for word in words:
        if "=" not in word:
            raise WrongCommand(f"{flag} {word}: expected NAME=VALUE")
    return dict(word.split("=", 1) for word in words)


def scene_of(given):
    """The scene that was asked for."""
    return load(given.scene, **pairs(given.param, "--param"))


def options_of(given):
    """Options of the solver that were asked for."""
    options = {}
    for name, text in pairs(given.option, "--option").items():
        if name not in OPTIONS:
            raise WrongCommand(f"no option {name!r}{nearest(name, OPTIONS)} (there are {', '.join(OPTIONS)})")
        default = 1e-6 if name == "tolerance" else OPTIONS[name]
        try:
            options[name] = convert(f"option {name}", text, default)
        except ValueError as error:
            raise WrongCommand(error) from None
    return options


def check_writable(path):
    """Refuse, before anything is run, a file that could not be written."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a directory")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no directory {path.parent}")
    with path.open("ab"):
        pass


class progress:  # noqa: N801 - used as a function, `with progress(...) as update`
    """A progress bar on the error stream, where there is a terminal and nobody asked for quiet."""

    def __init__(self, given, label, total):
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        shown = not given.quiet and errors.is_terminal
        self.bar = Progress(*columns, console=errors, disable=not shown, transient=True)
        self.task = self.bar.add_task(label, total=total)

    def __enter__(self):
        self.bar.__enter__()
        return lambda number: self.bar.update(self.task, completed=number)

    def __exit__(self, *error):
        return self.bar.__exit__(*error)


def tell(recording, path):
    """Print how a run went."""
    about, energy = recording.about, recording.energy
    first, last = energy[min(1, len(energy) - 1), 2], energy[-1, 2]
    rows = {
        "scene": about["scene"],
        "solver": f"{about['solver']}  ({', '.join(f'{k}={v:.6g}' if isinstance(v, float) else f'{k}={v}' for k, v in about['settings'].items())})",
        "device": about["device"],
        "time": f"{recording.times[-1]:g} s in {len(recording)} frames, {about['microseconds_per_step']:g} µs a step",
        "energy": f"{first:.6g} J at the start, {last:.6g} J at the end",
        "state": about["digest"],
    }
    if path:
        rows["saved"] = str(path)
    for name, text in rows.items():
        out.print(f"{name:>8}  {text}", highlight=False, soft_wrap=True)
