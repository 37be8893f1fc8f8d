"""Bodies at rest sleep until something moves them."""

import numpy as np
import pytest
from described import ASIDE, FAR, g, model_of
from marks import cases, needs_lanes
from test_impulse_contacts import solve

import rigid
from pbd.core.kernels import read
from rigid.collision.data import SEARCH
from rigid.solvers.impulse.data import Features
from rigid.solvers.impulse.kernel import step_kernel
from rigid.solvers.impulse.solver import ImpulseSolver

SLOW, STEP = 0.02, 1 / 60


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


# A world that sleeps --------------------------------------------------------------------------------------------------


def weight_on_ground(solver):
    """Force of all contacts with the ground (3,) [N]."""
    found = solver.contact_forces()
    return found.forces[found.bodies[:, 1] < 0].sum(axis=0)


def test_substeps_of_a_world_that_sleeps_are_left_out():
    solver = rigid.solver("impulse", stack_and_ball(0.0), dt=0.01, sleep_speed=SLOW)
    solver.step(100)
    timers, digest = read(solver.data.sleep.timers), solver.digest()
    assert timers.min() > 0.5
    solver.step(1000)
    np.testing.assert_array_equal(read(solver.data.sleep.timers), timers)  # no substep has counted them
    assert solver.digest() == digest
    assert solver.time == pytest.approx(11.0)
    # Contacts are read of the substep in which all fell asleep, which was in the middle of a launch.
    assert weight_on_ground(solver) == pytest.approx((0, 0, 5.0 * g), abs=1e-3 * g)
    solver.set_forces(2, force=(0, 0, 2.0 * g))
    solver.step(50)
    # The upper box rises with 2 g - g: h² g n (n + 1)/2 in n steps, but for the first, in which it wakes.
    assert solver.state().position[2, 2] - 0.5 == pytest.approx(0.01**2 * g * 50 * 51 / 2, rel=0.05)


def test_contacts_of_a_restored_world_that_sleeps_can_be_read():
    first, other = (rigid.solver("impulse", stack_and_ball(0.0), dt=0.01, sleep_speed=SLOW) for _ in range(2))
    first.step(100)
    state = first.state()
    other.set_state(state)
    other.step(5)
    assert weight_on_ground(other) == pytest.approx((0, 0, 5.0 * g), abs=1e-3 * g)
    assert other.statistics().contacts == first.statistics().contacts
    first.step(5)
    for solver in (first, other):
        solver.set_forces(2, force=(3.0, 0, 2.0))
        solver.step(50)
    assert first.digest() == other.digest()


def test_another_length_of_a_substep_wakes_all():
    # Impulses are forces times its length: they must be found anew.
    solver = rigid.solver("impulse", stack_and_ball(0.0), dt=0.01, sleep_speed=SLOW)
    solver.step(100)
    for name, value in (("dt", 0.005), ("substeps", 3)):
        setattr(solver, name, value)
        solver.step()
        assert weight_on_ground(solver)[2] == pytest.approx(5.0 * g, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("moved", [False, True])
def test_what_a_grab_lets_go_wakes(moved):
    # A box that hangs at rest falls onto the ground as soon as its spring is gone, or pulls another box.
    model = rigid.Model()
    model.add_ground()
    model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 2.0))
    model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(5, 0, 0.1))
    solver = rigid.solver("impulse", model, dt=0.01, sleep_speed=SLOW, grabs=1)
    solver.grab(0, 0, (0, 0, 0), (0, 0, 2.0), stiffness=1e3, damping=100.0)
    solver.step(200)
    assert not solver.state().velocity.any()
    if moved:
        solver.grab(0, 1, (0, 0, 0), (5, 0, 0.1), stiffness=1e3, damping=100.0)
    else:
        solver.release(0)
    solver.step(100)
    assert solver.state().position[0, 2] == pytest.approx(0.1, abs=1e-3)


# Contacts in packs ----------------------------------------------------------------------------------------------------


def columns_and_ball():
    """64 columns of two boxes, and a ball without weight that flies to the first one and meets it after a second."""
    model = rigid.Model()
    model.add_ground(friction=0.5)
    for x, y, z in np.ndindex(8, 8, 2):
        model.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0.5 * x, 0.5 * y, 0.1 + 0.2 * z), friction=0.5)
    model.add_sphere(0.1, mass=1.0, position=(-3.2, 0, 0.3), velocity=(3.0, 0, 0), gravity_scale=0.0)
    return model


@needs_lanes
@pytest.mark.parametrize("small_steps", cases([0, 4], slow=(0,)))
def test_sleeping_columns_in_packs_bear_their_weight_and_wake_one_by_one(small_steps):
    solver = rigid.solver("impulse", columns_and_ball(), dt=1 / 120, small_steps=small_steps, sleep_speed=SLOW)
    assert solver.packs
    solver.step(110)
    before = solver.state()
    assert not before.velocity[:128].any()
    assert read(solver.data.scratch.found)[0, SEARCH.kept] >= 128 * 4
    assert weight_on_ground(solver) == pytest.approx((0, 0, 128 * g), rel=1e-3, abs=0.01 * g)
    solver.step(30)
    after = solver.state()
    assert np.abs(after.position[:2] - before.position[:2]).max() > 0.01  # the column has been struck
    np.testing.assert_array_equal(after.position[2:128], before.position[2:128])
    assert not after.velocity[2:128].any()
    found = solver.contact_forces()
    left = (found.bodies[:, 1] < 0) & (found.bodies[:, 0] >= 2) & (found.bodies[:, 0] < 128)
    assert found.forces[left].sum(axis=0) == pytest.approx((0, 0, 126 * g), rel=1e-3, abs=0.01 * g)


@needs_lanes
@pytest.mark.slow
def test_columns_in_packs_wake_as_without(monkeypatch):
    # A contact that sleeps keeps its impulse, or finds it again by its rows: to round-off.
    packed = rigid.solver("impulse", columns_and_ball(), dt=1 / 120, sleep_speed=SLOW)
    monkeypatch.setattr(ImpulseSolver, "_has_packs", lambda solver: False)
    single = rigid.solver("impulse", columns_and_ball(), dt=1 / 120, sleep_speed=SLOW)
    for solver in (packed, single):
        solver.step(125)
    ours, theirs = packed.state(), single.state()
    assert np.abs(ours.velocity[:2]).max() > 0.1
    assert ours.position == pytest.approx(theirs.position, abs=1e-12)
    assert ours.velocity == pytest.approx(theirs.velocity, abs=1e-9)


@needs_lanes
@pytest.mark.slow
@pytest.mark.parametrize("small_steps", [0, 4])
@pytest.mark.parametrize("seed", [1, 2])
def test_kept_contacts_have_the_bits_of_a_search_in_each_substep(small_steps, seed, monkeypatch):
    # Balls fall onto columns, wake them, come to rest and sleep, at different times.
    random, model = np.random.default_rng(seed), rigid.Model()
    model.add_ground(friction=0.5)
    for x, y, z in np.ndindex(6, 6, 2):
        given = {"mass": 1.0, "position": (0.5 * x, 0.5 * y, 0.11 + 0.22 * z), "friction": 0.5}
        if random.integers(3) > 0:
            model.add_box((0.22, 0.18, 0.2), **given)
        else:
            model.add_capsule(0.08, 0.12, rotation=(0.5**0.5, 0.5**0.5, 0, 0), **given)
    for k in range(12):
        model.add_sphere(0.1, mass=1.0, position=(*random.uniform(0, 2.5, 2), 3 + 4 * k), friction=0.5)
    options = {"dt": STEP, "small_steps": small_steps, "sleep_speed": 0.05}
    ours = rigid.solver("impulse", model, **options)
    ours.step()
    monkeypatch.setattr(Features, "keeps_contacts", False)
    step_kernel.cache_clear()
    theirs = rigid.solver("impulse", model, **options)
    theirs.step()
    step_kernel.cache_clear()
    kept = []
    for k in range(60):
        ours.step(7)
        theirs.step(7)
        kept.append(int(read(ours.data.scratch.found)[0, SEARCH.kept]))
        assert ours.digest() == theirs.digest()
        found, expected = ours.contact_forces(), theirs.contact_forces()
        order, other = np.lexsort(found.points.T), np.lexsort(expected.points.T)
        np.testing.assert_array_equal(found.points[order], expected.points[other])
        assert found.forces[order] == pytest.approx(expected.forces[other], abs=1e-9)
        if k == 30:
            state = ours.state()
    assert 0 in kept[20:]
    assert max(kept) > 150
    digest = ours.digest()
    ours.set_state(state)
    ours.step(29 * 7)
    assert ours.digest() == digest
