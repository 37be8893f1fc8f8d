"""What a worker does: run a shard of runs, and make their rows of the table."""

import socket
import warnings
from pathlib import Path

import numpy as np

import rigid
from pbd.core.messages import clipped
from scenes.comparison import summary
from scenes.comparison.measure import Reporter, series
from scenes.comparison.results import Trace
from scenes.simulate.device import initialise
from scenes.simulate.run import Run, RunPlan, record
from scenes.sweeps.plan import files_of
from scenes.sweeps.side_by_side import key_of, record_side_by_side

LONGEST_REASON = 500  # characters
NOT_MEASURED = ("label", "solver", "reference", "microseconds_per_step", "seconds_per_second")  # of summary.row


def run_shard(job, runs):
    """Run a shard in this process, which starts Taichi with one thread.

    Args: job: a scenes.sweeps.plan.Job; runs: RunsOfSweep.

    Returns: a row {column: value} of each run, without what was chosen for it. The row of a run that failed has only
    the reason, as `failure`.

    Raises: RuntimeError if this process has started Taichi otherwise, or sees other files.
    """
    found = initialise(precision=job.precision, one_thread=True)
    if not found.endswith(f"{job.precision} bits"):
        raise RuntimeError(f"worker on {socket.gethostname()} runs with {found}: restart it for {job.precision} bits")
    check_files(job)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of a run that gains energy, whose row has the drift
        return rows_of(job, runs)


def check_files(job):
    """Raise RuntimeError if this machine does not have the files of the job, or has others of the same names."""
    for path, digest in job.files.items():
        if files_of(path).get(path) != digest:
            there = "another file" if Path(path).is_file() else "no file"
            raise RuntimeError(f"worker on {socket.gethostname()} sees {there} {path}: expected a shared folder")


def rows_of(job, runs):
    """Rows of runs, in their order. Those of one structure run side by side."""
    rows, groups = {}, {}
    for run in runs:
        try:
            plan = RunPlan(job.scene_with(run.parameters), run.solver, job.duration, fps=job.fps, **run.options)
            groups.setdefault(key_of(plan) or run.number, []).append((run, plan))
        except Exception as error:
            rows[run.number] = failed(error)
    for group in groups.values():
        rows |= zip([run.number for run, _ in group], rows_of_group(job, group))
    return [rows[run.number] for run in runs]


def rows_of_group(job, group):
    """Rows of runs that are worlds of one solver. If one of them fails, halves of them run again, then quarters.

    Args: job; group: pairs (RunOfSweep, RunPlan).
    """
    try:
        plans = [plan for _, plan in group]
        found = record_side_by_side(plans) if len(group) > 1 else [record_alone(job, *group[0])]
        return [row_of(job, plan, *each) for plan, each in zip(plans, found)]
    except Exception as error:
        if len(group) == 1:
            return [failed(error)]
        middle = len(group) // 2
        return rows_of_group(job, group[:middle]) + rows_of_group(job, group[middle:])


def record_alone(job, run, plan):
    """Run a scene by itself. Returns: a Recording, numbers, joint positions, as `record_side_by_side` yields them."""
    running = Run(plan.scene, plan.solver, job.duration, fps=job.fps, **run.options)
    reporter = Reporter(running.system, running.overlaps)
    recording = record(running, lambda *_: reporter.read(None if plan.scene.model is None else running.system.state()))
    if recording.about.get("interrupted"):
        raise KeyboardInterrupt
    return recording, *reporter.series()


def step_settings(plan):
    """Time step, substeps and iterations of a run; no iterations if the solver makes none. Args: a RunPlan."""
    settings = {**rigid.solver_class(plan.solver).Options.defaults(), **plan.settings}
    return {name: settings[name] for name in ("dt", "substeps", "iterations") if settings.get(name) is not None}


def row_of(job, plan, recording, numbers, joint_positions):
    """The row of a run that did not fail. Args: recording, numbers, joint_positions: see `record_side_by_side`."""
    found = series(plan.scene, recording, numbers, joint_positions)
    trace = Trace(plan.solver, "", step_settings(plan), recording, found, digest=recording.about["digest"])
    row = {name: value for name, value in summary.row(trace, False).items() if name not in NOT_MEASURED}
    measure = job.measuring()
    measured = {} if measure is None else dict(measure(plan.scene, recording))
    for name, value in measured.items():
        if name in row:
            raise ValueError(f"measure {name!r}: expected a name that no other column has")
        measured[name] = value.item() if isinstance(value, np.generic) else value
    return {**measured, **row}


def failed(error):
    """The row of a run that failed. Args: error."""
    expected = isinstance(error, (ArithmeticError, RuntimeError, ValueError, OSError)) and str(error)
    return {"failure": clipped(error if expected else f"{type(error).__name__}: {error}", LONGEST_REASON)}
