"""Error of the energy against the cost of a run: the bent chain by three of our solvers, and by MuJoCo if installed.

The chain is passive, so its energy should stay what it is. The error is the largest difference from the start, in parts
of m g L. The cost is the processor time of the steps alone, for one second of the chain's motion.

"verlet" has its energy at the middle of a step, where its velocities are of second order. The other solvers have it at
the end, where poses and velocities of semi-implicit Euler belong to times half a step apart.
"""

import math
import textwrap
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pbd
import rigid
from benchmarks import mujoco_solver
from benchmarks.chains import LENGTH, STARTS, bent_chain, energy_scale, rise_and_drift
from benchmarks.mujoco_solver import INTEGRATORS, MujocoSolver
from benchmarks.timing import has_32_bits, processor_time, row
from rigid.constraints.joints.gaps import joint_gaps
from scenes.comparison.report.figure import GRID, INK, plain, save, styled

STEPS = (1 / 60, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.00025, 0.0001)  # [s]
DURATION, TIMED, REPEATS = 10.0, 2.0, 5  # of a run [s], of a run that is timed [s]; repeats, the least counts
MOST_SECONDS = 0.03  # steps become no shorter when a second of motion takes more processor time [s]
SAMPLE = 0.01  # interval of samples of the energy [s]
WORTH = 0.05  # largest error that counts, in parts of m g L
LOWEST, HIGHEST, LOST = 1e-6, 500, 200  # of the plot, and where runs that diverge are marked [% of m g L]

OURS = "verlet direct"
OPTIONS = {
    OURS: ("verlet", {"solve": "direct", "iterations": 2, "direction": "start"}),
    "articulated": ("articulated", {}),
    "articulated variational": ("articulated", {"integrator": "variational"}),
    "impulse": ("impulse", {}),
    "impulse variational": ("impulse", {"integrator": "variational"}),
}

# Colour, mark and line of each method.
STYLES = {
    OURS: ("#d55e00", "o", "-"),
    "articulated": ("#0072b2", "s", "--"),
    "articulated variational": ("#0072b2", "s", "-"),
    "impulse": ("#117a55", "^", "--"),
    "impulse variational": ("#117a55", "^", "-"),
    "MuJoCo Euler": ("#8a8f98", "v", "--"),
    "MuJoCo implicitfast": ("#8a8f98", "x", ":"),
    "MuJoCo RK4": ("#1f2430", "D", "-"),
}


class Point(NamedTuple):
    """A run.

    Attributes: dt [s]; seconds: processor time of one second of motion [s], NaN if the run diverges too early; error,
    rise, drift: of the energy in parts of m g L, infinite if the run diverges; gap: largest joint gap at samples [m];
    digest: of the final state.
    """

    dt: float
    seconds: float
    error: float
    rise: float
    drift: float
    gap: float = 0.0
    digest: str = ""


def methods():
    """All methods: {name: function of a model and a step that makes a solver}. MuJoCo's are left out without it."""
    found = {name: partial(solver_of, solver, options) for name, (solver, options) in OPTIONS.items()}
    if mujoco_solver.mujoco is not None:
        found |= {f"MuJoCo {name}": partial(MujocoSolver, integrator=name) for name in INTEGRATORS}
    return found


def solver_of(name, options, model, dt):
    """Make one of our solvers. Args: name; options; model; dt [s]."""
    return rigid.solver(name, model, dt=dt, contacts=False, **options)


def curves(steps=STEPS, chosen=None, **settings):
    """Measure all methods. Args: steps [s]; chosen: names of methods, None for all; settings: of `measure`.

    Yields: the name of a start, the name of a method, a list of Points.
    """
    for start in STARTS:
        for name, make in methods().items():
            points = []
            for dt in steps if chosen is None or name in chosen else ():
                if not points or not points[-1].seconds > MOST_SECONDS:
                    points.append(measure(make, bent_chain(**STARTS[start]), dt, **settings))
            if points:
                yield start, name, points


def measure(make, model, dt, duration=DURATION, timed=TIMED, repeats=REPEATS):
    """Run a chain. Args: make: one of `methods`; model: a bent chain; dt, duration, timed [s]; repeats.

    Returns: a Point.
    """
    solver, every = make(model, dt), max(1, round(SAMPLE / dt))
    energies, gap = [solver.energy().total], 0.0
    try:
        for _ in range(round(duration / dt / every)):
            solver.step(every)
            energies.append(solver.energy().total)
            gap = max(gap, joint_gaps(model, solver.state()).max())
    except pbd.Diverged:
        energies.append(math.inf)
    changes = (np.array(energies) - energies[0]) / energy_scale(model, LENGTH)
    seconds = min(processor_time(make(model, dt), round(timed / dt)) for _ in range(repeats)) / timed
    if not np.isfinite(changes).all():
        return Point(dt, seconds, math.inf, math.inf, math.inf)
    found = np.abs(changes).max(), *rise_and_drift(changes), gap
    return Point(dt, seconds, *map(float, found), solver.digest())


def better_at(points, others):
    """Where a method has a smaller error than another at the same cost. Args: points, others: lists of Points.

    Between steps of the other its error is interpolated, both in logarithms. Beyond them it has that of its shortest
    step; a cheaper run than that of its longest step it does not have.

    Returns: mask of those points whose error counts (WORTH), and their processor times [s].
    """
    counted = [each for each in points if each.error < WORTH]
    known = sorted((math.log(each.seconds), math.log(min(each.error, 1e3))) for each in others if each.seconds > 0)
    costs, errors = np.array(known).T
    own = np.log([each.seconds for each in counted])
    theirs = np.interp(own, costs, errors, left=math.inf)
    return np.log([each.error for each in counted]) < theirs, np.exp(own)


def verdict(found):
    """Say in words where ours is better than others. Args: found: {method: list of Points} of one start."""
    always, partly, never = [], [], []
    for name in found:
        if name == OURS:
            continue
        better, costs = better_at(found[OURS], found[name])
        if better.all():
            always.append(name)
        elif not better.any():
            never.append(name)
        elif better[np.argmax(better) :].all():
            partly.append(f"{name} from {1e3 * costs[np.argmax(better)]:.2g} ms on")
        else:
            partly.append(f"{name} at {better.sum()} of {len(better)} steps")
    parts = {"more accurate than": always, "in part more accurate than": partly, "less accurate than": never}
    said = "; ".join(f"{words} {', '.join(names)}" for words, names in parts.items() if names)
    return f"At equal cost, where its error is below {100 * WORTH:g} %, {OURS} is {said or 'alone'}."


def energy_against_cost(**settings):
    """Yield lines of CSV: error and cost of all methods, and in words where ours is better. Args: see `curves`."""
    if has_32_bits():
        yield "# energy: 32 bits are too few for errors so small: expected --precision 64"
        return
    if mujoco_solver.mujoco is None:
        yield "# energy: MuJoCo is left out, because it is not installed: pip install 'verletlab[mjcf]'"
    found = {}
    for start, name, points in curves(**settings):
        found.setdefault(start, {})[name] = points
        for each in points:
            label = f"{start} {name} {1e3 * each.dt:.3g} ms"
            for what in ("error", "rise", "drift"):
                yield row("energy", f"{label} {what}", 100 * getattr(each, what), "% of m g L")
            yield row("energy", f"{label} cost", 1e3 * each.seconds, "ms of processor time for 1 s")
    for start, methods_of_start in found.items():
        yield f"# {start}: {verdict(methods_of_start)}"


def plot_energies(path, found=None):
    """Plot error against cost, a panel for each start.

    Args: path: a .png or .svg file; found: {(start, method): list of Points}; None to measure. Returns: the path.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = {(start, name): points for start, name, points in curves()} if found is None else found
    starts = list(dict.fromkeys(start for start, _ in found))
    with styled():
        figure = Figure((4.2 * len(starts), 6.0), layout="constrained")
        FigureCanvasAgg(figure)
        figure.get_layout_engine().set(rect=(0, 0.16, 1, 0.84))  # below are words
        axes = figure.subplots(1, len(starts), squeeze=False, sharey=True)[0]
        for axis, start in zip(axes, starts):
            draw_curves(axis, {name: points for (each, name), points in found.items() if each == start})
            axis.set_title(start.capitalize(), loc="left", fontweight="bold")
        axes[0].set_ylabel("largest change of the energy [% of m g L]")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper left", ncols=len(names), frameon=False, alignment="left",
                      title="A passive chain of five rods for 10 s, with steps of 1/60 s to 0.1 ms: how far its energy "
                      "is off, and what that costs. Below and left is better.", title_fontsize=10.5)  # fmt: skip
    return save(figure, Path(path))


def draw_curves(axis, found):
    """Draw error against cost of all methods, with a verdict in words. Args: axis; found: {method: list of Points}."""
    for name, points in found.items():
        colour, mark, line = STYLES[name]
        drawn = [each for each in points if math.isfinite(each.error)]
        front = name == OURS
        axis.plot(
            [1e3 * each.seconds for each in drawn], [100 * each.error for each in drawn], line, marker=mark,
            color=colour, label=name, markersize=5, linewidth=2.4 if front else 1.2, zorder=3 if front else 2,
        )  # fmt: skip
        lost = [1e3 * each.seconds for each in points if each.error == math.inf and each.seconds > 0]
        axis.plot(lost, [LOST] * len(lost), "x", color=colour, markersize=7, markeredgewidth=2)
        if lost:
            axis.annotate("diverges", (lost[-1], LOST), (7, 0), textcoords="offset points", color=colour, va="center")
    axis.axhline(100 * WORTH, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    axis.annotate("5 %", (1, 100 * WORTH), (-4, 3), ("axes fraction", "data"), "offset points", ha="right", fontsize=8)
    axis.set(xscale="log", yscale="log", ylim=(LOWEST, HIGHEST), xlabel="processor time of 1 s of motion [ms]")
    for along in (axis.xaxis, axis.yaxis):
        along.set_major_formatter(plain)
    axis.grid(color=GRID, linewidth=0.7)
    axis.set_axisbelow(True)
    words = textwrap.fill(verdict(found), 60)
    axis.text(0.0, -0.15, words, transform=axis.transAxes, va="top", fontsize=8.5, in_layout=False)
