"""Slider along n_0: (P_i - P_j)·n_i1 = (P_i - P_j)·n_i2 = 0, and n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0 [4].

P_i and P_j coincide at time zero. Forces act at P_j on both bodies, so their arm about the parent is ξ_i + P_j - P_i.
"""

import taichi as ti

from rigid.constraints.joints.frames import write_coordinate, write_no_rotation_rows
from rigid.constraints.rows import write_jacobian


@ti.func
def write_slider(s: ti.template(), row, c, ends, world):
    """Write rows and coordinate of a slider. Args: row, c: its first ones; ends: from `joint_ends`."""
    point_i, point_j, arm_i, arm_j, n_i, n_j = ends
    between = point_j - point_i
    arm = arm_i + between  # from body i to P_j
    if row >= 0:
        for k in ti.static(range(2)):
            n = n_i[k + 1]
            write_jacobian(s.rows, row + k, n, arm.cross(n), -arm_j.cross(n), -between.dot(n), world)
        write_no_rotation_rows(s, row + 2, n_i, n_j, world)
    n = n_i[0]
    write_coordinate(s, c, -n, -arm.cross(n), arm_j.cross(n), between.dot(n), world)
