"""Surfaces of basic shapes: spheres, capsules, boxes, cylinders, and rods with round ends."""

import math
from functools import cache
from itertools import combinations, product

import numpy as np

from pbd.core.rotation import cross
from pbd.core.topology import split_sharp_edges
from scenes.visuals.geometry import Rods, Spheres, Surface, checked_rows

GREY = (0.8, 0.8, 0.8)

# Triangles of a box whose corners are numbered by the bits of their signs: z, y, x.
BOX_TRIANGLES = np.array(
    [
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
        (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ]
)  # fmt: skip


def sphere(radius=1.0, colour=GREY, centre=(0.0, 0.0, 0.0), subdivisions=4):
    """Make a sphere.

    Args:
        radius: [m].
        colour: (3,) sRGB from 0 to 1.
        centre: (3,) [m].
        subdivisions: the sphere has 20 * 4**subdivisions triangles: 4 for a few large ones, 2 for a thousand particles.

    Returns:
        A Surface.
    """
    _require_positive(radius, "sphere radius")
    directions, triangles = _unit_sphere(subdivisions)
    return Surface(directions * radius + np.asarray(centre), triangles, colour, solid=True)


def capsule(radius, length, colour=GREY, sectors=24):
    """Make a capsule around the z axis, centred at the origin.

    Args: radius [m]; length between the centres of its round ends [m]; colour; sectors: facets around the axis.

    Returns:
        A Surface.
    """
    _require_positive(radius, "capsule radius")
    half = np.array([[0.0, 0.0, length / 2]])
    return tubes(-half, half, radius, colour, sectors=sectors, rings=sectors // 4)


def box(size, colour=GREY):
    """Make a box centred at the origin.

    Args: size: (3,) edge lengths [m]; colour.

    Returns:
        A Surface.
    """
    corners = np.array(list(product((-0.5, 0.5), repeat=3)))
    return Surface(corners * np.asarray(size, dtype=float), BOX_TRIANGLES, colour, smooth=False, solid=True)


def cylinder(radius, length, colour=GREY, sectors=48):
    """Make a cylinder with flat ends around the z axis, centred at the origin.

    Args: radius, length [m]; colour; sectors: facets around the axis.

    Returns:
        A Surface.
    """
    _require_positive(radius, "cylinder radius")
    turn, here = np.arange(sectors) * (2 * math.pi / sectors), np.arange(sectors)
    rim = radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    lower, upper = (np.column_stack([rim, np.full(sectors, z)]) for z in (-length / 2, length / 2))
    vertices = np.concatenate([lower, upper, [[0.0, 0.0, -length / 2], [0.0, 0.0, length / 2]]])
    a, b = here, (here + 1) % sectors  # corners of a facet at the lower end; above them, `sectors` more
    facets = [(a, b, b + sectors), (a, b + sectors, a + sectors)]
    ends = [(b, a, np.full(sectors, 2 * sectors)), (a + sectors, b + sectors, np.full(sectors, 2 * sectors + 1))]
    drawn, triangles = split_sharp_edges(vertices, np.concatenate([np.stack(each, axis=1) for each in facets + ends]))
    return Surface(vertices[drawn], triangles, colour, solid=True)


def spheres(positions, radius, colour=GREY, colours=None, subdivisions=2, velocities=None):
    """Make small spheres, one for each particle.

    Args:
        positions: (k, 3) [m].
        radius: one for all, or (k,) [m].
        colour: of all spheres.
        colours: (k, 3) in place of `colour`, or None.
        subdivisions: as in `sphere`.
        velocities: (k, 3) [m/s], or None.

    Returns:
        Spheres.
    """
    positions = np.asarray(positions, dtype=np.float64)
    scales = np.broadcast_to(np.asarray(radius, dtype=np.float64), len(positions))
    unit = sphere(1.0, colour, subdivisions=subdivisions)
    return Spheres(unit, positions, scales=scales, colours=colours, velocities=velocities)


def rods(points, pairs, radius, colour=GREY, sectors=12, rings=3):
    """Make capsules between pairs of points. Those that follow one another are one curve: a rope.

    Args: points: (n, 3) [m]; pairs: (k, 2) indices of points; radius, colour, sectors, rings: see `tubes`.

    Returns:
        Rods.
    """
    joined = pairs[1:, 0] == pairs[:-1, 1]
    return tubes(points[pairs[:, 0]], points[pairs[:, 1]], radius, colour, sectors, rings, joined)


def tubes(points_a, points_b, radius, colour=GREY, sectors=12, rings=3, joined=None):
    """Make capsules between pairs of points as one surface: ropes, sticks, plants, limbs.

    Args:
        points_a, points_b: (k, 3) ends of the axes [m]; two equal points make a sphere.
        radius: one for all, or (k,) [m].
        colour: of all capsules.
        sectors, rings: facets around the axis, and from the rim of an end to its pole.
        joined: as in Rods.

    Returns:
        Rods.
    """
    points_a, points_b = checked_rows(points_a, 3, "points_a"), checked_rows(points_b, 3, "points_b")
    if points_a.shape != points_b.shape:
        raise ValueError(f"points_b have shape {points_b.shape}: expected that of points_a, {points_a.shape}")
    count = len(points_a)
    radius = np.broadcast_to(np.asarray(radius, dtype=np.float64), count)
    if count:
        _require_positive(radius.min(), "tubes radius")
    directions, triangles, at_b = _unit_capsule(sectors, rings)
    frames = _frames_along(points_b.astype(np.float64) - points_a)
    offsets = np.einsum("va,kax->kvx", directions, frames) * radius[:, None, None]
    vertices = np.where(at_b[None, :, None], points_b[:, None], points_a[:, None]) + offsets
    indices = triangles[None] + (np.arange(count) * len(directions))[:, None, None]
    ends = np.stack([points_a, points_b], axis=1)
    return Rods(
        vertices.reshape(-1, 3), indices.reshape(-1, 3), colour, solid=True, ends=ends, radii=radius, joined=joined
    )


@cache
def _unit_sphere(subdivisions):
    """Unit directions (v, 3) of the vertices of a sphere, and its triangles: an icosahedron, divided and projected."""
    golden = (1 + math.sqrt(5)) / 2
    corners = [np.roll((0.0, a, b * golden), k) for k in range(3) for a in (-1, 1) for b in (-1, 1)]
    vertices = np.array(corners) / math.hypot(1, golden)
    near = np.linalg.norm(vertices[:, None] - vertices, axis=2) < 1.1  # an edge has 1.05 radii, a diagonal 1.7
    triangles = np.array([each for each in combinations(range(12), 3) if near[np.ix_(each, each)].all()])
    inwards = np.linalg.det(vertices[triangles]) < 0
    triangles[inwards] = triangles[inwards, ::-1]
    for _ in range(subdivisions):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
        edges, middle = np.unique(edges, axis=0, return_inverse=True)
        middles = vertices[edges].mean(axis=1)
        a, b, c = triangles.T
        ab, bc, ca = middle.reshape(-1, 3).T + len(vertices)
        triangles = np.stack([(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)], axis=1).reshape(3, -1).T
        vertices = np.concatenate([vertices, middles / np.linalg.norm(middles, axis=1, keepdims=True)])
    return vertices, triangles


@cache
def _unit_capsule(sectors, rings):
    """Unit directions (v, 3) of the vertices of a capsule along z, its triangles, and a mask of its upper end (v,)."""
    polar = np.linspace(0.0, math.pi / 2, rings + 1)[1:]
    polar = np.concatenate([polar, math.pi - polar[::-1]])  # the rim occurs twice, once for each end
    turn = np.arange(sectors) * (2 * math.pi / sectors)
    ring = np.stack(
        [
            np.outer(np.sin(polar), np.cos(turn)),
            np.outer(np.sin(polar), np.sin(turn)),
            np.repeat(np.cos(polar)[:, None], sectors, axis=1),
        ],
        axis=-1,
    )
    directions = np.concatenate([[[0.0, 0.0, 1.0]], ring.reshape(-1, 3), [[0.0, 0.0, -1.0]]])
    at_b = np.arange(len(directions)) <= rings * sectors
    here = np.arange(sectors)
    next_sector = (here + 1) % sectors
    triangles = [np.stack([np.zeros(sectors, int), 1 + here, 1 + next_sector], axis=-1)]
    for upper in 1 + sectors * np.arange(2 * rings - 1):
        lower = upper + sectors
        triangles.append(np.stack([upper + here, lower + here, lower + next_sector], axis=-1))
        triangles.append(np.stack([upper + here, lower + next_sector, upper + next_sector], axis=-1))
    last = 1 + sectors * (2 * rings - 1)
    triangles.append(np.stack([np.full(sectors, len(directions) - 1), last + next_sector, last + here], axis=-1))
    return directions, np.concatenate(triangles), at_b


def _frames_along(axes):
    """Frames (k, 3, 3) of unit vectors: two across each axis (k, 3), then one along it, z if its length is zero."""
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    along = np.where(lengths > 1e-12, axes / np.maximum(lengths, 1e-12), (0.0, 0.0, 1.0))
    least = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    across = cross(along, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return np.stack([across, cross(along, across), along], axis=1)


def _require_positive(value, name):
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} is {value}: expected a finite number above zero")
