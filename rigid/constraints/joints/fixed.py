"""Fixed joint: a ball's three rows, and no rotation: n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0 [4]."""

import taichi as ti

from rigid.constraints.joints.frames import write_no_rotation_rows, write_point_rows


@ti.func
def write_fixed(s: ti.template(), row, ends, world):
    """Write the rows of a fixed joint. Args: row: its first one; ends: from `joint_ends`."""
    if row >= 0:
        write_point_rows(s, row, ends, world)
        write_no_rotation_rows(s, row + 3, ends[4], ends[5], world)
