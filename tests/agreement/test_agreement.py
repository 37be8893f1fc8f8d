"""Solvers with different dynamics agree with one another and with references.

With step h and largest speed v, the error of a first-order scheme is below h v, and that of a second-order scheme below
(h v)², in radians or metres. Half the step leaves at most 0.6 or 0.35 of the error.
"""

import math
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from marks import cases
from references import ball_chain, ball_rods, chain_angles, four_bar, four_bar_centres, rod_chain

import rigid
import scenes
from rigid.rotation import from_matrix
from scenes.testing import assert_solvers_agree

g = 9.81


def stiff(step):
    """Options of "penalty" with short substeps and the largest stable stiffness, so that its error is negligible."""
    h = step / 256
    stiffness, damping = 0.25 / h**2, 0.25 / h
    return {
        "substeps": 256, "stiffness": stiffness, "damping": damping, "angular_stiffness": stiffness,
        "angular_damping": damping,
    }  # fmt: skip


# For each solver: options with which its iterations converge, and its order. Friction and contacts begin and end within
# a step, which makes every scheme first order.
SOLVERS = {
    "verlet": (lambda step: {"direction": "start", "iterations": 400}, {"joints": 2, "friction": 1, "contacts": 1}),
    "impulse": (lambda step: {"iterations": 400, "tolerance": 1e-10}, {"joints": 1, "friction": 1, "contacts": 1}),
    "articulated": (lambda step: {"iterations": 400, "tolerance": 1e-10}, {"joints": 1, "friction": 1, "contacts": 1}),
    "penalty": (stiff, {"joints": 1, "friction": 1, "contacts": 1}),
}

STEP = 0.005  # [s]; tests also use half of it
LARGEST, SMALLER = {1: 0.6, 2: 0.35}, 1e-6  # error with half the step, relative to that with a step, plus 1e-6


class Case(NamedTuple):
    """A model, what to read from a solver at the end, the expected value, and the largest speed on the way."""

    model: Any
    read: Any
    expected: np.ndarray
    speed: float
    kind: str = "joints"
    duration: float = 0.5
    probe: str = "position"


def absolute_angles(solver):
    """Angles of rods from the horizontal, summed from joint to joint [rad]."""
    return np.cumsum(list(solver.joint_positions().values()))


SLOPE, HEADING, FRICTION = math.radians(30), 0.7, 0.5
DOWN = np.array([math.cos(SLOPE) * math.cos(HEADING), math.cos(SLOPE) * math.sin(HEADING), -math.sin(SLOPE)])
UP = np.array([math.sin(SLOPE) * math.cos(HEADING), math.sin(SLOPE) * math.sin(HEADING), math.cos(SLOPE)])


def box_and_ball_on_a_slope():
    """A box that slides with its edges oblique to the slope, and a ball that rolls beside it, both from rest."""
    model = rigid.Model(gravity=(0, 0, -g))
    model.add_shape(rigid.GROUND, rigid.Plane(normal=UP), friction=FRICTION)
    across = np.cross(UP, DOWN)
    edge = math.cos(0.5) * DOWN + math.sin(0.5) * across
    turn = from_matrix(np.stack([edge, np.cross(UP, edge), UP], axis=1))
    model.add_box((0.3, 0.2, 0.1), mass=2.0, position=0.05 * UP, rotation=turn, friction=FRICTION)
    model.add_sphere(0.1, mass=1.0, position=0.1 * UP + 2 * across, friction=FRICTION)
    return model


def displacement_of(body):
    """Make a function that reads the displacement of a body from a solver (3,) [m]."""
    return lambda solver: solver.state().position[body] - solver.model.bodies[body].position


@cache
def case(name):
    if name == "pendulum":
        return Case(lambda: rod_chain(1), absolute_angles, *chain_angles(0.5, 1), probe="rotation")
    if name == "double pendulum":
        return Case(lambda: rod_chain(2), absolute_angles, *chain_angles(0.5, 2), probe="rotation")
    if name == "double pendulum on balls":
        spins = [(0, -1, 2), (3, 1, -2)]
        return Case(lambda: ball_rods(spins), lambda solver: solver.state().position, *ball_chain(0.5, spins))
    if name == "four-bar linkage":
        return Case(four_bar, lambda solver: solver.state().position, *four_bar_centres(0.5))
    if name == "chain with friction":
        expected, speed = chain_angles(0.5, 5, 0.5)
        return Case(lambda: rod_chain(5, 0.5), absolute_angles, expected, speed, "friction", probe="rotation")
    # a = g (sin α - μ cos α) for the box; 5/7 g sin α for the ball, which rolls because tan α < 7/2 μ.
    sliding = name == "box that slides"
    a = g * (math.sin(SLOPE) - FRICTION * math.cos(SLOPE)) if sliding else 5 / 7 * g * math.sin(SLOPE)
    body, probe = (0, "box 0 position") if sliding else (1, "sphere 1 position")
    return Case(box_and_ball_on_a_slope, displacement_of(body), 0.5 * a * DOWN, a, "contacts", 1.0, probe)


CASES = (
    "pendulum",
    "double pendulum",
    "double pendulum on balls",
    "four-bar linkage",
    "chain with friction",
    "box that slides",
    "ball that rolls",
)


# No other test of the fast suite shares the kernels of these.
SLOW = (
    "chain with friction", "box that slides", "ball that rolls", "double pendulum on balls", "four-bar linkage",
)  # fmt: skip
VERSIONS = cases(CASES, slow=SLOW)


@cache
def solved(name, solver, step):
    """Run a case and read its end. Args: name: of the case; solver; step: [s]."""
    one = case(name)
    made = rigid.solver(solver, one.model(), dt=step, **options_of(one, solver, step))
    made.step(round(one.duration / step))
    return one.read(made)


def options_of(one, solver, step):
    """Options of a solver for a Case. Args: one: a Case; solver: its name; step: [s]."""
    return {**SOLVERS[solver][0](step), "contacts": one.kind == "contacts"}


def bound(one, order, step):
    """Bound of an error [m or rad]. Args: one: a Case; order: of the scheme; step: [s]."""
    distance = step * one.speed
    return distance if order == 1 else distance**2


@pytest.mark.parametrize("name", VERSIONS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_solver_converges_to_the_reference_with_its_order(solver, name):
    one = case(name)
    order = SOLVERS[solver][1][one.kind]
    coarse, fine = (np.abs(solved(name, solver, h) - one.expected).max() for h in (STEP, STEP / 2))
    assert coarse < bound(one, order, STEP)
    assert fine < LARGEST[order] * coarse + SMALLER


@pytest.mark.parametrize("name", VERSIONS)
def test_all_solvers_agree_at_all_times(name, tmp_path):
    # Each solver is within the bound, so any two are within twice the bound.
    one = case(name)
    settings = {solver: {"dt": STEP, **options_of(one, solver, STEP)} for solver in SOLVERS}
    scene = scenes.Scene(model=one.model(), duration=one.duration, settings=settings, name=name)
    assert_solvers_agree(scene, list(SOLVERS), one.probe, tolerance=2 * bound(one, 1, STEP), folder=tmp_path)


@pytest.mark.parametrize("name", VERSIONS)
@pytest.mark.parametrize("pair", list(combinations(SOLVERS, 2)), ids="-".join)
def test_difference_of_two_solvers_shrinks_with_the_step(pair, name):
    one = case(name)
    order = min(SOLVERS[solver][1][one.kind] for solver in pair)
    differences = []
    for h in (STEP, STEP / 2):
        first, second = (solved(name, solver, h) for solver in pair)
        differences.append(np.abs(first - second).max())
    assert differences[1] < LARGEST[order] * differences[0] + SMALLER
