"""Motor targets that change during a run: their effect, snapshots, and errors.

These are tests of all solvers with `set_motor`. They share kernels with other tests of this folder.
"""

import numpy as np
import pytest
from marks import cases

import rigid

SOLVERS = {"impulse": {"iterations": 100}, "verlet": {"iterations": 40, "direction": "current"}}
Y = (0, 1, 0)


def arm(speed=0.5, position=0.0, names=("crank", "elbow", "wrist")):
    """Three rods: one with a speed motor, one with a position motor, one that swings freely."""
    model = rigid.Model(gravity=(0, 0, -9.81))
    motors = rigid.Motor(speed=speed), rigid.Motor(position=position, max_effort=50.0), None
    before = rigid.GROUND
    for k, (name, motor) in enumerate(zip(names, motors)):
        rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25 + 0.5 * k, 0, 0))
        model.add_hinge(before, rod, (0.5 * k, 0, 0), Y, motor=motor, name=name)
        before = rod
    return model


def rod():
    """One rod that a motor keeps level."""
    model = rigid.Model()
    body = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0))
    model.add_hinge(rigid.GROUND, body, (0, 0, 0), Y, motor=rigid.Motor(speed=0.0), name="crank")
    return model


def solve(name, model, **options):
    return rigid.solver(name, model, dt=0.005, contacts=False, **SOLVERS[name], **options)


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_set_target_equals_given_target(name):
    given, changed = solve(name, arm(-0.3, 0.4)), solve(name, arm())
    changed.set_motor("crank", speed=-0.3)
    changed.set_motor("elbow", position=0.4)
    for solver in (given, changed):
        solver.step(40)
    assert given.digest() == changed.digest()


def test_motor_follows_changing_targets():
    # With unbounded effort a rod turns by h Σ s_k: the correction of its hinge acts along the rod, and does not rotate
    # it. The tolerance of impulses is 1e-6 N s, on 1/12 kg m².
    solver = solve("impulse", rod())
    for k in range(100):
        solver.set_motor(0, speed=np.sin(0.1 * k))
        solver.step()
    expected = 0.005 * np.sin(0.1 * np.arange(100)).sum()
    assert solver.joint_positions()["crank"] == pytest.approx(expected, abs=0.005 * 100 * 1e-6 * 12)


@pytest.mark.parametrize("name", cases(SOLVERS, slow=["verlet"]))
def test_states_contain_motor_targets(tmp_path, name):
    whole, half = solve(name, arm()), solve(name, arm())
    for solver in (whole, half):
        solver.step(10)
        solver.set_motor("crank", speed=-0.5)
        solver.set_motor("elbow", position=0.2)
        solver.step(10)
    half.state().save(tmp_path / "half")
    again = solve(name, arm())
    again.set_state(rigid.State.load(tmp_path / "half"))
    for solver in (whole, again):
        solver.step(20)
    assert again.digest() == whole.digest()


@pytest.mark.parametrize("name", SOLVERS)
def test_set_motor_refuses_bad_arguments(name):
    solver = solve(name, arm())
    for joint, target, message in (
        ("cranc", {"speed": 1.0}, "joint is 'cranc': expected the name of a joint of this model; did you mean 'crank'"),
        ("wrist", {"speed": 1.0}, r"'wrist' has no motor: expected one .*'crank', 'elbow'"),
        ("crank", {"position": 1.0}, "position for the motor of 'crank', which .* speed=: expected speed alone"),
        ("elbow", {"position": 1.0, "speed": 0.0}, "speed and position for .*: expected position alone"),
        ("elbow", {}, "no target for the motor of 'elbow'"),
        ("crank", {"speed": np.nan}, "speed of 'crank' is nan: expected a finite number"),
        ("crank", {"speed": [1.0, 2.0]}, "speed of 'crank' is .*: expected one for all"),
    ):
        with pytest.raises(ValueError, match=message):
            solver.set_motor(joint, **target)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_each_world_has_its_own_target(name):
    several = solve(name, arm(), worlds=2)
    several.set_motor("crank", speed=[1.0, -1.0])
    several.step(20)
    for world, speed in enumerate((1.0, -1.0)):
        alone = solve(name, arm())
        alone.set_motor("crank", speed=speed)
        alone.step(20)
        assert np.array_equal(alone.state().position, several.state().position[world])


@pytest.mark.slow
def test_new_motor_target_wakes_a_sleeping_body():
    # The level rod is slow for half a second, and then sleeps.
    solver = solve("impulse", rod(), sleep_speed=0.02)
    solver.step(150)
    assert not solver.state().velocity.any()
    solver.set_motor("crank", speed=0.0)
    solver.step()
    assert not solver.state().velocity.any()
    solver.set_motor("crank", speed=1.0)
    solver.step(20)
    assert solver.joint_positions()["crank"] == pytest.approx(0.1, abs=1e-4)
