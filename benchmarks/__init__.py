"""Benchmarks of speed, energy and robustness, and the stability of the bicycle.

Each figure has a digest of the final state, so that a faster wrong result is visible.

Compare figures of one run only.
"""

from importlib import import_module
from itertools import chain

from benchmarks.scene_classes import CLASSES, SOLVERS
from benchmarks.timing import COLUMNS
from pbd.materials import FABRICS


def imported(module, name, *arguments):
    """A benchmark that is imported when it is called: some need MuJoCo and scipy, which take a second to import.

    Args: module: of this folder; name: of its function; arguments: of the function.
    """

    def measure(**settings):
        return getattr(import_module(f"benchmarks.{module}"), name)(*arguments, **settings)

    return measure


BENCHMARKS = {
    "sticks": imported("sticks", "sticks_against_c"),
    "threads": imported("particles", "threads"),
    "drape": imported("drape", "drape"),
    "fabric": imported("fabric", "laboratory"),
    "fabric_cost": imported("fabric_cost", "fabric_cost"),
    "curtain": imported("curtain", "curtain"),
    "rods": imported("rods", "rods"),
    "small": imported("particles", "small"),
    "worlds": imported("particles", "worlds"),
    "lanes": imported("lanes", "lanes_against_one_world"),
    "ragdoll": imported("bodies", "ragdolls"),
    "frame": imported("bodies", "frame_of_ragdoll"),
    "pile": imported("pile", "pile_on_threads"),
    "launches": imported("bodies", "launches"),
    "impulse": imported("bodies", "impulses"),
    "articulated": imported("bodies", "trees"),
    "table1": imported("mechanisms", "table1"),
    "mass_ratio": imported("bodies", "mass_ratio"),
    "bicycle": imported("bicycle", "bicycle"),
    "direct": imported("direct", "direct_solve"),
    "energy": imported("energy", "energy_against_cost"),
    "chains": imported("chains", "random_chains"),
    "peers": imported("peers", "peers"),
    "heaps": imported("heaps", "heaps"),
    "view": imported("viewer", "view"),
    "sweep": imported("sweeps", "sweep_against_bare_solver"),
    "million": imported("particles", "million"),
    "device": imported("device", "device"),
    "robustness": imported("robustness", "robustness"),  # last: it compiles kernels that others would find slow
}


# Arguments of benchmarks that the command line can set.
SETTINGS = {
    "chains": ("count", "first"), "curtain": ("count",), "fabric": ("fabrics", "picture"),
    "fabric_cost": ("count", "picture"), "rods": ("picture",), "robustness": ("count", "first", "solver", "classes"),
}  # fmt: skip


def rows(names, **settings):
    """Lines of CSV as they are measured, the header first, and comments that start with #.

    Args: names: of benchmarks, or of scenes; settings: of SETTINGS, for all of them. Returns: an iterator.
    """
    measures = [BENCHMARKS.get(name) or imported("any_scene", "speed_of", name) for name in names]
    return chain([COLUMNS], *[measure(**settings) for measure in measures])


__all__ = ["BENCHMARKS", "CLASSES", "FABRICS", "SETTINGS", "SOLVERS", "rows"]
