"""Scenes of the catalogue as parameters of tests: small versions, solvers, and which of them are slow."""

from functools import cache

import pytest

import scenes
from scenes.simulate.settings import DEFAULT_SETTINGS

# Parameters that make a scene small. Scenes without an entry run as they are.
SMALL = {
    "arch": {"stones": 5},
    "bouncing_balls": {"count": 5},
    "box": {"grains": 20, "sticks": 5},
    "bridge_collapse": {"planks": 6},
    "card_house": {"levels": 2},
    "chain": {"links": 4},
    "crate_on_trampoline": {"count": 12},
    "domino_spiral": {"count": 8},
    "dominoes": {"count": 5},
    "drape": {"count": 20},
    "flag": {"count": 15},
    "fold": {"columns": 8},
    "mobile": {"rods": 2},
    "newtons_cradle": {"balls": 3},
    "plant": {"branches": 4},
    "pyramid": {"rows": 4},
    "ragdoll_pile": {"count": 3},
    "ragdoll_stairs": {"steps": 5},
    "rope_bridge": {"planks": 9},
    "soft_body": {"resolution": 7},
    "scout_robot": {"bumps": 20},
    "stack": {"count": 4},
    "suspension_bridge": {"panels": 6},
    "tetrahedron": {"count": 2},
    "torn_cloth": {"count": 16},
    "trailer": {"bumps": 4},
    "wrecking_ball": {"rows": 4, "columns": 3, "links": 4},
}

# The fast suite runs a scene with its own solver, and these with another solver, too. Other pairs take long to compile.
FAST = {(name, "impulse") for name in ("dominoes", "stack")} | {("five_link_chain", "verlet")}

# Only the slow suite runs these scenes: no other test shares their kernels. tests/rigid and tests/verification test
# their joints and contacts, and the README runs a ragdoll.
SLOW = (
    "anthropomorphic_robot", "bicycle", "bouncing_balls", "bridge_collapse", "chain", "crate_on_trampoline",
    "domino_spiral", "door", "dzhanibekov", "high_mass_ratio", "manipulator", "mobile", "newtons_cradle", "ragdoll",
    "ragdoll_pile", "ragdoll_stairs", "scout_robot", "suspension_bridge", "torn_cloth", "trailer",
)  # fmt: skip


@cache
def small(name):
    """A small scene, to read its attributes; a test that runs a scene loads its own."""
    return scenes.load(name, **SMALL.get(name, {}))


def solvers_with_settings(scene):
    """Solvers for which a scene has settings, or for which there are default settings."""
    return [solver for solver in scene.solvers if solver in {*scene.settings, *DEFAULT_SETTINGS}]


def version(name, solver, *values):
    """A parameter set of a test: a scene, a solver and more values, marked slow if the fast suite does not run it."""
    own = small(name).solver == solver
    fast = (own and name not in SLOW) or (name, solver) in FAST
    marks = [] if fast else [pytest.mark.slow]
    label = name if solver == "verlet" else f"{name}-{solver}"
    return pytest.param(name, solver, *values, marks=marks, id=label)
