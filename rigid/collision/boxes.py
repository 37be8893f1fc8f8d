"""What two boxes need not compute: their edges have three directions each, so nine axes lie across them.

Source: Gottschalk, Lin and Manocha, OBBTree (1996), section 5, https://doi.org/10.1145/237170.237244.
"""

import taichi as ti

from pbd.core.kernels import load_vector
from pbd.core.shapes import BOX
from rigid.collision.data import SHAPE, STRUCTURE

# Directions are parallel if the square of the sine of their angle is below this: a face separates as well.
PARALLEL_SQUARED = 1e-6


@ti.func
def are_boxes(shapes: ti.template(), a, b):
    """Whether both shapes are boxes."""
    return shapes.integers[a, STRUCTURE.kind] == BOX and shapes.integers[b, STRUCTURE.kind] == BOX


@ti.func
def most_across_edges(shapes: ti.template(), a, b, rotation, translation, world):
    """The largest separation of two boxes along an axis across two of their edges [m]. No pair of edges has a larger.

    Args: rotation, translation: b's frame in a's, see `relative_pose` of polyhedra.py.
    """
    half_a = load_vector(shapes.numbers, a, SHAPE.size + 1, world)
    half_b = load_vector(shapes.numbers, b, SHAPE.size + 1, world)
    most = -1e30
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
                apart = ti.abs(axis[x] * translation[y] - axis[y] * translation[x])
                most = ti.max(most, (apart - reach) / ti.sqrt(length))
    return most
