"""The command `verletlab`: list, run, render, view, compare, bench.

Exit status 0 when done, 2 with one line for a wrong command, before anything is run; 1 with one line for a run that
failed, 130 after Ctrl-C. What was done until then is kept. `python -X dev -m scenes` shows where an error came from.
"""

import argparse
import importlib
import os
import sys
import textwrap
from pathlib import Path

import rigid
from pbd.core.validate import nearest
from scenes import bench
from scenes.cli import compare, terminal, view
from scenes.cli.terminal import (
    WrongCommand,
    fail,
    frames_of,
    keep,
    kept,
    pairs,
    progress,
    reason,
    start,
    understanding,
)
from scenes.registry import available, load
from scenes.render.film import draw_frames, renderer_for
from scenes.render.video import SUFFIXES, check_output
from scenes.simulate.device import DEVICES
from scenes.simulate.recording import Recording
from scenes.simulate.run import OPTIONS, Replay, Run, record


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and end the program with status 2."""

    def error(self, message):
        """Say it and stop."""
        raise WrongCommand(f"{message} (`{self.prog} --help` tells more)")


def main(arguments=None):
    """Run the command. Arguments: a list of words, the shell's where None. Returns: the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without µ shall not stop a run
    try:
        given = parse(sys.argv[1:] if arguments is None else arguments)
        given.command(given)
        return 0
    except WrongCommand as error:
        return fail(error, 2)
    except KeyboardInterrupt as stop:
        return fail(f"stopped{kept(stop)}", 130)
    except BrokenPipeError:  # who reads us has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        return fail(f"{reason(error)}{kept(error)}", 1)


# Words -----------------------------------------------------------------------------------------------------------


def parser():
    """All commands and their flags."""
    top = Parser(prog="verletlab", description="Scenes of particles and rigid bodies: run, film and measure them.")
    commands = top.add_subparsers(dest="word", metavar="COMMAND", parser_class=Parser)

    listed = commands.add_parser("list", help="the scenes there are, with their parameters",
                                 description="Where it is piped: a line a scene, name, summary and parameters, "
                                 "separated by tabs.")  # fmt: skip
    listed.set_defaults(command=list_scenes)

    device = argparse.ArgumentParser(add_help=False)
    device.add_argument("--device", default="cpu", choices=DEVICES, help="where kernels run (%(default)s)")

    any_run = argparse.ArgumentParser(add_help=False, parents=[device])
    any_run.add_argument("--duration", type=float, metavar="SECONDS", help="how long (the scene's own)")
    any_run.add_argument("--dt", type=float, metavar="SECONDS", help="time step (the scene's own)")
    any_run.add_argument("--precision", type=int, default=64, choices=(32, 64), help="bits of a number (%(default)s)")
    any_run.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scene")
    any_run.add_argument("--quiet", action="store_true", help="say nothing but errors")

    shared = argparse.ArgumentParser(add_help=False, parents=[any_run])
    shared.add_argument("--solver", choices=rigid.SOLVERS, metavar="NAME",
                        help=f"which solver steps it: {', '.join(rigid.SOLVERS)} (the scene's own)")  # fmt: skip
    known = "; ".join(f"of {solver} {', '.join(names)}" for solver, names in OPTIONS.items())
    shared.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help=f"an option of the solver: {known}")  # fmt: skip

    ran = commands.add_parser("run", parents=[shared], usage="verletlab run SCENE [FLAG ...]",
                              help="run a scene, tell how it went, record it")  # fmt: skip
    ran.add_argument("scene", metavar="SCENE", help="its name, see `verletlab list`")
    ran.add_argument("--out", metavar="FILE.npz", help="where to save the recording (nowhere)")
    ran.add_argument("--fps", type=float, default=60.0, metavar="N", help="frames recorded a second (%(default)g)")
    ran.set_defaults(command=run_scene)

    drawn = commands.add_parser("render", parents=[shared], usage="verletlab render SCENE --out FILE [FLAG ...]",
                                help="film a scene, draw its last moment, or make a page of it")  # fmt: skip
    drawn.add_argument("scene", metavar="SCENE", nargs="?", help="its name, see `verletlab list`")
    drawn.add_argument("--out", required=True, metavar="FILE",
                       help=".mp4 or .gif for a video, .png for the last moment, .html for a page")  # fmt: skip
    drawn.add_argument("--recording", metavar="FILE.npz", help="draw what `run --out` recorded, in place of a new run")
    drawn.add_argument("--fps", type=float, default=30.0, metavar="N", help="frames a second (%(default)g)")
    drawn.add_argument("--size", metavar="WxH", help="of the picture, in pixels (1280x720)")
    drawn.add_argument("--no-labels", action="store_true", help="no scene, solver and time in the corner")
    drawn.set_defaults(command=render_scene)

    view.add(commands, shared)
    compare.add(commands, any_run)

    benched = commands.add_parser("bench", parents=[device], usage="verletlab bench [NAME ...] [FLAG ...]",
                                  help="measure speed; CSV, with a hash of the state beside each figure")  # fmt: skip
    benched.add_argument("name", nargs="*", metavar="NAME", help=f"which: {', '.join(bench.BENCHMARKS)} (all)")
    benched.add_argument("--precision", type=int, default=32, choices=(32, 64), help="bits of a number (%(default)s)")
    benched.set_defaults(command=run_benchmarks, quiet=False)
    top.commands = commands.choices
    return top


def parse(words):
    """The command and its flags, from words. Errors: WrongCommand."""
    top = parser()
    first = next((word for word in words if not word.startswith("-")), None)
    if first is not None and first not in top.commands:
        raise WrongCommand(f"no command {first!r}{nearest(first, top.commands)} (there are {', '.join(top.commands)})")
    given, left = top.parse_known_args(words)
    if left:
        if not left[0].startswith("-"):
            raise WrongCommand(f"{left[0]!r} is one word too many (`verletlab {first} --help` tells more)")
        flags = top.commands[first]._option_string_actions if first else ()
        raise WrongCommand(f"no flag {left[0]}{nearest(left[0], flags)} (`verletlab {first} --help` tells more)")
    if not given.word:
        raise WrongCommand(f"no command: expected one of {', '.join(top.commands)} (`verletlab --help` tells more)")
    return given


def size_of(text):
    """Width and height from WxH."""
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise WrongCommand(f"--size {text}: expected WIDTHxHEIGHT, such as 1280x720") from None
    return width, height


def run_of(given):
    """The Run that was asked for."""
    options = pairs(given.option, "--option")
    parameters = pairs(given.param, "--param")
    start(given)
    scene = load(given.scene, **parameters)
    return Run(scene, given.solver, given.duration, given.dt, given.fps, **options)


def replay_of(given):
    """The Replay that was asked for, of a scene and parameters that the recording names."""
    for flag in ("solver", "duration", "dt", "param", "option"):
        if getattr(given, flag) not in (None, []):
            raise WrongCommand(f"--{flag} is of no use with --recording, where nothing is run")
    recording = Recording.load(given.recording)
    name = recording.about["scene"]
    if given.scene not in (None, name):
        raise WrongCommand(f"--recording {given.recording} is of scene {name!r}, not of {given.scene!r}")
    start(given)
    return Replay(load(name, **recording.about["parameters"]), recording, given.fps)


# Commands --------------------------------------------------------------------------------------------------------


def list_scenes(given):
    """Print all scenes: to a terminal as paragraphs, else as lines of fields separated by tabs."""
    for entry in available().values():
        parameters = [f"{name}={default}" for name, default in entry.parameters.items()]
        if not terminal.out.is_terminal:
            sys.stdout.write("\t".join([entry.name, entry.summary, " ".join(parameters)]) + "\n")
            continue
        terminal.out.print(entry.name, style="bold", highlight=False)
        for text in (entry.summary, "  ".join(parameters)):
            lines = textwrap.wrap(text, max(min(terminal.out.width, 100) - 4, 20), break_on_hyphens=False)
            terminal.out.print(textwrap.indent("\n".join(lines), "    "), markup=False, highlight=False, soft_wrap=True)


def run_scene(given):
    """Run a scene, print how it went, and save the recording where one is wanted."""
    with understanding():
        if given.out is not None:
            check_output(given.out, (".npz",))
        running = run_of(given)
    try:
        with progress(given, f"run {running.scene.name}") as update:
            recording = record(running, update)
    except Exception as error:
        if given.out and getattr(error, "recording", None):
            error.recording.save(given.out)
            keep(error, given.out, len(error.recording))
        raise
    if given.out:
        recording.save(given.out)
    if recording.about.get("interrupted"):
        stop = KeyboardInterrupt()
        keep(stop, given.out, len(recording) if given.out else 0)
        raise stop
    if not given.quiet:
        tell(recording, given.out)


def render_scene(given):
    """Film a scene, or make a page that replays it."""
    size = size_of(given.size or "1280x720")
    if not given.scene and not given.recording:
        raise WrongCommand("no scene: expected its name, or --recording (`verletlab render --help` tells more)")
    page = Path(given.out).suffix.lower() == ".html"
    for flag in ("size", "no_labels"):
        if page and getattr(given, flag):
            raise WrongCommand(f"--{flag.replace('_', '-')} is of no use with {given.out}, a page")
    with understanding():
        check_output(given.out, (*SUFFIXES, ".html"))
        write = importlib.import_module("scenes.render.page.replay").write if page else None  # it needs viser
        source = replay_of(given) if given.recording else run_of(given)
        renderer = None if page else renderer_for(source.scene, *size)
    try:
        with progress(given, f"render {source.scene.name}") as update:
            if page:
                large = write({source.solver: source}, given.out, progress=update)
                made = f"{frames_of(source.count)}, {large / 1e6:.1f} MB"
            else:
                frames = draw_frames(source, given.out, renderer, not given.no_labels, update)
                made = f"{frames_of(frames)} of {size[0]} x {size[1]}"
    except (KeyboardInterrupt, Exception) as stop:
        keep(stop, given.out, getattr(stop, "frames", 0))
        raise
    if not given.quiet:
        terminal.out.print(f"{given.out}: {made}", highlight=False, soft_wrap=True)


def run_benchmarks(given):
    """Print benchmarks as CSV."""
    for name in given.name:
        if name not in bench.BENCHMARKS:
            known = ", ".join(bench.BENCHMARKS)
            raise WrongCommand(f"no benchmark called {name!r}{nearest(name, bench.BENCHMARKS)} (there are {known})")
    with understanding():
        start(given)
    for line in bench.rows(given.name or list(bench.BENCHMARKS)):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def tell(recording, path):
    """Print how a run went."""
    about, energy = recording.about, recording.energy
    settings = (f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}" for k, v in about["settings"].items())
    first, last = energy[min(1, len(energy) - 1), 2], energy[-1, 2]
    pace = f"{about['microseconds_per_step']:g} µs a step"
    rows = {
        "scene": about["scene"],
        "solver": f"{about['solver']}  ({', '.join(settings)})",
        "device": about["device"],
        "time": f"{recording.times[-1]:g} s in {frames_of(len(recording))}, {pace}",
        "energy": f"{first:.6g} J at the start, {last:.6g} J at the end",
        "last": ", ".join(f"{name} {value:.3g}" for name, value in about["last_step"].items()),
        "state": about["digest"],
    }
    if path:
        rows["saved"] = str(path)
    for name, text in rows.items():
        terminal.out.print(f"{name:>8}  {text}", markup=False, highlight=False, soft_wrap=True)
