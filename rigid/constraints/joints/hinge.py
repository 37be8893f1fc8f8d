"""Hinge about n_0: a ball's three rows, and n_i1·n_j0 = 0, n_i2·n_j0 = 0 [4].

Its coordinate is the angle of the child's n_1 in the plane of the parent's n_1 and n_2, counted on past full turns.
[4] takes the sine instead, which turns back at 90°.
"""

import taichi as ti

from rigid.constraints.joints.place import counted, put_angle, put_point, put_right_angle


@ti.func
def put_hinge(s: ti.template(), row, c, at, world):
    """Rows and coordinate of a hinge. Arguments: its first row and coordinate; at: of `ends`."""
    n_i, n_j = at[4], at[5]
    if row >= 0:
        put_point(s, row, at, world)
        put_right_angle(s, row + 3, n_i[1], n_j[0], world)
        put_right_angle(s, row + 4, n_i[2], n_j[0], world)
    angle = ti.atan2(n_i[2].dot(n_j[1]), n_i[1].dot(n_j[1]))
    put_angle(s, c, n_j[0], counted(s, c, angle, world), world)
