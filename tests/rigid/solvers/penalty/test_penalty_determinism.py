"""The penalty solver computes the same bits in every world, step by step, and from a file."""

import numpy as np
import pytest
from described import all_at_once

import rigid

STEPS, HALF = 200, 93
Y, Z = (0, 1, 0), (0, 0, 1)


def solve(models, **options):
    return rigid.solver("penalty", models, **options)


@pytest.fixture(scope="module")
def alone():
    """Solvers of each model alone, in one world, after all steps."""
    found = [solve(all_at_once(number)) for number in range(3)]
    for solver in found:
        solver.step(STEPS)
    return found


def assert_same(solver, world, other):
    """Compare poses, velocities and joint positions of one world with those of a solver of one world."""
    for one, two in zip(readings(solver, world), readings(other)):
        assert np.array_equal(one, two)


def readings(solver, world=None):
    state = solver.state()
    arrays = [state.position, state.rotation, state.velocity, state.angular_velocity]
    arrays += [np.asarray(each) for each in solver.joint_positions().values()]
    return arrays if world is None else [each[world] for each in arrays]


def test_model_has_contacts_turns_and_limits(alone):
    # The model has contacts between boxes and with the ground, many turns, and limits that are reached.
    found = alone[0].contact_forces()
    assert (found.bodies[:, 1] < 0).any()
    assert (found.bodies[:, 1] >= 0).any()
    assert len(found.forces) >= 8  # four corners of each box
    positions = alone[0].joint_positions()
    assert positions["wheel"] > 4 * np.pi
    assert positions["geared"] == pytest.approx(-0.5 * positions["wheel"], abs=0.05)
    assert alone[0].statistics().residual < 0.05


@pytest.mark.slow
def test_worlds_equal_single_worlds_after_an_interruption(alone):
    models = [all_at_once(number) for number in range(3)]
    at_once, before, after = solve(models), solve(models), solve(models)
    at_once.step(STEPS)
    before.step(HALF)
    after.set_state(before.state())
    after.step(STEPS - HALF)
    copies = solve(all_at_once(1), worlds=3)
    copies.step(STEPS)
    for world, solver in enumerate(alone):
        assert_same(at_once, world, solver)
        assert_same(after, world, solver)
        assert_same(copies, world, alone[1])
    assert at_once.statistics().contacts.shape == (3,)
    assert len(at_once.contact_forces(world=2).forces) == at_once.statistics().contacts[2]


def test_run_continues_bit_for_bit_from_a_file(tmp_path, alone):
    # The state's warm_start has the stretch of friction and counted angles.
    solver = solve(all_at_once())
    solver.step(HALF)
    solver.state().save(tmp_path / "half")
    again = solve(all_at_once())
    again.set_state(rigid.State.load(tmp_path / "half"))
    assert again.time == solver.time
    assert again.joint_positions()["wheel"] == solver.joint_positions()["wheel"]
    again.step(STEPS - HALF)
    assert_same(again, None, alone[0])


def test_many_steps_equal_single_steps_and_substeps_equal_steps(alone):
    single, halves = solve(all_at_once()), solve(all_at_once(), dt=0.006, substeps=2)
    for _ in range(STEPS):
        single.step()
        single.statistics(), single.contact_forces()  # a measurement changes nothing
    halves.step(STEPS // 2)
    assert_same(single, None, alone[0])
    assert_same(halves, None, alone[0])


def test_states_without_warm_start_clear_caches():
    # Such states have no stretch, and angles are within half a turn.
    solver, fresh = solve(all_at_once()), solve(all_at_once())
    solver.step(HALF)
    state = solver.state()
    for each in (solver, fresh):
        each.set_state(rigid.State(state.position, state.rotation, state.velocity, state.angular_velocity))
    assert abs(solver.joint_positions()["wheel"]) <= np.pi
    for each in (solver, fresh):
        each.step(10)
    assert solver.digest() == fresh.digest()
