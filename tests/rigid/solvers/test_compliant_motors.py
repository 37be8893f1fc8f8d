"""Compliant motors and motors with a largest speed, with all solvers: rest, speeds, bounds, changes, errors."""

import math

import numpy as np
import pytest
from described import ZERO, Y, Z, refusal
from marks import cases

import rigid

SOLVERS = {
    "impulse": {"iterations": 100, "tolerance": 1e-12}, "articulated": {"iterations": 100, "tolerance": 1e-12},
    "penalty": {}, "verlet": {"iterations": 100},
}  # fmt: skip
H = 0.002
g = 9.81


def solve(name, model, **options):
    return rigid.solver(name, model, dt=H, contacts=False, **SOLVERS[name], **options)


def lift(motor, gravity=(0, 0, -g)):
    """A box of 2 kg on a vertical slider, and a wheel with I = 0.4 kg m² on a hinge, both with the same motor."""
    model = rigid.Model(gravity=gravity)
    box = model.add_box((0.4, 0.2, 0.2), mass=2.0, name="box")
    model.add_slider(rigid.GROUND, box, None, Z, motor=motor, name="rail")
    wheel = model.add_body(mass=1.0, inertia=(0.3, 0.4, 0.3), position=(0, 3, 0), name="wheel")
    model.add_hinge(rigid.GROUND, wheel, (0, 3, 0), Y, motor=motor, name="axle")
    return model


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_a_stiff_position_sags_by_the_load_over_the_stiffness(name):
    # At rest k (position - q) = m g. Critical damping of 2 kg on 200 N/m is 40 N s/m; after 2 s the rest of the motion
    # is below e^(-10 · 2) (1 + 20) = 4e-8 of it.
    solver = solve(name, lift(rigid.Motor(position=0.3, stiffness=200.0, damping=40.0)))
    solver.step(1000)
    found = solver.joint_positions()
    assert found["rail"] == pytest.approx(0.3 - 2 * g / 200, abs=1e-6)
    assert found["axle"] == pytest.approx(0.3 * (1 - math.exp(-5.9 * 2)), abs=0.02)  # overdamped: 5.3/s and 95/s
    solver.set_motor("rail", position=-0.1)
    solver.step(1000)
    assert solver.joint_positions()["rail"] == pytest.approx(-0.1 - 2 * g / 200, abs=1e-6)


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_a_compliant_speed_falls_by_the_load_over_the_damping(name):
    # At a constant speed c (speed - dq/dt) = m g, reached by e^(-c t/m) = e^(-20). With frames an angle of φ = 3e-3 in
    # a step is φ (1 + O(φ²)) long.
    solver = solve(name, lift(rigid.Motor(speed=1.5, damping=40.0)))
    solver.step(500)
    found = solver.joint_velocities()
    assert found["rail"] == pytest.approx(1.5 - 2 * g / 40, abs=1e-6)
    assert found["axle"] == pytest.approx(1.5, abs=1e-5 if name == "verlet" else 1e-6)


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_the_effort_of_a_compliant_motor_is_bounded(name):
    # Far from the target the effort is max_effort: q = h² n (n + 1)/2 F/m from rest, see test_torque_motors.py.
    solver = solve(name, lift(rigid.Motor(position=50.0, stiffness=1000.0, damping=1.0, max_effort=3.0), ZERO))
    solver.step(100)
    position = H**2 * 100 * 101 / 2
    assert solver.joint_positions()["rail"] == pytest.approx(position * 3.0 / 2.0, rel=1e-9)
    assert solver.joint_positions()["axle"] == pytest.approx(position * 3.0 / 0.4, rel=1e-4)


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_a_position_is_approached_at_the_largest_speed(name):
    # 0.8 of the way at 0.5 m/s takes 0.4 s; from then on the speed is gain (position - q).
    solver = solve(name, lift(rigid.Motor(position=0.3, max_speed=0.5), ZERO))
    solver.step(150)
    found = solver.joint_velocities()
    assert found["rail"] == pytest.approx(0.5, abs=1e-3 if name == "penalty" else 1e-9)
    assert found["axle"] == pytest.approx(0.5, abs=1e-3 if name == "penalty" else 1e-6)
    solver.step(600)
    assert solver.joint_positions()["rail"] == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_changed_target_equals_given_target(name):
    given = solve(name, lift(rigid.Motor(position=0.2, stiffness=100.0, damping=5.0, max_effort=30.0)))
    changed = solve(name, lift(rigid.Motor(position=-1.0, stiffness=100.0, damping=5.0, max_effort=30.0)))
    for joint in ("rail", "axle"):
        changed.set_motor(joint, position=0.2)
    for solver in (given, changed):
        solver.step(10)
    assert given.digest() == changed.digest()
    again = solve(name, lift(rigid.Motor(position=-1.0, stiffness=100.0, damping=5.0, max_effort=30.0)))
    again.set_state(changed.state())
    for solver in (given, again):
        solver.step(10)
    assert given.digest() == again.digest()


@pytest.mark.parametrize(("given", "words"), [
    ({"torque": 1.0, "stiffness": 2.0}, "expected torque alone"),
    ({"speed": 1.0, "stiffness": 2.0}, "expected damping alone"),
    ({"position": 1.0, "damping": 2.0}, "expected stiffness, too"),
    ({"position": 1.0, "stiffness": -2.0}, "motor stiffness is -2"),
    ({"position": 1.0, "max_speed": 0.0}, "motor max_speed is 0"),
    ({"speed": 1.0, "max_speed": 2.0}, "motor with max_speed 2.0: expected a position, without stiffness"),
    ({"position": 1.0, "stiffness": 3.0, "max_speed": 2.0}, "motor with max_speed 2.0: expected a position"),
])  # fmt: skip
def test_wrong_motors_are_refused(given, words):
    assert words in refusal(lambda: rigid.Motor(**given), ValueError)


@pytest.mark.slow
def test_worlds_have_motors_of_different_types():
    motors = [rigid.Motor(position=0.1), rigid.Motor(position=0.1, stiffness=50.0), None]
    together = solve("impulse", [lift(motor) for motor in motors])
    together.step(10)
    for world, motor in enumerate(motors):
        alone = solve("impulse", lift(motor))
        alone.step(10)
        assert np.abs(together.state().position[world] - alone.state().position).max() < 1e-9
