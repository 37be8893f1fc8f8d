"""Benchmarks of speed, energy and robustness, and the stability of the bicycle.

Each figure has a digest of the final state, so that a faster wrong result is visible.

Compare figures of one run only.
"""

from itertools import chain

from scenes.bench.bicycle import bicycle
from scenes.bench.bodies import impulses, mass_ratio, ragdolls, trees
from scenes.bench.chains import random_chains
from scenes.bench.direct import direct_solve
from scenes.bench.energy import energy_against_cost
from scenes.bench.measure import COLUMNS
from scenes.bench.mechanisms import table1
from scenes.bench.particles import million, small, thread_worker, threads, worlds
from scenes.bench.robustness import CLASSES, SOLVERS, robustness
from scenes.bench.sticks import sticks_against_c
from scenes.bench.watch import view

BENCHMARKS = {
    "sticks": sticks_against_c,
    "threads": threads,
    "small": small,
    "worlds": worlds,
    "ragdoll": ragdolls,
    "impulse": impulses,
    "articulated": trees,
    "table1": table1,
    "mass_ratio": mass_ratio,
    "bicycle": bicycle,
    "direct": direct_solve,
    "energy": energy_against_cost,
    "chains": random_chains,
    "view": view,
    "million": million,
    "robustness": robustness,  # last, because it compiles kernels that others would find slow
}


# Arguments of benchmarks that the command line can set.
SETTINGS = {"chains": ("count", "first"), "robustness": ("count", "first", "solver", "classes")}


def rows(names, **settings):
    """Lines of CSV as they are measured, the header first, and comments that start with #.

    Args: names: of benchmarks; settings: of SETTINGS, for all of them. Returns: an iterator.
    """
    return chain([COLUMNS], *[BENCHMARKS[name](**settings) for name in names])


__all__ = ["BENCHMARKS", "CLASSES", "SETTINGS", "SOLVERS", "rows", "thread_worker"]
