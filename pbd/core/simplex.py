"""The point of a tetrahedron that is nearest to the origin, as Gilbert, Johnson and Keerthi need it.

It is inside the tetrahedron, on a face or on an edge. So of the points that are nearest on edges and inside faces, the
nearest one is taken. Corners may coincide: fewer points than four stand in it more than once.

Source: Ericson, Real-Time Collision Detection (2005), sections 5.1 and 9.5. Departure: no regions are told apart, as
they have no meaning where corners coincide.
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY
from pbd.core.vectors import one_hot, row

EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))  # face k is opposite corner k


@ti.func
def nearest_to_origin(x):
    """Weights (4,) of the point of a tetrahedron that is nearest to the origin. Args: x: corners (4, 3) [m]."""
    weights, least = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.math.inf
    for ends in ti.static(EDGES):
        a = row(x, ends[0])
        way = row(x, ends[1]) - a
        part = ti.min(ti.max(-a.dot(way) / (way.norm_sqr() + TINY), 0.0), 1.0)
        found = (a + part * way).norm_sqr()
        if found < least:
            least = found
            weights = (1.0 - part) * one_hot(ends[0]) + part * one_hot(ends[1])
    for face in ti.static(FACES):
        a, b, c = row(x, face[0]), row(x, face[1]), row(x, face[2])
        normal = (b - a).cross(c - a)
        u, v, w = normal.dot(b.cross(c)), normal.dot(c.cross(a)), normal.dot(a.cross(b))
        found = normal.dot(a) ** 2 / (normal.norm_sqr() + TINY)
        if ti.min(u, v, w) > 0.0 and found < least:
            least = found
            weights = (u * one_hot(face[0]) + v * one_hot(face[1]) + w * one_hot(face[2])) / (u + v + w)
    volumes = ti.Vector([
        row(x, face[0]).dot(row(x, face[1]).cross(row(x, face[2]))) for face in ti.static(FACES)
    ])  # fmt: skip
    if volumes.min() > 0.0 or volumes.max() < 0.0:
        weights = volumes / volumes.sum()
    return weights
