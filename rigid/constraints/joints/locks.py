"""Rows that keep joints closed: against translation, then against rotation [4]. A joint's type declares them.

    joint        translation                                 rotation
    ball         P_i - P_j = 0
    hinge        P_i - P_j = 0                               n_i1·n_j0 = n_i2·n_j0 = 0
    universal    P_i - P_j = 0                               n_i0·n_j1 = 0
    fixed        P_i - P_j = 0                               n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0
    slider       (P_i - P_j)·n_i1 = (P_i - P_j)·n_i2 = 0     n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0

P_i = r_i + ξ_i and P_j are the joint's points in both bodies. All joints share one text, because Taichi copies a
function to each place that calls it.
"""

import taichi as ti

from pbd.core.vectors import axis
from rigid.constraints.joints.data import JOINT
from rigid.constraints.joints.frames import axis_of
from rigid.constraints.rows import write_jacobian


@ti.func
def write_lock_rows(s: ti.template(), joint, row, ends, world):
    """Write the rows that keep a joint closed. Args: row: the first; ends: from `joint_ends`."""
    translations = s.joints.integers[joint, JOINT.translations]
    for k in ti.static(range(3)):
        if k < translations:
            write_translation_row(s, joint, k, row + k, ends, world)
        if k < s.joints.integers[joint, JOINT.right_angles]:
            write_right_angle_row(s, joint, k, row + translations + k, ends, world)


@ti.func
def write_translation_row(s: ti.template(), joint, k: ti.template(), row, ends, world):
    """G = (P_i - P_j)·d, J_i = (dᵀ, (ξ_i × d)ᵀ), J_j = (-dᵀ, -(ξ_j × d)ᵀ).

    If the points stay together, d is an axis of the world. Otherwise it is one of the parent. The points are apart
    then, and forces act at P_j on both bodies. So the arm about the parent is ξ_i + P_j - P_i.
    """
    point_i, point_j, arm_i, arm_j, n_i, _ = ends
    d, arm, error = axis(k), arm_i, point_i[k] - point_j[k]
    if ti.static(k < 2):
        if s.joints.integers[joint, JOINT.translations] < 3:
            between = point_j - point_i
            d, arm = axis_of(n_i, s.joints.integers[joint, JOINT.along + k]), arm_i + between
            error = -between.dot(d)
    write_jacobian(s.rows, row, d, arm.cross(d), -arm_j.cross(d), error, world)


@ti.func
def write_right_angle_row(s: ti.template(), joint, k: ti.template(), row, ends, world):
    """G = n_a·n_b, J_ω,j = (n_b × n_a)ᵀ, J_ω,i its negative; n_a is an axis of body i, n_b one of body j."""
    n_a = axis_of(ends[4], s.joints.integers[joint, JOINT.axes_i + k])
    n_b = axis_of(ends[5], s.joints.integers[joint, JOINT.axes_j + k])
    turn = n_b.cross(n_a)
    write_jacobian(s.rows, row, 0.0 * turn, -turn, turn, n_a.dot(n_b), world)
