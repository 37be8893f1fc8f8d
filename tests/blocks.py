"""Blocks of tetrahedra, for tests of solids."""

import itertools

import numpy as np

import pbd
from pbd.core.topology import boundary_of


def block(counts, size):
    """A block of cubes of six tetrahedra each. Returns: points (n, 3), tetrahedra (m, 4) of positive volume."""
    number = np.arange(np.prod(np.add(counts, 1))).reshape(np.add(counts, 1))
    axes = [np.linspace(0, length, count + 1) for length, count in zip(size, counts)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    tetrahedra = []
    for order in itertools.permutations(range(3)):
        corners = np.concatenate([np.zeros((1, 3), int), np.cumsum(np.eye(3, dtype=int)[list(order)], axis=0)])
        if np.linalg.det(np.diff(corners, axis=0)) < 0:
            corners[[1, 2]] = corners[[2, 1]]
        for cube in np.ndindex(*counts):
            tetrahedra.append([number[tuple(np.add(cube, corner))] for corner in corners])
    return points, np.array(tetrahedra)


def body(solid, counts=(3, 3, 3), size=(0.3, 0.3, 0.3), gravity=(0, 0, 0), pinned=None, rotation=None):
    """Particles with a block of a solid, and its points. Args: pinned: function of points that gives a mask."""
    points, tetrahedra = block(counts, size)
    x = points if rotation is None else points @ rotation.T
    volumes = np.linalg.det(points[tetrahedra[:, 1:]] - points[tetrahedra[:, :1]]) / 6
    masses = solid.density * np.bincount(tetrahedra.ravel(), np.repeat(volumes / 4, 4))
    if pinned is not None:
        masses[pinned(points)] = np.inf
    particles = pbd.Particles(gravity=gravity)
    particles.add_particles(x, masses)
    particles.add_solid(tetrahedra, solid)
    return particles, points


def areas(particles, points, mask):
    """The part of a face that each of its points has, thirds of its triangles (n,) [m²]. Args: mask: of its points."""
    triangles = boundary_of(particles.solids[0].tetrahedra)
    triangles = triangles[mask[triangles].all(axis=1)]
    corners = points[triangles]
    size = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    return np.bincount(triangles.ravel(), np.repeat(size / 3, 3), len(points))
