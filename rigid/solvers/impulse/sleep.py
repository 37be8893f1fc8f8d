"""Bodies that have come to rest sleep: they are left where they are, and their rows are not solved.

Bodies that joints or contacts tie together, the ground aside, are an island. One sleeps when each of its bodies has
been slow for half a second, and wakes when it is tied to one that has not: a body that comes near, or was pushed.
"""

import taichi as ti

from rigid.constraints.rows import BODY_I, BODY_J, BODY_K, BODY_L, GEAR, IDLE, KIND
from rigid.kernels.columns import triple
from rigid.kernels.motion import ANGULAR, LINEAR, PSEUDO, RADIUS

# How long all bodies of an island must have been slow [s].
PATIENCE = 0.5

# Columns of Data.calm: how long a body has been slow, and the shortest such time in its island [s]; the ground's is
# without end.
SLOW, ISLAND = 0, 1
ENDLESS = 1e30


@ti.func
def root(s: ti.template(), body, world):
    """The body that stands for an island, found from one of its bodies."""
    found = body
    while s.islands[world, found] != found:
        found = s.islands[world, found]
    return found


@ti.func
def tie(s: ti.template(), a, b, world):
    """Make the islands of two bodies one; the ground ties nothing."""
    ground = s.motion.poses.shape[1] - 1
    if a != ground and b != ground:
        first, second = root(s, a, world), root(s, b, world)
        if first != second:
            # The lower index stands for both, and the shorter time of rest holds for both.
            low, high = ti.min(first, second), ti.max(first, second)
            s.islands[world, high] = low
            s.calm[world, low, ISLAND] = ti.min(s.calm[world, low, ISLAND], s.calm[world, high, ISLAND])


@ti.func
def go_to_sleep(s: ti.template(), groups, world):
    """Find the islands of a step, and stop the bodies of those that sleep."""
    ground = s.motion.poses.shape[1] - 1
    s.calm[world, ground, SLOW] = ENDLESS
    for body in range(ground + 1):
        s.islands[world, body] = body
        s.calm[world, body, ISLAND] = s.calm[world, body, SLOW]
    for group in range(groups):
        kind = s.rows.groups[world, group, KIND]
        if kind != IDLE:
            i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
            tie(s, i, j, world)
            if kind == GEAR:
                k, m = s.rows.groups[world, group, BODY_K], s.rows.groups[world, group, BODY_L]
                tie(s, i, k, world)
                tie(s, k, m, world)
    for body in range(ground):
        s.calm[world, body, ISLAND] = s.calm[world, root(s, body, world), ISLAND]
        if sleeps(s, body, world) == 1:
            for k in ti.static(range(2 * PSEUDO)):
                s.motion.velocities[world, body, k] = 0.0


@ti.func
def sleeps(s: ti.template(), body, world):
    """Whether a body sleeps in this step; the ground always does."""
    result = 0
    if ti.static(s.features.sleeping):
        if s.calm[world, body, ISLAND] >= PATIENCE:
            result = 1
    return result


@ti.func
def rests(s: ti.template(), group, world):
    """Whether all bodies of a group sleep."""
    result = 0
    if ti.static(s.features.sleeping):
        if sleeps(s, s.rows.groups[world, group, BODY_I], world) == 1:
            result = sleeps(s, s.rows.groups[world, group, BODY_J], world)
    return result


@ti.func
def count_calm(s: ti.template(), body, world):
    """Count how long a body has been slow, its surface included."""
    speed = triple(s.motion.velocities, body, LINEAR, world).norm()
    speed += s.motion.masses[world, body, RADIUS] * triple(s.motion.velocities, body, ANGULAR, world).norm()
    calm = s.calm[world, body, SLOW] + s.h
    if speed > s.sleep_speed:
        calm = 0.0
    s.calm[world, body, SLOW] = calm
