"""Meshes of strips, for tests of membranes and plates."""

import numpy as np
from scipy.spatial import Delaunay

MESHES = ("alternating", "parallel", "hexagonal", "random")


def sheet(length, width, rows, columns, mesh="alternating"):
    """A grid in the plane z = 0, its length along x from 0, its diagonals as MESHES says.

    Returns: positions (n, 3) [m], triangles (t, 3), indices (rows + 1, columns + 1).
    """
    i, j = np.indices((rows + 1, columns + 1))
    positions = np.stack([i * length / rows, j * width / columns, 0.0 * i], axis=-1).reshape(-1, 3)
    number = np.arange(positions.shape[0]).reshape(i.shape)
    triangles = []
    for r in range(rows):
        for c in range(columns):
            p, q, s, t = number[r, c], number[r + 1, c], number[r + 1, c + 1], number[r, c + 1]
            rising = mesh == "parallel" or (r + c) % 2
            triangles += [(p, q, s), (p, s, t)] if rising else [(p, q, t), (q, s, t)]
    return positions, np.array(triangles), number


def cantilever(length, width, rows, columns, mesh, rng):
    """A strip from x = 0 with one more row of triangles before it, to clamp.

    Returns: positions (n, 3) [m], triangles (t, 3), the clamped particles, and those at the tip.
    """
    spacing = length / rows
    if mesh in ("alternating", "parallel"):
        positions, triangles, number = sheet(length + spacing, width, rows + 1, columns, mesh)
        positions[:, 0] -= spacing
        return positions, triangles, number[:2].ravel(), number[-1]
    x, y = np.linspace(-spacing, length, rows + 2), np.linspace(0.0, width, columns + 1)
    plane = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    if mesh == "hexagonal":
        plane[1::2, 1:-1, 1] += width / columns / 2  # half a spacing in every other row
    else:
        plane[2:-1, 1:-1] += spacing * rng.uniform(-0.35, 0.35, plane[2:-1, 1:-1].shape)
    plane = plane.reshape(-1, 2)
    triangles = Delaunay(plane).simplices
    a, b, c = np.moveaxis(plane[triangles], 1, 0)
    (x, y), (u, v) = (b - a).T, (c - a).T
    area = x * v - y * u
    triangles[area < 0] = triangles[area < 0][:, ::-1]
    triangles = triangles[np.abs(area) > 1e-6 * spacing**2]  # none along a straight border
    positions = np.concatenate([plane, np.zeros((len(plane), 1))], axis=1)
    return positions, triangles, np.flatnonzero(plane[:, 0] < 1e-9), np.flatnonzero(plane[:, 0] > length - 1e-9)


def masses_of(positions, triangles, density):
    """A third of each triangle's mass to each of its corners (n,) [kg]."""
    a, b, c = np.moveaxis(positions[triangles], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    return np.bincount(triangles.ravel(), np.repeat(density * areas / 3, 3), len(positions))


def turned(rng):
    """A random rotation (3, 3)."""
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))
