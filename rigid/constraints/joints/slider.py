"""Slider along n_0. Its rows are in locks.py.

P_i and P_j coincide at time zero. Forces act at P_j on both bodies, so their arm about the parent is ξ_i + P_j - P_i.
"""

import taichi as ti

from rigid.constraints.joints.frames import write_coordinate


@ti.func
def write_slider(s: ti.template(), c, ends, world):
    """Write the coordinate of a slider. Args: c: which; ends: from `joint_ends`."""
    point_i, point_j, arm_i, arm_j, n_i, _ = ends
    between, n = point_j - point_i, n_i[0]
    arm = arm_i + between  # from body i to P_j
    write_coordinate(s, c, -n, -arm.cross(n), arm_j.cross(n), between.dot(n), world)
