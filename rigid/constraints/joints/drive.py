"""Drives along a coordinate q: limits, friction, motors, springs, and gears between two coordinates.

    limit     q in [low, high]: a row for the nearer limit; for both if they are equal
    friction  dq/dt = 0, as far as |effort| <= τ allows
    motor     dq/dt = speed, or gain (position - q) by implicit Euler, as far as |effort| <= max_effort allows
    effort    a constant effort: both bounds are equal
    controller  effort -k (q - position) - c (dq/dt - speed), as far as |effort| <= max_effort allows
    spring    effort -k (q - rest) - c dq/dt: a soft equality (rigid/constraints/rows.py)
    gear      q_b - ratio q_a = 0: two rows and one impulse (the "repeater" of [3] and [4])
    rotor     dq/dt = u of a rotor that turns about no axis of a body: the armature of a joint (rotors.py)
"""

import taichi as ti

from pbd.core.kernels import load_vector
from rigid.constraints.joints.data import COORDINATE, DRIVE, GEAR, LIMIT, MOTOR, SPRING, DriveKind
from rigid.constraints.rows import GROUP, ROW, Group, write_bounds, write_jacobian
from rigid.kernels.motion import VELOCITY

# A limit is left out of a step if it cannot be reached at twice the present speed plus this [rad/s or m/s].
REACHED_SPEED = 20.0
# A coordinate touches its limit if it is nearer to it than this times h² [rad/s² or m/s²].
TOUCHING = 2.5


@ti.func
def write_drive(s: ti.template(), drive, world):
    """Write the row of a drive, and the kind of its group in this step."""
    kind = s.joints.drives[drive, DRIVE.kind]
    group, row = s.joints.drives[drive, DRIVE.group], s.joints.drives[drive, DRIVE.row]
    c = s.joints.drives[drive, DRIVE.coordinate]
    numbers = ti.Vector([s.joints.drive_numbers[world, drive, k] for k in ti.static(range(MOTOR.total))])
    q = s.joints.coordinates[world, c, COORDINATE.value]
    # A motor or friction without effort, and a spring without stiffness or damping, do nothing.
    found, error, target, low, high = Group.DRIVE, 0.0, 0.0, -numbers[MOTOR.effort], numbers[MOTOR.effort]
    if kind == DriveKind.LIMIT:
        found, error, low, high = nearer_limit(s, group, c, q, numbers[LIMIT.lowest], numbers[LIMIT.highest], world)
    elif kind == DriveKind.MOTOR:
        target = numbers[MOTOR.speed]
    elif kind == DriveKind.SERVO:
        target = numbers[MOTOR.gain] * (numbers[MOTOR.position] - q) / (1.0 + s.step.h * numbers[MOTOR.gain])
        target = ti.min(ti.max(target, -numbers[MOTOR.most_speed]), numbers[MOTOR.most_speed])
    elif kind == DriveKind.EFFORT:
        low = numbers[MOTOR.effort]
    elif kind == DriveKind.SPRING:
        found, error = Group.EQUALITY, q - numbers[SPRING.rest]
        s.rows.numbers[world, row, ROW.stiffness] = numbers[SPRING.stiffness]
        s.rows.numbers[world, row, ROW.damping] = numbers[SPRING.damping]
    elif kind == DriveKind.CONTROLLER:
        error, target = q - numbers[MOTOR.position], numbers[MOTOR.speed]
        s.rows.numbers[world, row, ROW.stiffness] = numbers[MOTOR.stiffness]
        s.rows.numbers[world, row, ROW.damping] = numbers[MOTOR.damping]
    slack = kind == DriveKind.SPRING and ti.max(numbers[SPRING.stiffness], numbers[SPRING.damping]) <= 0.0
    if kind == DriveKind.CONTROLLER:
        slack = ti.max(numbers[MOTOR.stiffness], numbers[MOTOR.damping]) <= 0.0
    if (found == Group.DRIVE and high <= 0.0 and kind != DriveKind.EFFORT) or slack:
        found = Group.IDLE
    if kind == DriveKind.ROTOR:
        target, low, high = s.rows.numbers[world, row, ROW.target], -ti.math.inf, ti.math.inf
        found = ti.select(s.rows.numbers[world, row, ROW.rotor] > 0.0, Group.DRIVE, Group.IDLE)
    if kind == DriveKind.GEAR:
        found = Group.GEAR
        write_gear(s, row, c, s.joints.drives[drive, DRIVE.other], numbers[GEAR.ratio], world)
    elif found != Group.IDLE:
        of = ti.static(s.joints.coordinates)
        write_jacobian(
            s.rows, row, load_vector(of, c, COORDINATE.linear, world), load_vector(of, c, COORDINATE.angular_i, world),
            load_vector(of, c, COORDINATE.angular_j, world), error, world,
        )  # fmt: skip
        if kind != DriveKind.SPRING:
            write_bounds(s.rows, row, target, low, high, world)
    s.rows.kinds[world, group] = found


@ti.func
def nearer_limit(s: ti.template(), group, c, q, lowest, highest, world):
    """The limit that q is nearer to.

    Returns: the kind of its group, the error, and the bounds of the effort; infinite ones are none.
    """
    found, error, low, high = Group.LIMIT, q - lowest, 0.0, ti.math.inf
    if lowest == highest:
        found, low = Group.EQUALITY, -ti.math.inf
    else:
        if highest - q < q - lowest:
            error, low, high = q - highest, -ti.math.inf, 0.0
        v, of = ti.static(s.bodies.velocity, s.joints.coordinates)
        i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
        apart = load_vector(v, i, VELOCITY.linear, world) - load_vector(v, j, VELOCITY.linear, world)
        rate = load_vector(of, c, COORDINATE.linear, world).dot(apart)
        rate += load_vector(of, c, COORDINATE.angular_i, world).dot(load_vector(v, i, VELOCITY.angular, world))
        rate += load_vector(of, c, COORDINATE.angular_j, world).dot(load_vector(v, j, VELOCITY.angular, world))
        inside = error
        if high == 0.0:
            inside = -error
        # As for contacts, see rigid/constraints/contact_rows.py: a coordinate just inside its limit is at the limit.
        if inside > 0.0:
            error -= ti.min(inside, TOUCHING * s.step.h * s.step.h) * ti.select(high == 0.0, -1.0, 1.0)
        if inside > s.step.h * (2.0 * ti.abs(rate) + REACHED_SPEED):
            found = Group.IDLE
    return found, error, low, high


@ti.func
def write_gear(s: ti.template(), row, a, b, ratio, world):
    """Write two rows whose sum is q_b - ratio q_a. The first has the bodies of a, the second those of b."""
    of = ti.static(s.joints.coordinates)
    write_jacobian(
        s.rows, row, -ratio * load_vector(of, a, COORDINATE.linear, world),
        -ratio * load_vector(of, a, COORDINATE.angular_i, world),
        -ratio * load_vector(of, a, COORDINATE.angular_j, world),
        of[world, b, COORDINATE.value] - ratio * of[world, a, COORDINATE.value], world,
    )  # fmt: skip
    write_jacobian(
        s.rows, row + 1, load_vector(of, b, COORDINATE.linear, world), load_vector(of, b, COORDINATE.angular_i, world),
        load_vector(of, b, COORDINATE.angular_j, world), 0.0, world,
    )  # fmt: skip
