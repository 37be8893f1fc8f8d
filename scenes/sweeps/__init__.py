"""Sweeps: a scene over a grid of parameters and options, on the processors of a machine or of a cluster."""

from pbd.core.extras import load_extra
from pbd.core.files import temporary_folder
from pbd.core.validate import whole
from scenes.sweeps import report
from scenes.sweeps.cluster import connected, processors, run_shards
from scenes.sweeps.directory import SweepDirectory
from scenes.sweeps.plan import SweepPlan

MOST_UNCONFIRMED = 100_000  # runs that start without a confirmation


def sweep(
    scene, grid=None, *, options=None, solvers=None, dt=None, duration=None, fps=60.0, precision=64, measure=None,
    shard=None, out=None, jobs=None, scheduler=None, resume=False, confirmed=False, progress=None,
):  # fmt: skip
    """Run a scene over a grid of values, and measure each run.

    Args:
        scene: a name of the catalogue, FILE.py, FILE.py:FUNCTION or MODULE:FUNCTION, or a function that makes a Scene.
        grid: {parameter of the scene: values}. Values are a list, an array, one value, or text such as "16,32",
            "linspace(15, 21, 25)" or "range(5, 50, 5)".
        options: {option of the solver: values}, likewise.
        solvers: names; None for the scene's own.
        dt: time steps [s]; None for those of the scene. duration: of each run [s]; None for the scene's own.
        fps: measured frames per second [1/s]; largest values are those at frames.
        precision: 64 or 32 bits.
        measure: a function (scene, recording) that returns {name: number}, more columns; or FILE.py:FUNCTION.
        shard: how many runs are done together; None for a number by the size of the scene. Rows may differ in the last
            digits if it differs, because worlds of "verlet" with solve="direct" share the order of elimination.
        out: directory for the results; None for none.
        jobs: how many processes; None for one for each processor.
        scheduler: address of a running Dask scheduler; None for processes on this machine.
        resume: whether to go on with the sweep that `out` holds.
        confirmed: whether more than 100,000 runs may start.
        progress: called with the number of runs that are done, and of all.

    Returns: a pandas.DataFrame with a row for each run: its number, what was chosen for it, what was measured
    (scenes/comparison/summary.py), the digest of its last state, and `failure`, the reason why it failed, or "".

    Raises: ValueError for unknown names, empty lists, values that cannot be, and too many runs; FileExistsError if
        `out` holds something else; ConnectionError if no scheduler answers; ModuleNotFoundError without the extra.
    """
    plan = SweepPlan(scene, grid, options=options, solvers=solvers, dt=dt, duration=duration, fps=fps,
                     precision=precision, measure=measure, shard=shard)  # fmt: skip
    if plan.count > MOST_UNCONFIRMED and not confirmed:
        raise ValueError(f"{plan.count:,} runs: expected confirmed=True, or at most {MOST_UNCONFIRMED:,}")
    if out is None:
        with temporary_folder() as folder:
            return execute(plan, SweepDirectory(folder / "sweep", plan), jobs, scheduler, progress)
    directory = SweepDirectory(out, plan, resume)
    table = execute(plan, directory, jobs, scheduler, progress)
    report.write(plan, table, directory.path)
    return table


def execute(plan, directory, jobs=None, scheduler=None, progress=None):
    """Run what is not done of a sweep. Args: plan: a SweepPlan; directory: its SweepDirectory; others: see `sweep`.

    Returns: a pandas.DataFrame.
    """
    load_extra("pandas", "sweep"), load_extra("pyarrow", "sweep")
    left = [shard for shard in range(plan.shards) if shard not in directory.done]
    jobs = min(processors() if jobs is None else whole("jobs", jobs), max(len(left), 1))
    finished = sum(len(plan.runs_of(shard)) for shard in directory.done)

    def write(shard, rows):
        nonlocal finished
        directory.write_part(shard, rows)
        finished += len(rows)
        if progress:
            progress(finished, plan.count)

    if progress:
        progress(finished, plan.count)
    if left:
        with connected(jobs, scheduler) as client:
            directory.begin()
            run_shards(client, plan, left, write)
    return directory.finish().to_pandas()
