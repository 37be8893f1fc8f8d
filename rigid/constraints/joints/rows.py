"""All rows of all joints, as the bodies lie: what a solver calls at the start of its step."""

import taichi as ti

from rigid.constraints.joints.ball import put_ball, put_turns, turned_since_start
from rigid.constraints.joints.distance import put_distance
from rigid.constraints.joints.drive import put_drive
from rigid.constraints.joints.fixed import put_fixed
from rigid.constraints.joints.hinge import put_hinge
from rigid.constraints.joints.place import ends
from rigid.constraints.joints.slider import put_slider
from rigid.constraints.joints.table import (
    BALL,
    BODY_I,
    BODY_J,
    DISTANCE,
    FIRST_COORDINATE,
    FIRST_ROW,
    FIXED,
    FRICTION_ROW,
    HINGE,
    JOINT_KIND,
    SLIDER,
    SPRING_ROW,
    UNIVERSAL,
)
from rigid.constraints.joints.universal import put_universal


@ti.func
def write_joint_rows(s: ti.template(), world):
    """Write the rows of joints, springs and gears.

    A joint that coordinates hold together has no rows of its own (its first row is -1), but what acts along it has.

    Arguments: s: has `motion` (rigid/kernels/motion.py), `joints` (rigid/constraints/joints/table.py), `rows` (rigid/constraints/rows.py) and the time
    step `h`; world: index. Call it within a loop over worlds.
    """
    for joint in range(s.joints.integers.shape[0]):
        kind = s.joints.integers[joint, JOINT_KIND]
        if kind > 0:
            i, j = s.joints.integers[joint, BODY_I], s.joints.integers[joint, BODY_J]
            row, c = s.joints.integers[joint, FIRST_ROW], s.joints.integers[joint, FIRST_COORDINATE]
            at = ends(s, joint, i, j, world)
            if kind == BALL:
                put_ball(s, joint, row, c, at, world)
                if s.joints.integers[joint, FRICTION_ROW] >= 0:
                    put_turns(s, s.joints.integers[joint, FRICTION_ROW], ti.Vector([0.0, 0.0, 0.0]), world)
                if s.joints.integers[joint, SPRING_ROW] >= 0:
                    turned = turned_since_start(s, joint, i, j, world)
                    put_turns(s, s.joints.integers[joint, SPRING_ROW], turned, world)
            elif kind == HINGE:
                put_hinge(s, row, c, at, world)
            elif kind == UNIVERSAL:
                put_universal(s, row, c, at, world)
            elif kind == SLIDER:
                put_slider(s, row, c, at, world)
            elif kind == FIXED:
                put_fixed(s, row, at, world)
            elif kind == DISTANCE:
                put_distance(s, joint, c, at, world)
    for drive in range(s.joints.drives.shape[0]):
        if s.joints.drives[drive, 0] > 0:
            put_drive(s, drive, world)
