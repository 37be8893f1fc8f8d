"""Inputs of the solvers on rows that change between steps: external forces, paths of bodies, targets of motors, and
grab springs."""

import numpy as np

from pbd.core.kernels import read, write
from pbd.core.validate import finite_vector, not_negative, one_grab, positive
from rigid.constraints.joints.data import DRIVE, FRAMES, JOINT, MOTOR, DriveKind
from rigid.constraints.rows import GROUP, ROW, Group
from rigid.kernels.motion import PSEUDO
from rigid.paths import displacement, refuse_jump

# Kinds of motors, and the number that is their target.
TARGETS = {
    "speed": ((DriveKind.MOTOR, DriveKind.CONTROLLER), MOTOR.speed),
    "position": ((DriveKind.SERVO, DriveKind.CONTROLLER), MOTOR.position),
    "torque": ((DriveKind.EFFORT,), MOTOR.effort),
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


class Paths:
    """The paths of the bodies of all worlds of a solver on rows.

    Args: models: one for all worlds, or one for each; worlds; radii: of the bodies' shapes (bodies,) [m].

    Attributes: bodies: indices of the bodies that follow paths.
    """

    def __init__(self, models, worlds, radii):
        self.models, self.worlds, self.radii = models, worlds, radii
        self.bodies = [index for index, body in enumerate(models[0].bodies) if body.path is not None]

    def poses(self, time):
        """Poses of these bodies (worlds, n, 7). Args: time: [s]."""
        found = [[model.bodies[index].pose_at(time) for index in self.bodies] for model in self.models]
        return np.broadcast_to(np.reshape(found, (-1, len(self.bodies), 7)), (self.worlds, len(self.bodies), 7))

    def follow(self, bodies, time, h):
        """Move bodies to their poses at a time, with the velocities that lead to their poses a substep later.

        Args: bodies: a rigid.kernels.motion.Bodies; time, h: [s].

        Returns: the bodies that move.

        Raises: TypeError and ValueError for what a path gives, and for jumps.
        """
        first, second = self.poses(time), self.poses(time + h)
        moved = displacement(first, second)
        for k, index in enumerate(self.bodies):
            for each in moved[:, k]:
                refuse_jump(self.models[0].bodies[index].name, self.radii[index], each, time, time + h)
        for array, columns, values in (
            (bodies.pose, slice(None), first), (bodies.velocity, slice(0, PSEUDO), moved / h)
        ):  # fmt: skip
            found = read(array)
            found[:, self.bodies, columns] = values
            write(array, found)
        return [index for k, index in enumerate(self.bodies) if moved[:, k].any()]


class MotorTargets:
    """Targets of the motors of a solver. No kernel changes them, so they are also kept here.

    Args: joints: a rigid.constraints.joints.data.Joints; first_coordinates: of each joint.
    """

    def __init__(self, joints, first_coordinates):
        self.array, self.numbers = joints.drive_numbers, read(joints.drive_numbers)
        self.drives, self.first_coordinates = read(joints.drives), first_coordinates
        self.is_target = np.zeros(self.numbers.shape[1:], bool)  # (drives, numbers)
        for kinds, column in TARGETS.values():
            self.is_target[:, column] |= np.isin(self.drives[:, DRIVE.kind], kinds)

    def set(self, joint, name, target):
        """Change the target of a motor.

        Args: joint: index; name: of TARGETS; target: (worlds,) [rad/s, m/s, rad, m, N m or N].

        Returns: whether it was another target before.
        """
        kinds, column = TARGETS[name]
        own = np.isin(self.drives[:, DRIVE.kind], kinds)
        own &= np.searchsorted(self.first_coordinates, self.drives[:, DRIVE.coordinate], side="right") - 1 == joint
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

    def bodies(self):
        """The bodies that are pulled: a list of indices."""
        return [body for body, *_ in self.grabbed.values()]

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
            (self.rows.kinds, (slice(None), grab.group), kind),
            (self.rows.groups, (slice(None), grab.group, GROUP.body_j), body),
            (self.rows.numbers, (slice(None), rows, [ROW.stiffness, ROW.damping]), spring),
        ):
            values = read(array)
            values[index] = given
            write(array, values)
