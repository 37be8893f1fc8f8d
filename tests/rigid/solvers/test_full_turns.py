"""Joint positions count full turns, whoever reads them and however a run was continued."""

import pickle

import numpy as np
import pytest
from marks import cases, slow

import rigid

SOLVERS = ("verlet", "impulse", "articulated", "penalty")
OPTIONS = {solver: {"dt": 1 / 240, "substeps": 16 if solver == "penalty" else 2} for solver in SOLVERS}
APART = {solver: {**options, "contacts": False} for solver, options in OPTIONS.items()}  # nothing of `rotors` touches


def rotors(speed=9.0):
    """Bodies without gravity that turn about a principal axis at a constant rate: by a motor, free on the ground, free
    on another body, and on a universal joint."""
    model = rigid.Model(gravity=(0, 0, 0))
    spin = {"angular_velocity": (0, 0, speed)}
    driven = model.add_box((0.6, 0.1, 0.1), mass=1.0, position=(0, 0, 0))
    model.add_hinge(rigid.GROUND, driven, (0, 0, 0), (0, 0, 1), motor=rigid.Motor(speed=speed), name="driven")
    free = model.add_box((0.6, 0.1, 0.1), mass=1.0, position=(0, 2, 0), **spin)
    model.add_hinge(rigid.GROUND, free, (0, 2, 0), (0, 0, 1), name="free")
    base = model.add_box((0.5, 0.5, 0.2), mass=3.0, position=(0, 4, 0))
    top = model.add_box((0.4, 0.4, 0.1), mass=1.0, position=(0, 4, 0.3), **spin)
    model.add_hinge(base, top, (0, 4, 0.2), (0, 0, -1), name="on a body")
    shaft = model.add_box((0.4, 0.4, 0.1), mass=1.0, position=(0, 6, 0), **spin)
    model.add_universal(rigid.GROUND, shaft, (0, 6, 0), (0, 0, 1), (1, 0, 0), name="universal")
    return model


@pytest.mark.parametrize("solver", cases(SOLVERS, slow=["verlet"]))
def test_turns_are_counted_whether_or_not_they_are_read(solver):
    # q = ω t, about the axis from parent to child. In 5 s that is 45 rad; 2 % is the error of the slowest motor.
    unread, read = (rigid.solver(solver, rotors(), **APART[solver]) for _ in range(2))
    unread.step(1200)
    for _ in range(10):
        read.step(120)
        read.joint_positions()
    found = unread.joint_positions()
    assert found["driven"] == pytest.approx(45.0, rel=0.02)
    assert found["free"] == pytest.approx(45.0, rel=0.02)
    assert found["on a body"] == pytest.approx(-45.0, rel=0.02)
    assert found["universal"] == pytest.approx((45.0, 0.0), rel=0.02, abs=1e-6)
    for name, angle in read.joint_positions().items():
        assert np.array_equal(angle, found[name])


@pytest.mark.slow
@pytest.mark.parametrize("solve", [slow("iterative"), "direct"])
@pytest.mark.parametrize("schedule", ["serial", slow("coloured")])
def test_every_schedule_and_solve_of_verlet_counts_turns(schedule, solve):
    # q = ω t
    made = rigid.solver("verlet", rotors(), schedule=schedule, solve=solve, **APART["verlet"])
    made.step(600)
    found = made.joint_positions()
    assert found["free"] == pytest.approx(22.5, rel=0.02)
    assert found["on a body"] == pytest.approx(-22.5, rel=0.02)
    assert found["universal"][0] == pytest.approx(22.5, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 4])
def test_worlds_count_their_own_turns(lanes):
    # q = ω_w t
    speeds = np.array([2.0, -9.0, 20.0, 0.0, 5.0])
    made = rigid.solver("verlet", [rotors(speed) for speed in speeds], lanes=lanes, **APART["verlet"])
    made.step(600)
    found = made.joint_positions()
    for name, sign in (("driven", 1), ("free", 1), ("on a body", -1)):
        assert found[name] == pytest.approx(2.5 * sign * speeds, rel=0.03, abs=1e-9)
    again = rigid.solver("verlet", [rotors(speed) for speed in speeds], lanes=lanes, **APART["verlet"])
    again.set_state(made.state(warm_start=False))
    for name, angle in found.items():
        assert again.joint_positions()[name] == pytest.approx(angle, abs=1e-9)


@pytest.mark.slow
def test_gears_continue_on_the_turns_of_both_joints():
    # q_b = ratio q_a, also after a snapshot without warm start: nothing jumps back by a turn.
    model = rotors()
    model.add_gear("driven", "free", ratio=1.0)
    made, again = (rigid.solver("verlet", model, **APART["verlet"]) for _ in range(2))
    made.step(600)
    again.set_state(made.state(warm_start=False))
    again.step(100)
    found = again.joint_positions()
    assert found["driven"] == pytest.approx(9.0 * 700 / 240, rel=1e-3)
    assert found["free"] == pytest.approx(found["driven"], abs=1e-6)


WITH_LONG_CONTACTS = ("verlet", "articulated")  # their kernels of contacts compile longest


def sprung():
    """A lever on a hinge with limits beyond half a turn, and a spring at rest at 4.5 rad. Boxes stand beside it."""
    model = rigid.Model()
    model.add_ground()
    lever = model.add_box((0.6, 0.1, 0.1), mass=1.0, position=(0.3, 0, 2))
    spring = rigid.Spring(stiffness=0.3, damping=0.02, rest=4.5)
    model.add_hinge(rigid.GROUND, lever, (0, 0, 2), (0, 1, 0), limits=(-5, 5), spring=spring, name="lever")
    for k in range(3):
        model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(2, 0, 0.1 + 0.2 * k))
    return model


def beyond_half_a_turn(solver):
    """A solver that runs `sprung` until the lever is beyond half a turn, at some 3.4 rad."""
    made = rigid.solver(solver, sprung(), **OPTIONS[solver])
    for _ in range(400):
        made.step(3)
        if made.joint_positions()["lever"] > 3.4:
            return made
    raise AssertionError("the lever stays below 3.4 rad")


@pytest.mark.slow
@pytest.mark.parametrize("solver", cases(SOLVERS, slow=WITH_LONG_CONTACTS))
def test_snapshots_keep_full_turns(solver):
    made = beyond_half_a_turn(solver)
    angle, copied = made.joint_positions()["lever"], pickle.loads(pickle.dumps(made.state()))
    again, bare = (rigid.solver(solver, sprung(), **OPTIONS[solver]) for _ in range(2))
    again.set_state(copied)
    bare.set_state(made.state(warm_start=False))
    for each in (again, bare):
        assert each.joint_positions()["lever"] == pytest.approx(angle, abs=1e-9)
    for each in (made, again, bare):
        each.step(200)
    assert again.digest() == made.digest()
    assert again.joint_positions() == made.joint_positions()
    # Without warm start contacts and velocities begin anew: "verlet" starts from the velocity of the middle of a step.
    # A spring that pulled from a turn away would end more than 1 rad off.
    assert bare.joint_positions()["lever"] == pytest.approx(made.joint_positions()["lever"], abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("solver", cases(SOLVERS, slow=WITH_LONG_CONTACTS))
def test_another_solver_continues_on_the_same_turn(solver, tmp_path):
    made = beyond_half_a_turn("impulse")
    made.state().save(tmp_path / "state.npz")
    other = rigid.solver(solver, sprung(), **OPTIONS[solver])
    other.set_state(rigid.State.load(tmp_path / "state.npz"))
    assert other.joint_positions()["lever"] == pytest.approx(made.joint_positions()["lever"], abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_angles_of_another_model_are_refused(solver):
    state = rigid.solver(solver, rotors(), **APART[solver]).state(warm_start=False)
    state.joint_angles = state.joint_angles[:-1]
    with pytest.raises(ValueError, match=r"joint_angles has shape \(4,\): expected \(5,\)"):
        rigid.solver(solver, rotors(), **APART[solver]).set_state(state)
    with pytest.raises(ValueError, match=r"joint_angles has shape \(2, 1\): expected \(any,\)"):
        rigid.State(state.position, state.rotation, state.velocity, state.angular_velocity, joint_angles=[[1], [2]])
