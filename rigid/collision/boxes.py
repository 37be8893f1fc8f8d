"""What two boxes need not compute: their faces and edges have three directions each, so nine axes lie across edges.

Source: Gottschalk, Lin and Manocha, OBBTree (1996), section 5, https://doi.org/10.1145/237170.237244.
"""

import numpy as np
import taichi as ti

from pbd.core.kernels import load_vector
from pbd.core.shapes import BOX, Box
from rigid.collision.corners import edge, turn
from rigid.collision.data import SHAPE, STRUCTURE
from rigid.collision.polyhedron import polyhedron

# Each face in the order of polyhedron.py, with the axis and the sign of its normal.
FACES = ((0, 2, 1.0), (1, 2, -1.0), (2, 0, 1.0), (3, 1, 1.0), (4, 0, -1.0), (5, 1, -1.0))


def edge_numbers():
    """The numbers of a box's edges in the order of polyhedron.py (12,): 4 axis + `sides_of` has that of one edge."""
    box, numbers = polyhedron(Box((2.0, 2.0, 2.0))), {}
    for number, (start, end, _, _) in enumerate(box.edges):
        middle = (box.vertices[start] + box.vertices[end]) / 2
        axis = int(np.flatnonzero(middle == 0.0)[0])
        numbers[4 * axis + 2 * (middle[(axis + 1) % 3] > 0) + (middle[(axis + 2) % 3] > 0)] = number
    return tuple(numbers[side] for side in range(12))


EDGES = edge_numbers()

# Directions are parallel if the square of the sine of their angle is below this: a face separates as well.
PARALLEL_SQUARED = 1e-6


@ti.func
def are_boxes(shapes: ti.template(), a, b):
    """Whether both shapes are boxes."""
    return shapes.integers[a, STRUCTURE.kind] == BOX and shapes.integers[b, STRUCTURE.kind] == BOX


@ti.func
def best_face_of_box(shapes: ti.template(), a, b, rotation, translation, world):
    """As `best_face` of polyhedra.py for two boxes, with the same bits."""
    half_a = load_vector(shapes.numbers, a, SHAPE.size + 1, world)
    half_b = load_vector(shapes.numbers, b, SHAPE.size + 1, world)
    best, face = -1e30, 0
    for f, axis, sign in ti.static(FACES):
        x, y, z = [ti.abs(rotation[3 * k + axis]) * half_b[k] for k in ti.static(range(3))]
        separation = -(x + y + z) + sign * translation[axis] - half_a[axis]
        if separation > best:
            best, face = separation, f
    return best, face


@ti.func
def best_edges_of_boxes(shapes: ti.template(), a, b, rotation, translation, world):
    """As `best_edges` of polyhedra.py for two boxes.

    For an axis n only one edge of a can touch, the farthest along n, and one of b, the least far. They follow from the
    signs of n in both frames. So nine axes replace 144 pairs of edges.
    """
    half_a = load_vector(shapes.numbers, a, SHAPE.size + 1, world)
    half_b = load_vector(shapes.numbers, b, SHAPE.size + 1, world)
    best, side_a, side_b = -1e30, -1, -1
    for j in ti.static(range(3)):
        axis = ti.Vector([rotation[3 * j + k] for k in ti.static(range(3))])
        for i in ti.static(range(3)):
            # n = e_i × axis lies across both edges. Its length is the sine of their angle.
            x, y = ti.static((i + 1) % 3, (i + 2) % 3)
            u, v = ti.static((j + 1) % 3, (j + 2) % 3)
            length = axis[x] * axis[x] + axis[y] * axis[y]
            if length > PARALLEL_SQUARED:
                n_x, n_y = -axis[y], axis[x]
                n_u = n_x * rotation[3 * u + x] + n_y * rotation[3 * u + y]
                n_v = n_x * rotation[3 * v + x] + n_y * rotation[3 * v + y]
                reach = ti.abs(n_x) * half_a[x] + ti.abs(n_y) * half_a[y]
                reach += ti.abs(n_u) * half_b[u] + ti.abs(n_v) * half_b[v]
                along = n_x * translation[x] + n_y * translation[y]
                separation = (ti.abs(along) - reach) / ti.sqrt(length)
                # Where n lies across a face, this face separates as well.
                if n_x != 0.0 and n_y != 0.0 and n_u != 0.0 and n_v != 0.0 and separation > best:
                    best = separation
                    ahead = along > 0.0
                    side_a = 4 * i + sides_of((n_x > 0.0) == ahead, (n_y > 0.0) == ahead)
                    side_b = 4 * j + sides_of((n_u > 0.0) != ahead, (n_v > 0.0) != ahead)
    edge_a, edge_b = 0, 0
    for side, number in ti.static(enumerate(EDGES)):
        if side_a == side:
            edge_a = number
        if side_b == side:
            edge_b = number
    separation, n = -1e30, ti.Vector([0.0, 0.0, 1.0])
    if side_a >= 0:
        p, g = edge(shapes, a, edge_a, world)
        q, e = edge(shapes, b, edge_b, world)
        n = g.cross(turn(rotation, e))
        n = n / ti.sqrt(n.norm_sqr())
        separation = n.dot(turn(rotation, q) + translation - p)
        if n.dot(p) < 0.0:  # it points out of shape a
            n, separation = -n, -separation
    return separation, edge_a, edge_b, n


@ti.func
def sides_of(first, second):
    """The number of an edge among those along one axis. Args: whether it is on the positive side of the next axes."""
    return 2 * ti.cast(first, ti.i32) + ti.cast(second, ti.i32)
