"""Motors of "impulse" and "articulated" that iterations do not bring to their speed are told of."""

import math
import warnings

import pytest
from described import X, Y, Z

import rigid


def arm(load, armature=0.0, max_effort=math.inf):
    """A level arm of four hinges with servos, 10 kg and 1 m, that holds a load [kg] at its end."""
    model, parent = rigid.Model(), rigid.GROUND
    for k, axis in enumerate((Z, Y, Y, X)):
        link = model.add_box((0.25, 0.08, 0.08), mass=2.5, position=(0.25 * k + 0.125, 0, 0))
        motor = rigid.Motor(position=0.0, max_effort=max_effort)
        model.add_hinge(parent, link, (0.25 * k, 0, 0), axis, motor=motor, armature=armature, name=f"joint {k}")
        parent = link
    ball = model.add_sphere(0.08, mass=load, position=(1, 0, 0))
    model.add_fixed(parent, ball)
    return model, ball


def warnings_of_motors(solver, calls=2, steps=30):
    """Make steps. Returns: the warnings of motors."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(calls):
            solver.step(steps)
    return [str(each.message) for each in said if "the motor of joint" in str(each.message)]


@pytest.mark.parametrize(
    ("load", "armature", "iterations"),
    [(60.0, 0.0, 20), (60.0, 0.0, 2000), (60.0, 1.0, 50), (0.5, 0.0, 50)],
)
def test_an_arm_that_sinks_is_told_and_one_that_holds_is_not(load, armature, iterations):
    # Servos without a bound hold any load at the place of the start: what sinks is what iterations leave.
    model, ball = arm(load, armature)
    solver = rigid.solver("articulated", model, dt=1 / 60, iterations=iterations, contacts=False)
    said = warnings_of_motors(solver)
    sunk = abs(solver.state().position[ball, 2])
    assert sunk > 0.02 if said else sunk < 1e-3
    assert len(said) == (iterations == 20)  # once
    if said:
        assert said[0].startswith('solver "articulated", world 0, 0.5 s: the motor of joint')


def test_impulses_that_do_not_hold_an_arm_are_told():
    model, ball = arm(60.0)
    solver = rigid.solver("impulse", model, dt=1 / 60, contacts=False)
    assert len(warnings_of_motors(solver)) == 1
    assert abs(solver.state().position[ball, 2]) > 0.02


@pytest.mark.parametrize("name", ["impulse", "articulated"])
def test_a_motor_at_its_bound_is_not_told_of(name):
    # It holds 1 N m at most, and the arm weighs 49 N m about its second hinge: the arm falls, as it must.
    model, ball = arm(0.5, max_effort=1.0)
    solver = rigid.solver(name, model, dt=1 / 240, iterations=200, contacts=False)
    assert warnings_of_motors(solver, calls=3) == []
    assert solver.state().position[ball, 2] < -0.1


@pytest.mark.parametrize("name", ["impulse", "articulated"])
def test_a_motor_with_its_speed_is_not_told_of(name):
    model = rigid.Model(gravity=(0, 0, 0))
    wheel = model.add_cylinder(0.3, start=(0, 0, 0), end=(0, 0, 0.1), mass=4.0)
    model.add_hinge(rigid.GROUND, wheel, (0, 0, 0), Z, motor=rigid.Motor(speed=5.0, max_effort=100.0), name="drive")
    solver = rigid.solver(name, model, dt=1 / 60, contacts=False)
    assert warnings_of_motors(solver) == []
    assert solver.joint_velocities()["drive"] == pytest.approx(5.0)
