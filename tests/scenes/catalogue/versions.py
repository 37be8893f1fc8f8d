"""Scenes of the catalogue as parameters of tests, as their `@register` says: small versions, and which are slow."""

from functools import cache

import pytest

import scenes
from scenes.registry import available
from scenes.simulate.settings import DEFAULT_SETTINGS

# The fast suite runs a scene with its own solver, and these with another solver, too. Other pairs take long to compile.
FAST = {(name, "impulse") for name in ("dominoes", "stack")} | {("five_link_chain", "verlet")}

# It runs the first two with another solver only. Other tests are of contacts of "verlet", and of creases.
SLOW = {(name, "verlet") for name in ("dominoes", "stack", "fold")}


def load_small(name):
    """A new small scene."""
    return scenes.load(name, **available()[name].small)


small = cache(load_small)  # to read its attributes; a test that runs a scene loads its own


def solvers_with_settings(scene):
    """Solvers for which a scene has settings, or for which there are default settings."""
    return [solver for solver in scene.solvers if solver in {*scene.settings, *DEFAULT_SETTINGS}]


def version(name, solver, *values):
    """A parameter set of a test: a scene, a solver and more values, marked slow if the fast suite does not run it."""
    own = small(name).solver == solver
    fast = (own and not available()[name].slow and (name, solver) not in SLOW) or (name, solver) in FAST
    marks = [] if fast else [pytest.mark.slow]
    label = name if solver == "verlet" else f"{name}-{solver}"
    return pytest.param(name, solver, *values, marks=marks, id=label)
