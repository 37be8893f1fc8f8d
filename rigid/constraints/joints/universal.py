"""Universal joint about n_i0 and n_j1: a ball's three rows, and n_i0·n_j1 = 0 [4].

Its rotation is R(n_0, a) R(n_1, b); as the axes stay at a right angle, the relative angular velocity along each is the
rate of its angle. Both are counted on past full turns.
"""

import taichi as ti

from rigid.constraints.joints.place import counted, put_angle, put_point, put_right_angle


@ti.func
def put_universal(s: ti.template(), row, c, at, world):
    """Rows and coordinates of a universal joint. Arguments: its first row and coordinate; at: of `ends`."""
    n_i, n_j = at[4], at[5]
    if row >= 0:
        put_point(s, row, at, world)
        put_right_angle(s, row + 3, n_i[0], n_j[1], world)
    a = ti.atan2(n_i[2].dot(n_j[1]), n_i[1].dot(n_j[1]))
    b = ti.atan2(n_i[0].dot(n_j[2]), n_i[0].dot(n_j[0]))
    put_angle(s, c, n_i[0], counted(s, c, a, world), world)
    put_angle(s, c + 1, n_j[1], counted(s, c + 1, b, world), world)
