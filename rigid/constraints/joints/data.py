"""The arrays of joints, springs and gears."""

from typing import NamedTuple

from pbd.core.kernels import Columns, Integer, Real, count

# Integers of a joint: 0 in an array without joints, 1 for one that is all in what its type declares, else 2 + its place
# in ROW_WRITERS (special.py); its bodies; its first row, or -1 if it has none; its first coordinate, and how many; the
# first rows of friction (of a ball, or of a wheel against slip) and of a ball's spring, or -1. Then what its type
# declares (rigid/joints/joint_type.py): how many translations it keeps closed, and along which axes of the parent; how
# many right angles, and between which axes of parent and child.
JOINT = Columns(
    special=1, body_i=1, body_j=1, first_row=1, first_coordinate=1, coordinates=1, friction_row=1, spring_row=1,
    translations=1, along=3, right_angles=1, axes_i=3, axes_j=3,
)  # fmt: skip

# Anchors and axes n0, n1, n2 in the frames of both bodies; the rotation of the child relative to the parent at time
# zero; the length of a distance at time zero, or the radius of a wheel [m].
FRAMES = Columns(anchor_i=3, anchor_j=3, axes_i=9, axes_j=9, start=4, length=1)

# A coordinate: its derivative like that of a row, d, a_i, a_j; and its value q [m or rad].
COORDINATE = Columns(linear=3, angular_i=3, angular_j=3, value=1)

# What a joint's type declares of a coordinate: its kind, a CoordinateKind; its axis, and 1 if that is the child's; the
# axes of parent and child whose products are the angle's cosine and sine.
FORM = Columns(kind=1, axis=1, of_child=1, cosine=2, sine=2)

# Integers of a drive: its kind, a DriveKind; its coordinate; the other coordinate of a gear; its group and first row.
DRIVE = Columns(kind=1, coordinate=1, other=1, group=1, row=1)

# Numbers of a drive, by its kind. Friction has an effort alone.
LIMIT = Columns(lowest=1, highest=1)
MOTOR = Columns(effort=1, speed=1, position=1, gain=1, most_speed=1, stiffness=1, damping=1)
SPRING = Columns(stiffness=1, damping=1, rest=1)
GEAR = Columns(ratio=1)


class CoordinateKind:
    """Kinds of coordinates. The others are those of special joints, which write them."""

    OTHER, SHIFT, ANGLE = range(3)


class DriveKind:
    """Kinds of drives along a coordinate. A servo is a motor with a target position, an effort a constant torque,
    a controller a compliant motor."""

    NONE, LIMIT, FRICTION, MOTOR, SERVO, SPRING, GEAR, EFFORT, ROTOR, CONTROLLER = range(10)


class Joints(NamedTuple):
    """Joints and springs, their coordinates, and the drives along these."""

    integers: Integer(count.joints, JOINT)
    frames: Real(count.worlds, count.joints, FRAMES)
    coordinates: Real(count.worlds, count.coordinates, COORDINATE, kept=True)  # angles are counted on from step to step
    forms: Integer(count.coordinates, FORM)
    drives: Integer(count.drives, DRIVE)
    drive_numbers: Real(count.worlds, count.drives, MOTOR)  # LIMIT, MOTOR, SPRING or GEAR
    active: Real(count.worlds, count.drives)  # 1 for each drive that acts; 0 for those of broken joints
