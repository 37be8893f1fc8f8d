"""A motor that iterations do not bring to its speed is told of, if it has not reached its largest effort."""

import math
import warnings

import numpy as np
import pytest
from marks import slow

import rigid

OPTIONS = {"dt": 1 / 60, "substeps": 16, "solve": "direct", "contacts": False}


def winch(load, max_effort=200.0):
    """A motor turns a spindle of 4 kg by one turn in a second. A gear lifts a load by 0.1 m with it."""
    model = rigid.Model()
    spindle = model.add_cylinder(0.03, start=(0, 0, 0), end=(0, 0, 1), mass=4.0)
    box = model.add_box((0.3, 0.3, 0.3), mass=load, position=(1, 0, 0))
    motor = rigid.Motor(speed=2 * math.pi, max_effort=max_effort)
    model.add_hinge(rigid.GROUND, spindle, (0, 0, 0), (0, 0, 1), motor=motor, name="drive")
    model.add_slider(rigid.GROUND, box, (1, 0, 0), (0, 0, 1), name="guide")
    model.add_gear("drive", "guide", 0.1 / (2 * math.pi))
    return model


def said_of_motors(solver, count=2):
    """Make steps. Args: solver; count: of calls. Returns: the warnings of motors."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(count):
            solver.step(30)
    return [str(each.message) for each in said if "the motor of joint" in str(each.message)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("iterations", "max_effort", "told"),
    [(4, 200.0, True), (30, 200.0, False), slow(4, math.inf, False)],
)
def test_a_motor_that_iterations_leave_slow_is_told_once(iterations, max_effort, told):
    # An iteration turns a spindle of inertia I as if it were alone, and the direct solve then shares that with a load
    # that adds J: a part J/(I + J) of an error is left. Here it is 0.88, so four iterations leave 0.6, 30 leave 0.02.
    solver = rigid.solver("verlet", winch(50.0, max_effort), iterations=iterations, **OPTIONS)
    said = said_of_motors(solver)
    assert len(said) == told
    missed = 1 - solver.joint_velocities()["drive"] / (2 * math.pi)
    assert missed > 0.1 if told else abs(missed) < 0.01


@pytest.mark.slow
def test_a_motor_at_its_largest_effort_is_not_told_of():
    # It holds 3 kg at most: m g 0.1 m/2π = 0.47 N m
    solver = rigid.solver("verlet", winch(50.0, 0.47), iterations=4, **OPTIONS)
    assert not said_of_motors(solver)
    assert solver.joint_velocities()["drive"] < 0


@pytest.mark.slow
def test_worlds_have_motors_of_their_own():
    worlds = [winch(0.5), winch(50.0)]
    solver = rigid.solver("verlet", worlds, iterations=4, **OPTIONS)
    (said,) = said_of_motors(solver)
    assert said.startswith('solver "verlet", world 1, 0.5 s: the motor of joint \'drive\' has a speed of')
    assert np.diff(solver.joint_velocities()["drive"]) < 0
