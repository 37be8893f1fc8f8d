"""Processor time of a sweep beside that of the bare solver with as many worlds."""

import os
import subprocess
import sys
from itertools import product

import numpy as np

import rigid
from benchmarks.timing import digest_of, processor_time, row
from pbd.core.extras import load_extra
from pbd.core.files import temporary_folder
from pbd.core.kernels import real_bits
from scenes.registry import load
from scenes.simulate.device import initialise
from scenes.simulate.run import RunPlan
from scenes.sweeps.side_by_side import digests_of

ANGLES, LENGTHS = (10.0, 170.0), (0.5, 2.0)  # [degrees], [m]


def sweep_against_bare_solver(side=100, duration=None):
    """Processor time of a sweep over side x side pendulums and of one solver with as many worlds, one thread each.

    The sweep's is that of all its processes from start to end, with compilation. That of the solver has its steps only.
    Equal digests: both have the same states at the end.

    Args: side: values of each parameter; duration: of each run [s], None for the scene's own.
    """
    try:
        pandas, _ = load_extra("pandas", "sweep"), load_extra("distributed", "sweep")
    except ModuleNotFoundError as error:
        yield f"# sweep: {error}"
        return
    call = f"bare_worker({side}, {duration}, {real_bits()})"
    seconds, digest = finished("-c", f"from benchmarks.sweeps import bare_worker; {call}").split()[-2:]
    with temporary_folder() as folder:
        words = ["-m", "scenes", "sweep", "pendulum", "--out", str(folder / "sweep"), "--precision", str(real_bits())]
        for name, (first, last) in (("angle", ANGLES), ("length", LENGTHS)):
            words += ["--param", f"{name}=linspace({first},{last},{side})"]
        words += [] if duration is None else ["--duration", str(duration)]
        start = seconds_of_children()
        finished(*words)
        of_sweep = seconds_of_children() - start
        table = pandas.read_parquet(folder / "sweep" / "table.parquet")
    case = f"{side**2} pendulums"
    yield row("sweep", f"{case} bare solver", float(seconds), "CPU s", digest)
    yield row("sweep", f"{case} sweep", of_sweep, "CPU s", digest_of(table["digest"]))
    yield row("sweep", f"{case} ratio", of_sweep / float(seconds), "ratio")


def finished(*words):
    """Run Python with words in a process of its own, and wait for it. Returns: what it prints."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True).stdout


def seconds_of_children():
    """CPU time of all processes that this one has waited for, and of theirs [s]."""
    times = os.times()
    return times.children_user + times.children_system


def bare_worker(side, duration, bits):
    """Step one solver of all pendulums, and print its processor time [s] and digest."""
    initialise(precision=bits, one_thread=True)
    plan = RunPlan(load("pendulum"), duration=duration)
    values = product(np.linspace(*ANGLES, side).tolist(), np.linspace(*LENGTHS, side).tolist())
    models = [load("pendulum", angle=angle, length=length).model for angle, length in values]
    solver = rigid.solver(plan.solver, models, **plan.settings)
    seconds = processor_time(solver, plan.steps - 1)
    sys.stdout.write(f"{seconds * plan.steps / (plan.steps - 1)} {digest_of(digests_of(solver, side**2))}\n")
