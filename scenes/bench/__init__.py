"""Benchmarks of speed and energy, and the stability of the bicycle.

Each figure has a digest of the final state, so that a faster wrong result is visible.

Compare figures of one run only.
"""

from scenes.bench.bicycle import bicycle
from scenes.bench.bodies import impulses, mass_ratio, ragdolls, trees
from scenes.bench.chains import random_chains
from scenes.bench.direct import direct_solve
from scenes.bench.energy import energy_against_cost
from scenes.bench.measure import COLUMNS
from scenes.bench.mechanisms import table1
from scenes.bench.particles import million, small, thread_worker, threads, worlds
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
}


def rows(names):
    """Yield lines of CSV as they are measured, the header first, and comments that start with #. Args: names."""
    yield COLUMNS
    for name in names:
        yield from BENCHMARKS[name]()


__all__ = ["BENCHMARKS", "rows", "thread_worker"]
