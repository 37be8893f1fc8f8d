"""The limit of wall-clock time for iterations of "impulse" and "articulated"."""

import numpy as np
import pytest
from described import Y, refusal

import rigid
from rigid.solvers.sequential.time_limit import BATCH

SOLVERS = ("impulse", "articulated")


def chain(links=8):
    """A level chain. Some of its hinges slip and some stick by their friction, so iterations are many."""
    model = rigid.Model(gravity=(0, 0, -9.81))
    before = rigid.GROUND
    for k in range(links):
        rod = model.add_box((0.5, 0.05, 0.05), mass=1.0 + k, position=(0.25 + 0.5 * k, 0, 0))
        model.add_hinge(before, rod, (0.5 * k, 0, 0), Y, friction=40.0 if k % 3 else 0.5)
        before = rod
    return model


def solve(solver, model, **options):
    return rigid.solver(solver, model, dt=0.01, **{"iterations": 35, "contacts": False, **options})


@pytest.mark.parametrize("worlds", [1, 2])
@pytest.mark.parametrize("solver", SOLVERS)
def test_limit_that_is_not_reached_changes_no_bit(solver, worlds):
    # The same iterations in batches: each begins where the last one ended, and the last one is shorter.
    found = []
    for seconds in (None, 1e6):
        system = solve(solver, chain(), worlds=worlds, substeps=2, time_limit=seconds)
        system.step(20)
        found.append((system.digest(), *map(np.ndarray.tolist, map(np.asarray, system.statistics()))))
    assert found[0] == found[1]


@pytest.mark.parametrize("solver", SOLVERS)
def test_iterations_end_after_the_first_batch_if_no_time_is_left(solver):
    # A nanosecond is over after one batch; the tolerance alone would allow all 35 iterations.
    system = solve(solver, chain(), tolerance=0.0, time_limit=1e-9)
    for _ in range(3):
        system.step()
        assert system.statistics().iterations == BATCH
    full = solve(solver, chain(), tolerance=0.0)
    full.step()
    assert full.statistics().iterations == 35


def test_step_at_which_a_state_stops_being_finite_is_reported():
    model = rigid.Model(gravity=(0, 0, -9.81))
    model.add_body(mass=1.0, inertia=(1, 1, 1), velocity=(1e308, 0, 0))
    messages = []
    for seconds in (None, 1.0):
        system = solve("impulse", model, substeps=3, time_limit=seconds)
        system.set_forces(0, force=(1e308, 0, 0))
        messages.append(refusal(lambda system=system: system.step(200), Exception))
    assert messages[0] == messages[1]


def test_bad_limits_are_refused():
    for seconds in (0.0, -1.0, float("nan"), "fast"):
        with pytest.raises((TypeError, ValueError), match="time_limit"):
            solve("impulse", chain(), time_limit=seconds)
