"""Rows that keep joints closed: against translation, then against rotation [4].

    joint      translation                                 rotation
    ball       P_i - P_j = 0
    hinge      P_i - P_j = 0                               n_i1·n_j0 = n_i2·n_j0 = 0
    universal  P_i - P_j = 0                               n_i0·n_j1 = 0
    fixed      P_i - P_j = 0                               n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0
    slider     (P_i - P_j)·n_i1 = (P_i - P_j)·n_i2 = 0     n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0

P_i = r_i + ξ_i and P_j are the joint's points in both bodies. All joints share one text, because Taichi copies a
function to each place that calls it.
"""

import taichi as ti

from pbd.core.vectors import axis
from rigid.constraints.joints.data import JointKind
from rigid.constraints.rows import write_jacobian

# Axes of parent and child whose right angles keep a slider or a fixed joint from rotating. A hinge has the first two.
RIGHT_ANGLES = ((1, 0), (2, 0), (1, 2))


@ti.func
def write_lock_rows(s: ti.template(), kind, row, ends, world):
    """Write the rows that keep a joint closed. Args: kind: a JointKind; row: the first; ends: from `joint_ends`."""
    translations, rotations = 3, 0
    if kind == JointKind.HINGE:
        rotations = 2
    elif kind == JointKind.UNIVERSAL:
        rotations = 1
    elif kind == JointKind.FIXED:
        rotations = 3
    elif kind == JointKind.SLIDER:
        translations, rotations = 2, 3
    for k in ti.static(range(3)):
        if k < translations:
            write_translation_row(s, kind, k, row + k, ends, world)
        if k < rotations:
            write_rotation_row(s, kind, k, row + translations + k, ends, world)


@ti.func
def write_translation_row(s: ti.template(), kind, k: ti.template(), row, ends, world):
    """G = (P_i - P_j)·d, J_i = (dᵀ, (ξ_i × d)ᵀ), J_j = (-dᵀ, -(ξ_j × d)ᵀ); d is an axis of the world or of a slider.

    A slider's points are apart, and forces act at P_j on both bodies. So the arm about its parent is ξ_i + P_j - P_i.
    """
    point_i, point_j, arm_i, arm_j, n_i, _ = ends
    d, arm, error = axis(k), arm_i, point_i[k] - point_j[k]
    if ti.static(k < 2):
        if kind == JointKind.SLIDER:
            between = point_j - point_i
            d, arm = n_i[k + 1], arm_i + between
            error = -between.dot(d)
    write_jacobian(s.rows, row, d, arm.cross(d), -arm_j.cross(d), error, world)


@ti.func
def write_rotation_row(s: ti.template(), kind, k: ti.template(), row, ends, world):
    """G = n_a·n_b, J_ω,j = (n_b × n_a)ᵀ, J_ω,i its negative; n_a is an axis of body i, n_b one of body j."""
    n_i, n_j = ends[4], ends[5]
    n_a, n_b = n_i[RIGHT_ANGLES[k][0]], n_j[RIGHT_ANGLES[k][1]]
    if ti.static(k == 0):
        if kind == JointKind.UNIVERSAL:
            n_a, n_b = n_i[0], n_j[1]
    turn = n_b.cross(n_a)
    write_jacobian(s.rows, row, 0.0 * turn, -turn, turn, n_a.dot(n_b), world)
