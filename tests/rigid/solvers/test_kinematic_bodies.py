"""Bodies that follow paths: pose, carrying, pushing, joints, states, errors."""

import numpy as np
import pytest
from described import ASIDE, X, Y, Z, g, model_of, refusal
from marks import cases, slow
from scipy.integrate import solve_ivp

import rigid
from rigid.rotation import from_axis_angle, rotate

OPTIONS = {
    "impulse": {"dt": 1 / 240, "iterations": 50}, "articulated": {"dt": 1 / 240, "iterations": 50},
    "verlet": {"dt": 1 / 240, "iterations": 40},
    "penalty": {"dt": 1 / 240, "substeps": 16, "stiffness": 3.2e5, "damping": 200.0},
}  # fmt: skip
OF_JOINTS = {
    "impulse": {"iterations": 100}, "articulated": {}, "verlet": {"iterations": 100, "direction": "start"},
    "penalty": {
        "substeps": 8, "stiffness": 2e5, "damping": 200.0, "angular_stiffness": 2e5, "angular_damping": 200.0,
    },
}  # fmt: skip
WITH_IMPULSES = ("impulse", "articulated")
TRAYS = cases(OPTIONS, slow=("articulated", "verlet"))  # their kernels of contacts compile longer
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
@pytest.mark.parametrize("name", TRAYS)
def test_tray_carries_a_box_by_friction(name, acceleration):
    # The tray moves by a t²/2. Below μ g = 4.9 m/s² the box stays on its place; above it, it gains μ g t.
    # "penalty" yields until friction holds, (a/α*) with a swing of twice that; "verlet" and velocities of frames are
    # half a step early.
    solver = solve(name, tray(lambda time: (0.5 * acceleration * time**2, 0, 0)))
    solver.step(96)
    state, t = solver.state(), solver.time
    gained = min(acceleration, MU * g) * t
    assert state.velocity[BOX, 0] == pytest.approx(gained, abs=(0.02 if name in WITH_IMPULSES else 0.06) * gained)
    assert state.position[BOX, 0] == pytest.approx(gained * t / 2, abs=0.04 * gained * t)
    assert state.position[BOX, 2] == pytest.approx(0.15, abs=2e-3)


@pytest.mark.parametrize("name", TRAYS)
def test_tray_pushes_a_box(name):
    # Without gravity and restitution a box of any mass gets the speed of the tray that meets it from below.
    # A penalty contact rebounds with 0.135 of the speed at least.
    solver = solve(name, tray(lambda time: (0, 0, 0.8 * time), gravity=(0, 0, 0), mass=50.0, position=(0, 0, 0.2)))
    solver.step(60)
    speed = solver.state().velocity[BOX, 2]
    assert 0.8 * 0.999 < speed < 0.8 * (1.3 if name == "penalty" else 1.001)


@pytest.mark.parametrize("name", cases(OPTIONS, slow=["penalty", "verlet"]))
def test_pendulum_on_a_driven_pivot(name):
    # (I + m L²) θ'' = -m L (g sin θ - x'' cos θ) for a pivot at x = A (sin ω t - ω t), which starts at
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
        bound, order = {"verlet": (2e-4, 4), "impulse": (1e-2, 2), "articulated": (1e-2, 2)}[name]
        assert errors[1] < bound
        assert errors[0] / errors[1] == pytest.approx(order, rel=0.15)


@pytest.mark.parametrize(("products", "bound", "order"), [("projected", 1e-3, 2), slow("explicit", 1e-4, 4)])
def test_coordinates_of_a_pendulum_on_a_swinging_pivot(products, bound, order):
    # (I + m L²) θ'' = -m L (g sin θ - x'' cos θ) for a pivot at x = A sin ω t, with which the bob starts. Projected
    # velocities are of first order in the step. With explicit products θ follows semi-implicit Euler. That is the
    # leapfrog method, of second order, because θ'' is zero at the start.
    A, w, L, m, inertia = 0.1, 5.0, 0.4, 1.5, 0.02

    def motion(t, y):
        pull = g * np.sin(y[0]) + A * w * w * np.sin(w * t) * np.cos(y[0])
        return y[1], -m * L * pull / (inertia + m * L * L)

    exact = solve_ivp(motion, (0, 1.0), (0.0, 0.0), rtol=1e-11, atol=1e-12)
    errors = []
    for dt in (0.004, 0.002):
        model = rigid.Model()
        bob = model.add_body(mass=m, inertia=(inertia,) * 3, position=(0, 0, -L), velocity=(A * w, 0, 0), name="bob")
        pivot = model.add_body(path=lambda time: (A * np.sin(w * time), 0, 0), name="pivot")
        model.add_hinge(bob, pivot, (0, 0, 0), (0, -1, 0), name="hinge")
        solver = rigid.solver("articulated", model, dt=dt, contacts=False, velocity_products=products)
        solver.step(round(1.0 / dt))
        errors.append(abs(solver.joint_positions()["hinge"] - exact.y[0, -1]))
    assert errors[1] < bound
    assert errors[0] / errors[1] == pytest.approx(order, rel=0.15)


def turntable(rate):
    """A model of a body that turns about z."""
    model = rigid.Model()
    return model, model.add_body(path=lambda time: ((0, 0, 0), from_axis_angle(Z, rate * time)), name="turntable")


@pytest.mark.parametrize("name", WITH_IMPULSES)
def test_governor_on_a_turntable(name):
    # A bob with equal moments on an arm L from a tangential hinge at radius r: (I + m L²) θ'' = m L (Ω² (r + L sin θ)
    # cos θ - g sin θ), with θ > 0 outwards. First order in the step.
    rate, r, L, m, inertia = 4.0, 0.3, 0.4, 1.5, 0.02

    def motion(t, y):
        pull = rate**2 * (r + L * np.sin(y[0])) * np.cos(y[0]) - g * np.sin(y[0])
        return y[1], m * L * pull / (inertia + m * L * L)

    exact = solve_ivp(motion, (0, 1.0), (0.0, 0.0), rtol=1e-11, atol=1e-12)
    errors = []
    for dt in (0.004, 0.002):
        model, table = turntable(rate)
        velocity, spin = (0, rate * r, 0), (0, 0, rate)
        bob = model.add_body(
            mass=m, inertia=(inertia,) * 3, position=(r, 0, -L), velocity=velocity, angular_velocity=spin, name="bob"
        )
        model.add_hinge(table, bob, (r, 0, 0), (0, -1, 0), name="hinge")
        solver = rigid.solver(name, model, dt=dt, contacts=False, **OF_JOINTS[name])
        solver.step(round(1.0 / dt))
        errors.append(abs(solver.joint_positions()["hinge"] - exact.y[0, -1]))
    assert errors[1] < 2e-2
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.15)


def chain_on_a_turntable(solver, dt, **options):
    """State after half a second of three rods on hinges, hinge by hinge turned by 90°."""
    model, carrier = turntable(4.0)
    for k in range(3):
        rod = model.add_box((0.2, 0.03, 0.03), mass=0.5, position=(0.2 + 0.2 * k, 0, 0), name=f"rod {k}")
        model.add_hinge(carrier, rod, (0.1 + 0.2 * k, 0, 0), Z if k == 1 else Y)
        carrier = rod
    solver = rigid.solver(solver, model, dt=dt, contacts=False, **options)
    solver.step(round(0.5 / dt))
    return solver.state()


def test_chain_on_a_turntable_agrees_with_impulses():
    # Both solvers are of first order in the step, so their difference is, too.
    apart = []
    for dt in (0.004, 0.002):
        first = chain_on_a_turntable("articulated", dt)
        second = chain_on_a_turntable("impulse", dt, iterations=2000, tolerance=1e-12)
        apart.append(np.abs(first.position - second.position).max())
    assert apart[1] < 2e-3
    assert apart[0] / apart[1] == pytest.approx(2, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["impulse", slow("articulated"), slow("penalty")])
def test_bodies_that_nothing_moves_ignore_the_joints_between_them(name):
    # A tray with joints to the ground and to a trolley, which its path breaks: nothing but round-off changes.
    def run(joined):
        model = tray(lambda time: (0.5 * time, 0, 0))
        trolley = model.add_body(path=lambda time: (1 - 0.2 * time, 0, 0), name="trolley")
        if joined:
            model.add_hinge(rigid.GROUND, "tray", (0, 0, 0), Y)
            model.add_ball("tray", trolley, (1, 0, 0))
        solver = solve(name, model)
        solver.step(24)
        return solver.state()

    assert run(True).position == pytest.approx(run(False).position, abs=1e-9)


@pytest.mark.parametrize("name", ["impulse", slow("articulated")])
def test_bar_between_two_paths_moves_with_both(name):
    # A loop over two bodies on paths: the bar hangs from both by balls and follows them.
    model = rigid.Model()

    def path(start):
        return lambda time: (start, 0.2 * (1 - np.cos(3 * time)), 0.3 * time**2)

    ends = [model.add_body(path=path(x), name=f"end {x}") for x in (-0.5, 0.5)]
    bar = model.add_box((1, 0.1, 0.1), mass=2.0, name="bar")
    for end, x in zip(ends, (-0.5, 0.5)):
        model.add_ball(end, bar, (x, 0, 0))
    solver = rigid.solver(name, model, dt=0.002, contacts=False, iterations=100)
    solver.step(500)
    state = solver.state()
    ends_of_bar = state.position[bar] + rotate(state.rotation[bar], np.array([(-0.5, 0, 0), (0.5, 0, 0)]))
    assert np.abs(ends_of_bar - state.position[ends]).max() < 1e-6


@pytest.mark.parametrize("name", WITH_IMPULSES)
def test_joint_force_is_weight_and_inertia(name):
    # A weight hangs from a lift with acceleration a: its joint carries m (g + a), in every step.
    model = rigid.Model()
    weight = model.add_box((0.1, 0.1, 0.1), mass=3.0, position=(0, 0, -0.3), name="weight")
    lift = model.add_body(path=lambda time: (0, 0, 0.5 * 1.2 * time**2), name="lift")
    model.add_fixed(lift, weight, (0, 0, 0), name="above")
    hook = model.add_box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, -0.6), name="hook")
    model.add_fixed(hook, weight, (0, 0, -0.4), name="below")
    solver = rigid.solver(name, model, dt=0.005, contacts=False, iterations=200)
    solver.step(20)
    forces = solver.joint_forces()
    for joint, force in (("above", 4.0 * (g + 1.2)), ("below", -1.0 * (g + 1.2))):
        assert forces[joint] == pytest.approx(np.array([(0, 0, force), (0, 0, 0)]), abs=1e-6 * abs(force))


# States and worlds ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAYS)
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


def trays_of_two_speeds():
    """Models of one structure, with paths of their own."""
    return [tray(lambda time, speed=speed: (speed * time, 0, 0)) for speed in (0.5, -1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["impulse", slow("articulated")])
def test_worlds_of_their_own_have_paths_of_their_own(name):
    solver = solve(name, trays_of_two_speeds(), contacts=False)
    solver.step(24)
    assert solver.state().position[:, TRAY, 0] == pytest.approx((0.05, -0.1), abs=1e-12)


def test_frames_have_no_paths_of_their_own_in_each_world():
    models = trays_of_two_speeds()
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
    model.add_ball(lift, model.add_body(path=path_at((0, 0, 0)), name="anchor"), (0, 0, 0), name="rope")
    text = refusal(lambda: solve("verlet", model), NotImplementedError)
    assert "ball 'rope' joins 'lift' and 'anchor', which both follow paths: solver 'verlet' has no" in text
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
