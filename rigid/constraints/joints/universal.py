"""Universal joint about n_i0 and n_j1: a ball's three rows, and n_i0·n_j1 = 0 [4].

Its rotation is R(n_0, a) R(n_1, b). The axes stay at a right angle, so the relative angular velocity along each is the
rate of its angle. Both angles are counted on past full turns.
"""

import taichi as ti

from rigid.constraints.joints.frames import counted_angle, write_angle, write_point_rows, write_right_angle_row


@ti.func
def write_universal(s: ti.template(), row, c, ends, world):
    """Write rows and coordinates of a universal joint. Args: row, c: its first ones; ends: from `joint_ends`."""
    n_i, n_j = ends[4], ends[5]
    if row >= 0:
        write_point_rows(s, row, ends, world)
        write_right_angle_row(s, row + 3, n_i[0], n_j[1], world)
    a = ti.atan2(n_i[2].dot(n_j[1]), n_i[1].dot(n_j[1]))
    b = ti.atan2(n_i[0].dot(n_j[2]), n_i[0].dot(n_j[0]))
    write_angle(s, c, n_i[0], counted_angle(s, c, a, world), world)
    write_angle(s, c + 1, n_j[1], counted_angle(s, c + 1, b, world), world)
