"""Hinge about n_0. Its rows are in locks.py.

Its coordinate is the angle of the child's n_1 in the plane of the parent's n_1 and n_2, counted on past full turns.
[4] uses the sine instead, which decreases again beyond 90°.
"""

import taichi as ti

from rigid.constraints.joints.frames import counted_angle, write_angle


@ti.func
def write_hinge(s: ti.template(), c, ends, world):
    """Write the coordinate of a hinge. Args: c: which; ends: from `joint_ends`."""
    n_i, n_j = ends[4], ends[5]
    angle = ti.atan2(n_i[2].dot(n_j[1]), n_i[1].dot(n_j[1]))
    write_angle(s, c, n_j[0], counted_angle(s, c, angle, world), world)
