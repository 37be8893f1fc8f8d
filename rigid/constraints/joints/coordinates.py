"""Coordinates that types of joints declare: shifts and counted angles (rigid/joints/joint_type.py)."""

import math

import taichi as ti

from rigid.constraints.joints.data import COORDINATE, FORM
from rigid.constraints.joints.frames import axis_of, write_coordinate, write_rotation


@ti.func
def write_shift(s: ti.template(), c, ends, world):
    """Write the shift (P_j - P_i)·n_i along an axis of the parent.

    Forces act at P_j on both bodies, so their arm about the parent is ξ_i + P_j - P_i. Args: c: which coordinate;
    ends: from `joint_ends`.
    """
    point_i, point_j, arm_i, arm_j, n_i, _ = ends
    between, n = point_j - point_i, axis_of(n_i, s.joints.forms[c, FORM.axis])
    arm = arm_i + between  # from body i to P_j
    write_coordinate(s, c, -n, -arm.cross(n), arm_j.cross(n), between.dot(n), world)


@ti.func
def write_angle(s: ti.template(), c, ends, world):
    """Write an angle, counted on past full turns. Args: see `write_shift`.

    [4] of docs/solvers/sources.md uses the sine of a hinge's angle instead, which decreases again beyond 90°. The
    relative angular velocity along the axis is the rate of the angle, because the other axes stay at right angles.
    """
    form = ti.static(s.joints.forms)
    n_i, n_j = ends[4], ends[5]
    sine = axis_of(n_i, form[c, FORM.sine]).dot(axis_of(n_j, form[c, FORM.sine + 1]))
    cosine = axis_of(n_i, form[c, FORM.cosine]).dot(axis_of(n_j, form[c, FORM.cosine + 1]))
    n = axis_of(n_i, form[c, FORM.axis])
    if form[c, FORM.of_child] == 1:
        n = axis_of(n_j, form[c, FORM.axis])
    write_rotation(s, c, n, counted_angle(s, c, ti.atan2(sine, cosine), world), world)


@ti.func
def counted_angle(s: ti.template(), c, angle, world):
    """The angle past full turns: of angle + 2πn the one nearest to the last value of coordinate c."""
    turns = ti.round((s.joints.coordinates[world, c, COORDINATE.value] - angle) / ti.static(2 * math.pi))
    return angle + ti.static(2 * math.pi) * turns
