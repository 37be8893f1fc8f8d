"""Inputs of the solvers on rows that change between steps: external forces, targets of motors, and grab springs."""

import numpy as np

from pbd.core.arrays import read, write
from pbd.core.validate import finite_vector, not_negative, one_grab, positive
from rigid.constraints.joints.data import DRIVE, FRAMES, JOINT, MOTOR, DriveKind
from rigid.constraints.rows import GROUP, ROW, Group

# Kinds of motors, and the number that is their target.
TARGETS = {
    "speed": (DriveKind.MOTOR, MOTOR.speed), "position": (DriveKind.SERVO, MOTOR.position),
    "torque": (DriveKind.EFFORT, MOTOR.effort),
}  # fmt: skip


class ExternalForces:
    """External forces of a solver. No kernel changes them, so they are also kept here.

    Args: array: (worlds, bodies, EXTERNAL).

    Attributes: act: 1 if any body has such a force, otherwise 0.
    """

    def __init__(self, array):
        self.array = array
        self.reload()

    def reload(self):
        """Read the array again, after a state was restored."""
        self.values = read(self.array)
        self.act = int(self.values.any())

    def set(self, body, values):
        """Set the force on bodies. Args: body: index, or a slice; values: EXTERNAL (worlds, 9), or zero.

        Returns: whether it was another force before.
        """
        new = self.values.copy()
        new[:, body] = values
        changed = not np.array_equal(new, self.values)
        if changed:
            write(self.array, new)
            self.reload()
        return changed


class MotorTargets:
    """Targets of the motors of a solver. No kernel changes them, so they are also kept here.

    Args: joints: a rigid.constraints.joints.data.Joints; first_coordinates: of each joint.
    """

    def __init__(self, joints, first_coordinates):
        self.array, self.numbers = joints.drive_numbers, read(joints.drive_numbers)
        self.drives, self.first_coordinates = read(joints.drives), first_coordinates
        self.is_target = np.zeros(self.numbers.shape[1:], bool)  # (drives, numbers)
        for kind, column in TARGETS.values():
            self.is_target[:, column] = self.drives[:, DRIVE.kind] == kind

    def set(self, joint, name, target):
        """Change the target of a motor.

        Args: joint: index; name: of TARGETS; target: (worlds,) [rad/s, m/s, rad, m, N m or N].

        Returns: whether it was another target before.
        """
        kind, column = TARGETS[name]
        own = self.drives[:, DRIVE.kind] == kind
        own &= self.drives[:, DRIVE.coordinate] == self.first_coordinates[joint]
        if (self.numbers[:, own, column] == target[:, None]).all():
            return False
        self.numbers[:, own, column] = target[:, None]
        write(self.array, self.numbers)
        return True

    def values(self):
        """All targets (worlds, targets), for snapshots."""
        return self.numbers[:, self.is_target]

    def restore(self, values):
        """Set all targets. Args: values: as `values` returned them."""
        self.numbers[:, self.is_target] = values
        write(self.array, self.numbers)


class GrabSprings:
    """Grab springs of a solver. Each is a soft ball joint between the ground and a body.

    Args: joints: a rigid.constraints.joints.data.Joints; rows: a rigid.constraints.rows.Rows; grabs: a GrabRows for
    each.
    """

    def __init__(self, joints, rows, grabs):
        self.joints, self.rows, self.grabs = joints, rows, grabs
        self.grabbed = {}  # {GrabRows: (body, stiffness, damping)}

    def grab(self, grab, body, point, target, stiffness, damping):
        """Pull a point of a body to a target. Args: grab, body: indices; others: see Solver.grab."""
        grab = self.grabs[one_grab(grab, len(self.grabs))]
        target, point = finite_vector("target of a grab", target), finite_vector("grabbed point", point)
        spring = positive("stiffness of a grab", stiffness), not_negative("damping of a grab", damping)
        if self.grabbed.get(grab) != (body, *spring):
            self.grabbed[grab] = (body, *spring)
            self._write(grab)
        frames = read(self.joints.frames)
        # The ground's frame is the world's.
        frames[:, grab.joint, FRAMES["anchor_i"]], frames[:, grab.joint, FRAMES["anchor_j"]] = target, point
        write(self.joints.frames, frames)

    def release(self, grab):
        """Release what a grab spring pulls. Args: grab: index."""
        grab = self.grabs[one_grab(grab, len(self.grabs))]
        if self.grabbed.pop(grab, None):
            self._write(grab)

    def write_all(self):
        """Write the stiffness of all springs again, after a state with other springs was restored."""
        for grab in self.grabbed:
            self._write(grab)

    def _write(self, grab):
        """Connect the rows of a grab spring to what it pulls. Args: grab: a GrabRows."""
        body, *spring = self.grabbed.get(grab, (0, 0.0, 0.0))
        kind = Group.EQUALITY if grab in self.grabbed else Group.IDLE
        rows = slice(grab.row, grab.row + 3)
        for array, index, given in (
            (self.joints.integers, (grab.joint, JOINT.body_j), body),
            (self.rows.groups, (slice(None), grab.group, [GROUP.kind, GROUP.body_j]), [kind, body]),
            (self.rows.numbers, (slice(None), rows, [ROW.stiffness, ROW.damping]), spring),
        ):
            values = read(array)
            values[index] = given
            write(array, values)
