"""Slider along n_0: (P_i - P_j)·n_i1 = (P_i - P_j)·n_i2 = 0, and n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0 [4].

P_i and P_j coincide at time zero. Forces act at P_j on both bodies, so that what slides turns them by the arm it has.
"""

import taichi as ti

from rigid.constraints.joints.place import put_coordinate, put_no_turn
from rigid.constraints.rows import put_jacobian


@ti.func
def put_slider(s: ti.template(), row, c, at, world):
    """Rows and coordinate of a slider. Arguments: its first row and coordinate; at: of `ends`."""
    point_i, point_j, arm_i, arm_j, n_i, n_j = at
    between = point_j - point_i
    reach = arm_i + between  # from body i to P_j
    if row >= 0:
        for k in ti.static(range(2)):
            n = n_i[k + 1]
            put_jacobian(s.rows, row + k, n, reach.cross(n), -arm_j.cross(n), -between.dot(n), world)
        put_no_turn(s, row + 2, n_i, n_j, world)
    n = n_i[0]
    put_coordinate(s, c, -n, -reach.cross(n), arm_j.cross(n), between.dot(n), world)
