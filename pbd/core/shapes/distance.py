"""Signed distance of a shape of any kind, in its frame: negative inside, with the outward unit normal."""

import taichi as ti

from pbd.core.shapes.box import box_distance
from pbd.core.shapes.cylinder import cylinder_distance
from pbd.core.shapes.hull import hull_distance
from pbd.core.shapes.mesh import grid_distance
from pbd.core.shapes.rounded import rounded_distance
from pbd.core.shapes.shape import BOX, CAPSULE, CYLINDER, GRID, HULL, PLANE, SPHERE

# Columns of one shape in the arrays of a kernel.
NUMBERS = 8
INTEGERS = 5


def any_solid(kinds):
    """Whether any of these kinds needs solid_distance. A plane does not."""
    return any(kind not in (PLANE, GRID, HULL) for kind in kinds)


@ti.func
def signed_distance(
    numbers: ti.template(), integers: ti.template(), grids: ti.template(), kinds: ti.template(), shape, x
):
    """Signed distance [m] and outward unit normal of a shape at a point of its frame.

    Exact except for a mesh (see MeshCollider).

    Args:
        numbers: Shape.numbers() of all shapes (shapes, NUMBERS).
        integers: kind of each shape and where its samples are (shapes, INTEGERS).
        grids: Shape.samples() of all shapes, flat.
        kinds: kinds of shapes that occur, a tuple; the kernel is compiled for these.
        shape: index.
        x: point (3,) [m].
    """
    kind = integers[shape, 0]
    distance, normal = x[2], ti.Vector([0.0, 0.0, 1.0])  # a plane's
    if ti.static(GRID in kinds):
        if kind == GRID:
            distance, normal = grid_distance(numbers, integers, grids, shape, x)
    if ti.static(HULL in kinds):
        if kind == HULL:
            distance, normal = hull_distance(grids, integers[shape, 1], integers[shape, 2], x)
    if ti.static(any_solid(kinds)):
        if kind != GRID and kind != HULL:
            given = ti.Vector([numbers[shape, k] for k in ti.static(range(4))])
            distance, normal = solid_distance(kind, given, x)
    return distance, normal


@ti.func
def solid_distance(kind, numbers, x):
    """Signed distance [m] and outward unit normal of a plane, sphere, capsule, box or cylinder."""
    distance, normal = x[2], ti.Vector([0.0, 0.0, 1.0])  # a plane's
    if kind == SPHERE or kind == CAPSULE:
        distance, normal = rounded_distance(x, numbers[0], numbers[1])
    elif kind == BOX:
        distance, normal = box_distance(x, ti.Vector([numbers[1], numbers[2], numbers[3]]))
    elif kind == CYLINDER:
        distance, normal = cylinder_distance(x, numbers[0], numbers[1])
    return distance, normal
