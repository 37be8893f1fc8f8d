"""Corners, faces and edges of polyhedra, read from Shapes (rigid/collision/data.py), and turns between their frames."""

import taichi as ti

from pbd.core.kernels import load_vector
from rigid.collision.data import STRUCTURE


@ti.func
def corner(shapes: ti.template(), shape, k, world):
    """Corner k of a shape, in its frame (3,) [m]."""
    return load_vector(shapes.vertices, shapes.integers[shape, STRUCTURE.first_vertex] + k, 0, world)


@ti.func
def face_plane(shapes: ti.template(), shape, face, world):
    """Outward unit normal of a face (3,), and its offset [m]."""
    row = shapes.integers[shape, STRUCTURE.first_plane] + face
    return load_vector(shapes.planes, row, 0, world), shapes.planes[world, row, 3]


@ti.func
def face_loop(shapes: ti.template(), shape, face):
    """Where the corners of a face begin and end in Shapes.lists."""
    row = shapes.integers[shape, STRUCTURE.first_loop] + face
    return shapes.lists[row], shapes.lists[row + 1]


@ti.func
def loop_side(shapes: ti.template(), shape, begin, end, k, world):
    """Corner k of a face's loop, and the next corner of the loop (3,) each [m]."""
    after = k + 1
    if after == end:
        after = begin
    return corner(shapes, shape, shapes.lists[k], world), corner(shapes, shape, shapes.lists[after], world)


@ti.func
def edge(shapes: ti.template(), shape, k, world):
    """Start of edge k of a shape, and the vector to its end (3,) each [m]."""
    row = shapes.integers[shape, STRUCTURE.first_edge] + 4 * k
    start = corner(shapes, shape, shapes.lists[row], world)
    return start, corner(shapes, shape, shapes.lists[row + 1], world) - start


@ti.func
def adjacent_normals(shapes: ti.template(), shape, k, world):
    """Outward unit normals of the faces left and right of edge k."""
    row = shapes.integers[shape, STRUCTURE.first_edge] + 4 * k
    left, _ = face_plane(shapes, shape, shapes.lists[row + 2], world)
    right, _ = face_plane(shapes, shape, shapes.lists[row + 3], world)
    return left, right


@ti.func
def turn(rotation, v):
    """A vector of b's frame in a's. Args: rotation: see `relative_pose` of polyhedra.py; v (3,)."""
    r = rotation
    return ti.Vector([r[k] * v[0] + r[3 + k] * v[1] + r[6 + k] * v[2] for k in ti.static(range(3))])


@ti.func
def turn_back(rotation, v):
    """A vector of a's frame in b's. Args: see `turn`."""
    r = rotation
    return ti.Vector([r[k] * v[0] + r[k + 1] * v[1] + r[k + 2] * v[2] for k in ti.static((0, 3, 6))])
