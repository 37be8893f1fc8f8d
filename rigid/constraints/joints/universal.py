"""Universal joint about n_i0 and n_j1. Its rows are in locks.py.

Its rotation is R(n_0, a) R(n_1, b). The axes stay at a right angle, so the relative angular velocity along each is the
rate of its angle. Both angles are counted on past full turns.
"""

import taichi as ti

from rigid.constraints.joints.frames import counted_angle, write_angle


@ti.func
def write_universal(s: ti.template(), c, ends, world):
    """Write the coordinates of a universal joint. Args: c: the first; ends: from `joint_ends`."""
    n_i, n_j = ends[4], ends[5]
    a = ti.atan2(n_i[2].dot(n_j[1]), n_i[1].dot(n_j[1]))
    b = ti.atan2(n_i[0].dot(n_j[2]), n_i[0].dot(n_j[0]))
    write_angle(s, c, n_i[0], counted_angle(s, c, a, world), world)
    write_angle(s, c + 1, n_j[1], counted_angle(s, c + 1, b, world), world)
