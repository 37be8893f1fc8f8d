"""The point of a tetrahedron that is nearest to the origin, beside non-negative least squares."""

import numpy as np
import taichi as ti
from scipy.optimize import nnls

from pbd.core.simplex import nearest_to_origin


def test_the_nearest_point_is_that_of_least_squares():
    # |Σ w_k x_k| -> min with w >= 0 and Σ w = 1, here a row of large weight: a penalty of 1e5 leaves 1e-10 of a unit.
    # Corners stand twice or three times where there are fewer points. Some tetrahedra contain the origin.
    random = np.random.default_rng(0)
    corners = random.normal(size=(400, 4, 3)) + 0.7 * random.normal(size=(400, 1, 3))
    corners[::3, 1] = corners[::3, 0]
    corners[::6, 2] = corners[::6, 0]
    x, weights = ti.Matrix.field(4, 3, float, 400), ti.Vector.field(4, float, 400)
    x.from_numpy(corners)

    @ti.kernel
    def find():
        for k in x:
            weights[k] = nearest_to_origin(x[k])

    find()
    found = weights.to_numpy()
    assert found.min() >= 0
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-12
    lengths = np.linalg.norm(np.einsum("kc,kca->ka", found, corners), axis=1)
    assert (lengths < 1e-12).any()
    for length, points in zip(lengths, corners):
        expected, _ = nnls(np.vstack([points.T, np.full(4, 1e5)]), np.array([0, 0, 0, 1e5]))
        assert abs(length - np.linalg.norm(expected @ points)) < 1e-6
