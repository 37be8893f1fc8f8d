"""Box: every particle stays inside an axis-aligned box.

    lower + r <= x <= upper - r,  component by component;  r is the particle's radius

The projection is x := min(max(x, lower + r), upper - r), the least distance out; with friction and rebound as for any
surface (pbd/collision/contact.py), wall by wall.

Source: Jakobsen, Advanced Character Physics (2001), section 3.
"""

import taichi as ti

from pbd.collision.contact import LEFT_ON_SURFACE, apply_friction, rebound
from pbd.data import BOX


@ti.func
def wall(boxes: ti.template(), b, k, radius):
    """Wall k of box b: its axis, the side that is open (+1 or -1) and the height at which a particle touches it."""
    axis = k // 2
    side = 1.0 - 2.0 * (k % 2)
    return axis, side, boxes[b, BOX.upper * (k % 2) + axis] + side * radius


@ti.func
def project_into_box(x, start, boxes: ti.template(), b, radius):
    """The position nearest x inside box b, after friction on the walls it was pushed back to."""
    for k in range(6):
        axis, side, height = wall(boxes, b, k, radius)
        depth = side * (height - x[axis])
        if depth > 0.0:
            x[axis] = height
            normal = ti.Vector([0.0, 0.0, 0.0])
            normal[axis] = side
            x = apply_friction(x, start, normal, depth, boxes[b, BOX.friction])
            x[axis] = height
    return x


@ti.func
def rebound_in_box(x, previous, predicted, start, acceleration, boxes: ti.template(), b, radius, h):
    """The previous position that sends a particle back off the walls of box b that stopped it in this step."""
    for k in range(6):
        axis, side, height = wall(boxes, b, k, radius)
        depth = side * (height - predicted[axis])
        if depth > 0.0 and side * (x[axis] - height) <= LEFT_ON_SURFACE * depth:
            normal = ti.Vector([0.0, 0.0, 0.0])
            normal[axis] = side
            previous = rebound(
                x, previous, predicted - start, acceleration, normal, depth,
                boxes[b, BOX.friction], boxes[b, BOX.restitution], h,
            )  # fmt: skip
    return previous
