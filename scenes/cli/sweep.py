"""`verletlab sweep SCENE`: run a scene over a grid of parameters and options, on all processors or on a cluster."""

from collections import Counter

import rigid
from pbd.core.extras import load_extra
from pbd.core.messages import clipped
from pbd.core.validate import whole
from scenes.cli import terminal
from scenes.cli.terminal import SCENE, WrongCommand, counted, pairs, progress, usage_errors
from scenes.sweeps import MOST_UNCONFIRMED, execute, report
from scenes.sweeps.cluster import processors
from scenes.sweeps.directory import SweepDirectory
from scenes.sweeps.estimate import in_words, seconds_of
from scenes.sweeps.plan import SweepPlan

VALUES = "NAME=A,B,... or NAME=linspace(FIRST,LAST,COUNT) or NAME=range(FIRST,END,STEP)"
REASONS = 5  # most common ones that are printed
LIBRARIES = "dask", "distributed", "pandas", "pyarrow"  # of the extra sweep, which runs need


def add(commands):
    """Add the command. Args: commands: subparsers."""
    made = commands.add_parser(
        "sweep", usage="verletlab sweep SCENE --out DIR [FLAG ...]",
        help="run a scene over a grid of parameters and options, and measure each run",
        description="Writes table.parquet, with a row for each run, plots and index.html to a directory. It needs the "
        "extra sweep: pip install 'verletlab[sweep]'.",
    )  # fmt: skip
    made.add_argument("scene", metavar="SCENE", help=SCENE)
    made.add_argument("--param", action="append", default=[], metavar="VALUES",
                      help=f"values of a parameter of the scene: {VALUES}".replace("%", "%%"))  # fmt: skip
    made.add_argument("--option", action="append", default=[], metavar="VALUES", help="values of a solver's option")
    made.add_argument("--solver", metavar="A,B,...", help=f"solvers: {', '.join(rigid.SOLVERS)} (the scene's own)")
    made.add_argument("--dt", metavar="A,B,...", help="time steps [s] (the scene's own)")
    made.add_argument("--duration", type=float, metavar="SECONDS", help="duration of a run (the scene's own)")
    made.add_argument("--fps", type=float, default=60.0, metavar="N", help="measured frames per second (%(default)g)")
    made.add_argument("--precision", type=int, default=64, choices=(32, 64), help="bits of a float (%(default)s)")
    made.add_argument("--measure", metavar="FILE.py:FUNCTION",
                      help="function (scene, recording) that returns {name: number}: more columns of the table")
    made.add_argument("--out", required=True, metavar="DIR", help="directory for the files")
    made.add_argument("--jobs", type=int, metavar="N", help="processes on this machine (one for each processor)")
    made.add_argument("--scheduler", metavar="ADDRESS", help="a running Dask scheduler, such as tcp://HOST:8786")
    made.add_argument("--shard", type=int, metavar="N", help="runs that a process does together (by their size)")
    made.add_argument("--resume", action="store_true", help="go on with the sweep that the directory holds")
    made.add_argument("--dry-run", action="store_true", help="print the number of runs and the time, and run nothing")
    made.add_argument("--yes", action="store_true", help=f"start more than {MOST_UNCONFIRMED:,} runs")
    made.add_argument("--quiet", action="store_true", help="print errors only")
    made.set_defaults(command=sweep_scene)


def sweep_scene(given):
    """Run a sweep, print a summary."""
    with usage_errors():
        plan = plan_of(given)
        directory = SweepDirectory(given.out, plan, given.resume)
        jobs = processors() if given.jobs is None else whole("jobs", given.jobs)
        if given.dry_run or (plan.count > MOST_UNCONFIRMED and not given.yes):
            runs, time = counted(plan.count, "run"), in_words(seconds_of(plan, jobs))
            text = f"{runs} in {counted(plan.shards, 'shard')}, about {time} with {jobs} process{'es' * (jobs != 1)}"
            if not given.dry_run:
                raise WrongCommand(f"{text}: expected --yes to start them, or fewer values")
            terminal.out.print(text, markup=False, highlight=False)
            return
        for library in LIBRARIES:
            load_extra(library, "sweep")
    with progress(given, f"sweep {given.scene}") as update:
        try:
            table = execute(plan, directory, given.jobs, given.scheduler, update)
        except (KeyboardInterrupt, Exception) as stop:
            done = sum(len(plan.runs_of(shard)) for shard in directory.done)
            stop.saved = f"; {given.out} holds {done:,} of {plan.count:,} runs: --resume goes on" if done else ""
            raise
    with progress(given, f"plots of {given.scene}"):
        report.write(plan, table, directory.path)
    if not given.quiet:
        print_summary(table, directory)


def plan_of(given):
    """Make the SweepPlan of the command line. Raises: WrongCommand; see SweepPlan."""
    for flag in ("param", "option"):
        names = [word.partition("=")[0] for word in getattr(given, flag)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise WrongCommand(f"--{flag} {twice} is given twice: expected --{flag} {twice}=A,B,...")
    return SweepPlan(
        given.scene, pairs(given.param, "--param"), options=pairs(given.option, "--option"), solvers=given.solver,
        dt=given.dt, duration=given.duration, fps=given.fps, precision=given.precision, measure=given.measure,
        shard=given.shard,
    )  # fmt: skip


def print_summary(table, directory):
    """Print how many runs there are, why some failed, and where the table is."""
    failures = Counter(reason for reason in table["failure"] if reason)
    failed = f", {failures.total():,} of them failed" if failures else ""
    terminal.out.print(f"{counted(len(table), 'run')}{failed}", highlight=False)
    for reason, count in failures.most_common(REASONS):
        line = f"{count:>8,}  {clipped(reason)}"
        terminal.out.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    for name in ("table.parquet", "index.html"):
        terminal.out.print(str(directory.path / name), markup=False, highlight=False, soft_wrap=True)
