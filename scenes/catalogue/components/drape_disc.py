"""Discs of fabric for Cusick's drape test: 30 cm wide, held between plates of 18 cm."""

import numpy as np

from pbd import build

DISC, SUPPORT = 0.15, 0.09  # radii of BS 5058 [m]


def disc(rings, radius=DISC):
    """A Mesh of a disc in rings: ring k has 6 k vertices, and the first vertex is the centre. Args: rings; radius."""
    from scipy.spatial import Delaunay

    angles = [2 * np.pi * np.arange(6 * k) / (6 * k) for k in range(1, rings + 1)]
    plane = [radius * k / rings * np.stack([np.cos(a), np.sin(a)], 1) for k, a in enumerate(angles, start=1)]
    plane = np.concatenate([np.zeros((1, 2)), *plane])
    triangles = Delaunay(plane).simplices
    (x, y), (u, v) = ((plane[triangles[:, k]] - plane[triangles[:, 0]]).T for k in (1, 2))
    triangles[x * v < y * u] = triangles[x * v < y * u][:, ::-1]
    return build.Mesh(np.pad(plane, ((0, 0), (0, 1))), triangles)


def waves(points, seed, amplitude=0.016):
    """Heights of a disc that is not quite flat, beyond the support [m]: waves around it, long ones higher.

    Args: points: (n, 3) [m]; seed; amplitude: divided by the square of the number of waves [m].
    """
    random, number = np.random.default_rng(seed), np.arange(2, 17)
    high, phase = amplitude * random.normal(size=number.size) / number**2, random.uniform(0, 2 * np.pi, number.size)
    out = np.maximum(np.hypot(*points.T[:2]) / SUPPORT - 1, 0)
    return out * SUPPORT / (DISC - SUPPORT) * (np.cos(np.outer(np.arctan2(*points.T[1::-1]), number) + phase) @ high)
