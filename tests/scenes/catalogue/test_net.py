"""The net of cords keeps what is larger than its mesh, and lets through what is smaller."""

import numpy as np
import pytest

import scenes
from scenes.catalogue.net import LARGE, LEVEL, SMALL
from scenes.simulate.run import Run


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_small_balls_fall_through_and_large_ones_stay(seed):
    run = Run(scenes.load("net", meshes=6, balls=6, seed=seed))
    for _ in range(180):
        run.system.step()
        assert run.particles.crossings() == 0
    heights = run.system.state().position[:, 2]
    assert heights[1::2] == pytest.approx(SMALL, abs=1e-3)  # on the ground
    assert np.all(heights[::2] > LEVEL - 2 * LARGE)
