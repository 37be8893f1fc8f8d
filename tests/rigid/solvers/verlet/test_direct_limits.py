"""Limits of joints as inequalities of the direct solve, C >= 0 and λ >= 0."""

import numpy as np
import pytest
from described import momenta_of_particles
from marks import slow

import rigid
import scenes
from benchmarks.chains import energy_scale, random_chain
from rigid.constraints.joints.gaps import joint_gaps, limit_violations

g = 9.81
LENGTH = 0.5


def arm(kind, gravity=(0, 0, -g), velocity=(0, 0, 0), turn=(0, 0, 0), parent=None, **limits):
    """A rod along x, joined at its end to the ground or to another rod."""
    model = rigid.Model(gravity=gravity)
    base = rigid.GROUND
    if parent:
        base = model.add_box((LENGTH, 0.05, 0.05), mass=parent, position=(-LENGTH / 2, 0, 0))
    moving = {"velocity": velocity, "angular_velocity": turn}
    rod = model.add_box((LENGTH, 0.05, 0.05), mass=1.0, position=(LENGTH / 2, 0, 0), name="rod", **moving)
    if kind == "ball":
        model.add_ball(base, rod, (0, 0, 0), axis=(1, 0, 0), name="joint", **limits)
    elif kind == "slider":
        model.add_slider(base, rod, (0, 0, 0), (0, 0, 1), name="joint", **limits)
    else:
        model.add_hinge(base, rod, (0, 0, 0), (0, 1, 0), name="joint", **limits)
    return model


def solver_of(model, **options):
    given = {"dt": 0.005, "iterations": 2, "solve": "direct", "contacts": False, **options}
    return rigid.solver("verlet", model, **given)


@pytest.mark.parametrize("direction", ["start", slow("current")])
@pytest.mark.parametrize(
    ("kind", "limits", "low", "high"),
    [
        ("hinge", {"limits": (-0.3, 0.4)}, -0.3, 0.4),
        slow("hinge", {"limits": (-7.0, 0.4)}, -7.0, 0.4),
        slow("slider", {"limits": (-0.2, 0.1)}, -0.2, 0.1),
    ],
)
def test_coordinate_stops_at_its_limit(kind, limits, low, high, direction):
    # The rod falls onto its limit and stays there: at every step within the limits, at the end at the nearer one.
    solver = solver_of(arm(kind, **limits), direction=direction, damping=0.01)
    found = []
    for _ in range(400):
        solver.step(1)
        found.append(float(np.ravel(solver.joint_positions()["joint"])[0]))
    found = np.array(found)
    assert found.min() > low - 1e-6
    assert found.max() < high + 1e-6
    at_rest = low if abs(found[-1] - low) < abs(found[-1] - high) else high
    assert found[-1] == pytest.approx(at_rest, abs=1e-6)
    assert abs(found[-1]) > 0.05  # it has fallen


def test_limit_does_not_pull():
    # A rod at its limit that is thrown off it moves as one without limits: λ >= 0 never holds it back.
    thrown = {"turn": (0, -6.0, 0), "velocity": (0, 0, 6.0 * LENGTH / 2)}
    free, limited = (solver_of(arm("hinge", **thrown, **limits)) for limits in ({}, {"limits": (-2.0, 0.0)}))
    for _ in range(40):
        free.step(1)
        limited.step(1)
        assert limited.joint_positions()["joint"] == pytest.approx(free.joint_positions()["joint"], abs=1e-8)
    assert free.joint_positions()["joint"] < -0.3


def test_ball_keeps_swing_and_twist():
    model = arm("ball", turn=(8.0, 0, 0), swing_limit=0.5, twist_limits=(-0.2, 0.3))
    solver = solver_of(model, damping=0.002)
    violations = []
    for _ in range(400):
        solver.step(1)
        violations.append(np.abs(limit_violations(model, solver.joint_positions())).max())
        assert joint_gaps(model, solver.state()).max() < 1e-4 * LENGTH  # violations of sticks are below 1e-5 of a stick
    assert max(violations) < 1e-5
    assert solver.state().position[0][2] < -0.1  # it hangs at its swing limit, sin(0.5) LENGTH/2 below


def test_impact_on_a_limit_keeps_momenta():
    # Σ ∇C = 0 and Σ x × ∇C = 0, and impulses have the directions of the start of the step.
    model = arm("hinge", gravity=(0, 0, 0), turn=(0, 5.0, 0), parent=2.0, limits=(-0.3, 0.3))
    solver = solver_of(model, iterations=6, direction="start")
    solver.step(1)
    before, angles = np.concatenate(momenta_of_particles(solver)), []
    for _ in range(60):
        solver.step(1)
        angles.append(solver.joint_positions()["joint"])
        assert np.concatenate(momenta_of_particles(solver)) == pytest.approx(before, abs=1e-9)
    assert max(np.abs(angles)) == pytest.approx(0.3, abs=1e-5)  # it was struck


OF_THE_SCENE = {"substeps": 4, "iterations": 4, "direction": "current", "damping": 0.003}


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, OF_THE_SCENE], ids=["default", "scene"])
def test_ragdoll_keeps_its_limits(settings):
    # Limits within 0.5°, and joints within 1 mm, while it strikes the floor, also with direction="start".
    model = scenes.load("ragdoll", tilt=60.0, spin=2.0).model
    solver = rigid.solver("verlet", model, dt=1 / 60, **settings)
    for _ in range(90):
        solver.step(1)
        assert np.degrees(np.abs(limit_violations(model, solver.joint_positions())).max()) < 0.5
        assert joint_gaps(model, solver.state()).max() < 1e-3
    assert solver.statistics().contacts > 0


@pytest.mark.slow
def test_limits_against_one_another_push_and_never_pull():
    # A light rod between heavy ones, at several limits at once. What would pull is dropped before anything moves: with
    # it the other multipliers are those of another solution, 1e3 times as large, and the chain flew apart in 0.2 s.
    # Complementarity at every step: λ >= 0 and C >= 0. Ideal limits do no work, so the energy does not rise.
    model = random_chain(1, 0.1, 1000.0, limits=True)
    solver = rigid.solver("verlet", model, dt=1 / 60, contacts=False)
    system, energies = solver.particle_system, [solver.energy().total]
    at_least = [system._types[each].at_least for each in np.sort(system.direct.rows.type)]  # rows of a type together
    inequalities = system.arrays.direct.place.to_numpy()[at_least]
    assert len(inequalities)
    for _ in range(60):
        solver.step(1)
        assert system.arrays.direct.multiplier.to_numpy()[inequalities, 0].min() >= 0
        assert np.abs(limit_violations(model, solver.joint_positions())).max() < 1e-5
        energies.append(solver.energy().total)
    rises = np.array(energies) - np.minimum.accumulate(energies)
    assert rises.max() < 0.01 * energy_scale(model, 0.1)
