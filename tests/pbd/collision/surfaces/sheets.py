"""Sheets and lines of particles for tests of surfaces."""

import numpy as np

from pbd.core.topology import edges_of

LEVEL = np.eye(3)


def add_sheet(particles, count=5, size=0.2, middle=(0, 0, 0), turn=LEVEL, mass=0.01, velocity=(0, 0, 0), **surface):
    """A square sheet of sticks along the edges of triangles.

    Args: count: particles along a side; size: side [m]; turn: rotation (3, 3) from a horizontal sheet; mass: of a
    particle [kg]; surface: arguments of `add_surface`, or none for no surface. Returns: indices, triangles.
    """
    line = np.linspace(-size / 2, size / 2, count)
    x, y = (each.ravel() for each in np.meshgrid(line, line))
    positions = np.stack([x, y, 0 * x], axis=1) @ np.transpose(turn) + middle
    added = particles.add_particles(positions, mass, velocity)
    number = added.reshape(count, count)
    a, b, c, d = (each.ravel() for each in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]))
    triangles = np.concatenate([np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)])
    particles.add_sticks(edges_of(triangles))
    if surface:
        particles.add_surface(triangles, **surface)
    return added, triangles


def add_line(particles, start, end, count=2, mass=0.01, velocity=(0, 0, 0), **segments):
    """Particles on a line with sticks between them, as segments. Returns: indices."""
    points = np.linspace(start, end, count)
    added = particles.add_particles(points, mass, velocity)
    pairs = np.stack([added[:-1], added[1:]], axis=1)
    particles.add_sticks(pairs)
    particles.add_segments(pairs, **segments)
    return added


def turned(rng):
    """A random rotation (3, 3). Args: rng: numpy's generator."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return turn * np.sign(np.linalg.det(turn))
