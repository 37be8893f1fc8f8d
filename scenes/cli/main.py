"""The command `verletlab`: list, new, run, render, view, compare, sweep, bench.

Exit status: 0 for success; 2 for a wrong command, before anything runs; 1 for a run that failed; 130 after Ctrl-C, and
after the signals SIGTERM and SIGHUP, which act alike. Each error is one line, and frames made before it are saved.
`python -X dev -m scenes` prints tracebacks.
"""

import argparse
import errno
import os
import sys
import textwrap

import rigid
from pbd.core.messages import nearest
from pbd.core.version import installed_version
from scenes.cli import bench, compare, new, render, sweep, terminal, view
from scenes.cli.compiling import compiling_stoppably
from scenes.cli.terminal import (
    SCENE,
    WrongCommand,
    fail,
    frames_of,
    note_saved,
    progress,
    reason,
    run_of,
    saved_note,
    usage_errors,
    warnings_in_one_line,
)
from scenes.registry import available, find, load
from scenes.render.video import check_output
from scenes.scene_files import name_of_scene
from scenes.simulate.device import DEVICES
from scenes.simulate.interrupts import stop_signals_interrupt
from scenes.simulate.run import record, recording_before
from scenes.simulate.settings import option_types

RENAMED = {("compare", "--sweep"): "--cost"}  # (command, flag): its name now
SIZES = ("--width", "--height")  # arguments of scenes.film


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and exit status 2."""

    def error(self, message):
        """Raise WrongCommand with argparse's message."""
        raise WrongCommand(f"{message} (see `{self.prog} --help`)")


class KnownOptions:
    """Options of all solvers in words, made when the help is shown: it takes the import of all solvers."""

    def __str__(self):
        return "; ".join(f"of {solver} {', '.join(option_types(solver))}" for solver in rigid.SOLVERS)


class ShowVersion(argparse.Action):
    """A flag that prints the version of the installed package, and ends the command."""

    def __call__(self, parser, *_given):
        """See argparse."""
        terminal.out.print(f"verletlab {installed_version()}", highlight=False)
        parser.exit()


def main(arguments=None):
    """Run the command. Args: arguments: a list of words; None for sys.argv. Returns: the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without µ must not stop a run
    try:
        with stop_signals_interrupt(), warnings_in_one_line():
            given = parse(sys.argv[1:] if arguments is None else arguments)
            with compiling_stoppably(getattr(given, "quiet", True), has_results=given.word != "view"):
                given.command(given)
            sys.stdout.flush()
        return 0
    except WrongCommand as error:
        return fail(error, 2)
    except KeyboardInterrupt as stop:
        return fail(f"stopped{saved_note(stop)}", 130)
    except BrokenPipeError:  # the reader closed the pipe, as `head` does
        discard_output()
        return 1
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        if getattr(error, "errno", None) == errno.ENOSPC and not error.filename:  # errors of files name them
            error.filename = "standard output"
            discard_output()
        return fail(f"{reason(error)}{saved_note(error)}", 1)


def discard_output():
    """Discard what standard output could not take, so that Python does not complain about it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# Arguments --------------------------------------------------------------------------------------------------------


def parser():
    """Make the parser of all commands and flags."""
    top = Parser(prog="verletlab", description="Run, film, view and compare scenes of particles and rigid bodies.")
    top.add_argument("--version", nargs=0, action=ShowVersion, help="show the version and exit")
    commands = top.add_subparsers(dest="word", metavar="COMMAND", parser_class=Parser)

    listed = commands.add_parser("list", help="list the scenes and their parameters",
                                 description="In a pipe: one line per scene, with name, summary and parameters "
                                 "separated by tabs.")  # fmt: skip
    listed.add_argument("scene", metavar="SCENE", nargs="?", help="one scene, and the solvers that run it")
    listed.set_defaults(command=list_scenes)
    new.add(commands)

    device = argparse.ArgumentParser(add_help=False)
    device.add_argument("--device", default="cpu", choices=DEVICES, metavar="NAME",
                        help="device on which kernels run: cpu, gpu for the first GPU that is found, or by what "
                        "interface: cuda, amdgpu, metal, vulkan (%(default)s)")  # fmt: skip

    any_run = argparse.ArgumentParser(add_help=False, parents=[device])
    any_run.add_argument("--duration", type=float, metavar="SECONDS", help="duration of the run (the scene's own)")
    any_run.add_argument("--dt", type=float, metavar="SECONDS", help="time step (the scene's own)")
    any_run.add_argument("--precision", type=int, default=64, choices=(32, 64), help="bits of a float (%(default)s)")
    any_run.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scene")
    any_run.add_argument("--quiet", action="store_true", help="print errors only")

    shared = argparse.ArgumentParser(add_help=False, parents=[any_run])
    shared.add_argument("--solver", choices=rigid.SOLVERS, metavar="NAME",
                        help=f"solver: {', '.join(rigid.SOLVERS)} (the scene's own)")  # fmt: skip
    option = shared.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                                 help="an option of the solver; %(known)s")  # fmt: skip
    option.known = KnownOptions()

    ran = commands.add_parser("run", parents=[shared], usage="verletlab run SCENE [FLAG ...]",
                              help="run a scene, print a summary, record it")  # fmt: skip
    ran.add_argument("scene", metavar="SCENE", help=SCENE)
    ran.add_argument("--out", metavar="FILE.npz", help="file for the recording (none)")
    ran.add_argument("--fps", type=float, default=60.0, metavar="N", help="recorded frames per second (%(default)g)")
    ran.set_defaults(command=run_scene)

    render.add(commands, shared)
    view.add(commands, shared)
    compare.add(commands, any_run)
    sweep.add(commands)

    bench.add(commands, device)
    top.commands = commands.choices
    return top


def parse(words):
    """Read the command and its flags from words. Raises: WrongCommand."""
    top = parser()
    first = next((word for word in words if not word.startswith("-")), None)
    if first is not None and first not in top.commands:
        raise WrongCommand(f"no command {first!r}{nearest(first, top.commands)} (there are {', '.join(top.commands)})")
    given, left = top.parse_known_args(words)
    if left:
        if not left[0].startswith("-"):
            raise WrongCommand(f"unexpected word {left[0]!r} (see `verletlab {first} --help`)")
        now = RENAMED.get((first, left[0]))
        meant = f"; it is called {now} now" if now else meant_flag(left[0], top.commands[first] if first else top)
        words = f"verletlab {first}" if first else "verletlab"
        raise WrongCommand(f"no flag {left[0]}{meant} (see `{words} --help`)")
    if not given.word:
        raise WrongCommand(f"no command: expected one of {', '.join(top.commands)} (see `verletlab --help`)")
    return given


def meant_flag(word, command):
    """Hint at the flag that was meant. Args: word: begins with a dash; command: a parser."""
    names = [flag[2:] for flag in command._option_string_actions if flag.startswith("--")]
    if word in SIZES and "size" in names:
        return "; did you mean '--size WxH'?"
    return nearest(word.lstrip("-"), names).replace("'", "'--", 1)  # the dashes would make short flags similar


# Commands --------------------------------------------------------------------------------------------------------


def list_scenes(given):
    """Print all scenes, or one with its solvers: as paragraphs on a terminal, else as lines of fields between tabs."""
    entries, solvers = available().values(), []
    if given.scene is not None:
        with usage_errors():
            name = name_of_scene(given.scene)
            entries, solvers = [find(name)], [f"solvers: {', '.join(load(name).solvers)}"]
    for entry in entries:
        parameters = [f"{k}={'' if value is None else value}" for k, value in entry.parameters.items()]
        if not terminal.out.is_terminal:
            sys.stdout.write("\t".join([entry.name, entry.summary, " ".join(parameters), *solvers]) + "\n")
            continue
        terminal.out.print(entry.name, style="bold", highlight=False)
        for text in (entry.summary, "  ".join(parameters), *solvers):
            lines = textwrap.wrap(text, max(min(terminal.out.width, 100) - 4, 20), break_on_hyphens=False)
            terminal.out.print(textwrap.indent("\n".join(lines), "    "), markup=False, highlight=False, soft_wrap=True)


def run_scene(given):
    """Run a scene, print a summary, and save the recording if --out is given."""
    with usage_errors():
        if given.out is not None:
            check_output(given.out, (".npz",))
        running = run_of(given)
    try:
        with progress(given, f"run {running.scene.name}") as update:
            recording = record(running, update)
    except Exception as error:
        recording = recording_before(error)
        if given.out and recording is not None:
            recording.save(given.out)
            note_saved(error, given.out, len(recording))
        raise
    if given.out:
        recording.save(given.out)
    if recording.about.get("interrupted"):
        stop = KeyboardInterrupt()
        note_saved(stop, given.out, len(recording) if given.out else 0)
        raise stop
    if not given.quiet:
        print_summary(recording, given.out)


def print_summary(recording, path):
    """Print a summary of a run. Args: recording; path: where it was saved, or None."""
    about, energy = recording.about, recording.energy
    settings = (f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}" for k, v in about["settings"].items())
    first, last = energy[min(1, len(energy) - 1), 2], energy[-1, 2]
    pace = f"{about['microseconds_per_step']:g} µs per step"
    rows = {
        "scene": about["scene"],
        "solver": f"{about['solver']}  ({', '.join(settings)})",
        "device": about["device"],
        "time": f"{recording.times[-1]:g} s in {frames_of(len(recording))}, {pace}",
        "energy": f"{first:.6g} J at the start, {last:.6g} J at the end",
        "last": ", ".join(f"{name} {value:.3g}" for name, value in about["last_step"].items()),
        "state": about["digest"],
    }
    for kind, label, what in (("tear", "torn", "stick"), ("break", "broken", "joint")):
        if events := [event for event in about.get("events", ()) if event["kind"] == kind]:
            count = f"a {what}" if len(events) == 1 else f"{len(events)} {what}s"
            rows[label] = f"{count}, the first at {events[0]['time']:.3g} s"
    if path:
        rows["saved"] = str(path)
    for name, text in rows.items():
        terminal.out.print(f"{name:>8}  {text}", markup=False, highlight=False, soft_wrap=True)
