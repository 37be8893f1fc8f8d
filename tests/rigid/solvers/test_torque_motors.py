"""Motors with a constant torque or force, with all solvers: motion, joint forces, changes, states, errors."""

import numpy as np
import pytest
from described import ZERO, X, Y, refusal
from marks import cases

import rigid

SOLVERS = {
    "impulse": {"iterations": 100, "tolerance": 1e-12}, "articulated": {"iterations": 100, "tolerance": 1e-12},
    "penalty": {}, "verlet": {"iterations": 100},
}  # fmt: skip
H = 0.002
CASES = cases(SOLVERS, slow=["verlet"])  # test_armature.py has a constant effort with "verlet"


def solve(name, model, **options):
    return rigid.solver(name, model, dt=H, contacts=False, **SOLVERS[name], **options)


def motors(torque=0.6, force=-2.0):
    """A wheel on a hinge, and a sledge of 2 kg on a slider, without gravity."""
    model = rigid.Model(gravity=ZERO)
    wheel = model.add_body(mass=1.0, inertia=(0.3, 0.4, 0.3), position=(0, 3, 0), name="wheel")
    model.add_hinge(rigid.GROUND, wheel, (0, 3, 0), Y, motor=rigid.Motor(torque=torque), name="axle")
    sledge = model.add_box((0.4, 0.2, 0.2), mass=2.0, name="sledge")
    model.add_slider(rigid.GROUND, sledge, None, X, motor=rigid.Motor(torque=force), name="rail")
    return model


@pytest.mark.parametrize("name", CASES)
def test_motion_by_a_constant_effort(name):
    # Semi-implicit Euler and Verlet from rest alike: after n steps q = h² n (n + 1)/2 T/I, and likewise F/m. With
    # frames an angle of φ in a step is φ (1 + O(φ²)) long: φ = h² n T/I = 6e-4 at the end.
    n = 100
    solver = solve(name, motors())
    solver.step(n)
    position = H**2 * n * (n + 1) / 2
    found = solver.joint_positions()
    assert found["rail"] == pytest.approx(position * -2.0 / 2.0, rel=1e-10)
    assert found["axle"] == pytest.approx(position * 0.6 / 0.4, rel=1e-6 if name == "verlet" else 1e-10)


@pytest.mark.parametrize("name", CASES)
def test_joint_forces_contain_the_effort(name):
    solver = solve(name, motors())
    solver.step(5)
    forces = solver.joint_forces()
    assert forces["axle"][1] == pytest.approx((0, 0.6, 0), abs=1e-5)
    assert forces["rail"][0] == pytest.approx((-2.0, 0, 0), abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_changed_effort_equals_given_effort(tmp_path, name):
    given, changed = solve(name, motors(-0.4, 0.0)), solve(name, motors())
    changed.set_motor("axle", torque=-0.4)
    changed.set_motor("rail", torque=0.0)
    for solver in (given, changed):
        solver.step(10)
    assert given.digest() == changed.digest()
    changed.state().save(tmp_path / "state")
    again = solve(name, motors())
    again.set_state(rigid.State.load(tmp_path / "state"))
    for solver in (changed, again):
        solver.step(10)
    assert again.digest() == changed.digest()


def test_an_effort_does_not_bound_the_step_of_penalties():
    # A free wheel with a torque alone has no row that could be unstable at h² α* + 2 h β* >= 4.
    model = rigid.Model()
    body = model.add_body(mass=1.0, inertia=(0.3, 0.4, 0.3))
    other = model.add_body(mass=1.0, inertia=(0.3, 0.4, 0.3))
    model.add_hinge(body, other, ZERO, Y, motor=rigid.Motor(torque=1.0), name="axle")
    plain = rigid.Model()
    body = plain.add_body(mass=1.0, inertia=(0.3, 0.4, 0.3))
    other = plain.add_body(mass=1.0, inertia=(0.3, 0.4, 0.3))
    plain.add_hinge(body, other, ZERO, Y)
    loads = []
    for each in (model, plain):
        islands = rigid.solver("penalty", each, dt=1e-3, contacts=False)._islands[0]
        loads.append(max(island.load(1e-3)[0] for island in islands))
    assert loads[0] == pytest.approx(loads[1], rel=1e-12)


def test_wrong_torques_are_refused():
    both = refusal(lambda: rigid.Motor(torque=2.0, max_effort=5.0), ValueError)
    assert both == "motor with torque 2.0 and max_effort 5.0: expected torque alone, because it is constant"
    assert "motor with no target: expected speed, position or torque" in refusal(rigid.Motor, ValueError)
    assert "motor with speed and torque" in refusal(lambda: rigid.Motor(speed=1.0, torque=1.0), ValueError)
    assert "motor torque is nan: expected a finite number" in refusal(lambda: rigid.Motor(torque=np.nan), ValueError)
    solver = solve("impulse", motors())
    wrong = refusal(lambda: solver.set_motor("axle", speed=1.0), ValueError)
    assert "speed for the motor of 'axle', which was made with torque=: expected torque alone" in wrong
    assert "torque of 'axle' is inf" in refusal(lambda: solver.set_motor("axle", torque=np.inf), ValueError)
