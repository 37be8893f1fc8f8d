"""Chains at random: the same for the same seed, whole at the start, and counted when they gain energy."""

import numpy as np
import pytest

from benchmarks.chains import (
    CLASSES,
    KINDS,
    energy_scale,
    outcome_lines,
    random_chain,
    random_chains,
)
from benchmarks.outcomes import MOST_GAIN, Outcome
from rigid.constraints.joints.gaps import joint_gaps, joint_turns
from rigid.state import State

SEEDS = range(40)


def resting(model):
    """The State of a model's bodies."""
    position, rotation = (np.array([getattr(body, name) for body in model.bodies]) for name in ("position", "rotation"))
    return State(position, rotation, np.zeros_like(position), np.zeros_like(position), 0.0, np.zeros(0))


def test_chains_have_three_to_eight_rods_and_all_joints():
    made = [random_chain(seed) for seed in SEEDS]
    assert {len(model.bodies) for model in made} == set(range(3, 9))
    assert {joint.kind for model in made for joint in model.joints} == set(KINDS)
    assert all(model.joints[0].kind != "fixed" for model in made)


@pytest.mark.parametrize("name", list(CLASSES))
def test_chains_are_whole_at_the_start_and_the_same_for_a_seed(name):
    for seed in range(5):
        model, again = (random_chain(seed, *CLASSES[name]) for _ in range(2))
        state = resting(model)
        assert joint_gaps(model, state).max() < 1e-14
        assert joint_turns(model, state).max() < 1e-7
        assert (state.position == resting(again).position).all()


def test_limits_change_nothing_else():
    for seed in range(5):
        free, limited = (random_chain(seed, limits=limits) for limits in (False, True))
        assert (resting(free).position == resting(limited).position).all()
        assert any(joint.kind in ("hinge", "ball") for joint in limited.joints)
        assert [joint.kind for joint in free.joints] == [joint.kind for joint in limited.joints]


def test_densities_have_the_ratio_at_most():
    length, ratio = CLASSES["0.1 m to 1:1000"]
    densities = []
    for seed in SEEDS:
        model = random_chain(seed, length, ratio)
        densities.extend(body.mass / np.prod(model.shapes[k].shape.size) for k, body in enumerate(model.bodies))
    assert min(densities) >= 1000.0 * (1 - 1e-12)
    assert max(densities) <= 1000.0 * ratio * (1 + 1e-12)
    assert max(densities) > 100 * min(densities)


def test_energy_scale_is_weight_times_length():
    model = random_chain(3, 0.1)
    assert energy_scale(model, 0.1) == pytest.approx(9.81 * model.masses.sum() * 0.1 * len(model.bodies))


def test_silent_gains_and_errors_are_counted():
    found = [
        Outcome(0, 0.01, None, 0.001, "", "a"), Outcome(1, 2 * MOST_GAIN, 1.5, 0.2, "", "b"),
        Outcome(2, float("inf"), 0.1, 0.0, "", "c"), Outcome(3, 9.0, 0.5, 0.0, "diverged", ""),
    ]  # fmt: skip
    lines = list(outcome_lines("case", found, 2.0))
    cells = {line.split(",")[1]: float(line.split(",")[3]) for line in lines if not line.startswith("#")}
    assert cells["case gain in silence"] == 50  # one by a tenth, one without a limit
    assert cells["case stopped or warned"] == 25
    assert cells["case joints open by a tenth"] == 25
    assert any("seed 1 by 0.1 from 1.50 s" in line for line in lines)


@pytest.mark.slow
def test_chains_of_a_metre_gain_nothing_with_a_direct_solve_of_short_steps():
    # Along current gradients projection only damps, to first order in the step: here 1/240 s.
    given = {"direct": {"solve": "direct", "direction": "current", "iterations": 2, "substeps": 4}}
    lines = list(random_chains(3, settings=given, classes={"1 m": CLASSES["1 m"]}, duration=0.5))
    gains = [line for line in lines if "gain in silence" in line]
    assert [line.split(",")[3] for line in gains] == ["0"]
