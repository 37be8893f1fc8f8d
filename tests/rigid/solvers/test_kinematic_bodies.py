"""Bodies that follow paths: pose, carrying, pushing, joints, states, errors."""

import numpy as np
import pytest
from described import ASIDE, X, Y, Z, g, model_of, refusal
from scipy.integrate import solve_ivp

import rigid
from rigid.rotation import from_axis_angle, rotate

OPTIONS = {
    "impulse": {"dt": 1 / 240, "iterations": 50}, "verlet": {"dt": 1 / 240, "iterations": 40},
    "penalty": {"dt": 1 / 240, "substeps": 16, "stiffness": 3.2e5, "damping": 200.0},
}  # fmt: skip
OF_JOINTS = {
    "impulse": {"iterations": 100}, "verlet": {"iterations": 100, "direction": "start"},
    "penalty": {
        "substeps": 8, "stiffness": 2e5, "damping": 200.0, "angular_stiffness": 2e5, "angular_damping": 200.0,
    },
}  # fmt: skip
MU = 0.5
TRAY, BOX = ASIDE, ASIDE + 1  # bodies of `tray`


def solve(name, model, **options):
    return rigid.solver(name, model, **{**OPTIONS[name], **options})


def screw(time):
    """A path with position and rotation."""
    return (1 + 0.3 * np.sin(2 * time), 0.1 * time, 2.0), from_axis_angle(Y, 1.5 * time)


def path_at(position):
    """A path that stays at one position."""
    return lambda time: position


def tray(path, mu=MU, gravity=(0, 0, -g), **box):
    """A box of 1 kg on a tray that follows a path."""
    model = model_of(gravity, ground=False)
    model.add_box((4, 1, 0.2), path=path, friction=mu, name="tray")
    model.add_box((0.2, 0.2, 0.1), **{"mass": 1.0, "position": (0, 0, 0.15), "friction": mu, "name": "box", **box})
    return model


# Motion ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTIONS)
def test_body_is_on_its_path_after_every_step(name):
    model = rigid.Model()
    model.add_box((0.2, 0.3, 0.4), path=screw, name="driven")
    solver = solve(name, model, contacts=False, substeps=3)
    for count in (1, 5, 20):
        solver.step(count)
        state, (position, rotation) = solver.state(), screw(solver.time)
        assert np.abs(state.position[0] - position).max() < 1e-12
        assert np.abs(rotate(state.rotation[0], np.eye(3)) - rotate(rotation, np.eye(3))).max() < 1e-12
        # Its velocity is the difference quotient over the last substep, at the middle of it.
        half = solver.time - solver.dt / 6
        assert state.velocity[0] == pytest.approx((0.6 * np.cos(2 * half), 0.1, 0), abs=1e-5)
        assert state.angular_velocity[0] == pytest.approx((0, 1.5, 0), abs=1e-4)
        assert solver.energy().total == 0.0


@pytest.mark.parametrize("acceleration", [2.0, 8.0], ids=["sticks", "slides"])
@pytest.mark.parametrize("name", OPTIONS)
def test_tray_carries_a_box_by_friction(name, acceleration):
    # The tray moves by a t²/2. Below μ g = 4.9 m/s² the box stays on its place; above it, it gains μ g t.
    # "penalty" yields until friction holds, (a/α*) with a swing of twice that; "verlet" and velocities of frames are
    # half a step early.
    solver = solve(name, tray(lambda time: (0.5 * acceleration * time**2, 0, 0)))
    solver.step(96)
    state, t = solver.state(), solver.time
    gained = min(acceleration, MU * g) * t
    assert state.velocity[BOX, 0] == pytest.approx(gained, abs=(0.02 if name == "impulse" else 0.06) * gained)
    assert state.position[BOX, 0] == pytest.approx(gained * t / 2, abs=0.04 * gained * t)
    assert state.position[BOX, 2] == pytest.approx(0.15, abs=2e-3)


@pytest.mark.parametrize("name", OPTIONS)
def test_tray_pushes_a_box(name):
    # Without gravity and restitution a box of any mass gets the speed of the tray that meets it from below.
    # A penalty contact rebounds with 0.135 of the speed at least.
    solver = solve(name, tray(lambda time: (0, 0, 0.8 * time), gravity=(0, 0, 0), mass=50.0, position=(0, 0, 0.2)))
    solver.step(60)
    speed = solver.state().velocity[BOX, 2]
    assert 0.8 * 0.999 < speed < 0.8 * (1.3 if name == "penalty" else 1.001)


@pytest.mark.parametrize("name", OPTIONS)
def test_pendulum_on_a_driven_pivot(name):
    # (I + m L²) θ'' = -m L (g sin θ + x'' cos θ) for a pivot at x = A (sin ω t - ω t), which starts at
    # rest; right-handed about y, θ < 0 is towards +x. First order in the step with impulses, second with frames.
    A, w, L, m, inertia = 0.1, 5.0, 0.4, 1.5, 0.02

    def motion(t, y):
        pull = g * np.sin(y[0]) - (-A * w * w * np.sin(w * t)) * np.cos(y[0])
        return y[1], -m * L * pull / (inertia + m * L * L)

    exact = solve_ivp(motion, (0, 1.0), (0.0, 0.0), rtol=1e-11, atol=1e-12)
    errors = []
    for dt in (0.004, 0.002):
        model = rigid.Model()
        pivot = model.add_body(path=lambda time: (A * np.sin(w * time) - A * w * time, 0, 0), name="pivot")
        bob = model.add_body(mass=m, inertia=(inertia,) * 3, position=(0, 0, -L), name="bob")
        model.add_hinge(pivot, bob, (0, 0, 0), Y, name="hinge")
        solver = rigid.solver(name, model, dt=dt, contacts=False, **OF_JOINTS[name])
        solver.step(round(1.0 / dt))
        errors.append(abs(solver.joint_positions()["hinge"] - exact.y[0, -1]))
    if name == "penalty":  # its substeps are so short that the opening of the joint is the error
        assert max(errors) < 1e-4
    else:
        bound, order = {"verlet": (2e-4, 4), "impulse": (1e-2, 2)}[name]
        assert errors[1] < bound
        assert errors[0] / errors[1] == pytest.approx(order, rel=0.15)


# States and worlds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTIONS)
def test_states_continue_along_the_path(tmp_path, name):
    def path(time):
        return 0.2 * np.sin(4 * time), 0, 0

    whole, again = solve(name, tray(path)), solve(name, tray(path))
    whole.step(20)
    whole.state().save(tmp_path / "state")
    again.set_state(rigid.State.load(tmp_path / "state"))
    for solver in (whole, again):
        solver.step(20)
    assert whole.digest() == again.digest()


def test_worlds_of_their_own_have_paths_of_their_own():
    models = [tray(lambda time, speed=speed: (speed * time, 0, 0)) for speed in (0.5, -1.0)]
    solver = solve("impulse", models, contacts=False)
    solver.step(24)
    assert solver.state().position[:, TRAY, 0] == pytest.approx((0.05, -0.1), abs=1e-12)
    text = refusal(lambda: solve("verlet", models), NotImplementedError)
    assert "body 'tray' follows a path, and worlds have models of their own" in text


# Errors ---------------------------------------------------------------------------------------------------------------


def test_wrong_paths_are_refused():
    model = rigid.Model()

    def message(error, path, **given):
        text = refusal(lambda: model.add_box((1, 1, 1), path=path, name="lift", **given), error)
        assert not model.bodies
        return text

    assert "path of 'lift' is (1, 0, 0): expected a function of time" in message(TypeError, (1, 0, 0))
    assert "5.0 given by the path of 'lift' at 0 s: expected a position (3,)" in message(TypeError, lambda time: 5.0)
    assert "position given by the path of 'lift' at 0 s has shape (4,)" in message(ValueError, path_at((0, 0, 0, 0)))
    assert "is nan at index 1: expected finite numbers" in message(ValueError, path_at((0, np.nan, 0)))
    zero = message(ValueError, lambda time: ((0, 0, 0), (0, 0, 0, 0)))
    assert "rotation given by the path of 'lift' at 0 s is (0, 0, 0, 0)" in zero
    text = message(ValueError, path_at((0, 0, 1)), position=(0, 0, 2))
    assert "path of 'lift' begins at [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]: expected its position" in text
    assert "velocity of 'lift', which follows a path" in message(ValueError, path_at((0, 0, 1)), velocity=X)
    lift = model.add_box((1, 1, 1), path=path_at((0, 0, 1)), name="lift")
    text = refusal(lambda: model.add_shape(lift, rigid.Sphere(0.1, centre=(0, 0, 1)), mass=1.0), ValueError)
    assert "shape with mass on 'lift', which follows a path" in text
    text = refusal(lambda: rigid.solver("articulated", model), NotImplementedError)
    assert "body 'lift' follows a path: solver 'articulated' has no kinematic bodies; use solver \"impulse\"" in text
    solver = solve("impulse", model, contacts=False)
    assert "force on 'lift', which follows a path" in refusal(lambda: solver.set_forces(lift, force=Z), ValueError)


@pytest.mark.parametrize("name", OPTIONS)
def test_paths_that_jump_or_are_not_finite_stop_the_run(name):
    def run(path):
        model = rigid.Model()
        model.add_box((0.2, 0.2, 0.2), path=path, name="lift")
        solver = solve(name, model, contacts=False, substeps=1)
        return refusal(lambda: solver.step(30), ValueError)

    text = run(lambda time: (0, 0, 5.0 * (time > 0.1)))
    assert "path of 'lift' jumps by 5 m from 0.1 s to 0.104167 s: expected at most 1.35 m in a substep" in text
    turned = run(lambda time: ((0, 0, 0), from_axis_angle(X, 2.0 * (time > 0.1))))
    assert "path of 'lift' jumps by 2 rad from 0.1 s" in turned
    text = run(lambda time: (0, 0, np.inf if time > 0.1 else 0.0))
    assert "position given by the path of 'lift' at 0.104167 s is inf at index 2: expected finite numbers" in text
