"""The same bits by impulses: whatever the threads, in every run, in every world, and from a file half way."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from described import all_at_once

import rigid
from pbd.core.runtime import on_cpu

ROOT = Path(__file__).parents[4]
STEPS, HALF = 80, 37
Y, Z = (0, 1, 0), (0, 0, 1)


def solve(models, **options):
    return rigid.solver("impulse", models, dt=0.01, iterations=20, **options)


def digest(solver, world=None):
    """Of poses, velocities and counted angles, of one of several worlds or the only one."""
    state = solver.state()
    arrays = [state.position, state.rotation, state.velocity, state.angular_velocity]
    arrays += [np.asarray(each) for each in solver.joint_positions().values()]
    if world is not None:
        arrays = [each[world] for each in arrays]
    return hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)).hexdigest()[:16]


def program():
    """Run in a process of its own: digests of three worlds, at once; and of the same with a stop half way."""
    models = [all_at_once(number) for number in range(3)]
    at_once, before, after = solve(models), solve(models), solve(models)
    at_once.step(STEPS)
    before.step(HALF)
    after.set_state(before.state())
    after.step(STEPS - HALF)
    copies = solve(all_at_once(1), worlds=3)  # the same kernel
    copies.step(STEPS)
    for world in range(3):
        sys.stdout.write(f"world {world}: {digest(at_once, world)} {digest(after, world)} {digest(copies, world)}\n")


def elsewhere():
    """What program() says, in a process with two threads."""
    lines = [
        "import sys, taichi as ti",
        f"sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'tests')!r}, {str(Path(__file__).parent)!r}]",
        "ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR, cpu_max_num_threads=2, opt_level=0)",
        "import test_impulse_determinism",
        "test_impulse_determinism.program()",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [line.split(": ")[1].split() for line in done.stdout.splitlines() if line.startswith("world")]


@pytest.fixture(scope="module")
def digests():
    """Of each model on its own, in one world."""
    if not on_cpu():
        pytest.skip("of the processor's threads")
    found = []
    for number in range(3):
        solver = solve(all_at_once(number))
        solver.step(STEPS)
        found.append(digest(solver))
    return found


def test_the_model_has_it_all():
    # What is hashed does happen: contacts between boxes and with the ground, many turns, limits that are met.
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
def test_worlds_on_two_threads_are_what_each_is_alone_on_one(digests):
    # Runs of their own, all of them: three worlds at once, stopped half way, copies; and alone, in this process.
    found = elsewhere()
    assert len(found) == 3
    for world, (at_once, stopped, copy) in enumerate(found):
        assert at_once == digests[world]
        assert stopped == digests[world]
        assert copy == digests[1]


def test_the_same_bits_from_a_file_half_way(tmp_path, digests):
    # Impulses of contacts, to begin the next step with, and counted angles are in the state's memory.
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


def test_many_steps_are_as_many_times_one(digests):
    solver = solve(all_at_once())
    for _ in range(STEPS):
        solver.step()
        solver.statistics()  # a measurement changes nothing
        solver.contact_forces()
    assert digest(solver) == digests[0]


def test_other_states_begin_anew():
    # Poses alone: no impulses from before, angles within half a turn.
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
