"""What two boxes need not compute: their faces and edges have three directions each, so nine axes lie across edges.

Source: Gottschalk, Lin and Manocha, OBBTree (1996), section 5, https://doi.org/10.1145/237170.237244.
"""

import taichi as ti

from pbd.core.kernels import load_vector
from pbd.core.shapes import BOX
from rigid.collision.data import SHAPE, STRUCTURE

# Each face in the order of polyhedron.py, with the axis and the sign of its normal.
FACES = ((0, 2, 1.0), (1, 2, -1.0), (2, 0, 1.0), (3, 1, 1.0), (4, 0, -1.0), (5, 1, -1.0))

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
def edges_may_separate(shapes: ti.template(), a, b, rotation, translation, enough, world):
    """Whether an axis across edges of two boxes may separate them by `enough` [m]. If not, no pair of edges does.

    Args: rotation, translation: b's frame in a's, see `relative_pose` of polyhedra.py.
    """
    half_a = load_vector(shapes.numbers, a, SHAPE.size + 1, world)
    half_b = load_vector(shapes.numbers, b, SHAPE.size + 1, world)
    result = False
    for j in ti.static(range(3)):
        axis = ti.Vector([rotation[3 * j + k] for k in ti.static(range(3))])
        for i in ti.static(range(3)):
            # n = e_i × axis lies across both edges. Its length is the sine of their angle.
            x, y = ti.static((i + 1) % 3, (i + 2) % 3)
            length = axis[x] * axis[x] + axis[y] * axis[y]
            if length > PARALLEL_SQUARED:
                reach = ti.abs(axis[y]) * half_a[x] + ti.abs(axis[x]) * half_a[y]
                for k in ti.static(range(3)):
                    if ti.static(k != j):
                        along = axis[x] * rotation[3 * k + y] - axis[y] * rotation[3 * k + x]
                        reach += ti.abs(along) * half_b[k]
                separation = ti.abs(axis[x] * translation[y] - axis[y] * translation[x]) - reach
                # The length is at most one, so an overlap only grows by the division.
                if separation >= ti.min(enough, 0.0):
                    result = result or separation / ti.sqrt(length) >= enough
    return result
