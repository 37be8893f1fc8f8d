"""Makes the arrays of joints, springs and gears, and their rows, from models."""

from typing import NamedTuple

import numpy as np

from pbd.core.kernels import allocate
from rigid.constraints.joints.data import DRIVE, FORM, FRAMES, JOINT, MOTOR, CoordinateKind, DriveKind, Joints
from rigid.constraints.joints.special import ROW_WRITERS
from rigid.constraints.rows import GROUP, ROW, Form, Group, by_world
from rigid.joints import Ball, Distance
from rigid.joints.joint_type import Angle, Shift
from rigid.names import GROUND
from rigid.rotation import conjugate, multiply
from rigid.spring import has_effect, spring_numbers

KINDS = {Shift: CoordinateKind.SHIFT, Angle: CoordinateKind.ANGLE}


class GrabRows(NamedTuple):
    """Where a grab spring is: its joint, its group, and the first of its three rows."""

    joint: int
    group: int
    row: int


class JointBuilder:
    """Joints, springs and gears of models; their rows are added to a RowBuilder.

    Args:
        models: one for all worlds, or one for each, of one structure.
        rows: a rigid.constraints.rows.RowBuilder.
        closed: joints that a solver's coordinates keep closed; they get no rows for that.
        grabs: how many grab springs there are.

    Attributes:
        first_coordinates: of each joint.
        rows_of: a slice for each joint, of all rows that act between its bodies, gears excluded.
        rotors: {name of a joint: the row of its rotor}.
        grabs: a GrabRows for each grab spring.
    """

    def __init__(self, models, rows, closed=(), grabs=0):
        self.models, self.rows, self.worlds = models, rows, rows.worlds
        self.integers, self.frames, self.drives, self.drive_numbers = [], [], [], []
        self.forms = []
        self.first_coordinates, self.rows_of, self.rotors = [], [], {}
        for index in range(len(models[0].joints)):
            first = len(rows.rows)
            self.add_joint([model.joints[index] for model in models], index in closed)
            self.rows_of.append(slice(first, len(rows.rows)))
        for index in range(len(models[0].springs)):
            self.add_spring([model.springs[index] for model in models])
        for index in range(len(models[0].gears)):
            self.add_gear([model.gears[index] for model in models])
        self.grabs = [self.add_grab() for _ in range(grabs)]

    def allocate(self):
        """Make the Taichi arrays, a Joints."""
        integers = np.reshape(self.integers, (-1, JOINT.total)).astype(np.int32)
        drives = np.reshape(self.drives, (-1, DRIVE.total)).astype(np.int32)
        values = {
            "integers": integers,
            "frames": by_world(self.frames, FRAMES.total, self.worlds),
            "forms": np.reshape(self.forms, (-1, FORM.total)).astype(np.int32),
            "drives": drives,
            "drive_numbers": by_world(self.drive_numbers, MOTOR.total, self.worlds),
            "active": np.tile(drives[:, DRIVE.kind] > 0, (self.worlds, 1)),
        }
        return allocate(
            Joints, values, worlds=self.worlds, joints=len(integers), coordinates=len(self.forms), drives=len(drives)
        )

    # One of each. Args: joints, springs, gears: the same one in each model --------------------------------------------

    def add_joint(self, joints, closed):
        """Add a joint: its own rows, unless it is kept closed, and the drives along its coordinates."""
        one = joints[0]
        i, j = self.index_of(one.parent), self.index_of(one.child)
        first = -1 if closed else self.add_equality_rows(i, j, joints)
        c = self.add_coordinates(one.type)
        self.first_coordinates.append(c)
        friction = spring = -1
        if one.type.special == "ball":
            friction, spring = self.add_ball_rows(i, j, joints)
        elif one.type.special == "wheel":
            friction = self.add_slip_rows(i, j, first, joints)
        limits = zip(*(joint.coordinate_limits() for joint in joints))  # of each coordinate, in each model
        for k, (coordinate, given) in enumerate(zip(one.type.coordinates, limits)):
            self.add_drives(i, j, c + k, [coordinate.drives(joint) for joint in joints])
            self.add_limits(i, j, c + k, given)
        if any(joint.armature > 0 for joint in joints):
            self.add_rotor(i, j, c, joints, closed)
        self.add_integers(one.type, i, j, first, c, friction, spring)
        frames = np.zeros((FRAMES.total, len(joints)))
        for world, (model, joint) in enumerate(zip(self.models, joints)):
            of = frames[:, world]
            of[FRAMES["anchor_i"]], of[FRAMES["anchor_j"]] = joint.parent_anchor, joint.child_anchor
            of[FRAMES["axes_i"]], of[FRAMES["axes_j"]] = np.ravel(joint.parent_axes), np.ravel(joint.child_axes)
            start = multiply(conjugate(model.body(joint.parent).rotation), model.body(joint.child).rotation)
            of[FRAMES["start"]] = start
            of[FRAMES.length] = getattr(joint, joint.type.length) if joint.type.length else 0.0
        self.frames.append(np.broadcast_to(frames, (FRAMES.total, self.worlds)))

    def add_integers(self, of_type, i, j, first, c, friction=-1, spring=-1):
        """Add JOINT of a joint. Args: of_type: its JointType; the others are columns of JOINT."""
        integers = np.zeros(JOINT.total, int)
        integers[JOINT.special] = 1 if of_type.special is None else 2 + list(ROW_WRITERS).index(of_type.special)
        integers[JOINT.body_i], integers[JOINT.body_j], integers[JOINT.first_row] = i, j, first
        integers[JOINT.first_coordinate], integers[JOINT.coordinates] = c, len(of_type.coordinates)
        integers[JOINT.friction_row], integers[JOINT.spring_row] = friction, spring
        for count, name, given in (
            ("translations", "along", of_type.translations),
            ("right_angles", "axes_i", [a for a, _ in of_type.right_angles]),
            ("right_angles", "axes_j", [b for _, b in of_type.right_angles]),
        ):
            integers[JOINT[name]][: len(given)] = given
            integers[JOINT[count]] = len(given)
        self.integers.append(integers)

    def add_equality_rows(self, i, j, joints):
        """Add the rows that keep a joint closed, hard or soft: of translations, of right angles, of its special type.

        Returns: the first row, -1 for none.
        """
        of_type = joints[0].type
        is_angle = [0] * len(of_type.translations) + [1] * len(of_type.right_angles) + [0] * of_type.special_rows
        if not is_angle:
            return -1
        _, first = self.rows.add(Group.EQUALITY, i, j, len(is_angle))
        given = [softness(joint.soft) for joint in joints]
        for added, angle in zip(self.rows.rows[first:], is_angle):
            columns = np.transpose([(*of[angle], of[2]) for of in given])
            added[ROW.stiffness], added[ROW.damping], added[ROW.per_mass] = columns
        return first

    def add_ball_rows(self, i, j, joints):
        """Add the rows of a ball's friction and spring. Returns: the first row of each, -1 for none."""
        friction = spring = -1
        if any(joint.friction > 0 for joint in joints):
            _, friction = self.rows.add(Group.FRICTION, i, j, 3)
            for row in self.rows.rows[friction:]:
                row[ROW.high] = [joint.friction for joint in joints]
        if any(has_effect(joint.spring) for joint in joints):
            stiffness, damping = np.transpose([spring_numbers(joint.spring)[:2] for joint in joints])
            _, spring = self.rows.add(Group.EQUALITY, i, j, 3, stiffness, damping)
        return friction, spring

    def add_slip_rows(self, i, j, normal, joints):
        """Add the rows of a wheel against slip. Friction makes the row of the height a limit: the load is a push.

        Args: normal: the row of the height. Returns: the first row.
        """
        if one_sided := joints[0].friction is not None:
            self.rows.kinds[-1], self.rows.rows[normal][ROW.low] = Group.LIMIT, 0.0
        _, slip = self.rows.add(Group.FRICTION, i, j, 2)
        self.rows.groups[-1][GROUP.normal] = normal if one_sided else -1
        for row in self.rows.rows[slip:]:
            row[ROW.high] = [joint.friction if one_sided else np.inf for joint in joints]
        return slip

    def add_drives(self, i, j, c, drives):
        """Add friction, motor and spring along coordinate c, if any world has one. Args: drives: of each model."""
        frictions = [each.friction for each in drives]
        if max(frictions) > 0:
            self.add_drive(DriveKind.FRICTION, i, j, c, [(friction,) for friction in frictions])
        motors = [each.motor for each in drives]
        for kind, target in (
            (DriveKind.MOTOR, "speed"), (DriveKind.SERVO, "position"), (DriveKind.CONTROLLER, "compliant")
        ):  # fmt: skip
            numbers = [motor_numbers(motor, target) for motor in motors]
            if any(given[MOTOR.effort] > 0 for given in numbers):
                self.add_drive(kind, i, j, c, numbers)
        torques = [motor.torque if motor else None for motor in motors]
        if any(torque is not None for torque in torques):
            self.add_drive(DriveKind.EFFORT, i, j, c, [(torque or 0.0,) for torque in torques])
        springs = [each.spring for each in drives]
        if any(map(has_effect, springs)):
            self.add_drive(DriveKind.SPRING, i, j, c, [spring_numbers(spring) for spring in springs])

    def add_rotor(self, i, j, c, joints, closed):
        """Add the rotor of a joint with armature. A joint that coordinates keep closed needs no row, which stays idle,
        but its place for the rotor's speed."""
        self.rotors[joints[0].name] = len(self.rows.rows)
        self.add_drive(DriveKind.NONE if closed else DriveKind.ROTOR, i, j, c, [(0.0,)] * len(joints))
        self.rows.rows[-1][ROW.rotor] = [1 / joint.armature if joint.armature > 0 else 0.0 for joint in joints]

    def add_limits(self, i, j, c, limits):
        """Add limits of coordinate c, if any world has them."""
        if np.isfinite(limits).any():
            self.add_drive(DriveKind.LIMIT, i, j, c, limits)

    def add_spring(self, springs):
        """Add a spring between points: a distance without limits, and a spring along it."""
        one = springs[0]
        i, j = self.index_of(one.a), self.index_of(one.b)
        c = self.add_coordinates(Distance.type)
        self.add_integers(Distance.type, i, j, len(self.rows.rows), c)
        frames = np.zeros((FRAMES.total, len(springs)))
        for world, spring in enumerate(springs):
            frames[FRAMES["anchor_i"], world], frames[FRAMES["anchor_j"], world] = spring.anchor_a, spring.anchor_b
        self.frames.append(np.broadcast_to(frames, (FRAMES.total, self.worlds)))
        given = [(spring.stiffness, spring.damping, spring.rest_length) for spring in springs]
        self.add_drive(DriveKind.SPRING, i, j, c, given)

    def add_gear(self, gears):
        """Add a gear: two rows that are one constraint, of at most four bodies."""
        a, b = gears[0].joint_a, gears[0].joint_b
        bodies = slice(JOINT.body_i, JOINT.body_j + 1)
        first, second = self.first_coordinates[a], self.first_coordinates[b]
        ratios = [(gear.ratio,) for gear in gears]
        self.add_drive(DriveKind.GEAR, *self.integers[a][bodies], first, ratios, other=second, count=2)
        self.rows.groups[-1][GROUP.form] = Form.PAIR
        self.rows.groups[-1][GROUP.body_k : GROUP.body_l + 1] = self.integers[b][bodies]

    def add_grab(self):
        """Add a grab spring: a soft ball between the ground and a body, idle at first. Returns: a GrabRows."""
        ground = self.index_of(GROUND)
        group, row = self.rows.add(Group.IDLE, ground, 0, 3)
        self.add_integers(Ball.type, ground, 0, row, self.add_coordinates(Ball.type))
        frames = np.zeros((FRAMES.total, self.worlds))
        for axes in (FRAMES["axes_i"], FRAMES["axes_j"]):
            frames[axes] = np.eye(3).reshape(9, 1)
        frames[FRAMES.start] = 1.0
        self.frames.append(frames)
        return GrabRows(len(self.integers) - 1, group, row)

    def add_drive(self, kind, i, j, c, numbers, other=0, count=1):
        """Add a drive along coordinate c.

        Args: kind: a DriveKind; numbers: of each model; other: coordinate b of a gear; count: of rows.
        """
        group, row = self.rows.add(Group.IDLE, i, j, count)
        self.drives.append([kind, c, other, group, row])
        filled = np.zeros((MOTOR.total, len(numbers)))
        filled[: len(numbers[0])] = np.transpose(numbers)
        self.drive_numbers.append(np.broadcast_to(filled, (MOTOR.total, self.worlds)))

    def add_coordinates(self, of_type):
        """Add the coordinates of a JointType. Returns: the first one."""
        first = len(self.forms)
        for k, coordinate in enumerate(of_type.coordinates):
            products = (*coordinate.cosine, *coordinate.sine) if isinstance(coordinate, Angle) else (0,) * 4
            kind = next((KINDS[each] for each in KINDS if isinstance(coordinate, each)), CoordinateKind.OTHER)
            last = k in of_type.angles[-1:]  # [4] takes the child's axis for a hinge, too
            self.forms.append([kind, coordinate.axis, last, *products])
        return first

    def index_of(self, body):
        """Index of a body in arrays, where the ground is the last one."""
        return len(self.models[0].bodies) if body == GROUND else body


def softness(soft):
    """Stiffness and damping of the rows of a joint. Args: soft: a rigid.Soft, or None.

    Returns: the pair against translation, the pair against rotation, and 1.0 if both are for an effective mass of one.
    """
    if soft is None:
        return (np.inf, 0.0), (np.inf, 0.0), 0.0
    if soft.frequency is not None:
        speed = 2 * np.pi * soft.frequency
        pair = speed**2, 2 * soft.damping_ratio * speed
        return pair, pair, 1.0
    return (soft.stiffness, soft.damping), (soft.angular_stiffness, soft.angular_damping), 0.0


def motor_numbers(motor, target):
    """MOTOR numbers of a motor; zeros for None or another one.

    Args: motor; target: "speed" or "position" of a stiff motor, or "compliant".
    """
    if motor is None or target != ("compliant" if motor.is_compliant else motor.controls):
        return (0.0,) * MOTOR.total
    return (
        motor.max_effort, motor.speed or 0.0, motor.position or 0.0, motor.position_gain, motor.max_speed,
        motor.stiffness or 0.0, motor.damping or 0.0,
    )  # fmt: skip
