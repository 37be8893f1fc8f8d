"""Bodies at rest sleep until something moves them."""

import numpy as np
import pytest
from described import ASIDE, FAR, g, model_of
from test_impulse_contacts import solve

import rigid

SLOW = 0.02


def stack_and_ball(speed):
    """A stack of three boxes, another box, and a ball that rolls towards the stack from 3 m away."""
    model = rigid.Model()
    model.add_ground()
    for k in range(3):
        model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1 + 0.2 * k))
    model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 5, 0.1))
    model.add_sphere(0.1, mass=1.0, position=(-3, 0, 0.1), velocity=(speed, 0, 0), angular_velocity=(0, speed / 0.1, 0))
    return model


@pytest.fixture(scope="module")
def run():
    """States every tenth of a second; the ball hits the stack at about 1.5 s."""
    solver = rigid.solver("impulse", stack_and_ball(2.0), dt=0.01, sleep_speed=SLOW)
    states = []
    for _ in range(30):
        solver.step(10)
        states.append(solver.state())
    return states


def test_sleeping_bodies_do_not_move(run):
    before = [state for state in run if 0.7 < state.time < 1.3]
    for state in before:
        assert not state.velocity[:4].any()
        assert not state.angular_velocity[:4].any()
        assert np.array_equal(state.position[:4], before[0].position[:4])


def test_moving_bodies_stay_awake(run):
    rolling = [state for state in run if 0.7 < state.time < 1.3]
    assert all(state.velocity[4, 0] > 1.9 for state in rolling)


def test_impact_wakes_the_whole_stack_and_no_other_body(run):
    struck, asleep = run[-1].position - run[8].position, run[-1].position[3] - run[8].position[3]
    assert struck[0, 0] > 1e-3  # the lowest box has been pushed along
    assert not asleep.any()


def add_bodies_aside(model):
    """Add a box and a ball, far away, so that a model has the kernel of `stack_and_ball`."""
    model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 50, 0.1))
    model.add_sphere(0.1, mass=1.0, position=(0, 100, 0.1))


def test_bodies_sleep_only_with_a_sleep_speed():
    # A box slides down a slope with less than SLOW, and without sleep it continues.
    gravity, box = (0.01, 0, -9.81), {"size": (0.2, 0.2, 0.2), "mass": 1.0, "position": (0, 0, 0.1), "friction": 0.0}
    model = model_of(gravity, friction=0.0)
    model.add_box(**box)
    free = solve(model)
    model = rigid.Model(gravity)
    model.add_ground(friction=0.0)
    model.add_box(**box)
    add_bodies_aside(model)
    lulled = solve(model, sleep_speed=SLOW)
    for solver in (free, lulled):
        solver.step(100)
    # v = a t; the other one was slow for half a second, and then stopped
    assert free.state().velocity[ASIDE, 0] == pytest.approx(0.01, rel=1e-9)
    assert lulled.state().velocity[0, 0] == 0.0


def test_sleeping_state_continues_bit_for_bit():
    first, second = (rigid.solver("impulse", stack_and_ball(2.0), dt=0.01, sleep_speed=SLOW) for _ in range(2))
    first.step(100)
    second.set_state(first.state())
    first.step(100)
    second.step(100)
    assert first.digest() == second.digest()


def test_set_state_wakes_a_stack():
    solver = rigid.solver("impulse", stack_and_ball(2.0), dt=0.01, sleep_speed=SLOW)
    solver.step(100)
    state = solver.state()
    state.position[3, 2] += 1.0  # lifted, it falls
    solver.set_state(state)
    solver.step(10)
    assert solver.state().velocity[3, 2] == pytest.approx(-0.981, rel=1e-9)


def test_new_force_wakes_a_box():
    # 16 N on 2 kg with μ = 0.5 accelerate the box by F/m - μ g. The step in which it wakes may lack the acceleration.
    model = rigid.Model()
    model.add_ground(friction=0.5)
    model.add_box((0.3, 0.3, 0.1), mass=2.0, position=(0, 0, 0.05), friction=0.5, name="crate")
    add_bodies_aside(model)
    solver = rigid.solver("impulse", model, dt=1 / 240, iterations=40, sleep_speed=SLOW)
    solver.set_forces("crate", force=(8.0, 0, 0))
    solver.step(180)
    solver.set_forces("crate", force=(8.0, 0, 0))  # the same again
    solver.step()
    assert not solver.state().velocity[0].any()
    solver.set_forces("crate", force=(16.0, 0, 0))
    solver.step(24)
    assert solver.state().velocity[0, 0] == pytest.approx((16.0 / 2.0 - 0.5 * g) * 0.1, rel=0.01)


def test_path_wakes_a_box_on_a_tray():
    # The tray rests for a second. Then it moves with 1 m/s², less than μ g, and carries the box.
    model = rigid.Model()
    model.add_ground(-FAR)
    model.add_box((4, 1, 0.2), path=lambda time: (0.5 * max(time - 1, 0) ** 2, 0, 0), friction=0.5)
    model.add_box((0.2, 0.2, 0.1), mass=1.0, position=(0, 0, 0.15), friction=0.5)
    add_bodies_aside(model)
    solver = rigid.solver("impulse", model, dt=1 / 240, iterations=50, sleep_speed=SLOW)
    solver.step(239)
    assert not solver.state().velocity[:2].any()
    solver.step(121)
    assert solver.state().velocity[1, 0] == pytest.approx(0.5, rel=0.05)
