"""Table 1 of [3] in docs/solvers/sources.md: iterations and time per step of each solver for its mechanisms.

Source: Mikhaylyuk, Strashnov, Timokhin, Algorithms of multibody dynamics simulation using articulated-body method. It
uses sequential impulses in maximal coordinates (our "impulse") and in generalised coordinates (our "articulated"),
steps of at most 10 ms, a tolerance of 1e-6 N s for impulses and a 3 GHz Pentium D.

Departure: where contacts hold a body, the tolerance is for velocities times effective mass (`convergence`).
"""

import time

import numpy as np

from benchmarks.timing import row
from scenes.registry import load
from scenes.simulate.run import Run
from scenes.simulate.settings import settings_of

STEP, TOLERANCE, MOST = 0.01, 1e-6, 5000  # [s], [N s], iterations

# Time of a step [s] and iterations in the source. Its gripper is on an arm, like ours of `manipulator`.
SOURCE = {
    "five_link_chain": {"impulse": (0.5e-3, 100), "articulated": (0.1e-3, 6)},
    "peaucellier_lipkin": {"impulse": (16e-3, 2300), "articulated": (1.2e-3, 40)},
    "manipulator": {"impulse": (3e-3, 200), "articulated": (0.6e-3, 10)},
    "gripper": {"impulse": (3e-3, 200), "articulated": (0.6e-3, 10)},
}

# Contacts of these hold a body. Their rows contradict one another by some 1e-5 m/s, so impulses alone do not converge.
GRASPS = ("manipulator", "gripper")

SOLVERS = ("impulse", "articulated", "verlet", "penalty")


def table1(duration=None):
    """Yield lines of CSV for each scene and solver, then a table in comments.

    Args: duration: of each run [s]; None for the scene's own.
    """
    found = {}
    for name in SOURCE:
        for solver in SOLVERS:
            scene = load(name)
            if solver not in scene.solvers:
                yield f"# table1: {solver} cannot run {name}: {scene.reasons[solver]}"
                continue
            seconds, iterations, digest = measured(scene, solver, duration)
            found[name, solver] = seconds, iterations
            yield row("table1", f"{name} {solver} time", seconds * 1e3, "ms/step", digest)
            if iterations is not None:
                yield row("table1", f"{name} {solver} mean", iterations.mean(), "iterations", digest)
                yield row("table1", f"{name} {solver} worst", iterations.max(), "iterations", digest)
    yield from table_lines(found)


def measured(scene, solver, duration=None):
    """Measure a run: mean time of a step [s], iterations of each step (None if the solver makes none), final digest."""
    running = Run(scene, solver, duration, STEP, **options_of(scene, solver))
    seconds, iterations, counts = [], [], running.system.iterations is not None
    for _ in range(running.steps):
        start = time.perf_counter()
        running.step()
        seconds.append(time.perf_counter() - start)
        if counts:
            iterations.append(running.system.statistics().iterations)
    made = running.system.substeps * np.array(iterations, int) if counts else None
    return float(np.mean(seconds[1:])), made, running.system.digest()


def options_of(scene, solver):
    """Options for a scene and a solver: one substep and a tolerance for impulses, else about the scene's substeps."""
    if solver in ("impulse", "articulated"):
        convergence = "velocities" if scene.name in GRASPS else "impulses"
        return {"substeps": 1, "iterations": MOST, "tolerance": TOLERANCE, "convergence": convergence}
    own = settings_of(scene, solver)
    return {"substeps": max(1, round(STEP * own.get("substeps", 1) / own["dt"]))}


def table_lines(found):
    """Yield the lines of the table as comments. Args: found: {(scene, solver): (seconds, iterations)}."""
    solvers = [solver for solver in SOLVERS if any(solver == each for _, each in found)]
    yield f"# Steps of {STEP * 1e3:g} ms, impulses to {TOLERANCE:g} N s: time of one, mean iterations (and the worst)"
    heads = [*solvers, "source, maximal", "source, generalised"]
    yield "# " + f"{'':20}" + "".join(f"{head:>26}" for head in heads)
    for name, source in SOURCE.items():
        cells = [cell(*found[name, solver]) if (name, solver) in found else "-" for solver in solvers]
        cells += [f"{seconds * 1e3:.3g} ms, {count}" for seconds, count in source.values()]
        yield "# " + f"{name:20}" + "".join(f"{each:>26}" for each in cells)


def cell(seconds, iterations):
    """Format the figures of one solver and scene."""
    made = "" if iterations is None else f", {iterations.mean():.0f} ({iterations.max()})"
    return f"{seconds * 1e3:.3g} ms{made}"
