"""Trajectories and geometry of scenes."""

import numpy as np
import pytest

from scenes.catalogue.components.linkage import crossing
from scenes.catalogue.components.trajectories import eased


def test_trajectory_passes_its_values_at_rest():
    times, values = (0.5, 1.5, 2.0), np.array([[0.0, 1.0], [2.0, 1.0], [-1.0, 3.0]])
    for time, value in zip(times, values):
        assert np.array_equal(eased(time, times, values), value)
        # 3 s² - 2 s³ starts and ends at rest: after a part ε of the time it has moved by 3 ε² of the distance.
        assert np.abs(eased(time + 1e-4, times, values) - value).max() < 3 * (1e-4 / 0.5) ** 2 * 3
        assert np.abs(eased(time - 1e-4, times, values) - value).max() < 3 * (1e-4 / 0.5) ** 2 * 3
    assert np.array_equal(eased(-1.0, times, values), values[0])
    assert np.array_equal(eased(9.0, times, values), values[-1])
    assert np.allclose(eased(1.0, times, values), values[:2].mean(axis=0))


def test_circles_intersect_on_the_left_or_not_at_all():
    # A triangle with sides 3, 4 and 5.
    assert np.allclose(crossing((0, 0), (5, 0), 3, 4), (1.8, 2.4))
    assert np.allclose(crossing((5, 0), (0, 0), 4, 3), (1.8, -2.4))
    with pytest.raises(ValueError, match="bars of 1 m and 2 m from points 5 m apart: expected bars that meet"):
        crossing((0, 0), (5, 0), 1, 2)
