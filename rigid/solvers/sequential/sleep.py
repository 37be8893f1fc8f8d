"""Sleep: bodies at rest are left alone until something moves them.

Bodies that are connected by joints or contacts, directly or through others, are an island; the ground connects nothing.
An island sleeps if each of its bodies has been slow for half a second. It wakes when it is connected to a body that has
not: one that came near, or was pushed. Where all bodies of a world sleep, its substeps are left out
(rigid/solvers/substeps.py).
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import Columns, Integer, Real, count, load_vector
from rigid.collision.data import PAIR, SEARCH
from rigid.constraints.rows import GROUP, Group
from rigid.kernels.motion import MASS, PSEUDO, VELOCITY

# How long all bodies of an island must have been slow [s].
TIME_TO_SLEEP = 0.5

# The ground has always been slow [s].
ALWAYS = 1e30

# How long a body has been slow, and the shortest such time in its island [s].
TIMER = Columns(body=1, island=1)


class Sleep(NamedTuple):
    """Sleep timers and islands of all bodies."""

    timers: Real(count.worlds, count.bodies, TIMER, kept=True)
    islands: Integer(count.worlds, count.bodies)  # another body of the island, or the body itself
    all_slept: Integer(count.worlds, kept=True)  # 1 if all bodies slept in the last substep
    length: Real(count.worlds)  # of the substep in which kept contacts were found [s]


@ti.func
def root(s: ti.template(), body, world):
    """The body that represents an island. Args: body: one of the island."""
    found = body
    while s.sleep.islands[world, found] != found:
        found = s.sleep.islands[world, found]
    return found


@ti.func
def connect(s: ti.template(), a, b, world):
    """Make the islands of two bodies one, unless one of them is the ground."""
    ground = s.bodies.pose.shape[1] - 1
    if a != ground and b != ground:
        first, second = root(s, a, world), root(s, b, world)
        if first != second:
            # The lower index represents both, and the shorter time holds for both.
            low, high = ti.min(first, second), ti.max(first, second)
            s.sleep.islands[world, high] = low
            shorten(s, low, high, world)


@ti.func
def shorten(s: ti.template(), body, other, world):
    """Let the time of a body's island be at most that of another's."""
    timers = ti.static(s.sleep.timers)
    timers[world, body, TIMER.island] = ti.min(timers[world, body, TIMER.island], timers[world, other, TIMER.island])


@ti.func
def put_to_sleep(s: ti.template(), world):
    """Find the islands of a step by its joints and contact points, and stop the bodies of those that sleep."""
    if ti.static(s.features.sleeping):
        ground = s.bodies.pose.shape[1] - 1
        s.sleep.timers[world, ground, TIMER.body] = ALWAYS
        kept = kept_points(s, world)
        for body in range(ground + 1):
            # Islands that have slept stay as they are while the contacts in them are kept.
            if kept == 0 or not has_slept(s, body, world):
                s.sleep.islands[world, body] = body
            s.sleep.timers[world, body, TIMER.island] = s.sleep.timers[world, body, TIMER.body]
        if kept > 0:
            for body in range(ground):
                shorten(s, root(s, body, world), body, world)
        for group in range(s.step.first_contact_group):
            kind = s.rows.kinds[world, group]
            if kind != Group.IDLE:
                i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
                connect(s, i, j, world)
                if kind == Group.GEAR:
                    k, m = s.rows.groups[world, group, GROUP.body_k], s.rows.groups[world, group, GROUP.body_l]
                    connect(s, i, k, world)
                    connect(s, k, m, world)
        if ti.static(s.features.contacts):
            for c in range(kept, ti.min(s.points.count[world], s.points.integers.shape[1])):
                j = s.points.integers[world, c, PAIR.body_b]
                if j >= 0:  # not the ground
                    connect(s, s.points.integers[world, c, PAIR.body_a], j, world)
        for body in range(ground):
            shortest = s.sleep.timers[world, root(s, body, world), TIMER.island]
            s.sleep.timers[world, body, TIMER.island] = shortest
            if body_sleeps(s, body, world):
                for k in ti.static(range(2 * PSEUDO)):
                    s.bodies.velocity[world, body, k] = 0.0


@ti.func
def kept_points(s: ti.template(), world):
    """How many contact points are kept from the last substep, see kept_contacts.py: the first ones."""
    kept = 0
    if ti.static(s.features.keeps_contacts):
        kept = s.scratch.found[world, SEARCH.kept]
    return kept


@ti.func
def has_slept(s: ti.template(), body, world):
    """Whether a body has slept in the last substep, and nothing has woken it: called before islands are found."""
    slept = s.sleep.timers[world, body, TIMER.island] >= TIME_TO_SLEEP
    return slept and s.sleep.timers[world, body, TIMER.body] >= TIME_TO_SLEEP


@ti.func
def all_will_sleep(s: ti.template(), world):
    """Whether all bodies sleep in the next substep, however they are connected."""
    result = True
    for body in range(s.bodies.pose.shape[1] - 1):
        if s.sleep.timers[world, body, TIMER.body] < TIME_TO_SLEEP:
            result = False
    return result


@ti.func
def body_sleeps(s: ti.template(), body, world):
    """Whether a body sleeps in this step; the ground always does."""
    result = False
    if ti.static(s.features.sleeping):
        result = s.sleep.timers[world, body, TIMER.island] >= TIME_TO_SLEEP
    return result


@ti.func
def group_sleeps(s: ti.template(), group, world):
    """Whether all bodies of a group sleep."""
    result = False
    if ti.static(s.features.sleeping):
        if body_sleeps(s, s.rows.groups[world, group, GROUP.body_i], world):
            result = body_sleeps(s, s.rows.groups[world, group, GROUP.body_j], world)
    return result


@ti.func
def update_sleep_timers(s: ti.template(), world):
    """Count how long each body has been slow, its surface included."""
    if ti.static(s.features.sleeping):
        for body in range(s.bodies.pose.shape[1] - 1):
            speed = load_vector(s.bodies.velocity, body, VELOCITY.linear, world).norm()
            angular_speed = load_vector(s.bodies.velocity, body, VELOCITY.angular, world).norm()
            speed += s.bodies.mass[world, body, MASS.radius] * angular_speed
            timer = s.sleep.timers[world, body, TIMER.body] + s.step.h
            if speed > s.sleep_speed:
                timer = 0.0
            s.sleep.timers[world, body, TIMER.body] = timer
