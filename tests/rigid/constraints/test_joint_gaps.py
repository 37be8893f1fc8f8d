"""Joint errors of children that are shifted and rotated by known amounts."""

import math

import numpy as np
import pytest
from described import X, Y, Z

import rigid
from rigid.constraints.joints.gaps import joint_gaps, joint_turns, limit_violations
from rigid.constraints.joints.positions import JointPositions
from rigid.rotation import exponential, multiply, normalised, rotate

JOINTS = {
    "ball": lambda model, *pair: model.add_ball(*pair, (0.3, 0, 0), axis=X, swing_limit=0.2, twist_limits=(-0.1, 0.3)),
    "hinge": lambda model, *pair: model.add_hinge(*pair, (0.3, 0, 0), Y, limits=(-0.4, 0.5)),
    "universal": lambda model, *pair: model.add_universal(
        *pair, (0.3, 0, 0), Y, Z, parent_limits=(-0.4, 0.5), child_limits=(-0.1, 0.1)
    ),
    "slider": lambda model, *pair: model.add_slider(*pair, (0.3, 0, 0), Z, limits=(-0.2, 0.1)),
    "cylindrical": lambda model, *pair: model.add_cylindrical(
        *pair, (0.3, 0, 0), Z, shift_limits=(-0.2, 0.1), angle_limits=(-0.4, 0.5)
    ),
    "planar": lambda model, *pair: model.add_planar(
        *pair, (0.3, 0, 0), Z, first_limits=(-0.2, 0.1), angle_limits=(-0.4, 0.5)
    ),
    "fixed": lambda model, *pair: model.add_fixed(*pair, (0.3, 0, 0)),
    "string": lambda model, *pair: model.add_distance(*pair, (0.1, 0, 0), (0.3, 0, 0), limits=(-math.inf, 0.05)),
}


def joined(kind, ground=False):
    """A model of a joint between two bodies, or between the ground and a body."""
    model = rigid.Model()
    bodies = [model.add_body(mass=1.0, inertia=(1, 1, 1), position=(0.6 * k, 0, 0)) for k in range(2)]
    JOINTS[kind](model, rigid.GROUND if ground else bodies[0], bodies[1])
    return model


def moved(model, shift, turn, everything=(0.3, -1.2, 0.7)):
    """A State in which the child is rotated about (0.3, 0, 0) and shifted, and then all bodies are rotated about the
    origin. Args: shift (3,) [m]; turn (3,): a rotation vector [rad]; everything: another one, of all bodies."""
    state = model.initial_state()
    about, q = np.array((0.3, 0, 0)), exponential(turn)
    state.position[1] = about + shift + rotate(q, state.position[1] - about)
    state.rotation[1] = multiply(q, state.rotation[1])
    if model.joints[0].parent != rigid.GROUND:
        q = exponential(everything)
        state.position[:], state.rotation[:] = rotate(q, state.position), multiply(q, state.rotation)
    return state


@pytest.mark.parametrize("ground", [False, True], ids=["bodies", "ground"])
@pytest.mark.parametrize(
    ("kind", "shift", "gap"),
    [
        ("ball", (0.01, 0.02, -0.02), 0.03),
        ("hinge", (0.01, 0.02, -0.02), 0.03),
        ("universal", (0.01, 0.02, -0.02), 0.03),
        ("fixed", (0.01, 0.02, -0.02), 0.03),
        ("slider", (0.03, 0.04, -0.5), 0.05),  # it slides along z
        ("cylindrical", (0.03, 0.04, -0.5), 0.05),
        ("planar", (0.3, -0.4, 0.05), 0.05),  # it slides across z
        ("string", (0.04, 0, 0), 0.0),  # a string may be longer
        ("string", (0.3, 0, 0), 0.25),
        ("string", (-0.15, 0, 0), 0.0),
    ],
)
def test_gap_equals_the_shift_of_the_child(kind, shift, gap, ground):
    model = joined(kind, ground)
    assert joint_gaps(model, model.initial_state()) == pytest.approx(0, abs=1e-15)
    assert joint_gaps(model, moved(model, shift, (0, 0, 0))) == pytest.approx(gap, abs=1e-14)
    if kind != "string":  # a rotation about the point opens no joint
        assert joint_gaps(model, moved(model, (0, 0, 0), (0.2, -0.4, 0.3))) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize(
    ("kind", "turn", "locked"),
    [
        ("ball", (0.3, -0.2, 0.6), 0.0),
        ("hinge", (0, 2.0, 0), 0.0),
        ("hinge", (0.1, 0, 0), 0.1),
        ("hinge", (0, 0, 1e-9), 1e-9),
        ("universal", (0, 0.7, 0), 0.0),
        ("universal", (0, 0, 0.7), 0.0),
        ("universal", (0.1, 0, 0), 0.1),
        ("slider", (0.02, 0.03, -0.06), 0.07),
        ("cylindrical", (0, 0, 2.0), 0.0),
        ("cylindrical", (0.06, 0.08, 0), 0.1),
        ("planar", (0, 0, 2.0), 0.0),
        ("planar", (0.06, 0.08, 0), 0.1),
        ("fixed", (0.2, 0.3, -0.6), 0.7),
        ("fixed", (3.0, 0, 0), 3.0),
        ("fixed", (0, 1e-9, 0), 1e-9),
        ("string", (0.2, 0.3, -0.6), 0.0),
    ],
)
def test_angle_error_equals_the_rotation_of_the_child(kind, turn, locked):
    model = joined(kind)
    assert joint_turns(model, moved(model, (0.1, 0, 0), turn)) == pytest.approx(locked, rel=1e-6, abs=1e-15)


@pytest.mark.parametrize(
    ("kind", "shift", "turn", "violation"),
    [
        ("hinge", 0, (0, 0.5, 0), 0.0),
        ("hinge", 0, (0, 0.7, 0), 0.2),
        ("hinge", 0, (0, -0.7, 0), 0.3),
        ("universal", 0, (0, 0.7, 0), 0.2),
        ("universal", 0, (0, 0, -0.4), 0.3),
        ("ball", 0, (0, 0.3, 0.4), 0.3),
        ("ball", 0, (0.4, 0, 0), 0.1),
        ("slider", 0.3, (0, 0, 0), 0.2),
        ("cylindrical", 0.3, (0, 0, 0.1), 0.2),
        ("cylindrical", 0.1, (0, 0, 0.8), 0.3),
        ("planar", 0, (0, 0, -0.7), 0.3),
        ("fixed", 0.3, (0.1, 0, 0), 0.0),
        ("string", 0.3, (0, 0, 0), 0.0),
    ],
)
def test_limit_violation_equals_the_excess(kind, shift, turn, violation):
    model = joined(kind)
    positions = JointPositions(model).positions(moved(model, (0, 0, shift), turn))
    assert limit_violations(model, positions) == pytest.approx(violation, abs=1e-12)


def test_rotations_in_32_bits_are_accepted():
    model = joined("ball")
    state = moved(model, (0, 0, 0), (0.5, 0.1, 0.2))
    before = JointPositions(model).positions(state)["ball 0"]
    state.rotation *= 1 + 1e-6
    assert JointPositions(model).positions(state)["ball 0"] == pytest.approx(before, abs=1e-14)


def test_stacked_states_equal_single_states():
    random = np.random.default_rng(4)
    model = rigid.Model()
    bodies = [model.add_body(mass=1.0, inertia=(1, 1, 1), position=(0.6 * k, 0, 0)) for k in range(1 + len(JOINTS))]
    for k, make in enumerate(JOINTS.values()):
        make(model, bodies[k], bodies[k + 1])
    position, rotation = random.normal(size=(4, len(bodies), 3)), normalised(random.normal(size=(4, len(bodies), 4)))
    many = rigid.State(position, rotation, position, position)
    one = [rigid.State(*each, each[0], each[0]) for each in zip(position, rotation)]
    for read in (joint_gaps, joint_turns, lambda m, s: limit_violations(m, JointPositions(m).positions(s))):
        assert read(model, many).shape == (4, len(JOINTS))
        assert np.array_equal(read(model, many), [read(model, state) for state in one])


def test_model_without_joints_has_no_gaps():
    model = rigid.Model()
    model.add_body(mass=1.0, inertia=(1, 1, 1))
    assert joint_gaps(model, model.initial_state()).shape == (0,)
    assert joint_turns(model, model.initial_state()).shape == (0,)
    assert limit_violations(model, {}).shape == (0,)


def test_angles_are_exact_near_zero_and_half_a_turn():
    model = joined("fixed")
    for angle in (1e-12, 1e-4, 1.0, math.pi - 1e-6):
        turn = joint_turns(model, moved(model, (0, 0, 0), angle * normalised((1.0, -2.0, 0.5))))
        assert turn == pytest.approx(angle, rel=1e-4 if angle < 1e-10 else 1e-9)
