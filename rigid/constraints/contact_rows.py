"""Contacts as rows (rigid/constraints/rows.py): three for each point that was found, six where shapes resist rolling or spinning.

    LIMIT   the gap, G = (p_a - p_b)·n >= 0; where the bodies are apart, they may come together in the step, no more
    DISC    no slip along two directions at a right angle to n, as far as |effort| <= μ effort_n allows: the cone
    DISC    no rolling: no relative turning about those two, by a torque of at most (rolling friction) effort_n
    DISC    no spinning: none about n, by one of at most (spinning friction) effort_n

Restitution is a velocity that the first row aims at: e times that of the approach, where the bodies would meet within
the step and faster than a threshold. They turn before they have met, at a gap z, and semi-implicit Euler has velocities
of half a step before and behind the poses: both would cost or give a falling ball some g h. So the approach v is taken
at the pose, half a step of gravity g on, and the speed with which the bodies part is the one that what parts at e times
the impact's speed has at z:  u² = e² (v² + 2 g z) - 2 g z.  Half a step later it is u - g h/2. A ball then rises to e²
of its height at every rebound, to round-off, until the rise is a matter of single steps.
"""

import taichi as ti

from rigid.collision.data import PAIR, POINT, SHAPE
from rigid.constraints.rows import (
    BODY_I,
    BODY_J,
    COUNT,
    DISC,
    FIRST,
    KIND,
    LEADER,
    LIMIT,
    PER_MASS,
    STIFFNESS,
    put_bounds,
    put_jacobian,
)
from rigid.kernels.columns import triple
from rigid.kernels.motion import ANGULAR, INVERSE_MASS, LINEAR

ROWS, GROUPS = 3, 2  # of one contact that lets bodies roll and spin


def size(meetings):
    """How many rows and groups one contact has. Arguments: a rigid.collision.data.PairTypes."""
    return (2 * ROWS, 2 * GROUPS) if meetings.turning_friction else (ROWS, GROUPS)


# What is apart by less than this part of the way that gravity takes a body at rest in a step, g h², touches. That keeps
# stacks at rest: a gap that may be closed within the step feeds positions back into velocities, and with the impulses
# of the step before and sweeps that have not converged the slow modes of a stack grow by it, by up to 15 % a step. (A
# mode whose error sweeps bring down to ρ of what it was changes from step to step by the roots of
# z³ - 3ρz² + 3ρz - ρ, of which the largest is beyond 1 for every ρ between 0 and 1; without gaps it is sqrt ρ.)
TOUCHING = 0.25

# Bodies that are slower than so many times what rest gains in a step, g h, do not rebound.
CALM = 2.0


@ti.func
def tangents(n):
    """Two directions at a right angle to n and to one another; the same n always has the same."""
    across = ti.Vector([0.0, n[2], -n[1]])
    if ti.abs(n[0]) > 0.8:
        across = ti.Vector([-n[2], 0.0, n[0]])
    t = across / across.norm()
    return t, n.cross(t)


@ti.func
def write_contact_rows(s: ti.template(), world):
    """Write the rows of all points that were found; how many of these have rows.

    Arguments: s: has `motion`, `points` (rigid/collision/data.py), `rows`; `first_row` and `first_group`, where those
    of contacts begin; the time step `h`, `surroundings` whose first rows are gravity, and `threshold`, the speed below
    which nothing rebounds [m/s]. Velocities must be those before the step's forces.
    """
    room = s.points.integers.shape[1]
    count = ti.min(s.points.count[world], room)
    rows, groups = ti.static(size(s.features.contacts))
    for c in range(count):
        row, group = s.first_row + rows * c, s.first_group + groups * c
        write_contact(s, c, row, group, world)
        if ti.static(s.features.contacts.turning_friction):
            write_turning(s, c, row, group, world)
    return count


@ti.func
def write_contact(s: ti.template(), c, row, group, world):
    """Rows and groups of point c."""
    ground = s.motion.poses.shape[1] - 1
    i, j = s.points.integers[world, c, PAIR.body_a], s.points.integers[world, c, PAIR.body_b]
    if j < 0:
        j = ground
    n = triple(s.points.numbers, c, POINT.normal, world)
    gap = s.points.numbers[world, c, POINT.gap]
    # Both bodies are pushed at one point, halfway, so that angular momentum is kept.
    p = triple(s.points.numbers, c, POINT.position, world) - 0.5 * gap * n
    arm_i, arm_j = p - triple(s.motion.poses, i, 0, world), p - triple(s.motion.poses, j, 0, world)
    slip = triple(s.motion.velocities, i, LINEAR, world) + triple(s.motion.velocities, i, ANGULAR, world).cross(arm_i)
    slip -= triple(s.motion.velocities, j, LINEAR, world) + triple(s.motion.velocities, j, ANGULAR, world).cross(arm_j)
    gravity = ti.Vector([s.surroundings[k, world] for k in ti.static(range(3))])
    pull = 0.0  # of gravity on the one against the other
    if s.motion.masses[world, j, INVERSE_MASS] == 0.0:
        pull = gravity.dot(n)
    half = 0.5 * s.h * pull
    approach = -(slip.dot(n) + half)
    target, springy = 0.0, s.points.numbers[world, c, POINT.restitution]
    threshold = ti.max(s.threshold, CALM * s.h * gravity.norm())
    if gap < s.h * (approach - half) and approach > threshold:
        height = -2.0 * pull * ti.max(gap, 0.0)
        parting = springy * springy * (approach * approach + height) - height
        if parting > 0.0:
            target = ti.max(ti.sqrt(parting) + half, 0.0)
            gap = ti.min(gap, 0.0)
    if gap > 0.0:
        gap = ti.max(gap - TOUCHING * s.h * s.h * gravity.norm(), 0.0)
    put_jacobian(s.rows, row, n, arm_i.cross(n), -arm_j.cross(n), gap, world)
    put_bounds(s.rows, row, target, 0.0, ti.math.inf, world)
    t, u = tangents(n)
    put_jacobian(s.rows, row + 1, t, arm_i.cross(t), -arm_j.cross(t), 0.0, world)
    put_jacobian(s.rows, row + 2, u, arm_i.cross(u), -arm_j.cross(u), 0.0, world)
    for k in ti.static(range(ROWS)):
        s.rows.numbers[world, row + k, STIFFNESS] = ti.math.inf
        s.rows.numbers[world, row + k, PER_MASS] = 0.0
    for k in ti.static((1, 2)):
        put_bounds(s.rows, row + k, 0.0, 0.0, s.points.numbers[world, c, POINT.friction], world)
    put_group(s, group, LIMIT, i, j, row, 1, -1, world)
    put_group(s, group + 1, DISC, i, j, row + 1, 2, row, world)


@ti.func
def write_turning(s: ti.template(), c, row, group, world):
    """Rows and groups against rolling and spinning of point c, whose others begin at row and group."""
    i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
    n = triple(s.points.numbers, c, POINT.normal, world)
    t, u = tangents(n)
    a, b = s.points.integers[world, c, PAIR.shape_a], s.points.integers[world, c, PAIR.shape_b]
    shapes = ti.static(s.shapes.numbers)
    rolling = ti.sqrt(shapes[world, a, SHAPE.rolling_friction] * shapes[world, b, SHAPE.rolling_friction])
    spinning = ti.sqrt(shapes[world, a, SHAPE.spinning_friction] * shapes[world, b, SHAPE.spinning_friction])
    for k, axis in ti.static(enumerate((t, u, n))):
        at = row + ROWS + k
        put_jacobian(s.rows, at, 0.0 * axis, axis, -axis, 0.0, world)
        put_bounds(s.rows, at, 0.0, 0.0, spinning if ti.static(k == 2) else rolling, world)
        s.rows.numbers[world, at, STIFFNESS] = ti.math.inf
        s.rows.numbers[world, at, PER_MASS] = 0.0
    put_group(s, group + GROUPS, DISC, i, j, row + ROWS, 2, row, world)
    put_group(s, group + GROUPS + 1, DISC, i, j, row + ROWS + 2, 1, row, world)


@ti.func
def put_group(s: ti.template(), group, kind, i, j, first, count, leader, world):
    """Write a group."""
    s.rows.groups[world, group, KIND] = kind
    s.rows.groups[world, group, BODY_I] = i
    s.rows.groups[world, group, BODY_J] = j
    s.rows.groups[world, group, FIRST] = first
    s.rows.groups[world, group, COUNT] = count
    s.rows.groups[world, group, LEADER] = leader
