"""Error messages of the impulse solver."""

import math

import numpy as np
import pytest
from described import ZERO, refusal, rod_on_a_pivot

import pbd
import rigid

NAN, INF = math.nan, math.inf


def solve(**options):
    return rigid.solver("impulse", rod_on_a_pivot(), **{"dt": 0.01, "contacts": False, **options})


OPTIONS = {
    "dt": (0.0, ValueError, ["dt is 0", "above zero"]),
    "dt NaN": (NAN, ValueError, ["dt is nan", "finite"]),
    "dt a word": ("fast", TypeError, ["dt is 'fast'", "number"]),
    "worlds": (0, ValueError, ["worlds is 0", "1 or more"]),
    "substeps": (0, ValueError, ["substeps is 0", "1 or more"]),
    "substeps half": (1.5, TypeError, ["substeps is 1.5", "whole number"]),
    "iterations": (-1, ValueError, ["iterations is -1", "0 or more"]),
    "iterations many": ("many", TypeError, ["iterations is 'many'", "whole number"]),
    "tolerance": (-1e-6, ValueError, ["tolerance is -1e-06", "zero or more"]),
    "tolerance NaN": (NAN, ValueError, ["tolerance is nan", "finite"]),
    "error_reduction": (1.5, ValueError, ["error_reduction is 1.5", "from 0 to 1"]),
    "error_reduction below": (-0.1, ValueError, ["error_reduction is -0.1", "from 0 to 1"]),
    "restitution_threshold": (-1, ValueError, ["restitution_threshold is -1", "zero or more"]),
    "gyroscopic": ("implict", ValueError, ["gyroscopic is 'implict'", "did you mean 'implicit'?"]),
}  # fmt: skip


@pytest.mark.parametrize(("options", "words"), [
    ({"integrator": "variable"}, ["integrator is 'variable'", "did you mean 'variational'?"]),
    ({"integrator": "variational", "sleep_speed": 0.02}, ["sleep_speed is 0.02", "expected 0"]),
    ({"integrator": "variational", "split_impulse": False}, ["split_impulse is False", "expected True"]),
])  # fmt: skip
def test_variational_integrator_refuses_options(options, words):
    message = refusal(lambda: solve(**options), ValueError)
    for word in words:
        assert word in message, message


def test_variational_integrator_refuses_paths():
    model = rigid.Model()
    model.add_box((1, 1, 1), path=lambda time: (0, 0, time), name="lift")
    message = refusal(lambda: rigid.solver("impulse", model, integrator="variational"), NotImplementedError)
    assert "body 'lift' follows a path" in message


@pytest.mark.parametrize("case", OPTIONS)
def test_options_are_checked(case):
    value, error, words = OPTIONS[case]
    message = refusal(lambda: solve(**{case.split()[0]: value}), error)
    for word in words:
        assert word in message, message


@pytest.mark.parametrize(("name", "wrong", "right"), [
    ("impulse", "iteration", "iterations"),
    ("impulse", "warmstart", "warm_start"),
    ("impulse", "split", "split_impulse"),
    ("impulse", "contact_capcity", "contact_capacity"),
    ("verlet", "iteration", "iterations"),
    ("verlet", "contact", "contacts"),
    ("verlet", "dampings", "damping"),
])  # fmt: skip
def test_unknown_options_get_a_hint(name, wrong, right):
    message = refusal(lambda: rigid.solver(name, rod_on_a_pivot(), **{wrong: 1}), ValueError)
    assert f"option of solver \"{name}\" is '{wrong}'" in message
    assert f"did you mean '{right}'?" in message


def test_unknown_solvers_get_a_hint():
    assert "did you mean 'impulse'?" in refusal(lambda: rigid.solver("impulses", rod_on_a_pivot()), ValueError)


@pytest.mark.parametrize(("given", "error", "words"), [
    ("door", TypeError, ["model is 'door'", "rigid.Model"]),
    ([], ValueError, ["empty list", "at least one"]),
    ([rod_on_a_pivot(), rigid.Model()], ValueError, ["different structure", "same bodies"]),
])  # fmt: skip
def test_models_are_checked(given, error, words):
    message = refusal(lambda: rigid.solver("impulse", given), error)
    for word in words:
        assert word in message


def test_three_models_in_two_worlds_raise():
    message = refusal(lambda: rigid.solver("impulse", [rod_on_a_pivot()] * 3, worlds=2, contacts=False), ValueError)
    assert "3 models for 2 worlds" in message


def test_body_without_mass_is_named():
    made = rigid.Model()
    made.add_body(name="soul")
    assert "'soul' has no mass" in refusal(lambda: rigid.solver("impulse", made), ValueError)


@pytest.mark.parametrize("count", [0, -1, 1.5, "two", True])
def test_step_counts_are_whole_numbers(count):
    solver = solve()
    refusal(lambda: solver.step(count), ValueError if count in (0, -1) else TypeError)
    assert solver.time == 0


def test_setting_dt_and_substeps_is_checked():
    solver = solve()
    for name, wrong in (("dt", 0.0), ("dt", INF), ("substeps", 0)):
        with pytest.raises(ValueError, match=name):
            setattr(solver, name, wrong)
    solver.step(10)
    solver.dt = 0.02
    solver.step(10)
    assert solver.time == pytest.approx(0.3, abs=1e-15)


def test_states_of_other_bodies_raise():
    solver = solve()
    assert "expected a rigid.State" in refusal(lambda: solver.set_state("rest"), TypeError)
    other = rigid.State(np.zeros((2, 3)), [(1, 0, 0, 0)] * 2, np.zeros((2, 3)), np.zeros((2, 3)))
    assert "shape (2, 3): expected (1, 3)" in refusal(lambda: solver.set_state(other), ValueError)


SPRINGS = {
    "infinite": (lambda m: rigid.Spring(INF), ["spring stiffness is inf", "finite"]),
    "negative": (lambda m: rigid.Spring(-1.0), ["spring stiffness is -1", "zero or more"]),
    "damping": (lambda m: rigid.Spring(1.0, INF), ["spring damping is inf", "finite"]),
    "between points, infinite": (lambda m: m.add_spring(rigid.GROUND, 0, ZERO, stiffness=INF),
                                 ["spring stiffness is inf", "finite"]),
    "between points, negative": (lambda m: m.add_spring(rigid.GROUND, 0, ZERO, stiffness=-5),
                                 ["spring stiffness is -5", "zero or more"]),
    "between points, damping": (lambda m: m.add_spring(rigid.GROUND, 0, ZERO, stiffness=1, damping=-1),
                                ["spring damping is -1", "zero or more"]),
    "soft, negative": (lambda m: rigid.Soft(stiffness=-1), ["soft stiffness is -1", "zero or more"]),
    "soft, NaN": (lambda m: rigid.Soft(angular_stiffness=NAN), ["soft angular_stiffness is nan", "finite"]),
    "soft, frequency": (lambda m: rigid.Soft(frequency=0), ["soft frequency is 0", "above zero"]),
    "soft, both": (lambda m: rigid.Soft(frequency=1, stiffness=1), ["frequency and stiffness", "one or the other"]),
    "soft, ratio": (lambda m: rigid.Soft(frequency=1, damping_ratio=-1), ["soft damping_ratio is -1", "zero or more"]),
}  # fmt: skip


@pytest.mark.parametrize("case", SPRINGS)
def test_springs_are_checked(case):
    act, words = SPRINGS[case]
    message = refusal(lambda: act(rod_on_a_pivot()), ValueError)
    for word in words:
        assert word in message, message


def test_soft_joint_without_stiffness_and_damping_is_free():
    # γ would be infinite: the row does nothing, and stays finite.
    made = rigid.Model()
    body = made.add_body(mass=1.0, inertia=(1, 1, 1))
    made.add_ball(rigid.GROUND, body, ZERO, soft=rigid.Soft(stiffness=0.0))
    solver = rigid.solver("impulse", made, dt=0.01, contacts=False)
    solver.step(100)
    assert solver.state().velocity[0] == pytest.approx((0, 0, -9.81), abs=1e-12)


def test_motor_without_max_effort_reaches_its_speed_in_one_step():
    # max_effort is infinite by default.
    made = rod_on_a_pivot()
    made.joints[0].motor = rigid.Motor(speed=-3.0)
    solver = rigid.solver("impulse", made, dt=0.01, contacts=False)
    solver.step()
    assert solver.joint_velocities()["pivot"] == pytest.approx(-3.0, abs=1e-6)
    solver.step(100)
    assert solver.joint_positions()["pivot"] == pytest.approx(-3.03, abs=0.01)


def test_divergence_names_step_and_body():
    # No spring makes implicit Euler diverge, so the velocity starts near the largest number.
    made = rigid.Model(gravity=(0, 0, 0))
    made.add_body(mass=1.0, inertia=(1, 1, 1), name="slow")
    made.add_body(mass=1.0, inertia=(1, 1, 1), velocity=(1e308, 0, 0), name="fast")
    made.add_ball(rigid.GROUND, 0, ZERO)
    solver = rigid.solver("impulse", made, dt=0.5, contacts=False)
    solver.step()
    with pytest.raises(pbd.Diverged, match=r"body 1 \(world 0\) stopped being finite in step 4, at 2 s") as caught:
        solver.step(10)
    assert (caught.value.step, caught.value.particle, caught.value.time) == (4, 1, 2.0)


def test_large_mass_ratio_gives_a_warning():
    made = rod_on_a_pivot()
    heavy = made.add_body(mass=1e8, inertia=3 * (1e6,), position=(0.5, 0, 0), name="anvil")
    made.add_ball(0, heavy, (0.5, 0, 0))
    with pytest.warns(UserWarning, match=r"'anvil' has 1e\+08 times the mass of 'rod'.*inaccurate"):
        solver = rigid.solver("impulse", made, dt=0.01, contacts=False)
    solver.step(200)
    assert np.isfinite(solver.state().position).all()
