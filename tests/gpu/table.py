"""The table of docs/compatibility.md: scenes on graphics cards beside the processor, in 32 bits.

    python tests/gpu/table.py [SCENE SOLVER ...]         all scenes with all of their solvers, or these pairs
    python tests/gpu/table.py --devices cuda vulkan      on these, not on the first GPU that is found
    python tests/gpu/table.py --worlds 100               in so many worlds
    python tests/gpu/table.py --duration 0.05            for so long [s]

Prints a line for each as soon as it is known, as many at a time as the processor has cores. For each device: the
largest deviation of a position after 0.2 s, or the duration; the tolerance, three times what changes of the start by
round-off cause on the processor; and launches a substep.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

MARGIN = 3  # see test_gpu_results.py

ROOT = Path(__file__).resolve().parents[2]


def save_run(device, name, solver, worlds, duration, path, *schedule):
    """Run a scene in this process, and save positions, launches and the schedule.

    Args: device, name, solver; worlds; duration [s]; path: of a file; schedule: of projections, if another than the
    device's own.
    """
    from cases import ROUND_OFFS, change_by_round_off
    from versions import load_small

    from pbd.core.kernels import TRAFFIC, on_cpu
    from scenes.simulate.device import initialise
    from scenes.simulate.run import RunPlan, system_of

    initialise(device, precision=32, opt_level=0)
    assert on_cpu() == (device == "cpu"), "no graphics card"
    scene = load_small(name)
    plan = RunPlan(scene, solver, float(duration), **({"schedule": schedule[0]} if schedule else {}))

    def start():
        return system_of(scene, solver, {**plan.settings, "worlds": int(worlds)})

    system = start()
    TRAFFIC.clear()
    system.step(plan.steps)
    launches = TRAFFIC.launches / (plan.steps * system.substeps)
    particles = system if scene.model is None else system.particle_system
    schedule = particles.schedule.name if particles else ""
    position, spread = system.state().position, 0.0
    for seed, round_offs in enumerate(ROUND_OFFS if device == "cpu" else ()):
        other = start()
        change_by_round_off(other, round_offs, seed)
        other.step(plan.steps)
        spread = max(spread, np.abs(other.state().position - position).max())
    np.savez(path, position=position, tolerance=MARGIN * spread, launches=launches, schedule=schedule)


def saved_run(device, run, path, schedule, limit):
    """What a run in a process of its own saved. Args: run: name, solver, worlds, duration; limit [s]; see `save_run`.

    Raises: RuntimeError with the last line of an error.
    """
    environment = {**os.environ, "GALLIVM_PERF": "nopt"}
    words = [sys.executable, __file__, "--run", device, *map(str, run), path, *schedule]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, env=environment, timeout=limit, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{device}: not in {limit} s") from None
    if done.returncode:
        raise RuntimeError(f"{device}: {(done.stderr.strip() or f'exit {done.returncode}').splitlines()[-1]}")
    return dict(np.load(path))


def line_of(name, solver, devices, worlds, duration, limit):
    """A line of the table. Args: name: of a scene; solver; devices; worlds; duration, limit: of a run [s]."""
    cells, references, run = [], {}, (name, solver, worlds, duration)
    with tempfile.TemporaryDirectory() as folder:
        for device in devices:
            try:
                found = saved_run(device, run, f"{folder}/{device}.npz", [], limit)
                # Another schedule has another order.
                schedule = tuple(filter(None, [str(found["schedule"])]))
                if schedule not in references:
                    path = f"{folder}/cpu.npz"
                    references[schedule] = saved_run("cpu", run, path, schedule, limit)
                deviation = np.abs(found["position"] - references[schedule]["position"]).max()
                tolerance, launches = float(references[schedule]["tolerance"]), float(found["launches"])
                cells += [f"{deviation:.0e}", f"{tolerance:.0e}", f"{launches:.3g}"]
            except RuntimeError as error:
                cells += [str(error)[:160], "", ""]
    return f"| {name}, {solver} | {' | '.join(cells)} |"


def all_pairs():
    """All scenes with their solvers."""
    from versions import load_small, solvers_with_settings

    from scenes.registry import available

    return [(name, solver) for name in available() for solver in solvers_with_settings(load_small(name))]


def main():
    """Print the table as the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", nargs="*", metavar="SCENE SOLVER", help="default: all")
    parser.add_argument("--devices", nargs="+", default=["gpu"], metavar="NAME", help="such as cuda, vulkan")
    parser.add_argument("--worlds", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--duration", type=float, default=0.2, help="[s], default: %(default)s")
    parser.add_argument("--limit", type=float, default=900, help="of a run [s], default: %(default)s")
    given = parser.parse_args()
    if len(given.pairs) % 2:
        parser.error(f"{given.pairs[-1]} has no solver: expected pairs of a scene and a solver")
    pairs = list(zip(given.pairs[::2], given.pairs[1::2])) or all_pairs()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        of_all = given.devices, given.worlds, given.duration, given.limit
        lines = [pool.submit(line_of, *pair, *of_all) for pair in pairs]
        for line in as_completed(lines):
            print(line.result(), flush=True)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "scenes" / "catalogue")]
    if sys.argv[1:2] == ["--run"]:
        save_run(*sys.argv[2:])
    else:
        main()
