"""The signed distance of a box, and its normal, which is the gradient of the distance."""

from exercise import use

use("pbd.core.shapes.box", __file__)

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)

from pbd.core.shapes.box import box_distance

HALF = np.array([0.5, 1.0, 1.5])


@ti.kernel
def measure(x: ti.types.ndarray(), half: ti.types.ndarray(), distance: ti.types.ndarray(), normal: ti.types.ndarray()):
    for i in range(x.shape[0]):
        point = ti.Vector([x[i, 0], x[i, 1], x[i, 2]])
        d, n = box_distance(point, ti.Vector([half[0], half[1], half[2]]))
        distance[i] = d
        for k in ti.static(range(3)):
            normal[i, k] = n[k]


def measured(x):
    distance, normal = np.zeros(len(x)), np.zeros((len(x), 3))
    measure(np.ascontiguousarray(x), HALF, distance, normal)
    return distance, normal


POINTS = np.random.default_rng(1).uniform(-3, 3, (500, 3))


def test_distance():
    beyond = np.abs(POINTS) - HALF
    outside, inside = np.linalg.norm(np.maximum(beyond, 0), axis=1), np.minimum(beyond.max(axis=1), 0)
    assert (inside < 0).any()
    np.testing.assert_allclose(measured(POINTS)[0], outside + inside, atol=1e-12)


def test_normal_is_the_gradient_of_the_distance():
    normal = measured(POINTS)[1]
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-12)
    step = 1e-6
    for k in range(3):
        ahead, behind = POINTS.copy(), POINTS.copy()
        ahead[:, k] += step
        behind[:, k] -= step
        slope = (measured(ahead)[0] - measured(behind)[0]) / (2 * step)
        # second differences of a distance are at most 1/distance; points on an edge of two regions are rare
        assert np.mean(np.abs(slope - normal[:, k]) < 1e-4) > 0.99
