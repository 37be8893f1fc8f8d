"""Quality of a cloth in one picture: strain, smoothness, and where it passes through itself."""

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from pbd.core.topology import hinges_of


class Quality(NamedTuple):
    """Quality of a cloth in one picture.

    Attributes: mean_strain, worst_strain: of the threads, | length/rest length - 1 |; mean_bend, worst_bend: angle
    between adjacent triangles [rad]; intersections: pairs of triangles that pass through one another.
    """

    mean_strain: float
    worst_strain: float
    mean_bend: float
    worst_bend: float
    intersections: int


def quality(positions, threads, lengths, triangles):
    """Measure the quality of a cloth in one picture.

    Args: positions: (n, 3) [m]; threads: (s, 2) indices; lengths: of threads at rest (s,) [m]; triangles: (t, 3).

    Returns: a Quality.
    """
    ends = positions[threads]
    strain = np.abs(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / lengths - 1)
    bend = bend_angles(positions, hinges_of(triangles))
    return Quality(strain.mean(), strain.max(), bend.mean(), bend.max(), len(intersections(positions, triangles)))


def bend_angles(positions, hinges):
    """Angles between the two triangles of each hinge (h,) [rad]. Args: positions: (n, 3); hinges: (h, 4)."""
    x0, x1, x2, x3 = (positions[hinges[:, k]] for k in range(4))
    one, two = np.cross(x1 - x0, x2 - x0), np.cross(x3 - x0, x1 - x0)
    sine, cosine = np.linalg.norm(np.cross(one, two), axis=1), np.einsum("ij,ij->i", one, two)
    return np.arctan2(sine, cosine)


def intersections(positions, triangles):
    """Pairs of triangles that pass through one another and share no corner.

    Two triangles that do not lie in one plane intersect where an edge of one passes through the other.

    Args: positions: (n, 3) [m]; triangles: (t, 3). Returns: (pairs, 2).
    """
    corners = positions[triangles]
    middle = corners.mean(axis=1)
    reach = np.linalg.norm(corners - middle[:, None], axis=2).max()
    pairs = cKDTree(middle).query_pairs(2 * reach, output_type="ndarray")
    one, two = triangles[pairs[:, 0]], triangles[pairs[:, 1]]
    pairs = pairs[(one[:, :, None] != two[:, None, :]).all(axis=(1, 2))]
    found = np.zeros(len(pairs), bool)
    for a, b in (pairs.T, pairs.T[::-1]):
        for k in range(3):
            found |= passes_through(corners[a, k], corners[a, (k + 1) % 3], corners[b])
    return pairs[found]


def passes_through(start, end, triangle):
    """Whether segments pass through triangles (n,). Args: start, end: (n, 3); triangle: (n, 3 corners, 3).

    Source: Möller and Trumbore, Fast, Minimum Storage Ray/Triangle Intersection (1997),
    https://doi.org/10.1080/10867651.1997.10487468.
    """
    ray, side_1, side_2 = end - start, triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0]
    across, arm = np.cross(ray, side_2), start - triangle[:, 0]
    turned = np.cross(arm, side_1)
    with np.errstate(divide="ignore", invalid="ignore"):  # parallel to the triangle: infinite, so not in [0, 1]
        scale = 1 / np.einsum("ij,ij->i", side_1, across)
        u, v, t = (scale * np.einsum("ij,ij->i", a, b) for a, b in ((arm, across), (ray, turned), (side_2, turned)))
        return (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0) & (t <= 1)
