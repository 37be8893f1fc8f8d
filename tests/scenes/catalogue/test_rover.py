"""A rover on rockers and bogies: solvers that share no code agree, and the gear keeps the chassis between its sides."""

import numpy as np
import pytest

import rigid
import scenes
from scenes.simulate.run import Run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def driven():
    """{solver: (state, joint positions) after 4 s}."""
    found = {}
    for solver in ("verlet", "impulse", "articulated", "penalty"):
        run = Run(scenes.load("rover", seed=7), solver)
        run.system.step(240)
        found[solver] = run.system.state(), run.system.joint_positions()
    return found


def test_solvers_agree_on_where_it_drives(driven):
    # Friction of six wheels on hills is not unique, and solvers slip by different parts: a tenth of the way of 2 m.
    ways = {solver: state.position[0] for solver, (state, _) in driven.items()}
    mean = np.mean(list(ways.values()), axis=0)
    assert mean[0] > -3.6 + 1.5  # at 0.6 m/s, but for the fall and the slopes
    for way in ways.values():
        assert np.linalg.norm(way - mean) < 0.2


def test_the_gear_turns_the_rockers_against_one_another(driven):
    for state, positions in driven.values():
        assert positions["left axle"] == pytest.approx(-positions["right axle"], abs=0.02)
        up = rigid.rotation.to_matrix(state.rotation[0])[2, 2]
        assert up > np.cos(0.5)
