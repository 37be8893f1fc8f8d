"""Hinge about n_0: a ball's three rows, and n_i1·n_j0 = 0, n_i2·n_j0 = 0 [4].

Its coordinate is the angle of the child's n_1 in the plane of the parent's n_1 and n_2, counted on past full turns.
[4] uses the sine instead, which decreases again beyond 90°.
"""

import taichi as ti

from rigid.constraints.joints.frames import counted_angle, write_angle, write_point_rows, write_right_angle_row


@ti.func
def write_hinge(s: ti.template(), row, c, ends, world):
    """Write rows and coordinate of a hinge. Args: row, c: its first ones; ends: from `joint_ends`."""
    n_i, n_j = ends[4], ends[5]
    if row >= 0:
        write_point_rows(s, row, ends, world)
        write_right_angle_row(s, row + 3, n_i[1], n_j[0], world)
        write_right_angle_row(s, row + 4, n_i[2], n_j[0], world)
    angle = ti.atan2(n_i[2].dot(n_j[1]), n_i[1].dot(n_j[1]))
    write_angle(s, c, n_j[0], counted_angle(s, c, angle, world), world)
