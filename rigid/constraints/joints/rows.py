"""All rows of all joints at the current poses. A solver calls it at the start of its step."""

import taichi as ti

from rigid.constraints.joints.coordinates import write_angle, write_shift
from rigid.constraints.joints.data import DRIVE, FORM, JOINT, CoordinateKind
from rigid.constraints.joints.drive import write_drive
from rigid.constraints.joints.frames import joint_ends
from rigid.constraints.joints.locks import write_lock_rows
from rigid.constraints.joints.special import ROW_WRITERS


@ti.func
def write_joint_rows(s: ti.template(), world):
    """Write the rows of joints, springs and gears.

    A joint that a solver's coordinates keep closed has no rows of its own (its first row is -1), but its coordinates
    and drives are written.

    Args: s: data with `bodies` (rigid/kernels/motion.py), `joints` (rigid/constraints/joints/data.py), `rows`
    (rigid/constraints/rows.py) and the length of a substep `step.h`.
    """
    for joint in range(s.joints.integers.shape[0]):
        write_rows_of_joint(s, joint, world)
    for drive in range(s.joints.drives.shape[0]):
        write_row_of_drive(s, drive, world)


@ti.func
def write_rows_of_joint(s: ti.template(), joint, world):
    """Write the rows of a joint, and its coordinates."""
    special = s.joints.integers[joint, JOINT.special]
    if special > 0:
        i, j = s.joints.integers[joint, JOINT.body_i], s.joints.integers[joint, JOINT.body_j]
        row, first = s.joints.integers[joint, JOINT.first_row], s.joints.integers[joint, JOINT.first_coordinate]
        ends = joint_ends(s, joint, i, j, world)
        if row >= 0:
            write_lock_rows(s, joint, row, ends, world)
        for c in range(first, first + s.joints.integers[joint, JOINT.coordinates]):
            kind = s.joints.forms[c, FORM.kind]
            if kind == CoordinateKind.SHIFT:
                write_shift(s, c, ends, world)
            elif kind == CoordinateKind.ANGLE:
                write_angle(s, c, ends, world)
        for place, write in ti.static(enumerate(ROW_WRITERS.values())):
            if special == place + 2:
                write(s, joint, row, first, ends, world)


@ti.func
def write_row_of_drive(s: ti.template(), drive, world):
    """Write the row of a drive. The coordinates must be those of the present poses."""
    if s.joints.drives[drive, DRIVE.kind] > 0:  # 0 in an array without drives, whose `active` others may have written
        if s.joints.active[world, drive] > 0.0:
            write_drive(s, drive, world)
