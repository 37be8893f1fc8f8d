"""Hexagonal cloth: rows of particles, each offset by half a spacing, so that every inner particle has six sticks."""

import numpy as np

from pbd.build.cloth import BYTES_OF_PARTICLE, MASS, add_triangle_cloth, checked_corner, pinned_in_grid
from pbd.core.transaction import builder
from pbd.core.validate import derived, positive, refuse_gigabytes, whole
from pbd.particles import Particles


@builder(Particles)
def hexagonal_cloth(
    particles,
    origin,
    right,
    down,
    columns,
    rows=None,
    *,
    density=0.15,
    compliance=0.0,
    bending=1.2e-5,
    thickness=0.0,
    friction=0.0,
    contacts="spheres",
    drag=1.0,
    tear=None,
    yield_angle=None,
    pins=(),
):
    """Add a piece of cloth of nearly equilateral triangles, equally stiff in all directions.

    Every second row is offset by half a spacing to the right, so the left and right sides zigzag. Use `cloth` for woven
    cloth, which is softer in shear than along its threads.

    Args:
        particles: the pbd.Particles to which it is added.
        origin: its top left corner (3,) [m].
        right, down: its upper and its left side (3,) [m], at a right angle for equilateral triangles.
        columns: particles in a row, two or more. Their spacing is |right| / (columns - 1/2).
        rows: two or more; None for as many as make the triangles nearly equilateral.
        density: [kg/m²].
        compliance: of all sticks [m/N].
        bending, thickness, friction, contacts, drag, tear, yield_angle, pins: see `cloth`.

    Returns: a Cloth. The normal of its triangles is right × down. Masses are proportional to the area around each
    particle.

    Source: Jakobsen, Advanced Character Physics (2001), section 4: a hexagonal mesh of triangles, whose nodes are
    particles and whose edges are sticks.
    """
    origin, right, down = checked_corner(origin, right, down)
    columns = whole("cloth columns", columns, least=2)
    if rows is None:
        height = np.sqrt(3) / 2 * np.linalg.norm(right) / (columns - 0.5)
        rows = max(round(np.linalg.norm(down) / height), 1) + 1
    rows = whole("cloth rows", rows, least=2)
    refuse_gigabytes("columns", f"{columns} with {rows} rows", BYTES_OF_PARTICLE * rows * columns)
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    along = (j + 0.5 * (i % 2)) / (columns - 0.5)
    positions = origin + along.reshape(-1, 1) * right + (i / (rows - 1)).reshape(-1, 1) * down
    number = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    triangles, pinned = hexagonal_triangles(number), pinned_in_grid(pins, number)
    area = np.linalg.norm(np.cross(right, down)) / (columns - 0.5) / (rows - 1) / 2  # of each triangle
    masses = positive("density", density) * area / 3 * np.bincount(triangles.ravel())
    derived("density, right and down", masses, MASS)
    return add_triangle_cloth(
        particles, positions, masses, triangles, pinned, compliance=compliance, bending=bending, flat=True,
        thickness=thickness, friction=friction, contacts=contacts, drag=drag, tear=tear, yield_angle=yield_angle,
        counts=(rows, columns),
    )  # fmt: skip


def hexagonal_triangles(number):
    """Triangles (n, 3) between rows, of which every second is offset to the right.

    Args: number: indices of particles (rows, columns).
    """
    found = []
    for row, (above, below) in enumerate(zip(number, number[1:])):
        if row % 2 == 0:  # the lower row is offset to the right
            pointing_up = np.stack([above[1:], below[1:], below[:-1]], axis=1)
            pointing_down = np.stack([above[:-1], above[1:], below[:-1]], axis=1)
        else:
            pointing_up = np.stack([above[:-1], below[1:], below[:-1]], axis=1)
            pointing_down = np.stack([above[:-1], above[1:], below[1:]], axis=1)
        found.append(np.stack([pointing_down, pointing_up], axis=1).reshape(-1, 3))
    return np.concatenate(found)
