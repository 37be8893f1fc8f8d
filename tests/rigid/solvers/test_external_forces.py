"""External forces and torques on bodies, with all solvers: motion, balance, states, worlds, errors."""

import numpy as np
import pytest
from described import ASIDE, X, Y, Z, g, model_of, refusal
from marks import slow
from scipy.integrate import solve_ivp

import rigid

# The solvers on rows are semi-implicit Euler; "verlet" is of second order.
ROWS = ("impulse", "articulated", "penalty")
OPTIONS = {"impulse": {"iterations": 200, "tolerance": 1e-13}, "verlet": {"iterations": 200, "direction": "start"}}
H = 0.005


def solve(name, model, dt=H, **options):
    return rigid.solver(name, model, dt=dt, contacts=False, **OPTIONS.get(name, {}), **options)


def free_body(gravity=(0, 0, -g), inertia=(0.1, 0.1, 0.1), velocity=(0, 0, 0)):
    """A body of 2 kg that moves freely."""
    model = rigid.Model(gravity=gravity)
    model.add_body(mass=2.0, inertia=inertia, velocity=velocity, name="crate")
    return model


def two_rods():
    """A rod on a hinge, and another on a ball joint at its end."""
    model, last = rigid.Model(gravity=(0, 0, -g)), rigid.GROUND
    for k, mass in enumerate((1.5, 0.7)):
        rod = model.add_box((0.5, 0.05, 0.08), mass=mass, position=(0.25 + 0.5 * k, 0, 0), name=f"rod {k}")
        if k == 0:
            model.add_hinge(last, rod, (0, 0, 0), Y, name="hinge")
        else:
            model.add_ball(last, rod, (0.5, 0, 0), name="ball")
        last = rod
    return model


# Motion ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
def test_free_body_follows_semi_implicit_euler(name):
    # v_n = v_0 + n h (g + F/m), x_n = h Σ v_k = n h v_0 + n (n + 1)/2 h² (g + F/m); ω_n = n h T/I.
    force, torque, start, n = np.array([3.0, -1.0, 4.0]), np.array([0.2, 0.1, -0.3]), np.array([1.0, 0, 0]), 40
    solver = solve(name, free_body(velocity=start))
    solver.set_forces("crate", force=force, torque=torque)
    solver.step(n)
    state, a = solver.state(), force / 2.0 + (0, 0, -g)
    assert np.abs(state.velocity[0] - (start + n * H * a)).max() < 1e-12
    assert np.abs(state.position[0] - (n * H * start + n * (n + 1) / 2 * H**2 * a)).max() < 1e-12
    assert np.abs(state.angular_velocity[0] - n * H * torque / 0.1).max() < 1e-12


def test_free_frame_follows_a_parabola():
    # Verlet with an exact start: x = v_0 t + (g + F/m) t²/2. It also holds if a force changes to another while at rest.
    force, start, n = np.array([3.0, -1.0, 4.0]), np.array([1.0, 0, 0]), 40
    solver = solve("verlet", free_body(velocity=start))
    solver.set_forces(0, force=(9.0, 9.0, 9.0), torque=(0, 0, 1.0))
    solver.set_forces(0, force=force)
    solver.step(n)
    t, a = n * H, force / 2.0 + (0, 0, -g)
    assert np.abs(solver.state().position[0] - (start * t + a * t * t / 2)).max() < 1e-11


def turn_of(solver):
    """The angle of the body about z."""
    w, _, _, z = solver.state().rotation[0]
    return 2 * np.arctan2(z, w)


@pytest.mark.parametrize("name", ROWS)
def test_force_keeps_its_direction_while_its_point_moves_with_the_body(name):
    # A force F along y at the point p x̂ of a body about its principal axis z: I θ'' = p F cos θ, by semi-implicit
    # Euler ω := ω + h p F cos θ/I, θ := θ + h ω. The force accelerates the centre by F/m.
    p, F, inertia = 0.3, 8.0, 0.3
    solver = solve(name, free_body((0, 0, 0), inertia=(0.1, 0.25, inertia)))
    solver.set_forces("crate", force=F * np.array(Y), point=p * np.array(X))
    angle = rate = 0.0
    for _ in range(20):
        for _ in range(10):
            rate += H * p * F * np.cos(angle) / inertia
            angle += H * rate
        solver.step(10)
        assert np.abs(np.unwrap([angle, turn_of(solver)])[1] - angle) < 1e-11
    assert solver.state().velocity[0] == pytest.approx((0, 200 * H * F / 2.0, 0), abs=1e-11)


def test_point_of_a_force_moves_with_a_frame_in_second_order():
    # The same body, against the solution of I θ'' = p F cos θ: a quarter of the error at half the step.
    p, F, inertia, end = 0.3, 8.0, 0.3, 0.6
    exact = solve_ivp(lambda t, y: (y[1], p * F * np.cos(y[0]) / inertia), (0, end), (0, 0), rtol=1e-12, atol=1e-12)
    errors = []
    for dt in (0.01, 0.005, 0.0025):
        solver = solve("verlet", free_body((0, 0, 0), inertia=(0.1, 0.25, inertia)), dt)
        solver.set_forces("crate", force=F * np.array(Y), point=p * np.array(X))
        solver.step(round(end / dt))
        errors.append(abs(turn_of(solver) - exact.y[0, -1]))
    assert errors[0] < 3e-3
    assert all(3.6 < first / second < 4.4 for first, second in zip(errors, errors[1:])), errors


def test_torque_accelerates_a_frame():
    # A constant torque T about a principal axis: θ = T t²/(2 I) to second order in the step; the torque turns with
    # none of the steps' frames: its direction is the world's.
    errors = []
    for dt in (0.01, 0.005):
        solver = solve("verlet", free_body((0, 0, 0), inertia=(0.1, 0.25, 0.3)), dt)
        solver.set_forces("crate", torque=1.5 * np.array(Z))
        solver.step(round(0.5 / dt))
        errors.append(abs(turn_of(solver) - 1.5 * 0.5**2 / 2 / 0.3))
    assert errors[0] < 1e-3
    assert errors[1] < 0.3 * errors[0]


# Balance --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ROWS, "verlet"])
def test_joint_forces_balance_external_forces(name):
    # Σ m (v' - v)/h = Σ m g + F + the force of the hinge, whose rows are along fixed axes. A ball has no torque about
    # its point, exactly for a balance at the pose of the step's start.
    model, force, torque = two_rods(), np.array([1.0, 5.0, 12.0]), np.array([0.3, -0.5, 0.4])
    solver = solve(name, model, dt=0.002)
    solver.set_forces("rod 1", force=force, torque=torque, point=(0.1, 0.02, 0))
    solver.step(30)
    before = rigid.linear_momentum(model, solver.state())
    solver.step()
    after = rigid.linear_momentum(model, solver.state())
    found = solver.joint_forces()
    expected = (after - before) / 0.002 - model.masses.sum() * model.gravity - force
    assert np.abs(found["hinge"][0] - expected).max() < (1e-7 if name == "impulse" else 1e-8)
    if name in ("articulated", "verlet"):
        assert np.abs(found["ball"][1]).max() < (1e-8 if name == "articulated" else 1e-3)


# Contacts -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "error"), [
    ("impulse", 1e-3), ("articulated", 1e-3), ("penalty", 0.03), slow("verlet", 0.03),
])  # fmt: skip
def test_force_slides_a_box_against_friction(name, error):
    # A box of 2 kg with μ = 0.5 rests below μ m g = 9.81 N. Above, it has a = F/m - μ g. Springs of penalties yield
    # first, and velocities of frames are half a step early.
    model = model_of(friction=0.5)
    model.add_box((0.3, 0.3, 0.1), mass=2.0, position=(0, 0, 0.05), friction=0.5, name="crate")
    given = {"stiffness": 3.2e5, "damping": 200.0, "substeps": 16} if name == "penalty" else {"iterations": 40}
    solver = rigid.solver(name, model, dt=1 / 240, **given)
    solver.set_forces("crate", force=(8.0, 0, 0))
    solver.step(48)
    assert abs(solver.state().velocity[ASIDE, 0]) < 1e-3
    solver.set_forces("crate", force=(16.0, 0, 0))
    solver.step(96)
    expected = (16.0 / 2.0 - 0.5 * g) * 0.4
    assert solver.state().velocity[ASIDE, 0] == pytest.approx(expected, rel=error)
    assert solver.contact_forces().forces.sum(axis=0) == pytest.approx((-9.81, 0, 2 * 9.81), rel=0.05, abs=0.02)


# States and worlds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ROWS, "verlet"])
def test_states_contain_external_forces(tmp_path, name):
    whole = solve(name, two_rods(), dt=0.002)
    whole.step(5)
    whole.set_forces("rod 1", force=(1.0, 5.0, 12.0), torque=(0.1, 0, 0), point=(0.1, 0, 0))
    whole.step(5)
    whole.state().save(tmp_path / "half")
    again = solve(name, two_rods(), dt=0.002)
    again.set_state(rigid.State.load(tmp_path / "half"))
    for solver in (whole, again):
        solver.step(10)
    assert whole.digest() == again.digest()
    # Forces that were removed act no longer.
    whole.clear_forces()
    again.set_forces("rod 1")
    for solver in (whole, again):
        solver.step(5)
    assert whole.digest() == again.digest()
    unforced = solve(name, two_rods(), dt=0.002)
    unforced.set_state(whole.state())
    for solver in (whole, unforced):
        solver.step(5)
    assert whole.digest() == unforced.digest()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ROWS, "verlet"])
def test_worlds_have_forces_of_their_own(name):
    forces = np.array([[1.0, 5.0, 12.0], [0, 0, 0], [-3.0, 2.0, 0.5]])
    several = solve(name, two_rods(), dt=0.002, worlds=3)
    several.set_forces("rod 1", force=forces, torque=(0.1, 0, 0))
    several.step(10)
    positions = several.state().position
    for force, found in zip(forces, positions):
        alone = solve(name, two_rods(), dt=0.002)
        alone.set_forces("rod 1", force=force, torque=(0.1, 0, 0))
        alone.step(10)
        assert np.array_equal(alone.state().position, found)


# Errors ---------------------------------------------------------------------------------------------------------------


def test_wrong_forces_are_refused():
    one, three = solve("impulse", two_rods()), solve("impulse", two_rods(), worlds=3)

    def message(error, *body, solver=one, **given):
        return refusal(lambda: solver.set_forces(*(body or ("rod 1",)), **given), error)

    assert "body is 'rod1': expected the name of a body of this model; did you mean 'rod 1'?" in message(
        ValueError, "rod1", force=X
    )
    assert "body is 2: expected 0 to 1" in message(IndexError, 2, force=X)
    assert "body is -1: expected 0 to 1" in message(IndexError, rigid.GROUND, force=X)
    for key in ("force", "torque"):
        bad = message(ValueError, **{key: (0, np.nan, 0)})
        assert f"{key} on 'rod 1' is nan at index 1: expected finite numbers" in bad
        assert f"{key} on 'rod 1' has shape (2,): expected (3,)" in message(ValueError, **{key: (0, 1)})
        assert f"{key} on 'rod 1' has shape (): expected (3,)" in message(ValueError, **{key: 5.0})
        wrong = message(ValueError, solver=three, **{key: np.zeros((2, 3))})
        assert f"{key} on 'rod 1' has shape (2, 3): expected (3,) for all worlds, or (3, 3)" in wrong
    assert "point on 'rod 1' is inf" in message(ValueError, force=X, point=(np.inf, 0, 0))
    assert "point on 'rod 1' without a force: expected force=" in message(ValueError, point=X, torque=X)
    assert not one._external_forces.act
