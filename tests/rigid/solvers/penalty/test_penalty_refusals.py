"""Error messages of the penalty solver."""

import math

import numpy as np
import pytest
from described import ZERO, refusal, rod_on_a_pivot

import pbd
import rigid

NAN = math.nan


def solve(**options):
    return rigid.solver("penalty", rod_on_a_pivot(), **{"contacts": False, **options})


@pytest.mark.parametrize(("option", "value", "error", "words"), [
    ("dt", 0.0, ValueError, ["dt is 0", "above zero"]),
    ("dt", NAN, ValueError, ["dt is nan", "finite"]),
    ("worlds", 0, ValueError, ["worlds is 0", "1 or more"]),
    ("substeps", 1.5, TypeError, ["substeps is 1.5", "whole number"]),
    ("stiffness", 0.0, ValueError, ["stiffness is 0", "above zero"]),
    ("stiffness", "hard", TypeError, ["stiffness is 'hard'", "number"]),
    ("damping", -1.0, ValueError, ["damping is -1", "zero or more"]),
    ("angular_stiffness", NAN, ValueError, ["angular_stiffness is nan", "finite"]),
    ("angular_damping", -1.0, ValueError, ["angular_damping is -1", "zero or more"]),
    ("gyroscopic", "implict", ValueError, ["gyroscopic is 'implict'", "did you mean 'implicit'?"]),
    ("stifness", 1.0, ValueError, ["option of solver \"penalty\" is 'stifness'", "did you mean 'stiffness'?"]),
    ("dt", 0.1, ValueError, ["0.1 s is unstable", "'pivot'", "use a step below"]),
])  # fmt: skip
def test_options_are_checked(option, value, error, words):
    message = refusal(lambda: solve(**{option: value}), error)
    for word in words:
        assert word in message, message


def test_default_time_steps():
    assert solve().dt == 0.003
    assert rigid.solver("impulse", rod_on_a_pivot(), contacts=False).dt == 1 / 60


def test_unknown_solvers_get_a_hint():
    assert "did you mean 'penalty'?" in refusal(lambda: rigid.solver("penalties", rod_on_a_pivot()), ValueError)


def test_states_of_other_bodies_raise():
    other = rigid.State(np.zeros((2, 3)), [(1, 0, 0, 0)] * 2, np.zeros((2, 3)), np.zeros((2, 3)))
    assert "shape (2, 3): expected (1, 3)" in refusal(lambda: solve().set_state(other), ValueError)


def test_divergence_names_step_and_body():
    solver = solve(dt=0.1, check_stability=False)
    with pytest.raises(pbd.Diverged, match=r"body 0 \(world 0\) stopped being finite in step \d+, at") as caught:
        solver.step(5000)
    assert caught.value.time == pytest.approx(0.1 * caught.value.step)


def test_soft_joint_without_stiffness_and_damping_is_free():
    made = rigid.Model()
    body = made.add_body(mass=1.0, inertia=(1, 1, 1))
    made.add_ball(rigid.GROUND, body, ZERO, soft=rigid.Soft(stiffness=0.0))
    solver = rigid.solver("penalty", made, contacts=False)
    solver.step(100)
    assert solver.state().velocity[0] == pytest.approx((0, 0, -9.81 * 0.3), abs=1e-12)


def test_spring_of_length_zero_does_nothing():
    # A = 0: the row is left out, like any row along which its bodies cannot move.
    made = rod_on_a_pivot()
    # A length of zero has no direction.
    made.add_spring(rigid.GROUND, 0, (0.25, 0, 0), point_b=(0.25, 0, 0), stiffness=50.0)
    solver = rigid.solver("penalty", made, contacts=False)
    solver.step(100)
    assert np.isfinite(solver.state().position).all()


@pytest.mark.slow  # no other test has its kernel
def test_model_without_bodies_or_joints_runs():
    empty = rigid.solver("penalty", rigid.Model())
    empty.step(3)
    assert empty.time == pytest.approx(0.009)
    assert empty.statistics()[:3] == (1, 0.0, 0)
