"""Contacts of bodies, on their frames: one impulse at one point, and the frame answers as the body it is.

A contact keeps a point of A out of B, along the normal n from B to A. Both points ride on their frames,
p = Σ c_i x_i (rigid/frames/frame.py), and with D the displacement of A's point relative to B's since the start of the
step, and g the gap there,

    C = max(g, 0) + n·D >= 0,    λ >= 0,    λ C = 0          (what overlaps already comes no deeper, or is parted)
    t·D = 0  while  |λ_t| <= μ λ                             (two tangents t, the cone of Coulomb)

An impulse P at p moves the particles of a frame as it moves the body: with M, c and I those of its particles as they
were at the start of the step,  x_i += P/M + I⁻¹((p - c) × P) × (x*_i - c).

Source: Jakobsen, Advanced Character Physics (2001), section 5, who moves the four corners by x_i += c_i w_i λ Δ. Of all
gradients of p that agree on rigid motions his is one that strains the frame, and sticks have to mend it; this is the
one they leave alone, the least in mass. Linear momentum is exact, and angular momentum Σ m x* × (x - x*)/h as well,
since both bodies take the impulse at one point of the start of the step.

Accumulated λ, clamped as a sum (Catto, Iterative dynamics with temporal coherence, 2005): it may shrink again within a
step, so that sweeps converge to λ C = 0 instead of leaving bodies apart, and the last step's λ starts the next.
"""

import taichi as ti

from pbd.arrays import GRAVITY
from pbd.collide.shapes import rotate_back
from pbd.constraints.kind import WEIGHTLESS
from pbd.integrate import position
from rigid.contact import tables
from rigid.frames.arrays import (
    ANGULAR,
    APPROACH,
    ARM_A,
    ARM_B,
    CENTRE,
    DRIFT,
    FRICTION,
    IMPULSE,
    INVERSE_MASS,
    INVERSE_WEIGHT,
    KEPT_FEATURE,
    KEPT_NEXT,
    KEPT_SHAPE,
    LINEAR,
    MAP,
    MARGIN,
    NORMAL,
    ORIGIN,
    RESTITUTION,
    ROOM,
    START,
    TANGENT,
    WEIGHTS_A,
    WEIGHTS_B,
    triple,
    write_triple,
)
from rigid.frames.poses import combined, turned

# Parts of the bodies' margins (rigid/frames/bodies.py). Within the skin two surfaces already come no closer: a corner
# that lifts off by a hair's breadth cannot fall back, and what rocks comes to rest. What overlaps by more than the slop
# is parted: a part of it in each step, and no faster than FASTEST [m/s], which is all the speed it can gain.
SKIN, SLOP = 0.3, 0.25
PARTED, FASTEST = 0.2, 0.02
# Bodies without joints may part faster by this part of the way they go: what rolls turns into the ground by (ω h)² r/2.
ROLLING = 0.1
# Faster than so many steps of gravity is an impact, whose impulse is not where the next step begins.
CALM = 3.0
# Passes over all contacts, to give those that rebound their speed.
PASSES = 4

# Sides of a contact: a body's number, the ground, or a particle of a person's own as PARTICLE - its index.
GROUND, PARTICLE = -1, -2


@ti.func
def point_of(s: ti.template(), array: ti.template(), side, weights, world):
    """Where a side's point is, in an array of positions [m]; the ground's stays at zero."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        result = combined(s, array, side, weights, world)
    elif side <= PARTICLE:
        x = array[PARTICLE - side, world]
        result = ti.Vector([x[0], x[1], x[2]])
    return result


@ti.func
def moved(s: ti.template(), side, arm, world):
    """How far impulses of this sweep have moved a side's point [m]; of a particle, where they have moved it."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        result = triple(s.guest.motion, side, world, LINEAR) + triple(s.guest.motion, side, world, ANGULAR).cross(arm)
    elif side <= PARTICLE:
        result = position(s, PARTICLE - side, world)
    return result


@ti.func
def push(s: ti.template(), array: ti.template(), sign, side, arm, impulse, world):
    """Give a side an impulse [kg m]: a body's motion keeps it, a particle is moved at once in an array of places."""
    if side >= 0:
        linear = triple(s.guest.motion, side, world, LINEAR) + s.guest.motion[side, world, INVERSE_MASS] * impulse
        angular = triple(s.guest.motion, side, world, ANGULAR) + turned(s, side, arm.cross(impulse), world)
        write_triple(s.guest.motion, side, world, LINEAR, linear)
        write_triple(s.guest.motion, side, world, ANGULAR, angular)
    elif side <= PARTICLE:
        i = PARTICLE - side
        step = sign * s.position[i, world][3] * impulse
        x = array[i, world]
        for k in ti.static(range(3)):
            x[k] += step[k]
        array[i, world] = x


@ti.func
def answer(s: ti.template(), side, arm, direction, world):
    """What a unit impulse in a direction moves a side's point in it [1/kg]."""
    result = 0.0
    if side >= 0:
        moment = arm.cross(direction)
        result = s.guest.motion[side, world, INVERSE_MASS] + moment.dot(turned(s, side, moment, world))
    elif side <= PARTICLE:
        result = s.position[PARTICLE - side, world][3]
    return result


@ti.func
def weights_of(s: ti.template(), side, p, world):
    """The c of p = Σ c_k x_k at the start of the step, and p from the centre of mass."""
    weights, arm = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        arm = p - triple(s.guest.motion, side, world, CENTRE)
        q = ti.Vector([s.guest.poses[side, 3 + k, world] for k in ti.static(range(4))])
        y = rotate_back(q, p - ti.Vector([s.guest.poses[side, k, world] for k in ti.static(range(3))]))
        for k in ti.static(range(4)):
            weights[k] = s.guest.fit[side, world, ORIGIN + k] + y.dot(triple(s.guest.fit, side, world, MAP + 3 * k))
    return weights, arm


@ti.func
def four(array: ti.template(), c, world, column):
    """Four numbers of an item as a vector."""
    return ti.Vector([array[c, world, column + k] for k in ti.static(range(4))])


@ti.func
def sides(s: ti.template(), c, world):
    """The two sides of contact c."""
    return s.guest.points.integers[c, tables.BODY_A, world], s.guest.points.integers[c, tables.BODY_B, world]


@ti.func
def measure(s: ti.template(), c, world):
    """Write the part of D, for contact c, that the frames show: without what impulses are about to do to them."""
    a, b = sides(s, c, world)
    drift = -triple(s.guest.contacts, c, world, START)
    if a >= 0:
        drift += combined(s, s.position, a, four(s.guest.contacts, c, world, WEIGHTS_A), world)
    if b >= 0:
        drift -= combined(s, s.position, b, four(s.guest.contacts, c, world, WEIGHTS_B), world)
    write_triple(s.guest.contacts, c, world, DRIFT, drift)


@ti.func
def apart(s: ti.template(), c, world):
    """D: how far the two points of contact c have moved apart since the start of the step (3,) [m]."""
    a, b = sides(s, c, world)
    here = moved(s, a, triple(s.guest.contacts, c, world, ARM_A), world)
    there = moved(s, b, triple(s.guest.contacts, c, world, ARM_B), world)
    return triple(s.guest.contacts, c, world, DRIFT) + here - there


@ti.func
def tangents(s: ti.template(), c, world):
    """Normal of contact c, and two tangents at right angles."""
    n, t = triple(s.guest.contacts, c, world, NORMAL), triple(s.guest.contacts, c, world, TANGENT)
    return n, t, n.cross(t)


@ti.func
def count(s: ti.template(), world):
    """How many contacts there are in this step."""
    return ti.min(s.guest.points.count[world], s.guest.contacts.shape[0])


@ti.func
def margins(s: ti.template(), a, b, world):
    """The margins of two sides together [m]; the ground and particles have none."""
    result = 0.0
    if a >= 0:
        result += s.guest.fit[a, world, MARGIN]
    if b >= 0:
        result += s.guest.fit[b, world, MARGIN]
    return result


@ti.func
def swing(s: ti.template(), side, world):
    """How far a body without joints goes in the step, about [m]; none for one with joints, no limit for the ground."""
    result = 1e30
    if side >= 0:
        result = 0.0
        if s.guest.firsts[side + 1] - s.guest.firsts[side] == 4:
            result = 0.5 * (s.guest.reach[side, world] - s.guest.fit[side, world, MARGIN])
    return result


@ti.func
def push_both(s: ti.template(), array: ti.template(), sign, c, impulse, world):
    """Give A an impulse at contact c, and B the opposite one."""
    a, b = sides(s, c, world)
    push(s, array, sign, a, triple(s.guest.contacts, c, world, ARM_A), impulse, world)
    push(s, array, sign, b, triple(s.guest.contacts, c, world, ARM_B), -impulse, world)


# The phases of a step -----------------------------------------------------------------------------------------------


@ti.func
def prepare(s: ti.template(), c, world):
    """Make contact c from the narrow phase's point, and find what it had in the last step."""
    a, b = sides(s, c, world)
    n = ti.Vector([s.guest.points.numbers[c, tables.NORMAL + k, world] for k in ti.static(range(3))])
    gap = s.guest.points.numbers[c, tables.GAP, world]
    p = ti.Vector([s.guest.points.numbers[c, tables.POINT + k, world] for k in ti.static(range(3))]) - 0.5 * gap * n
    t = ti.Vector([0.0, n[2], -n[1]])
    if ti.abs(n[0]) > 0.6:
        t = ti.Vector([-n[2], 0.0, n[0]])
    t /= t.norm()
    weights_a, arm_a = weights_of(s, a, p, world)
    weights_b, arm_b = weights_of(s, b, p, world)
    start = point_of(s, s.previous, a, weights_a, world) - point_of(s, s.previous, b, weights_b, world)
    write_triple(s.guest.contacts, c, world, NORMAL, n)
    write_triple(s.guest.contacts, c, world, TANGENT, t)
    write_triple(s.guest.contacts, c, world, ARM_A, arm_a)
    write_triple(s.guest.contacts, c, world, ARM_B, arm_b)
    write_triple(s.guest.contacts, c, world, START, start)
    for k in ti.static(range(4)):
        s.guest.contacts[c, world, WEIGHTS_A + k] = weights_a[k]
        s.guest.contacts[c, world, WEIGHTS_B + k] = weights_b[k]
    skin = SKIN * margins(s, a, b, world)
    room = gap - skin
    if a > PARTICLE:  # a particle is put outside, as by any collider of pbd's; bodies that overlap are parted gently
        deep = ti.max(-gap - SLOP * margins(s, a, b, world), 0.0)
        fastest = FASTEST * s.h + ROLLING * ti.min(swing(s, a, world), swing(s, b, world))
        room = ti.max(room, 0.0) - ti.min(PARTED * deep, fastest)
    s.guest.contacts[c, world, ROOM] = room
    across = n.cross(t)
    for k, d in ti.static(enumerate((n, t, across))):
        s.guest.contacts[c, world, INVERSE_WEIGHT + k] = 1.0 / (
            answer(s, a, arm_a, d, world) + answer(s, b, arm_b, d, world) + WEIGHTLESS
        )
    s.guest.contacts[c, world, FRICTION] = s.guest.points.numbers[c, tables.FRICTION, world]
    s.guest.contacts[c, world, RESTITUTION] = s.guest.points.numbers[c, tables.RESTITUTION, world]
    foreseen = point_of(s, s.position, a, weights_a, world) - point_of(s, s.position, b, weights_b, world) - start
    # Speed at the end of the step as foreseen, and from it the speed at the surface, `depth` before.
    given = pull(s, a, b, n)
    speed = -n.dot(foreseen) / s.h + 0.5 * given * s.h
    depth = ti.max(skin - gap - n.dot(foreseen), 0.0)
    s.guest.contacts[c, world, APPROACH] = ti.sqrt(ti.max(speed * speed - 2.0 * given * depth, 0.0)) * (speed > 0.0)
    impulse = recall(s, c, world)
    normal = ti.max(impulse.dot(n), 0.0)
    write_triple(s.guest.contacts, c, world, IMPULSE, ti.Vector([normal, impulse.dot(t), impulse.dot(across)]))


@ti.func
def pull(s: ti.template(), a, b, n):
    """What gravity gives sides a and b towards one another [m/s²]; none to the ground."""
    gravity = ti.Vector([s.timeline[0, GRAVITY + k] for k in ti.static(range(3))])
    return -n.dot(gravity) * ((a != GROUND) - ti.cast(b != GROUND, float))


@ti.func
def names(s: ti.template(), c, world):
    """The two shapes of contact c, first one that is a body's, or -1 where it is a particle's."""
    first, second = s.guest.points.integers[c, tables.SHAPE_B, world], s.guest.points.integers[c, tables.SHAPE_A, world]
    if s.guest.points.integers[c, tables.BODY_B, world] < 0:
        first, second = second, first
    return first, second


@ti.func
def recall(s: ti.template(), c, world):
    """Impulse (3,) [kg m] of the same contact in the last step; zero for a new one."""
    impulse = ti.Vector([0.0, 0.0, 0.0])
    holder, other = names(s, c, world)
    feature = s.guest.points.integers[c, tables.FEATURE, world]
    if holder >= 0:
        old = s.guest.heads[holder, world]
        while old >= 0:
            same = s.guest.kept_keys[old, world, KEPT_SHAPE] == other
            if same and s.guest.kept_keys[old, world, KEPT_FEATURE] == feature:
                impulse = triple(s.guest.kept, old, world, 0)
                old = -1
            else:
                old = s.guest.kept_keys[old, world, KEPT_NEXT]
    return impulse


@ti.func
def warm_start(s: ti.template(), c, world):
    """Begin with the last step's impulse."""
    n, t, u = tangents(s, c, world)
    impulse = triple(s.guest.contacts, c, world, IMPULSE)
    if impulse[0] > 0.0:
        push_both(s, s.position, 1.0, c, impulse[0] * n + impulse[1] * t + impulse[2] * u, world)


@ti.func
def solve(s: ti.template(), c, world):
    """Project contact c, with friction; return how deep it was [m]."""
    n, t, u = tangents(s, c, world)
    D = apart(s, c, world)
    before = triple(s.guest.contacts, c, world, IMPULSE)
    C = s.guest.contacts[c, world, ROOM] + n.dot(D)
    if C < 0.0 or before[0] > 0.0:
        inverse = triple(s.guest.contacts, c, world, INVERSE_WEIGHT)
        normal = ti.max(before[0] - C * inverse[0], 0.0)
        along, across = before[1] - D.dot(t) * inverse[1], before[2] - D.dot(u) * inverse[2]
        limit = s.guest.contacts[c, world, FRICTION] * normal
        length = ti.sqrt(along * along + across * across)
        if length > limit:
            along *= limit / length
            across *= limit / length
        write_triple(s.guest.contacts, c, world, IMPULSE, ti.Vector([normal, along, across]))
        push_both(
            s, s.position, 1.0, c,
            (normal - before[0]) * n + (along - before[1]) * t + (across - before[2]) * u, world,
        )  # fmt: skip
    return ti.max(-C, 0.0)


@ti.func
def keep(s: ti.template(), c, world):
    """Keep the impulse of contact c for the next step, first in the list of one of its shapes."""
    impulse = triple(s.guest.contacts, c, world, IMPULSE)
    holder, other = names(s, c, world)
    if impulse[0] > 0.0 and holder >= 0:
        n, t, u = tangents(s, c, world)
        gravity = ti.Vector([s.timeline[0, GRAVITY + k] for k in ti.static(range(3))]).norm()
        if s.guest.contacts[c, world, APPROACH] > CALM * gravity * s.h:
            impulse *= 0.0  # an impact: the next step will want nothing like it
        write_triple(s.guest.kept, c, world, 0, impulse[0] * n + impulse[1] * t + impulse[2] * u)
        s.guest.kept_keys[c, world, KEPT_SHAPE] = other
        s.guest.kept_keys[c, world, KEPT_FEATURE] = s.guest.points.integers[c, tables.FEATURE, world]
        s.guest.kept_keys[c, world, KEPT_NEXT] = s.guest.heads[holder, world]
        s.guest.heads[holder, world] = c


@ti.func
def rebounds(s: ti.template(), c, world):
    """Whether contact c sends its bodies back: it stopped them, and not from mere rest."""
    gravity = ti.Vector([s.timeline[0, GRAVITY + k] for k in ti.static(range(3))]).norm()
    speed = s.guest.contacts[c, world, APPROACH] * s.guest.contacts[c, world, RESTITUTION]
    return s.guest.contacts[c, world, IMPULSE] > 0.0 and speed > 2.0 * gravity * s.h


@ti.func
def aim(s: ti.template(), c, world):
    """Take contact c as it is at the end of the step: its rebound is an impulse at that instant.

    With arms from there the change of x* keeps Σ m x* × x, which is the angular momentum.
    """
    a, b = sides(s, c, world)
    weights_a, weights_b = four(s.guest.contacts, c, world, WEIGHTS_A), four(s.guest.contacts, c, world, WEIGHTS_B)
    here, there = point_of(s, s.position, a, weights_a, world), point_of(s, s.position, b, weights_b, world)
    start = point_of(s, s.previous, a, weights_a, world) - point_of(s, s.previous, b, weights_b, world)
    p = here
    if a < 0:
        p = there
    elif b >= 0:
        p = 0.5 * (here + there)
    n = triple(s.guest.contacts, c, world, NORMAL)
    arm_a, arm_b = p, p
    if a >= 0:
        arm_a -= triple(s.guest.motion, a, world, CENTRE)
    if b >= 0:
        arm_b -= triple(s.guest.motion, b, world, CENTRE)
    write_triple(s.guest.contacts, c, world, ARM_A, arm_a)
    write_triple(s.guest.contacts, c, world, ARM_B, arm_b)
    write_triple(s.guest.contacts, c, world, START, start)
    weight = answer(s, a, arm_a, n, world) + answer(s, b, arm_b, n, world)
    s.guest.contacts[c, world, INVERSE_WEIGHT] = 1.0 / (weight + WEIGHTLESS)
    s.guest.contacts[c, world, IMPULSE + 1] = 0.0


@ti.func
def rebound(s: ti.template(), c, world):
    """Give contact c's bodies the speed of their rebound, e times that of approach, by where they were before.

    As in an exact start of Verlet, x - x* = v h - a h²/2.
    """
    a, b = sides(s, c, world)
    n = triple(s.guest.contacts, c, world, NORMAL)
    wanted = s.guest.contacts[c, world, APPROACH] * s.guest.contacts[c, world, RESTITUTION] * s.h
    wanted += 0.5 * pull(s, a, b, n) * s.h * s.h
    before = s.guest.contacts[c, world, IMPULSE + 1]
    lacking = wanted - n.dot(apart(s, c, world))
    impulse = ti.max(before + lacking * s.guest.contacts[c, world, INVERSE_WEIGHT], 0.0)
    s.guest.contacts[c, world, IMPULSE + 1] = impulse
    push_both(s, s.previous, -1.0, c, (impulse - before) * n, world)
