"""What acts along a coordinate q: limits, friction, motors, springs, and gears between two. One row each.

    limit     q in [low, high]: the nearer one; both where they are equal
    friction  dq/dt = 0 as far as |effort| <= τ allows
    motor     dq/dt = speed, or rate (position - q) by implicit Euler, as far as |effort| <= max_effort allows
    spring    effort -k (q - rest) - c dq/dt: a soft lock (rigid/constraints/rows.py)
    gear      q_b - ratio q_a = 0: two rows and one impulse (the "repeater" of [3] and [4])
"""

import taichi as ti

from rigid.constraints.joints.place import TURN_I, TURN_J, VALUE
from rigid.constraints.rows import (
    BODY_I,
    BODY_J,
    DAMPING,
    DRIVE,
    GEAR,
    IDLE,
    KIND,
    LIMIT,
    LOCK,
    STIFFNESS,
    put_bounds,
    put_jacobian,
)
from rigid.kernels.columns import triple
from rigid.kernels.motion import ANGULAR, LINEAR

# Columns of Joints.drives: what it is; of which coordinate; of a gear the other one; its group and first row.
DRIVE_KIND, COORDINATE, OTHER, GROUP, ROW = range(5)
NONE, LIMITS, FRICTION, MOTOR, SERVO, SPRING, GEARS = range(7)

# Columns of Joints.drive_numbers, for each of these kinds.
LOWEST, HIGHEST = 0, 1
EFFORT, SPEED, POSITION, RATE = 0, 1, 2, 3
SPRING_STIFFNESS, SPRING_DAMPING, REST = 0, 1, 2
RATIO = 0

# A limit is left out of a step in which it cannot be reached at twice the speed of its start and so much more [rad/s or
# m/s].
SUDDEN = 20.0
# What is nearer to a limit than so much times h² touches it [rad/s² or m/s²].
TOUCHING = 2.5


@ti.func
def put_drive(s: ti.template(), drive, world):
    """The row of one drive, and of what kind its group is in this step."""
    kind = s.joints.drives[drive, DRIVE_KIND]
    group, row = s.joints.drives[drive, GROUP], s.joints.drives[drive, ROW]
    c = s.joints.drives[drive, COORDINATE]
    numbers = ti.Vector([s.joints.drive_numbers[world, drive, k] for k in ti.static(range(4))])
    q = s.joints.coordinates[world, c, VALUE]
    # A motor or friction without effort, and a spring without stiffness or damping, do nothing.
    found, error, target, low, high = DRIVE, 0.0, 0.0, -numbers[EFFORT], numbers[EFFORT]
    if kind == LIMITS:
        found, error, low, high = nearer_limit(s, group, c, q, numbers[LOWEST], numbers[HIGHEST], world)
    elif kind == MOTOR:
        target = numbers[SPEED]
    elif kind == SERVO:
        target = numbers[RATE] * (numbers[POSITION] - q) / (1.0 + s.h * numbers[RATE])
    elif kind == SPRING:
        found, error = LOCK, q - numbers[REST]
        s.rows.numbers[world, row, STIFFNESS] = numbers[SPRING_STIFFNESS]
        s.rows.numbers[world, row, DAMPING] = numbers[SPRING_DAMPING]
    if (found == DRIVE and high <= 0.0) or (kind == SPRING and ti.max(numbers[0], numbers[1]) <= 0.0):
        found = IDLE
    if kind == GEARS:
        found = GEAR
        put_gear(s, row, c, s.joints.drives[drive, OTHER], numbers[RATIO], world)
    elif found != IDLE:
        put_jacobian(
            s.rows, row, triple(s.joints.coordinates, c, 0, world), triple(s.joints.coordinates, c, TURN_I, world),
            triple(s.joints.coordinates, c, TURN_J, world), error, world,
        )  # fmt: skip
        if kind != SPRING:
            put_bounds(s.rows, row, target, low, high, world)
    s.rows.groups[world, group, KIND] = found


@ti.func
def nearer_limit(s: ti.template(), group, c, q, lowest, highest, world):
    """The limit that q is nearer to: its kind of group, error, and bounds of the effort, infinite ones being none."""
    found, error, low, high = LIMIT, q - lowest, 0.0, ti.math.inf
    if lowest == highest:
        found, low = LOCK, -ti.math.inf
    else:
        if highest - q < q - lowest:
            error, low, high = q - highest, -ti.math.inf, 0.0
        i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
        apart = triple(s.motion.velocities, i, LINEAR, world) - triple(s.motion.velocities, j, LINEAR, world)
        rate = triple(s.joints.coordinates, c, 0, world).dot(apart)
        rate += triple(s.joints.coordinates, c, TURN_I, world).dot(triple(s.motion.velocities, i, ANGULAR, world))
        rate += triple(s.joints.coordinates, c, TURN_J, world).dot(triple(s.motion.velocities, j, ANGULAR, world))
        inside = error
        if high == 0.0:
            inside = -error
        # As of contacts, see rigid/constraints/contact_rows.py: what is a little inside is at the limit.
        if inside > 0.0:
            error -= ti.min(inside, TOUCHING * s.h * s.h) * ti.select(high == 0.0, -1.0, 1.0)
        if inside > s.h * (2.0 * ti.abs(rate) + SUDDEN):
            found = IDLE
    return found, error, low, high


@ti.func
def put_gear(s: ti.template(), row, a, b, ratio, world):
    """Two rows whose sum is q_b - ratio q_a; the first has the bodies of a, the second those of b."""
    of = ti.static(s.joints.coordinates)
    put_jacobian(
        s.rows, row, -ratio * triple(of, a, 0, world), -ratio * triple(of, a, TURN_I, world),
        -ratio * triple(of, a, TURN_J, world), of[world, b, VALUE] - ratio * of[world, a, VALUE], world,
    )  # fmt: skip
    put_jacobian(
        s.rows, row + 1, triple(of, b, 0, world), triple(of, b, TURN_I, world), triple(of, b, TURN_J, world), 0.0, world
    )
