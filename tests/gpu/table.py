"""The table of docs/compatibility.md: scenes on a graphics card beside the processor, in 32 bits.

    python tests/gpu/table.py [SCENE SOLVER ...]     all scenes with all of their solvers, or these pairs

Prints a line for each as soon as it is known: the largest deviation of a position after 0.2 s, and launches a substep.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DURATION, LIMIT = 0.2, 900  # [s] of motion; of time for a run

ROOT = Path(__file__).resolve().parents[2]


def save_run(device, name, solver, path, *schedule):
    """Run a scene in this process, and save positions, launches and the schedule.

    Args: device, name, solver; path: of a file; schedule: of projections, if another one than the device's own.
    """
    from versions import load_small

    from pbd.core.kernels import TRAFFIC, on_cpu
    from scenes.simulate.device import initialise
    from scenes.simulate.run import Run

    initialise(device, precision=32, opt_level=0)
    assert on_cpu() == (device == "cpu"), "no graphics card"
    run = Run(load_small(name), solver, DURATION, **({"schedule": schedule[0]} if schedule else {}))
    TRAFFIC.clear()
    run.system.step(run.steps)
    launches = TRAFFIC.launches / (run.steps * run.system.substeps)
    schedule = run.particles.schedule.name if run.particles else ""
    np.savez(path, position=run.system.state().position, launches=launches, schedule=schedule)


def line_of(name, solver):
    """A line of the table. Args: name: of a scene; solver."""
    environment = {**os.environ, "GALLIVM_PERF": "nopt"}
    found, schedule = [], []
    with tempfile.TemporaryDirectory() as folder:
        for device in ("gpu", "cpu"):
            words = [sys.executable, __file__, "--run", device, name, solver, f"{folder}/{device}.npz", *schedule]
            try:
                done = subprocess.run(
                    words, capture_output=True, text=True, check=False, env=environment, timeout=LIMIT, cwd=ROOT
                )
            except subprocess.TimeoutExpired:
                return f"| {name}, {solver} | not in {LIMIT} s on the {device} | |"
            if done.returncode:
                return f"| {name}, {solver} | {device}: {(done.stderr.strip() or '?').splitlines()[-1][:90]} | |"
            found.append(dict(np.load(f"{folder}/{device}.npz")))
            schedule = [str(found[0]["schedule"])] if found[0]["schedule"] else []  # another one has another order
    deviation = np.abs(found[0]["position"] - found[1]["position"]).max()
    return f"| {name}, {solver} | {deviation:.0e} | {float(found[0]['launches']):.3g} |"


def all_pairs():
    """All scenes with their solvers."""
    from versions import load_small, solvers_with_settings

    from scenes.registry import available

    return [(name, solver) for name in available() for solver in solvers_with_settings(load_small(name))]


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "scenes" / "catalogue")]
    if sys.argv[1:2] == ["--run"]:
        save_run(*sys.argv[2:])
    else:
        given = sys.argv[1:]
        for pair in list(zip(given[::2], given[1::2])) or all_pairs():
            print(line_of(*pair), flush=True)
