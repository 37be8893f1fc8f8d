"""The arrays of joints: from models to numbers, and how many rows they take."""

from typing import Any, NamedTuple

import numpy as np

from rigid.collision.data import array
from rigid.constraints.joints import drive
from rigid.constraints.joints.place import (
    ANCHOR_I,
    ANCHOR_J,
    COORDINATE_NUMBERS,
    JOINT_NUMBERS,
    LENGTH,
    START,
    TRIAD_I,
    TRIAD_J,
)
from rigid.constraints.rows import BODY_K, BODY_L, DAMPING, DISC, HIGH, IDLE, LOCK, PER_MASS, STIFFNESS, by_world
from rigid.joint import Ball, Distance, Fixed, Hinge, Slider, Universal
from rigid.names import GROUND
from rigid.rotation import conjugate, multiply


class Joints(NamedTuple):
    """Joints and springs, their coordinates and what acts along these; W worlds. All but `coordinates` is only read."""

    integers: Any  # (joints, 7) i32: see below
    numbers: Any  # (W, joints, 29): see rigid/constraints/joints/place.py
    coordinates: Any  # (W, coordinates, 10): likewise; q is kept from step to step, to count on from
    drives: Any  # (drives, 5) i32: see rigid/constraints/joints/drive.py
    drive_numbers: Any  # (W, drives, 4): likewise


class Grab(NamedTuple):
    """Where a grab is among joints, groups and rows: the first of its three."""

    joint: int
    group: int
    row: int


# Columns of `integers`: its kind, 0 for none (an array cannot be empty); its bodies, the ground's being the last; its
# first row, or -1, and coordinate; of a ball the first row of its friction and of its spring, or -1.
JOINT_KIND, BODY_I, BODY_J, FIRST_ROW, FIRST_COORDINATE, FRICTION_ROW, SPRING_ROW = range(7)
BALL, HINGE, UNIVERSAL, SLIDER, FIXED, DISTANCE = range(1, 7)

KINDS = {Ball: BALL, Hinge: HINGE, Universal: UNIVERSAL, Slider: SLIDER, Fixed: FIXED, Distance: DISTANCE}
LOCKS = {BALL: (3, 0), HINGE: (3, 2), UNIVERSAL: (3, 1), SLIDER: (2, 3), FIXED: (3, 3), DISTANCE: (0, 0)}
COORDINATES = {BALL: 2, HINGE: 1, UNIVERSAL: 2, SLIDER: 1, FIXED: 0, DISTANCE: 1}


class JointTable:
    """Joints, springs and gears of models, and their rows added to a RowTable.

    Arguments: models: one for all worlds, or one each, of one structure; table: a rigid.constraints.rows.RowTable; held: joints
    that a solver's coordinates hold together, which have no rows for that; grabs: how many things can be held.
    """

    def __init__(self, models, table, held=(), grabs=0):
        self.models, self.table, self.worlds = models, table, table.worlds
        self.integers, self.numbers, self.drives, self.drive_numbers = [], [], [], []
        self.coordinates = 0
        self.first_coordinates = []  # of each joint
        for index in range(len(models[0].joints)):
            self.add_joint([model.joints[index] for model in models], index in held)
        for index in range(len(models[0].springs)):
            self.add_spring([model.springs[index] for model in models])
        for index in range(len(models[0].gears)):
            self.add_gear([model.gears[index] for model in models])
        self.grabs = [self.add_grab() for _ in range(grabs)]

    def upload(self):
        """Taichi arrays: a Joints."""
        return Joints(
            array(np.reshape(self.integers, (-1, SPRING_ROW + 1)).astype(np.int32)),
            array(by_world(self.numbers, JOINT_NUMBERS, self.worlds)),
            array(np.zeros((self.worlds, self.coordinates, COORDINATE_NUMBERS))),
            array(np.reshape(self.drives, (-1, drive.ROW + 1)).astype(np.int32)),
            array(by_world(self.drive_numbers, 4, self.worlds)),
        )

    # What each adds. Arguments: joints, springs, gears: one in each model ---------------------------------------------

    def add_joint(self, joints, held):
        """A joint's own rows, unless it is held, and what acts along its coordinates."""
        one = joints[0]
        kind = KINDS[type(one)]
        i, j = self.row_of(one.parent), self.row_of(one.child)
        first = -1
        if sum(LOCKS[kind]) and not held:
            first = self.add_locks(kind, i, j, joints)
        c = self.add_coordinates(COORDINATES[kind])
        self.first_coordinates.append(c)
        friction = spring = -1
        if kind == BALL:
            friction, spring = self.add_ball(i, j, joints)
            self.add_limits(i, j, c, [(-np.inf, joint.swing_limit) for joint in joints])
            self.add_limits(i, j, c + 1, [joint.twist_limits for joint in joints])
        elif kind == UNIVERSAL:
            for k in range(2):
                self.add_drives(i, j, c + k, joints)
                self.add_limits(i, j, c + k, [joint.coordinate_limits()[k] for joint in joints])
        elif kind in (HINGE, SLIDER, DISTANCE):
            self.add_drives(i, j, c, joints)
            self.add_limits(i, j, c, [joint.limits for joint in joints])
        self.integers.append([kind, i, j, first, c, friction, spring])
        numbers = np.zeros((JOINT_NUMBERS, len(joints)))
        for world, (model, joint) in enumerate(zip(self.models, joints)):
            start = multiply(conjugate(model.body(joint.parent).rotation), model.body(joint.child).rotation)
            numbers[ANCHOR_I:TRIAD_I, world] = [*joint.parent_anchor, *joint.child_anchor]
            numbers[TRIAD_I:TRIAD_J, world] = np.ravel(joint.parent_axes)
            numbers[TRIAD_J:START, world], numbers[START:LENGTH, world] = np.ravel(joint.child_axes), start
            numbers[LENGTH, world] = joint.length
        self.numbers.append(np.broadcast_to(numbers, (JOINT_NUMBERS, self.worlds)))

    def add_locks(self, kind, i, j, joints):
        """The rows that keep a joint together, hard or as soft as they are given to be. Returns: the first."""
        shifts, turns = LOCKS[kind]
        _, first = self.table.add(LOCK, i, j, shifts + turns)
        given = [softness(joint.soft) for joint in joints]
        for row in range(first, first + shifts + turns):
            pair = [of[0 if row < first + shifts else 1] for of in given]
            columns = np.transpose([(*strengths, of[2]) for strengths, of in zip(pair, given)])
            self.table.rows[row][STIFFNESS], self.table.rows[row][DAMPING], self.table.rows[row][PER_MASS] = columns
        return first

    def add_ball(self, i, j, joints):
        """Rows of a ball's friction and of its spring; -1 for none."""
        friction = spring = -1
        if any(joint.friction > 0 for joint in joints):
            _, friction = self.table.add(DISC, i, j, 3)
            for row in self.table.rows[friction:]:
                row[HIGH] = [joint.friction for joint in joints]
        if any(acts(joint.spring) for joint in joints):
            stiffness, damping = np.transpose([strength(joint.spring)[:2] for joint in joints])
            _, spring = self.table.add(LOCK, i, j, 3, stiffness, damping)
        return friction, spring

    def add_drives(self, i, j, c, joints):
        """Friction, motor and spring of a joint along coordinate c, where any world has one."""
        frictions = [joint.friction for joint in joints]
        if max(frictions) > 0:
            self.add_drive(drive.FRICTION, i, j, c, [(friction,) for friction in frictions])
        motors = [joint.motor for joint in joints]
        for kind, wanted in ((drive.MOTOR, "speed"), (drive.SERVO, "position")):
            efforts = [effort(motor, wanted) for motor in motors]
            if any(given[0] > 0 for given in efforts):
                self.add_drive(kind, i, j, c, efforts)
        springs = [joint.spring for joint in joints]
        if any(map(acts, springs)):
            self.add_drive(drive.SPRING, i, j, c, [strength(spring) for spring in springs])

    def add_limits(self, i, j, c, limits):
        """Limits of coordinate c, where any world has them."""
        if np.isfinite(limits).any():
            self.add_drive(drive.LIMITS, i, j, c, limits)

    def add_spring(self, springs):
        """A spring between points: a distance without limits, and a spring along it."""
        one = springs[0]
        i, j = self.row_of(one.a), self.row_of(one.b)
        c = self.add_coordinates(1)
        self.integers.append([DISTANCE, i, j, len(self.table.rows), c, -1, -1])
        numbers = np.zeros((JOINT_NUMBERS, len(springs)))
        for world, spring in enumerate(springs):
            numbers[ANCHOR_I:ANCHOR_J, world], numbers[ANCHOR_J:TRIAD_I, world] = spring.anchor_a, spring.anchor_b
        self.numbers.append(np.broadcast_to(numbers, (JOINT_NUMBERS, self.worlds)))
        given = [(spring.stiffness, spring.damping, spring.rest_length) for spring in springs]
        self.add_drive(drive.SPRING, i, j, c, given)

    def add_gear(self, gears):
        """Two rows that are one constraint, of four bodies at most."""
        a, b = (self.first_coordinates[joint] for joint in (gears[0].joint_a, gears[0].joint_b))
        (i, j), (k, m) = (self.integers[joint][BODY_I : BODY_J + 1] for joint in (gears[0].joint_a, gears[0].joint_b))
        self.add_drive(drive.GEARS, i, j, a, [(gear.ratio,) for gear in gears], other=b, count=2)
        self.table.groups[-1][BODY_K : BODY_L + 1] = k, m

    def add_grab(self):
        """A soft ball between the ground and whatever is held; nothing is as yet. Returns: a Grab."""
        ground = self.row_of(GROUND)
        group, row = self.table.add(IDLE, ground, 0, 3)
        self.integers.append([BALL, ground, 0, row, self.add_coordinates(COORDINATES[BALL]), -1, -1])
        numbers = np.zeros((JOINT_NUMBERS, self.worlds))
        for triad in (TRIAD_I, TRIAD_J):
            numbers[triad : triad + 9] = np.eye(3).reshape(9, 1)
        numbers[START] = 1.0
        self.numbers.append(numbers)
        return Grab(len(self.integers) - 1, group, row)

    def add_drive(self, kind, i, j, c, numbers, other=0, count=1):
        """Something that acts along coordinate c. Arguments: numbers: of each model; other: a gear's coordinate b."""
        group, row = self.table.add(IDLE, i, j, count)
        self.drives.append([kind, c, other, group, row])
        filled = np.zeros((4, len(numbers)))
        filled[: len(numbers[0])] = np.transpose(numbers)
        self.drive_numbers.append(np.broadcast_to(filled, (4, self.worlds)))

    def add_coordinates(self, count):
        """Room for so many coordinates. Returns: the first."""
        self.coordinates += count
        return self.coordinates - count

    def row_of(self, body):
        """The row of a body in arrays; the ground's is the last."""
        return len(self.models[0].bodies) if body == GROUND else body


def acts(spring):
    """Whether a joint's spring, or None, does anything."""
    return spring is not None and (spring.stiffness > 0 or spring.damping > 0)


def strength(spring):
    """Stiffness, damping and rest of a joint's spring, or None."""
    return (0.0, 0.0, 0.0) if spring is None else (spring.stiffness, spring.damping, spring.rest)


def softness(soft):
    """Stiffness and damping of shifts, those of turns, and whether they are for an effective mass of one."""
    if soft is None:
        return (np.inf, 0.0), (np.inf, 0.0), 0.0
    if soft.frequency is not None:
        speed = 2 * np.pi * soft.frequency
        pair = speed**2, 2 * soft.damping_ratio * speed
        return pair, pair, 1.0
    return (soft.stiffness, soft.damping), (soft.angular_stiffness, soft.angular_damping), 0.0


def effort(motor, wanted):
    """Columns of a motor, or None: no effort where it does not have what is wanted, "speed" or "position"."""
    if motor is None or motor.controls != wanted:
        return 0.0, 0.0, 0.0, 0.0
    return motor.max_effort, motor.speed or 0.0, motor.position or 0.0, motor.position_gain
