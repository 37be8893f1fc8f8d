"""Fixed: a ball's three rows, and no turn: n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0 [4]."""

import taichi as ti

from rigid.constraints.joints.place import put_no_turn, put_point


@ti.func
def put_fixed(s: ti.template(), row, at, world):
    """Rows of a fixed joint. Arguments: its first row; at: of `ends`."""
    if row >= 0:
        put_point(s, row, at, world)
        put_no_turn(s, row + 3, at[4], at[5], world)
