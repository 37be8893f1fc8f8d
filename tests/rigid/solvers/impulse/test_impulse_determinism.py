"""The impulse solver computes the same bits in every run, with any number of threads, in any world, and from a file."""

import hashlib

import numpy as np
import pytest
from described import all_at_once
from elsewhere import run_elsewhere

import rigid
from pbd.core.kernels import on_cpu

STEPS, HALF = 80, 37
Y, Z = (0, 1, 0), (0, 0, 1)


def solve(models, **options):
    return rigid.solver("impulse", models, dt=0.01, iterations=20, **options)


def digest(solver, world=None):
    """A digest of poses, velocities and joint positions of one world."""
    state = solver.state()
    arrays = [state.position, state.rotation, state.velocity, state.angular_velocity]
    arrays += [np.asarray(each) for each in solver.joint_positions().values()]
    if world is not None:
        arrays = [each[world] for each in arrays]
    return hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)).hexdigest()[:16]


def program():
    """The program of another process: digests of three worlds, in one run and with an interruption."""
    models = [all_at_once(number) for number in range(3)]
    at_once, before, after = solve(models), solve(models), solve(models)
    at_once.step(STEPS)
    before.step(HALF)
    after.set_state(before.state())
    after.step(STEPS - HALF)
    copies = solve(all_at_once(1), worlds=3)  # the same kernel
    copies.step(STEPS)
    found = [[digest(solver, world) for solver in (at_once, after, copies)] for world in range(3)]
    return "".join(f"world {world}: {' '.join(digests)}\n" for world, digests in enumerate(found))


@pytest.fixture(scope="module")
def digests():
    """Digests of each model alone, in one world."""
    if not on_cpu():
        pytest.skip("of the processor's threads")
    found = []
    for number in range(3):
        solver = solve(all_at_once(number))
        solver.step(STEPS)
        found.append(digest(solver))
    return found


def test_model_has_contacts_turns_and_limits():
    # The model has contacts between boxes and with the ground, many turns, and limits that are reached.
    solver = solve(all_at_once())
    solver.step(STEPS)
    found = solver.contact_forces()
    assert (found.bodies[:, 1] < 0).any()
    assert (found.bodies[:, 1] >= 0).any()
    assert len(found.forces) > 8
    positions = solver.joint_positions()
    assert positions["wheel"] > 4 * np.pi
    assert positions["geared"] == pytest.approx(-0.5 * positions["wheel"], abs=1e-6)
    assert solver.energy().total != solver.energy().kinetic


@pytest.mark.slow
def test_worlds_on_two_threads_equal_single_worlds_on_one(digests):
    # Three worlds at once, with an interruption, as copies; and single worlds, in this process.
    found = run_elsewhere(__file__, "program()", cpu_max_num_threads=2, opt_level=0)
    assert len(found) == 3
    for world in range(3):
        at_once, stopped, copy = found[f"world {world}"].split()
        assert at_once == digests[world]
        assert stopped == digests[world]
        assert copy == digests[1]


def test_run_continues_bit_for_bit_from_a_file(tmp_path, digests):
    # The state's warm_start has impulses of contacts and counted angles.
    solver = solve(all_at_once())
    solver.step(HALF)
    solver.state().save(tmp_path / "half")
    angle = solver.joint_positions()["wheel"]
    assert angle > 2 * np.pi
    again = solve(all_at_once())
    again.set_state(rigid.State.load(tmp_path / "half"))
    assert again.time == solver.time
    assert again.joint_positions()["wheel"] == angle
    again.step(STEPS - HALF)
    assert digest(again) == digests[0]


def test_many_steps_in_one_launch_equal_single_steps(digests):
    solver = solve(all_at_once())
    for _ in range(STEPS):
        solver.step()
        solver.statistics()  # a measurement changes nothing
        solver.contact_forces()
    assert digest(solver) == digests[0]


def test_states_without_warm_start_clear_caches():
    # Such states have no impulses of earlier steps, and angles are within half a turn.
    solver = solve(all_at_once())
    solver.step(HALF)
    state = solver.state()
    solver.set_state(rigid.State(state.position, state.rotation, state.velocity, state.angular_velocity))
    assert abs(solver.joint_positions()["wheel"]) <= np.pi
    fresh = solve(all_at_once())
    fresh.set_state(rigid.State(state.position, state.rotation, state.velocity, state.angular_velocity))
    for each in (solver, fresh):
        each.step(10)
    assert solver.digest() == fresh.digest()
