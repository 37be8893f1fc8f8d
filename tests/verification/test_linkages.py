"""Linkages against the geometry of their loops, and a chain against its funicular polygon, for all solvers."""

import math

import numpy as np
import pytest
from marks import cases
from scipy.optimize import fsolve

import rigid
import scenes
from rigid.constraints.joints.positions import point_in_world
from scenes.catalogue import four_bar, peaucellier_lipkin
from scenes.simulate.run import Run

# Largest distance from the closed form with the settings of the scene [m]. "impulse" stops at 1e-6 N s and corrects
# positions in each step. "articulated" corrects the 1e-5 m by which a step opens a loop with the rows of its start, so
# that an error proportional to the rotation in the step remains. The error of "verlet" depends on its iterations.
WITHIN = {"impulse": 1e-6, "articulated": 5e-6, "verlet": 1e-5}


def pin(model, state, name):
    """x and z of both anchors of a joint (2, 2) [m]."""
    joint = model.joint(name)
    ends = (joint.parent, joint.parent_anchor), (joint.child, joint.child_anchor)
    return np.array([point_in_world(state, *end)[[0, 2]] for end in ends])


def follow(name, measure, solver, duration=None, **parameters):
    """Largest measured value over all steps of a scene.

    Args: measure: function of (model, state, joint positions) that returns a number or an array.
    """
    running = Run(scenes.load(name, **parameters), solver, duration)
    worst = 0.0
    for _ in range(running.steps):
        running.step()
        state, positions = running.system.state(), running.system.joint_positions()
        worst = max(worst, np.abs(measure(running.scene.model, state, positions)).max())
    return worst


# Peaucellier and Lipkin: L = 0.5, l = 0.2, ground and crank 0.2 m. P is on x = (L² - l²)/(2 · 0.2) = 0.525 m, and the
# line O B P is at half the crank's angle φ, which counts from the ground link: z = 0.525 tan φ/2.


def off_the_line(model, state, positions):
    (x, z), other = pin(model, state, "P")
    return [x - 0.525, z - peaucellier_lipkin.HEIGHT - 0.525 * math.tan(positions["crank"] / 2), *(other - (x, z))]


@pytest.mark.slow
@pytest.mark.parametrize("solver", cases(WITHIN, slow=["verlet"]))
def test_the_end_of_a_peaucellier_linkage_moves_on_a_line(solver):
    # Up to +60° of the crank, at steps of 10 ms and a tolerance of 1e-6 N s.
    assert follow("peaucellier_lipkin", off_the_line, solver, 2.1) < WITHIN[solver]


@pytest.mark.slow
@pytest.mark.parametrize("solver", WITHIN)
def test_end_stays_on_the_line_over_the_whole_stroke(solver):
    assert follow("peaucellier_lipkin", off_the_line, solver) < (WITHIN[solver] if solver == "verlet" else 5e-5)


def rows_and_rank(model):
    """Number of constraint rows of hinges, universal joints and balls, and the rank of their Jacobian."""
    rows = []

    def add(joint, d, turn_i, turn_j):
        row = np.zeros((len(model.bodies) + 1, 6))  # the last row is the ground, whose index is -1
        row[joint.parent], row[joint.child] = [*d, *turn_i], [*-d, *turn_j]
        rows.append(row[:-1].ravel())

    state = model.initial_state()
    for joint in model.joints:
        at = point_in_world(state, joint.parent, joint.parent_anchor)
        centres = [np.zeros(3) if body < 0 else state.position[body] for body in (joint.parent, joint.child)]
        for d in np.eye(3):
            add(joint, d, np.cross(at - centres[0], d), -np.cross(at - centres[1], d))
        first, second = model.body(joint.parent), model.body(joint.child)
        for a, b in {"hinge": [(1, 0), (2, 0)], "universal": [(0, 1)], "ball": []}[joint.kind]:
            turn = np.cross(first.world_direction(joint.parent_axes[a]), second.world_direction(joint.child_axes[b]))
            add(joint, np.zeros(3), turn, -turn)
    return len(rows), np.linalg.matrix_rank(rows, tol=1e-9)


@pytest.mark.parametrize("solver", ["impulse", "articulated"])
def test_nine_redundant_rows_do_not_change_the_motion(solver):
    # Seven bodies and one degree of freedom: 41 of 50 rows are enough. With balls and universal joints in place of six
    # hinges there are 41, and the crank drives P to the same places, up to the tolerance of 1e-6 N s.
    linkages = [scenes.load("peaucellier_lipkin", redundant=redundant) for redundant in (True, False)]
    assert [rows_and_rank(scene.model) for scene in linkages] == [(50, 41), (41, 41)]
    runs = [Run(scene, solver, 1.0) for scene in linkages]
    for _ in range(runs[0].steps):
        for each in runs:
            each.step()
        ends = [pin(each.scene.model, each.system.state(), "P") for each in runs]
        assert np.abs(ends[0] - ends[1]).max() < 5e-5


# Four bars: the pins on the ground are at 0 and d, the pin of crank and coupler is at A = a e^{iφ}. B is the
# intersection of the circles with radius b about A and radius c about d, on the side of the starting pose.


def off_the_loop(model, state, positions):
    a, b, c, d = 0.14, 0.4, 0.3, 0.42
    phi = math.pi / 2 + positions["crank"]
    across = np.array([a * math.cos(phi) - d, a * math.sin(phi)])
    e = np.linalg.norm(across)
    psi = math.atan2(across[1], across[0]) - math.acos((e**2 + c**2 - b**2) / (2 * e * c))
    return pin(model, state, "coupler and rocker") - (d + c * math.cos(psi), four_bar.HEIGHT + c * math.sin(psi))


@pytest.mark.parametrize("solver", cases(WITHIN, slow=["verlet"]))
def test_a_rocker_satisfies_its_loop_equation(solver):
    assert follow("four_bar", off_the_loop, solver, 2.2) < WITHIN[solver]


def off_the_stroke(model, state, positions):
    r, length, phi = 0.14, 0.4, positions["crank"]
    return positions["piston"] + r + length - r * math.cos(phi) - math.sqrt(length**2 - (r * math.sin(phi)) ** 2)


@pytest.mark.parametrize("solver", cases(WITHIN, slow=["verlet"]))
def test_a_piston_follows_its_crank(solver):
    assert follow("slider_crank", off_the_stroke, solver, 1.7) < WITHIN[solver]


# Chains ---------------------------------------------------------------------------------------------------------------


def polygon(lengths, loads, span):
    """Pins of a chain that hangs between two points at the same height (n + 1, 2) [m].

    Link k has the slope (V - Σ loads before it)/H, so that each pin is in equilibrium. H and V are found by the
    condition that the chain ends at the second point.

    Args: lengths: of n links [m]; loads: at the n - 1 pins between them [N]; span: [m].
    """

    def steps(pull):
        down = pull[1] - np.concatenate([[0.0], np.cumsum(loads)])
        return np.asarray(lengths)[:, None] * np.stack([np.full_like(down, pull[0]), -down], axis=1) / np.hypot(
            pull[0], down)[:, None]  # fmt: skip

    pull = fsolve(lambda pull: steps(pull).sum(axis=0) - (span, 0), (np.sum(loads), np.sum(loads) / 2), xtol=1e-13)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps(pull), axis=0)])


def test_a_chain_under_unequal_loads_hangs_in_its_funicular_polygon():
    # Ten links of 0.2 kg with unequal weights at their ends start in the polygon of equal loads.
    n, span, mass = 10, 3.0, 0.2
    x = np.linspace(0, span, n + 1)
    start = np.stack([x, 4 * 0.6 * ((x / span - 0.5) ** 2 - 0.25)], axis=1)
    weights = np.array([1.0, 0.5, 2.0, 1.0, 4.0, 0.5, 1.0, 3.0, 1.0])
    lengths = np.linalg.norm(np.diff(start, axis=0), axis=1)
    model, before = rigid.Model(), rigid.GROUND
    ends = np.insert(start, 1, 0.0, axis=1)
    for k in range(n):
        link = model.add_capsule(0.02, start=ends[k], end=ends[k + 1], mass=mass, mask=0)
        if k < n - 1:
            model.add_shape(link, rigid.Sphere(0.05, centre=ends[k + 1]), mass=weights[k], mask=0)
        model.add_hinge(before, link, ends[k], (0, 1, 0), spring=rigid.Spring(0.0, 2.0), name=f"pin {k}")
        before = link
    model.add_ball(rigid.GROUND, before, ends[n], name=f"pin {n}")
    solver = rigid.solver("impulse", model, dt=0.01, iterations=400)
    solver.step(1500)
    found = np.array([pin(model, solver.state(), f"pin {k}")[1] for k in range(n + 1)])
    expected = polygon(lengths, 9.81 * (weights + mass), span)
    assert np.abs(start - expected).max() > 0.025
    # After 15 s it is at rest, up to what its damping allows.
    assert np.abs(found - expected).max() < 1e-3


@pytest.mark.slow
def test_a_suspension_bridge_keeps_the_parabola_of_its_load():
    # It starts in the shape in which it hangs, so nothing moves, except for the first iterations.
    scene = scenes.load("suspension_bridge", robot=0)
    running = Run(scene, "impulse", 4.0, iterations=600, tolerance=1e-7)
    names = [f"{side} pin {k}" for side in ("near", "far") for k in range(1, 14)]
    start = scene.model.initial_state()
    x = 7.0 * (np.arange(1, 14) / 14 - 0.5)
    for name, place in zip(names, 2 * list(zip(x, 1.2 + 4 * (x / 7.0) ** 2))):
        assert np.allclose(pin(scene.model, start, name), place, atol=1e-12)
    for _ in range(running.steps):
        running.step()
    end = running.system.state()
    assert max(np.abs(pin(scene.model, end, name) - pin(scene.model, start, name)).max() for name in names) < 1e-4
