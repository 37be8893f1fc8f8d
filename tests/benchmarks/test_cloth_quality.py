"""Measures of a cloth's quality in shapes whose strain, fold and intersections are known."""

import numpy as np
import pytest

from benchmarks.cloth_quality import intersections, quality

# Two triangles that share the edge from 0 to 1, folded by 60 degrees.
SQUARE = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0, 0], [-0.5, 0, np.sqrt(0.75)]])
FOLDED = np.array([[0, 1, 3], [1, 0, 2]])


def test_strain_and_bend_of_two_triangles():
    threads, lengths = np.array([[0, 1], [0, 2]]), np.array([1.0, 0.8])
    found = quality(SQUARE, threads, lengths, FOLDED)
    assert found.mean_strain == pytest.approx(0.125)
    assert found.worst_strain == pytest.approx(0.25)
    assert found.mean_bend == found.worst_bend == pytest.approx(np.pi / 3)
    assert found.intersections == 0


def turned(seed):
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return rotation


@pytest.mark.parametrize(
    ("height", "count"),
    [
        (-0.5, 1),  # the corner is below the triangle, its edges pass through
        (0.5, 0),  # all of it is above
        (-5.0, 1),
    ],
)
def test_triangles_that_pass_through_each_other_are_found(height, count):
    flat = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    upright = [[0.2, 0.2, height], [0.2, 0.1, 1], [0.2, 0.4, 1]]
    positions = np.array(flat + upright) @ turned(1).T
    found = intersections(positions, np.arange(6).reshape(2, 3))
    assert len(found) == count


def test_neighbours_in_a_flat_cloth_do_not_intersect():
    number = np.arange(25).reshape(5, 5)
    corners = [each.ravel() for each in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:])]
    triangles = np.concatenate([np.stack(corners[:3], axis=1), np.stack(corners[1:], axis=1)])
    x, y = np.meshgrid(np.arange(5.0), np.arange(5.0))
    assert len(intersections(np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel()]), triangles)) == 0
