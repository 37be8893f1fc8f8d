"""Contacts as rows (rigid/constraints/rows.py): three for each contact point, six with rolling or spinning friction.

    LIMIT     the gap, G = (p_a - p_b)·n >= 0; separate bodies may touch within the step, but not overlap
    FRICTION  no slip along two directions at a right angle to n, as far as |effort| <= μ effort_n allows: the cone
    FRICTION  no relative rotation about those two, by a torque of at most (rolling friction) effort_n
    FRICTION  no relative rotation about n, by a torque of at most (spinning friction) effort_n

Restitution is the target velocity of the first row: e times the approach velocity, if the bodies would meet within the
step and faster than a threshold. They turn back before they meet, at a gap z, and semi-implicit Euler has velocities
half a step before and behind the poses. Both would change the rebound speed by a term of order g h. So the approach
velocity v is taken at the pose, half a step of gravity g later. The parting speed u is that of a body at height z that
left the ground with e times the impact speed:  u² = e² (v² + 2 g z) - 2 g z.  Half a step later it is u - g h/2. A ball
then rises to e² of its height at every rebound, to round-off, until a rise takes only a few steps.

A step moves bodies along tangents. On a platform that turns, a body without slip would leave its circle of radius r by
r ω² h/2 in a unit of time. So the target velocity of friction follows the chord of the circle, see `carried_velocity`.
"""

import taichi as ti

from pbd.core.kernels import in_all_lanes, in_lanes, load_vector
from pbd.core.quaternions import sinc
from pbd.core.vectors import tangent
from rigid.collision.data import ABSENT, PAIR, POINT, SHAPE
from rigid.constraints.rows import GROUP, ROW, Form, Group, write_bounds, write_jacobian
from rigid.kernels.motion import MASS, POSE, VELOCITY, gravity_on

# Rows and groups of a contact without rolling and spinning friction.
CONTACT_ROWS, CONTACT_GROUPS = 3, 2


def contact_size(pair_types):
    """Numbers of rows and groups of a contact. Args: a rigid.collision.data.PairTypes."""
    count = 2 if pair_types.rolling_and_spinning else 1
    return count * CONTACT_ROWS, count * CONTACT_GROUPS


# Bodies touch if their gap is below this part of g h², the distance that a body at rest falls in a step. That keeps
# stacks at rest: a gap that may be closed within the step feeds positions back into velocities. Together with warm
# starting and unconverged iterations, that lets slow modes of a stack grow by up to 15 % a step. (A mode whose error
# the iterations reduce to a part ρ changes from step to step by the roots of z³ - 3ρz² + 3ρz - ρ, of which the largest
# is above 1 for every ρ between 0 and 1; without gaps it is sqrt ρ.)
TOUCHING = 0.25

# Bodies do not rebound if they approach slower than this many times g h, what a body at rest gains in a step.
RESTING = 2.0


@ti.func
def tangents(n):
    """Two directions at a right angle to n and to each other; always the same for the same n."""
    t = tangent(n, 0.8)
    return t, n.cross(t)


@ti.func
def write_contact_rows(s: ti.template(), world):
    """Write the rows of all contact points. Velocities must be those before the step's forces.

    Args: s: data with `bodies`, `points`, `shapes`, `rows`, `gravity` and, in `step`, `h`, `restitution_threshold`,
    `first_contact_row` and `first_contact_group`.

    Returns: how many places contacts have, and how many the world has: a real number.
    """
    found = 0.0
    count = ti.min(s.points.count[world], s.points.integers.shape[1])
    for c in range(count):
        write_rows_of_contact(s, c, world)
        found += 1.0
        if ti.static(in_lanes()):
            if s.points.numbers[world, c, POINT.gap] >= ABSENT:
                found -= 1.0
                for k in ti.static(range(contact_size(s.features.pair_types)[1])):
                    s.rows.kinds[world, first_group(s, c) + k] = Group.IDLE
    return count, found


@ti.func
def write_rows_of_contact(s: ti.template(), c, world):
    """Write the rows of contact c."""
    row = s.step.first_contact_row + ti.static(contact_size(s.features.pair_types)[0]) * c
    write_contact(s, c, row, first_group(s, c), world)
    if ti.static(s.features.pair_types.rolling_and_spinning):
        write_rolling_and_spinning_rows(s, c, row, first_group(s, c), world)


@ti.func
def first_group(s: ti.template(), c):
    """The first group of contact c."""
    return s.step.first_contact_group + ti.static(contact_size(s.features.pair_types)[1]) * c


@ti.func
def fall_of(s: ti.template(), body, world):
    """Acceleration of a body by gravity [m/s²]; the ground and bodies on paths have none."""
    result = gravity_on(s, body, world)
    if s.bodies.mass[world, body, MASS.inverse_mass] == 0.0:
        result *= 0.0
    return result


@ti.func
def carrier_turn(s: ti.template(), i, j, world):
    """Angular velocity of the body that carries the other one of a contact (3,) [rad/s].

    It is the body that impulses do not move, otherwise the slower one. So nothing carries what rolls on the ground.
    """
    velocity, mass = ti.static(s.bodies.velocity, s.bodies.mass)
    result = load_vector(velocity, j, VELOCITY.angular, world)
    of_i = load_vector(velocity, i, VELOCITY.angular, world)
    slower = mass[world, j, MASS.inverse_mass] > 0.0 and of_i.norm_sqr() < result.norm_sqr()
    if mass[world, i, MASS.inverse_mass] == 0.0 or slower:
        result = of_i
    return result


@ti.func
def carried_velocity(s: ti.template(), i, j, n, turn, h, world):
    """Velocity that a body without slip has beyond that at its contact, because steps are straight (3,) [m/s].

    The centres of two bodies that turn together are exp(h ω) r apart after a step, r from j to i, but a step moves them
    by h ω × r. The difference along the contact is (exp(h ω) - 1 - h ω ×) r/h without the part of r along the normal.

    Args: n: normal of the contact; turn: ω, see `carrier_turn`; h: step [s], negative for the step before.
    """
    pose = ti.static(s.bodies.pose)
    r = load_vector(pose, i, POSE.position, world) - load_vector(pose, j, POSE.position, world)
    way = turn.cross(r - r.dot(n) * n)
    angle = ti.abs(h) * turn.norm()
    bend = sinc(0.5 * angle)
    return 0.5 * h * bend * bend * turn.cross(way) + (sinc(angle) - 1.0) * way


@ti.func
def contact_arms(s: ti.template(), c, i, j, world):
    """The arms of contact c, from the centres of bodies i and j (3,) [m].

    Impulses act on both bodies at one point, halfway, so that angular momentum is kept.
    """
    pose, point = ti.static(s.bodies.pose, s.points.numbers)
    half = 0.5 * point[world, c, POINT.gap]
    p = load_vector(point, c, POINT.position, world) - half * load_vector(point, c, POINT.normal, world)
    return p - load_vector(pose, i, POSE.position, world), p - load_vector(pose, j, POSE.position, world)


@ti.func
def gap_and_target(s: ti.template(), c, i, j, n, arm_i, arm_j, world):
    """The gap [m] of contact c, and its target velocity along the normal [m/s], as its row has them.

    Args: i, j: its bodies; n: its normal; arm_i, arm_j: see `contact_arms`.
    """
    velocity, point = ti.static(s.bodies.velocity, s.points.numbers)
    gap = point[world, c, POINT.gap]
    slip = load_vector(velocity, i, VELOCITY.linear, world)
    slip += load_vector(velocity, i, VELOCITY.angular, world).cross(arm_i)
    slip -= load_vector(velocity, j, VELOCITY.linear, world) + load_vector(
        velocity, j, VELOCITY.angular, world
    ).cross(arm_j)
    fall_i, fall_j = fall_of(s, i, world), fall_of(s, j, world)
    pull, gravity = (fall_i - fall_j).dot(n), ti.max(fall_i.norm(), fall_j.norm())
    half = 0.5 * s.step.h * pull
    approach = -(slip.dot(n) + half)
    target, restitution = 0.0, point[world, c, POINT.restitution]
    threshold = ti.max(s.step.restitution_threshold, RESTING * s.step.h * gravity)
    if gap < s.step.h * (approach - half) and approach > threshold:
        height = -2.0 * pull * ti.max(gap, 0.0)
        parting = restitution * restitution * (approach * approach + height) - height
        if parting > 0.0:
            target = ti.max(ti.sqrt(parting) + half, 0.0)
            gap = ti.min(gap, 0.0)
    if gap > 0.0:
        gap = ti.max(gap - TOUCHING * s.step.h * s.step.h * gravity, 0.0)
    return gap, target


@ti.func
def write_contact(s: ti.template(), c, row, group, world):
    """Write the normal row and the friction rows of contact c."""
    point = ti.static(s.points.numbers)
    ground = s.bodies.pose.shape[1] - 1
    i, j = s.points.integers[world, c, PAIR.body_a], s.points.integers[world, c, PAIR.body_b]
    if j < 0:
        j = ground
    n = load_vector(point, c, POINT.normal, world)
    arm_i, arm_j = contact_arms(s, c, i, j, world)
    gap, target = gap_and_target(s, c, i, j, n, arm_i, arm_j, world)
    write_jacobian(s.rows, row, n, arm_i.cross(n), -arm_j.cross(n), gap, world)
    write_bounds(s.rows, row, target, 0.0, ti.math.inf, world)
    t, u = tangents(n)
    write_jacobian(s.rows, row + 1, t, arm_i.cross(t), -arm_j.cross(t), 0.0, world)
    write_jacobian(s.rows, row + 2, u, arm_i.cross(u), -arm_j.cross(u), 0.0, world)
    for k in ti.static(range(CONTACT_ROWS)):
        write_hard(s.rows, row + k, world)
    carried = carried_velocity(s, i, j, n, carrier_turn(s, i, j, world), s.step.h, world)
    for k, axis in ti.static(((1, t), (2, u))):
        write_bounds(s.rows, row + k, carried.dot(axis), 0.0, point[world, c, POINT.friction], world)
    write_group(s.rows, group, Group.LIMIT, Form.SINGLE, i, j, row, 1, -1, world)
    write_group(s.rows, group + 1, Group.FRICTION, Form.SLIP, i, j, row + 1, 2, row, world)


@ti.func
def write_rolling_and_spinning_rows(s: ti.template(), c, row, group, world):
    """Write the rows of rolling and spinning friction of contact c. Args: row, group: the first ones of the contact."""
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    n = load_vector(s.points.numbers, c, POINT.normal, world)
    t, u = tangents(n)
    a, b = s.points.integers[world, c, PAIR.shape_a], s.points.integers[world, c, PAIR.shape_b]
    shapes = ti.static(s.shapes.numbers)
    rolling = ti.sqrt(shapes[world, a, SHAPE.rolling_friction] * shapes[world, b, SHAPE.rolling_friction])
    spinning = ti.sqrt(shapes[world, a, SHAPE.spinning_friction] * shapes[world, b, SHAPE.spinning_friction])
    for k, axis in ti.static(enumerate((t, u, n))):
        at = row + CONTACT_ROWS + k
        write_jacobian(s.rows, at, 0.0 * axis, axis, -axis, 0.0, world)
        write_bounds(s.rows, at, 0.0, 0.0, spinning if ti.static(k == 2) else rolling, world)
        write_hard(s.rows, at, world)
    first, last = row + CONTACT_ROWS, row + CONTACT_ROWS + 2
    write_group(s.rows, group + CONTACT_GROUPS, Group.FRICTION, Form.SLIP, i, j, first, 2, row, world)
    write_group(s.rows, group + CONTACT_GROUPS + 1, Group.FRICTION, Form.SLIP, i, j, last, 1, row, world)


@ti.func
def write_hard(rows: ti.template(), row, world):
    """Make a row hard: infinitely stiff."""
    rows.numbers[world, row, ROW.stiffness] = ti.math.inf
    rows.numbers[world, row, ROW.per_mass] = 0.0


@ti.func
def write_group(rows: ti.template(), group, kind, form, i, j, first, count, normal, world):
    """Write a group. Args: kind: a Group; others: as the columns of GROUP."""
    rows.kinds[world, group] = kind
    write_form(rows, group, form, i, j, first, count, normal, world)


@in_all_lanes
@ti.func
def write_form(rows: ti.template(), group, form, i, j, first, count, normal, world):
    """Write what a group has in common in all worlds. Args: as the columns of GROUP."""
    rows.groups[world, group, GROUP.form] = form
    rows.groups[world, group, GROUP.body_i] = i
    rows.groups[world, group, GROUP.body_j] = j
    rows.groups[world, group, GROUP.first] = first
    rows.groups[world, group, GROUP.count] = count
    rows.groups[world, group, GROUP.normal] = normal
