"""Box: particles stay inside an axis-aligned box.

    lower + r <= x <= upper - r,  component by component;  r is the particle's radius

The projection is x := min(max(x, lower + r), upper - r), the shortest way, with friction and restitution as for any
surface (pbd/collision/contact.py), wall by wall.

Source: Jakobsen, Advanced Character Physics (2001), section 3.
"""

import taichi as ti

from pbd.collision.contact import LEFT_ON_SURFACE, apply_friction, previous_after_impact
from pbd.core.vectors import component, with_component
from pbd.data import BOX


@ti.func
def wall(boxes: ti.template(), b, k, radius):
    """Wall k of box b: its axis, its open side (+1 or -1) and the coordinate at which a particle touches it."""
    axis = k // 2
    side = 1.0 - 2.0 * (k % 2)
    return axis, side, boxes[b, BOX.upper * (k % 2) + axis] + side * radius


@ti.func
def project_into_box(x, start, boxes: ti.template(), b, radius):
    """The position nearest to x inside box b, after friction on the walls that stopped the particle."""
    for k in range(6):
        axis, side, height = wall(boxes, b, k, radius)
        depth = side * (height - component(x, axis))
        if depth > 0.0:
            normal = with_component(ti.Vector([0.0, 0.0, 0.0]), axis, side)
            on_wall = with_component(x, axis, height)
            x = apply_friction(on_wall, start, normal, depth, boxes[b, BOX.friction])
            x = with_component(x, axis, height)
    return x


@ti.func
def previous_after_box_impacts(x, previous, predicted, start, acceleration, boxes: ti.template(), b, radius, h):
    """The previous position after impacts on the walls of box b that stopped the particle in this substep."""
    for k in range(6):
        axis, side, height = wall(boxes, b, k, radius)
        depth = side * (height - component(predicted, axis))
        if depth > 0.0 and side * (component(x, axis) - height) <= LEFT_ON_SURFACE * depth:
            normal = with_component(ti.Vector([0.0, 0.0, 0.0]), axis, side)
            previous = previous_after_impact(
                x, previous, predicted - start, acceleration, normal, depth,
                boxes[b, BOX.friction], boxes[b, BOX.restitution], h,
            )  # fmt: skip
    return previous
