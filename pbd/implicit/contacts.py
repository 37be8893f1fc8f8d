"""Particles of elements on colliders: what a collider bears is part of the step of Newton.

A collider that only moved particles back would bear m/B of what presses on it in each iteration, next to nothing under
a light balloon or a stiff block. So a particle that touches is held. With P = 1 - n nᵀ where it slides and P = 0 where
it sticks, an iteration is

    P B P δ = P (r + f)

and -n·r is the impulse of the collider, which must push: otherwise the particle is let go. It sticks while f = -r
along the surface is in the cone |f| <= μ |n·r|; otherwise it slides, with f on the cone, opposite to its slip s since
the substep's start. f - B_ii s is tried, where B_ii is what it would feel with all others at rest. It sticks again once
f has turned its slip round.

r tells of forces once displacements are short. Before, it has strains that the step relaxes, most of all where a
collider has just moved a particle, and friction of their size would fling a stiff body. So until then what touches is
only held, and states stay as they are. Where a particle was deep in a collider, iterations begin anew from the
substep's start, so that nothing is crushed.

Departures: a particle is held by one collider. What another one, a box, or other contacts move is met iteration after
iteration, as in solve.py. A block of high friction (μ near one) that is about to slide may creep.

Sources: Baraff, Witkin, Large Steps in Cloth Simulation (1998), sections 5 and 6; Alart, Curnier, A mixed formulation
for frictional contact problems prone to Newton like solution methods (1991).
"""

import taichi as ti

from pbd.collision.colliders import (
    PRESSED_DEPTH,
    collider_contact,
    contact_from_start,
    first_push,
    opposes,
    report_thrown,
)
from pbd.collision.contact import apply_friction
from pbd.constraints.constraint_type import TINY
from pbd.data import REPORT
from pbd.execution.phases import input_rows
from pbd.implicit.blocks import dyad, times_transposed, transposed
from pbd.integrate import acceleration, position

# How a particle is held.
FREE, SLIDES, STICKS = 0.0, 1.0, 2.0

# How fresh a contact is: for how many iterations it is only held, and not let go.
JUST_HELD, TOUCHES = 2.0, 1.0

HUGE = 1e30  # a displacement that all others are shorter than [m]

# Parts of an element: what is so near at the start of a substep touches; what is held follows a surface that is at most
# so far away; iterations begin anew where something was so deep; displacements that are shorter are settled.
NEAR, FOLLOWED, DEEP, SETTLED = 1e-4, 0.1, 0.02, 0.02

# The matrix is made anew where a normal has turned by more than this: the cosine.
TURNED = 0.99


@ti.func
def can_touch(s: ti.template(), i, world):
    """Whether colliders stop particle i."""
    return s.particles.position[i, world][3] > 0.0 and s.particles.radius[i, world] >= 0.0


@ti.func
def move(s: ti.template(), i, x, world):
    """Move particle i to x."""
    q = s.particles.position[i, world]
    s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], q[3]])


@ti.func
def begin_contacts(s: ti.template(), substep, world):
    """Find what touches a collider at the start of a substep. It begins there, and with friction moves along."""
    m = ti.static(s.implicit)
    before, after = input_rows(s, substep)
    m.restarts[world] = 0.0
    for place in range(s.counts.implicit):
        i = m.node[place]
        m.hold[place, world] = FREE
        if can_touch(s, i, world):
            start, radius = m.left[place, world], s.particles.radius[i, world]
            nearest, x = NEAR * m.extent[0, world], start
            for shape in range(s.counts.colliders):
                distance, normal, drift = contact_from_start(
                    s, collider_contact, before, after, shape, start, start, world
                )
                if distance - radius <= nearest + drift.norm():
                    along, state = start, SLIDES
                    if s.colliders.friction[shape] > 0.0:
                        along, state = start + drift, STICKS
                        distance, normal, _ = contact_from_start(
                            s, collider_contact, before, after, shape, start, along, world
                        )
                    if distance - radius <= nearest:
                        nearest, x = distance - radius, along + (radius - distance) * normal
                        report_thrown(s, substep, i, radius - distance, world)
                        begin_to_hold(s, place, shape, state, normal, start + drift, TOUCHES, world)
            if m.hold[place, world] != FREE:
                move(s, i, x, world)
                m.left[place, world] = x


@ti.func
def touch_colliders(s: ti.template(), substep, world):
    """Move particles of elements out of colliders, and those that are held onto theirs. Returns: the deepest [m]."""
    deepest = 0.0
    for place in range(s.counts.implicit):
        if can_touch(s, s.implicit.node[place], world):
            deepest = ti.max(deepest, touch_each(s, substep, place, world))
    return deepest


@ti.func
def touch_each(s: ti.template(), substep, place, world):
    """As `touch_colliders`, for one particle. What the collider that holds it does is not kept as a displacement."""
    m = ti.static(s.implicit)
    before, after = input_rows(s, substep)
    i = m.node[place]
    x, start, radius = position(s, i, world), s.particles.previous_position[i, world], s.particles.radius[i, world]
    by_others, deepest, holder = x - m.left[place, world], 0.0, -1.0
    if m.hold[place, world] != FREE:
        holder = m.surface[place, world]
    first, last = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    for shape in range(s.counts.colliders):
        distance, normal, drift = contact_from_start(s, collider_contact, before, after, shape, start, x, world)
        depth = radius - distance
        if depth > 0.0:
            report_thrown(s, substep, i, depth + normal.dot(x - drift - start), world)
            if depth > radius + PRESSED_DEPTH and opposes(normal, first, last):
                s.report[world, REPORT.pressed_particle] = ti.cast(i, float)
            first, last = first_push(first, normal), normal
            deepest = ti.max(deepest, depth)
        if shape == holder:
            if depth >= -FOLLOWED * m.extent[0, world]:
                x += depth * normal
                m.normal[place, world] = normal
            else:
                m.hold[place, world] = FREE
        elif depth > 0.0:
            out = apply_friction(x + depth * normal, start + drift, normal, depth, s.colliders.friction[shape])
            if holder < 0.0:
                holder = ti.cast(shape, float)
                begin_to_hold(s, place, shape, SLIDES, normal, start + drift, JUST_HELD, world)
                m.stiffness[place, world] = 1.0 / s.particles.position[i, world][3]
                if depth > DEEP * m.extent[0, world]:
                    m.restarts[world] = 1.0
            else:
                by_others += out - x
            x = out
    move(s, i, x, world)
    m.aim[place, world] = m.aim[place, world] + by_others
    m.left[place, world] = x
    return deepest


@ti.func
def begin_to_hold(s: ti.template(), place, shape, state, normal, anchor, fresh, world):
    """Let a collider hold a particle. Args: anchor: the substep's start, moved with the collider [m]."""
    m = ti.static(s.implicit)
    m.hold[place, world], m.surface[place, world], m.fresh[place, world] = state, ti.cast(shape, float), fresh
    m.normal[place, world], m.anchor[place, world] = normal, anchor
    m.friction[place, world] = ti.Vector([0.0, 0.0, 0.0])


@ti.func
def holds(s: ti.template(), shape, place, world):
    """Whether a collider holds a particle. Args: shape: its index; place: of the particle."""
    return s.implicit.hold[place, world] != FREE and s.implicit.surface[place, world] == ti.cast(shape, float)


@ti.func
def friction_of_holder(s: ti.template(), place, world):
    """μ of the collider that holds a particle; zero if none does."""
    found = 0.0
    for shape in range(s.counts.colliders):
        if holds(s, shape, place, world):
            found = s.colliders.friction[shape]
    return found


@ti.func
def restart(s: ti.template(), substep, world):
    """Begin iterations anew where particles have come to touch: at the substep's start, with these on the surface."""
    m = ti.static(s.implicit)
    before, after = input_rows(s, substep)
    if m.restarts[world] == 1.0:
        m.restarts[world], m.longest[world] = 0.0, HUGE
        for place in range(s.counts.implicit):
            i = m.node[place]
            if s.particles.position[i, world][3] > 0.0:
                x = s.particles.previous_position[i, world]
                for shape in range(s.counts.colliders):
                    if holds(s, shape, place, world):
                        distance, normal, _ = contact_from_start(s, collider_contact, before, after, shape, x, x, world)
                        x += (s.particles.radius[i, world] - distance) * normal
                        m.normal[place, world] = normal
                move(s, i, x, world)
                m.left[place, world] = x


@ti.func
def are_settled(s: ti.template(), substep, world):
    """Whether r tells of forces, not of strains that the step will relax: the last displacements are short.

    Before the first one it asks by how much elements and gravity move free particles, compared with gravity alone.
    """
    m = ti.static(s.implicit)
    before, _after = input_rows(s, substep)
    longest = m.longest[world]
    if longest == HUGE:
        longest = 0.0
        for place in range(s.counts.implicit):
            i = m.node[place]
            w = s.particles.position[i, world][3]
            if w > 0.0 and m.hold[place, world] == FREE:
                by_elements = w * m.unknown[place, world] - (m.aim[place, world] - position(s, i, world))
                fall = s.settings.h * s.settings.h * acceleration(s, before, i, world)
                longest = ti.max(longest, (by_elements + fall).norm() - fall.norm())
    return longest < SETTLED * m.extent[0, world]


@ti.func
def choose_holds(s: ti.template(), substep, world):
    """Choose how particles are held, by the right side r in `unknown`.

    Returns: whether one was moved back to where it sticks, so that r is another one; and whether the matrix is of other
    holds.
    """
    m = ti.static(s.implicit)
    is_moved, is_other, is_settled = False, False, are_settled(s, substep, world)
    for place in range(s.counts.implicit):
        if is_settled and m.hold[place, world] != FREE and m.fresh[place, world] < JUST_HELD:
            i, n, r = m.node[place], m.normal[place, world], m.unknown[place, world]
            x, pressing, state = position(s, i, world), -r.dot(n), FREE
            if pressing > 0.0:
                slip = x - m.anchor[place, world]
                slip -= slip.dot(n) * n
                trial = m.friction[place, world]
                if m.hold[place, world] == STICKS:
                    trial = -(r + pressing * n)
                trial -= m.stiffness[place, world] * slip
                size, limit = trial.norm(), friction_of_holder(s, place, world) * pressing
                state = STICKS
                if size >= limit and slip.dot(m.friction[place, world]) <= 0.0:
                    state, trial = SLIDES, trial * (limit / ti.max(size, TINY))
                elif slip.norm_sqr() > 0.0:
                    is_moved = True
                    move(s, i, x - slip, world)
                    m.left[place, world] = x - slip
                m.friction[place, world] = trial
            elif m.fresh[place, world] > 0.0:
                state, m.friction[place, world] = SLIDES, ti.Vector([0.0, 0.0, 0.0])
            m.hold[place, world] = state
        if is_settled:
            m.fresh[place, world] = ti.max(m.fresh[place, world] - 1.0, 0.0)
        if m.hold[place, world] != m.held[place, world]:
            is_other = True
        elif m.hold[place, world] == SLIDES:
            if m.normal[place, world].dot(m.held_normal[place, world]) < TURNED:
                is_other = True
    return is_moved, is_other


@ti.func
def add_friction(s: ti.template(), world):
    """Add the friction of what slides to the right side."""
    m = ti.static(s.implicit)
    for place in range(s.counts.implicit):
        if m.hold[place, world] == SLIDES:
            m.unknown[place, world] = m.unknown[place, world] + m.friction[place, world]


@ti.func
def hold(s: ti.template(), world):
    """Make P B P of the matrix in `scaled`; what is held has a diagonal of its own."""
    m = ti.static(s.implicit)
    for place in range(s.counts.implicit):
        m.held[place, world], m.held_normal[place, world] = m.hold[place, world], m.normal[place, world]
    for column in range(s.counts.implicit):
        b = m.hold[column, world]
        for t in range(m.first[column], m.first[column + 1]):
            row = m.row[t]
            a = m.hold[row, world]
            if a != FREE or b != FREE:
                block = m.scaled[t, world]
                size = (block[0] + block[4] + block[8]) / 3.0
                if a != FREE:
                    block -= times_transposed(directions(a, m.normal[row, world]), transposed(block))
                if b != FREE:
                    block -= times_transposed(block, directions(b, m.normal[column, world]))
                if row == column:
                    m.stiffness[column, world] = size
                    block += size * directions(a, m.normal[row, world])
                m.scaled[t, world] = block


@ti.func
def directions(state, n):
    """1 - P as a block: the directions in which a particle is held."""
    along = dyad(n, n)
    if state == STICKS:
        along = ti.Vector([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    return along


@ti.func
def restrict(s: ti.template(), world):
    """Apply P to `unknown`."""
    m = ti.static(s.implicit)
    for place in range(s.counts.implicit):
        if m.hold[place, world] == STICKS:
            m.unknown[place, world] = ti.Vector([0.0, 0.0, 0.0])
        elif m.hold[place, world] == SLIDES:
            n, v = m.normal[place, world], m.unknown[place, world]
            m.unknown[place, world] = v - v.dot(n) * n
