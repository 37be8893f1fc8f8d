"""Error against cost of rods: ours beside pyPBD's, MuJoCo's and PyElastica's, on a processor.

Two closed forms, with one material: 1 m long, a radius of 1 cm, Poisson's ratio 0.3, and Young's modulus from GAMMA.

    cantilever: clamped at one end, it falls from straight and bends by its weight, w L³/EI = GAMMA. The error is the
        distance of the tip from the elastica's, over the length, after SECONDS.
    ring: a straight rod is twisted by one turn and bent to a ring. It leaves its plane where the twist is more than
        2π√3 EI/GJ (Zajac, https://doi.org/10.1115/1.3636491), so where GJ is more than √3 EI. The error is that of GJ
        where a bend of 1e-6 m begins to grow.

All lose the same part of their velocity after each frame of 1/60 s, KEPT is left. The cost is the processor time of the
steps alone, for one second of motion, in one thread.

benchmarks/rod_programs.py makes the rod in each program, and says how they differ.
"""

import hashlib
import importlib.metadata
import json
import math
import os
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

import pbd
from benchmarks.outcomes import FRAME
from benchmarks.rod_plots import plot_costs
from benchmarks.rod_programs import (
    AREA,
    BENDING,
    CANTILEVER,
    DIRECT,
    FLEXIBLE,
    ITERATED,
    LENGTH,
    MUJOCO,
    OURS,
    POISSON,
    PROGRAMS,
    PYELASTICA,
    RING,
    WEIGHT,
    YOUNG,
)
from benchmarks.timing import row

SECONDS = 4.0  # of a cantilever [s]
SHEARING = 27 / 28 * YOUNG / (2 * (1 + POISSON)) * AREA  # of PyElastica, with its factor [N]

RATIO = math.sqrt(3)  # GJ/EI at which the ring buckles
# Bends of a ring out of its plane [m]: of one that has surely not buckled, of one that surely has.
DECAYED, LARGE = 1e-9, 1e-3
SECOND = round(1 / FRAME)  # it grows if it is larger in the third second than in the second one [frames]
RANGE, HALVINGS = 0.25, 7  # the part of RATIO on both sides in which buckling is sought, and steps of that

MISSING = {DIRECT: "pypbd", ITERATED: "pypbd", MUJOCO: "mujoco", PYELASTICA: "elastica"}  # modules of other programs

# Segments, substeps of a frame and iterations. PyElastica has about the fewest substeps that its waves of shear allow.
LADDERS = {
    CANTILEVER: {
        OURS: tuple((n, 1, iterations) for iterations in (1, 2, 4) for n in (10, 20, 40, 80)),
        DIRECT: tuple((n, 1, 1) for n in (10, 20, 40, 80)),
        ITERATED: ((10, 20, 1), (10, 20, 10), (20, 20, 10), (20, 80, 10), (40, 80, 10), (40, 200, 10)),
        MUJOCO: tuple((n, substeps, 1) for substeps in (1, 4) for n in (10, 20, 40, 80)),
        PYELASTICA: ((10, 300, 1), (20, 300, 1), (40, 300, 1), (80, 400, 1)),
    },
    RING: {
        OURS: tuple((n, substeps, 1) for substeps in (1, 4) for n in (10, 20, 40, 80)),
        ITERATED: ((10, 20, 10), (10, 20, 100), (20, 20, 10), (20, 80, 20)),
        PYELASTICA: tuple((n, 450, 1) for n in (10, 20, 40, 80)),
    },
}  # fmt: skip
WORTH = (1.0, 0.1, 0.01)  # errors [%] at which costs are compared


class Point(NamedTuple):
    """A run. Attributes: seconds: its cost, processor time of a second of motion [s]; error [%]; digest."""

    seconds: float
    error: float
    digest: str


def rods(picture=None, ladders=LADDERS):
    """Yield lines of CSV: cost and error of each setting, and ratios of costs.

    Args: picture: a .png or .svg file for the plot, or None; ladders: {case: {program: (segments, substeps, iterations)
    of its settings}}.
    """
    found = {}
    for name in sorted({name for ladder in ladders.values() for name in ladder if is_missing(name)}):
        yield f"# rods: {name} is left out, because it is not installed: pip install 'verletlab[peers]'"
    for case, ladder in ladders.items():
        found[case] = {name: [] for name in ladder if not is_missing(name)}
        for name, points in found[case].items():
            for setting in ladder[name]:
                point = run(name, case, *setting)
                points.append(point)
                label = "{} {} {} segments {} substeps {} iterations".format(case, name, *setting)
                yield row("rods", label, 1e3 * point.seconds, "ms for 1 s", point.digest)
                yield row("rods", f"{label} error", point.error, "%")
        yield from ratios(case, found[case])
    if picture is not None:
        yield f"# rods: the plot is in {plot_costs(picture, found)}"


def is_missing(name):
    """Whether a program is not installed, or too old to have rods."""
    if name not in MISSING:
        return False
    if find_spec(MISSING[name]) is None:
        return True
    return name == MUJOCO and int(importlib.metadata.version("mujoco").split(".")[0]) < 4


def run(name, case, segments, substeps, iterations):
    """Run a program. Args: name; case; segments; substeps; iterations. Returns: a Point."""
    if name not in MISSING:
        return measured(name, case, segments, substeps, iterations)
    code = f"from benchmarks.rods import worker; worker({name!r}, {case!r}, {segments}, {substeps}, {iterations})"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return Point(*json.loads(done.stdout.splitlines()[-1]))


def worker(*setting):
    """Run another program in this process, and print a Point. Args: see `run`."""
    sys.stdout.write("\n" + json.dumps(measured(*setting)) + "\n")


def measured(name, case, *setting):
    """A Point of a program in this process. Args: see `run`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of settings with too few iterations: their error is measured
        try:
            return (fallen if case == CANTILEVER else buckled)(name, *setting)
        except pbd.Diverged:
            return Point(math.nan, math.nan, "")


# Cases ----------------------------------------------------------------------------------------------------------------


def fallen(name, *setting):
    """Let a cantilever fall. Args: name; setting: segments, substeps, iterations. Returns: a Point."""
    made = PROGRAMS[name](None, *setting)
    seconds = cost_of(made, round(SECONDS / FRAME))
    tip = made.nodes()[-1, [0, 2]]
    return Point(seconds, 100 * float(np.linalg.norm(tip - reference(*FLEXIBLE[name]))) / LENGTH, digest(made.nodes()))


def buckled(name, *setting):
    """Seek the torsional stiffness at which a ring leaves its plane. Args, returns: see `fallen`.

    Its growth is zero there, and nearly straight beside it: halves a range, and draws a line through its ends.
    """
    low, high, at_low, at_high = (1 - RANGE) * RATIO, (1 + RANGE) * RATIO, None, None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        growth, seconds, state = growth_of(name, middle, *setting)
        if growth > 0:
            high, at_high = middle, growth
        else:
            low, at_low = middle, growth
    if at_low is None or at_high is None:  # it buckles outside the range
        return Point(seconds, math.nan, state)
    part = 0.5 if math.inf in (at_high, -at_low) else at_low / (at_low - at_high)
    return Point(seconds, 100 * ((low + part * (high - low)) / RATIO - 1), state)


def growth_of(name, ratio, *setting):
    """How the largest bend of a ring grows from its second second to the third. Args: name; ratio: GJ/EI; setting.

    Returns: the logarithm, ±infinity where it is LARGE or has DECAYED; cost of a second of motion [s]; digest.
    """
    made, bends = PROGRAMS[name](ratio, *setting), []

    def watch():
        bends.append(amplitude(made.nodes()))
        return not bends[-1] < LARGE

    seconds = cost_of(made, 3 * SECOND, watch)
    if not bends[-1] < LARGE:
        growth = math.inf
    elif max(bends[2 * SECOND :]) < DECAYED:  # the rest is round-off
        growth = -math.inf
    else:
        growth = math.log(max(bends[2 * SECOND :]) / max(bends[SECOND : 2 * SECOND]))
    return growth, seconds, digest(made.nodes())


def cost_of(made, frames, has_ended=lambda: False):
    """Move a rod. Args: made; frames; has_ended: called after each frame. Returns: cost of a second of motion [s]."""
    seconds, timed = 0.0, 0
    for frame in range(frames):
        before = time.process_time()
        made.step()
        if frame > 0:  # the first one compiles
            seconds += time.process_time() - before
            timed += 1
        made.slow()
        if has_ended():
            break
    return seconds / (max(timed, 1) * FRAME)


def amplitude(nodes):
    """Of the bend of a ring out of its plane that buckles, two waves around it [m]."""
    phase = np.exp(4j * np.pi * np.arange(len(nodes)) / len(nodes))
    return float(2 / len(nodes) * abs(phase @ nodes[:, 2]))


def reference(stretches, shears):
    """Tip of the heavy cantilever (2,) [m], along it and up. Args: whether it stretches by EA, shears by SHEARING."""
    from scipy.integrate import solve_bvp

    stretch, shear = stretches / (YOUNG * AREA), shears / SHEARING

    def slopes(s, y):
        angle, curvature, _, _ = y
        force = WEIGHT * (LENGTH - s)
        along, across = 1 + stretch * force * np.sin(angle), shear * force * np.cos(angle)
        x = along * np.cos(angle) - across * np.sin(angle)
        down = along * np.sin(angle) + across * np.cos(angle)
        return np.array([curvature, -force * x / BENDING, x, down])

    s = np.linspace(0, LENGTH, 201)
    start = np.array([1.2 * np.sin(np.pi * s / 2), np.zeros(201), s, 0.5 * s])
    ends = solve_bvp(slopes, lambda a, b: np.array([a[0], b[1], a[2], a[3]]), s, start, tol=1e-9, max_nodes=100_000)
    return np.array([ends.y[2, -1], -ends.y[3, -1]])


def digest(nodes):
    """A digest of nodes."""
    return hashlib.sha256(np.ascontiguousarray(nodes).tobytes()).hexdigest()[:16]


# Comparison -----------------------------------------------------------------------------------------------------------


def ratios(case, found):
    """Yield lines of CSV: costs of the cheapest settings within WORTH, in parts of ours.

    Args: case; found: {program: list of Points}.
    """
    for worth in WORTH:
        least = {
            name: min((each.seconds for each in points if abs(each.error) <= worth), default=math.inf)
            for name, points in found.items()
        }
        for name, seconds in least.items():
            if seconds == math.inf:
                yield f"# {case} {name} has no setting with an error of {worth:g} % or less"
            elif name != OURS and least.get(OURS, math.inf) < math.inf:
                yield row("rods", f"{case} {name} to {OURS} at {worth:g} %", seconds / least[OURS], "ratio")
