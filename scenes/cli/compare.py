"""`verletlab compare SCENE`: compare solvers, as a table and as files."""

import os
from pathlib import Path

import rigid
from scenes.cli import terminal
from scenes.cli.terminal import SCENE, WrongCommand, pairs, progress, scene_of, usage_errors
from scenes.comparison import summary
from scenes.comparison.compare import EQUAL, ComparisonPlan


def add(commands, parent):
    """Add the command. Args: commands: subparsers; parent: a parser with the flags of all runs."""
    made = commands.add_parser(
        "compare", parents=[parent], usage="verletlab compare SCENE [FLAG ...]",
        help="run a scene with several solvers and compare them",
        description="Prints a table. Writes summary.json, summary.csv, plots, videos and index.html to a directory.",
    )  # fmt: skip
    made.add_argument("scene", metavar="SCENE", help=SCENE)
    made.add_argument("--solvers", metavar="A,B,...",
                      help=f"solvers: {', '.join(rigid.SOLVERS)} (all that can run the scene)")  # fmt: skip
    made.add_argument("--reference", metavar="SOLVER",
                      help="the run that the others are compared with; SOLVER/100 for steps a hundred times "
                      "smaller (the scene's own solver)")  # fmt: skip
    made.add_argument("--equal", choices=EQUAL, metavar="WHAT",
                      help="iterations or time: give all solvers the same per simulated second (neither)")  # fmt: skip
    made.add_argument("--probe", action="append", metavar="NAME",
                      help="quantity to compare: a body, a joint, or one of position, rotation, angle, shift, "
                      "particles (all of these)")  # fmt: skip
    made.add_argument("--option", action="append", default=[], metavar="SOLVER.NAME=VALUE",
                      help="an option of a solver, see `verletlab run --help`")  # fmt: skip
    made.add_argument("--fps", type=float, default=60.0, metavar="N", help="measured frames per second (%(default)g)")
    made.add_argument("--cost", action="store_true",
                      help="also measure error and cost with more and fewer substeps and iterations")  # fmt: skip
    made.add_argument("--no-films", action="store_true", help="write no films")
    made.add_argument("--out", metavar="DIR", help="directory for the files (compare-SCENE)")
    made.add_argument("--force", action="store_true", help="write to a directory that is not empty")
    made.set_defaults(command=compare_solvers)


def compare_solvers(given):
    """Compare solvers, print a table, write files."""
    settings = {}
    for name, value in pairs(given.option, "--option").items():
        solver, dot, option = name.partition(".")
        if not dot:
            raise WrongCommand(f"--option {name}={value}: expected SOLVER.NAME=VALUE")
        settings.setdefault(solver, {})[option] = value
    with usage_errors():
        scene = scene_of(given)
        directory = Path(given.out or f"compare-{scene.name}")
        check_directory(directory, given.force)
        plan = ComparisonPlan(
            scene, given.solvers and given.solvers.split(","), given.reference, given.equal, given.duration, given.dt,
            given.probe, given.fps, given.cost, settings,
        )  # fmt: skip
    try:
        with progress(given, f"compare {scene.name}") as update:
            comparison = plan.run(lambda label, number, count: update(number, count, f"{scene.name}, {label}"))
    except KeyboardInterrupt as stop:
        comparison = getattr(stop, "comparison", None)
        if comparison is not None:
            comparison.save(directory, films=False)
            stop.saved = f"; {directory} holds {len(comparison.traces)} of {len(plan.runs)} runs"
        raise
    if not given.quiet:
        print_summary(comparison)
    with progress(given, f"film {scene.name}") as update:
        films = not given.no_films
        paths = comparison.save(directory, films, progress=lambda name, number, count: update(number, count, name))
    if not given.quiet:
        terminal.out.print(f"{paths[-1]}", markup=False, highlight=False, soft_wrap=True)


def check_directory(path, force=False):
    """Check that files can be written to a directory, before any work is done.

    Raises: FileExistsError if it is not empty, without `force`; NotADirectoryError; PermissionError.
    """
    for ancestor in (path.absolute(), *path.absolute().parents):
        if ancestor.exists() and not ancestor.is_dir():
            raise NotADirectoryError(f"{path}: {ancestor} is a file, not a directory")
    if path.is_dir() and any(path.iterdir()) and not force:
        raise FileExistsError(f"{path}: the directory is not empty: expected another --out, or --force")
    there = next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(f"{path}: the directory {there} is not writable")


def print_summary(comparison):
    """Print the table, and the solvers that failed or cannot run the scene."""
    say = terminal.out.print
    terms = f", equal {comparison.equal}" if comparison.equal else ""
    say(f"{comparison.scene.name} against {comparison.reference}{terms}", markup=False, highlight=False)
    for table in summary.tables(comparison, terminal.out.width):
        say(table, highlight=False)
    for trace in comparison.traces:
        if trace.failure:
            say(f"{trace.label} failed: {trace.failure}", style="red", markup=False, highlight=False)
    reasons = {}
    for label, why in comparison.unsupported.items():
        reasons.setdefault(why, []).append(label)
    for why, labels in reasons.items():
        say(f"{', '.join(labels)} cannot run the scene: {why}", style="yellow", markup=False, highlight=False)
