"""Table 1 of [3] in docs/solvers.md, made again: iterations and time of a step for three mechanisms, solver by solver.

Source: Mikhaylyuk, Strashnov, Timokhin, Algorithms of multibody dynamics simulation using articulated-body method:
sequential impulses in maximal coordinates (our "impulse") and in generalised ones (our "articulated"), in steps of at
most 10 ms, impulses to 1e-6, on a 3 GHz Pentium D.
"""

import time

import numpy as np

from scenes.bench.measure import row
from scenes.registry import load
from scenes.simulate.run import Run
from scenes.simulate.settings import settings_of

STEP, TOLERANCE, MOST = 0.01, 1e-6, 5000  # [s], [N s], sweeps

# Seconds of a step and iterations, as the source has them; its gripper is on an arm.
SOURCE = {
    "five_link_chain": {"impulse": (0.5e-3, 100), "articulated": (0.1e-3, 6)},
    "peaucellier_lipkin": {"impulse": (16e-3, 2300), "articulated": (1.2e-3, 40)},
    "gripper": {"impulse": (3e-3, 200), "articulated": (0.6e-3, 10)},
}
SOLVERS = ("impulse", "articulated", "verlet", "penalty")


def table1(duration=None):
    """Lines of CSV for each scene and solver, then the same as a table, in comments. Arguments: duration: of each run
    [s]; None for the scene's own."""
    found = {}
    for name in SOURCE:
        for solver in SOLVERS:
            scene = load(name)
            if solver not in scene.solvers:
                yield f"# table1: {solver} cannot run {name}: {scene.unsupported.get(solver, 'it has particles')}"
                continue
            seconds, sweeps, digest = measured(scene, solver, duration)
            found[name, solver] = seconds, sweeps
            yield row("table1", f"{name} {solver} time", seconds * 1e3, "ms/step", digest)
            if sweeps is not None:
                yield row("table1", f"{name} {solver} mean", sweeps.mean(), "iterations", digest)
                yield row("table1", f"{name} {solver} worst", sweeps.max(), "iterations", digest)
    yield from text(found)


def measured(scene, solver, duration=None):
    """Mean time of a step [s], sweeps of each step, None for a solver that makes none, and the digest of the end."""
    running = Run(scene, solver, duration, STEP, **options_of(scene, solver))
    seconds, sweeps = [], []
    for _ in range(running.steps):
        start = time.perf_counter()
        running.step()
        seconds.append(time.perf_counter() - start)
        sweeps.append(getattr(running.system.statistics(), "iterations", None))
    counted = None if None in sweeps else running.settings.get("substeps", 1) * np.array(sweeps, int)
    return float(np.mean(seconds[1:])), counted, (running.particles or running.system).digest()


def options_of(scene, solver):
    """What a solver runs a scene with. Impulses: one substep, until they are found; others: about the substeps that the
    scene has for them."""
    if solver in ("impulse", "articulated"):
        return {"substeps": 1, "iterations": MOST, "tolerance": TOLERANCE}
    own = settings_of(scene, solver)
    return {"substeps": max(1, round(STEP * own.get("substeps", 1) / own["dt"]))}


def text(found):
    """Lines of the table, as comments. Arguments: found: {(scene, solver): (seconds, sweeps)}."""
    solvers = [solver for solver in SOLVERS if any(solver == each for _, each in found)]
    yield f"# Steps of {STEP * 1e3:g} ms, impulses to {TOLERANCE:g} N s: time of one, mean iterations (and the worst)"
    heads = [*solvers, "source, maximal", "source, generalised"]
    yield "# " + f"{'':20}" + "".join(f"{head:>26}" for head in heads)
    for name, source in SOURCE.items():
        cells = [cell(*found[name, solver]) if (name, solver) in found else "-" for solver in solvers]
        cells += [f"{seconds * 1e3:.3g} ms, {count}" for seconds, count in source.values()]
        yield "# " + f"{name:20}" + "".join(f"{each:>26}" for each in cells)


def cell(seconds, sweeps):
    """One solver's figures of one scene."""
    counted = "" if sweeps is None else f", {sweeps.mean():.0f} ({sweeps.max()})"
    return f"{seconds * 1e3:.3g} ms{counted}"
