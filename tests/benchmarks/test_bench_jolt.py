"""Jolt beside our solvers: `benchmarks/jolt_solver.py`. Most tests need node and its package jolt-physics."""

import math
import shutil

import numpy as np
import pytest

import rigid
from benchmarks import heaps, jolt_solver
from benchmarks.heaps import pyramid
from benchmarks.jolt_solver import JoltSolver, description
from benchmarks.timing import cost_of_steps
from rigid.constraints.joints.gaps import joint_gaps
from rigid.constraints.joints.positions import JointPositions

g = 9.81
needs_jolt = pytest.mark.skipif(jolt_solver.missing() is not None, reason=f"Jolt: {jolt_solver.missing()}")


def rod(gravity=(0, 0, -g), **hinge):
    """A rod of 0.5 m along x on a hinge about y at its end, or on a ball with limits of 0.5 rad."""
    model = rigid.Model(gravity=gravity)
    body = model.add_box((0.5, 0.05, 0.05), mass=2.0, position=(0.25, 0, 0))
    if hinge:
        model.add_hinge(rigid.GROUND, body, (0, 0, 0), (0, 1, 0), name="joint", **hinge)
    else:
        model.add_ball(rigid.GROUND, body, (0, 0, 0), swing_limit=0.5, twist_limits=(-0.5, 0.5), name="joint")
    return model


def test_the_benchmark_says_how_to_install_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("VERLETLAB_JOLT", str(tmp_path))
    monkeypatch.setattr(heaps, "cases", dict)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/node")
    expected = "run `npm install jolt-physics` in a folder, and set VERLETLAB_JOLT to its path"
    folder = tmp_path / "node_modules" / "jolt-physics"
    assert list(heaps.heaps())[-1] == f"# heaps: Jolt is left out: {folder} does not exist: {expected}"
    assert "Jolt" not in heaps.methods()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    line = f"# heaps: Jolt is left out: node is not installed: install Node.js, {expected}"
    assert list(heaps.heaps())[-1] == line


def test_the_package_is_in_the_current_folder_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("VERLETLAB_JOLT", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "node_modules" / "jolt-physics"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/node")
    assert jolt_solver.package() == folder
    assert jolt_solver.missing() is None


def test_a_solver_in_another_process_counts_its_own_cost():
    class Elsewhere:
        seconds = 5.0

        def step(self, count):
            self.seconds += 2.0 * count

        def cpu_time(self):
            return self.seconds

    assert cost_of_steps(Elsewhere(), 3) == 6.0


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_an_end_of_node_is_an_error_with_its_words(monkeypatch, tmp_path):
    monkeypatch.setenv("VERLETLAB_JOLT", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"^Jolt has ended: Cannot find module .*/jolt-physics"):
        JoltSolver(rod(), 1 / 60).step()


def test_what_jolt_does_not_hold_is_refused():
    slider = rod()
    slider.add_slider(0, slider.add_sphere(0.1, mass=1.0, position=(1, 0, 0)), (1, 0, 0), (1, 0, 0))
    with pytest.raises(ValueError, match="is a Slider: expected balls and hinges"):
        description(slider)
    with pytest.raises(ValueError, match="'joint' has friction, an armature, breaks or is soft or driven"):
        description(rod(friction=0.1))
    with pytest.raises(ValueError, match=r"'joint' has limits \(-4.0, 1.0\): expected zero between them, within ±π"):
        description(rod(limits=(-4.0, 1.0)))
    crowd = rigid.Model()
    for k in range(jolt_solver.MOST_BODIES + 1):
        crowd.add_sphere(0.1, mass=1.0, position=(k, 0, 0))
    with pytest.raises(ValueError, match="a model with 1701 bodies: expected at most 1700"):
        description(crowd)


@needs_jolt
def test_bodies_fall_turn_and_rest():
    # A ball falls by g t²/2 (1 + 1/n) in n steps of the symplectic Euler method, and a capsule turns by ω t.
    model, turn = rigid.Model(), np.array([0.8, 0, 0.6, 0])
    model.add_ground(friction=0.5)
    model.add_sphere(0.1, mass=2.0, position=(0, 0, 9), velocity=(1, 0, 0))
    model.add_capsule(0.1, 0.4, mass=1.0, position=(3, 0, 9), rotation=turn, angular_velocity=(0, 60.0, 0))
    model.add_capsule(0.1, 0.4, mass=1.0, position=(6, 0, 0.3))
    model.add_box((0.4, 0.6, 0.2), mass=3.0, position=(9, 0, 0.1))
    solver = JoltSolver(model, 1 / 60)
    solver.step(60)
    state = solver.state()
    fall = g / 2 * (1 + 1 / 60)
    expected = [(1, 0, 9 - fall), (3, 0, 9 - fall), (6, 0, 0.3), (9, 0, 0.1)]
    assert state.position == pytest.approx(np.array(expected), abs=1e-4)
    angle = 2 * np.arctan2(0.6, 0.8) + 60.0
    assert abs(state.rotation[1] @ (np.cos(angle / 2), 0, np.sin(angle / 2), 0)) == pytest.approx(1, abs=1e-4)
    assert state.time == pytest.approx(1.0)
    assert solver.cpu_time() > 0


@needs_jolt
def test_balls_that_meet_share_their_momentum():
    # Without restitution both move on with m_a v/(m_a + m_b) = v/4.
    model = rigid.Model(gravity=(0, 0, 0))
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 0), velocity=(2.0, 0, 0))
    model.add_sphere(0.1, mass=3.0, position=(0.3, 0, 0))
    solver, dt = JoltSolver(model, 1 / 60), 1 / 60
    solver.step(60)
    before = solver.state().position
    solver.step()
    assert (solver.state().position - before)[:, 0] / dt == pytest.approx([0.5, 0.5], rel=1e-3)


@needs_jolt
@pytest.mark.parametrize("beyond", [-0.01, 0.01])
def test_a_box_slides_above_the_angle_of_friction(beyond):
    # μ = sqrt(μ_a μ_b) = 0.5. Above atan μ a box slides by g (sin α - μ cos α) t²/2 (1 + 1/n), in n steps.
    angle = math.atan(0.5) + beyond
    model = rigid.Model(gravity=(g * math.sin(angle), 0, -g * math.cos(angle)))
    model.add_ground(friction=1.0)
    model.add_box((0.4, 0.4, 0.2), mass=1.0, position=(0, 0, 0.1), friction=0.25)
    solver = JoltSolver(model, 1 / 60)
    solver.step(120)
    way = max(g * (math.sin(angle) - 0.5 * math.cos(angle)), 0.0) * 2.0**2 / 2 * (1 + 1 / 120)
    assert solver.state().position[0] == pytest.approx((way, 0, 0.1), abs=5e-4)


@needs_jolt
def test_a_pyramid_stands():
    # Jolt permits overlaps of 20 mm, so each of five layers sinks by less.
    model = pyramid(5)
    solver = JoltSolver(model, 1 / 60)
    solver.step(300)
    moved = solver.state().position - model.initial_state().position
    assert -0.1 < moved[-1, 2] < 1e-4
    assert np.abs(moved[:, :2]).max() < 0.01


@needs_jolt
def test_a_rod_swings_as_its_inertia_says():
    # About the end I = m (L² + h²)/12 + m L²/4. With gravity 0.1 rad off the rod, it passes the middle of its swing
    # after a quarter of the period 2π sqrt(I/(m g L/2)).
    model = rod(gravity=(g * math.cos(0.1), 0, -g * math.sin(0.1)), limits=(-math.inf, math.inf))
    inertia = 2.0 * (0.5**2 + 0.05**2) / 12 + 2.0 * 0.25**2
    quarter = math.pi / 2 * math.sqrt(inertia / (2.0 * g * 0.25))
    solver = JoltSolver(model, quarter / 100)
    solver.step(100)
    assert JointPositions(model).positions(solver.state())["joint"] == pytest.approx(0.1, rel=0.02)


@needs_jolt
@pytest.mark.parametrize("limits", [(-0.1, 0.3), (-0.3, 0.7), None])
def test_a_rod_falls_onto_its_limit(limits):
    # It turns from x down, which is a positive angle about y; the ball's swing is at most 0.5 rad.
    model = rod(limits=limits) if limits else rod()
    solver = JoltSolver(model, 1 / 60)
    solver.step(300)
    found = np.atleast_1d(JointPositions(model).positions(solver.state())["joint"])
    assert found[0] == pytest.approx(limits[1] if limits else 0.5, abs=1e-3)
    assert joint_gaps(model, solver.state()).max() < 1e-3


@needs_jolt
def test_the_twist_of_a_ball_is_limited():
    # Nothing but the limit of 0.5 rad stops the turn about the rod.
    model = rod(gravity=(0, 0, 0))
    model.bodies[0].angular_velocity = np.array([1.0, 0, 0])
    solver = JoltSolver(model, 1 / 60)
    solver.step(20)
    assert JointPositions(model).positions(solver.state())["joint"][1] == pytest.approx(20 / 60, abs=1e-3)
    solver.step(100)
    assert JointPositions(model).positions(solver.state())["joint"] == pytest.approx((0, 0.5), abs=5e-3)


@needs_jolt
def test_joined_bodies_do_not_collide():
    # Two balls that overlap by half of their radius stay where they are, because a joint is between them.
    model = rigid.Model(gravity=(0, 0, 0))
    first, second = (model.add_sphere(0.1, mass=1.0, position=(x, 0, 0)) for x in (0.0, 0.15))
    model.add_ball(first, second, (0.075, 0, 0))
    solver = JoltSolver(model, 1 / 60)
    solver.step(60)
    assert solver.state().position == pytest.approx(model.initial_state().position, abs=1e-5)
