"""When contacts between particles are sought anew (pbd/collision/particle_contacts.py).

A search compares particles where they will be half way to the next one if they keep their velocity. It finds pairs
within the search radius, which is the largest contact distance c and half as much again. As long as no two particles
have moved relative to each other by more than c/2 from where they were compared, others are farther apart than c. A
quarter of that is left to what changes velocities in a substep. So every `contact_interval` substeps a search is due if
the box around all these ways has a diagonal of more than 3c/8, or will have before the next such time. Each step begins
with a search, so results do not depend on earlier ones; so does each part of a substep where the direct solve makes
parts.

Limitations: ways are measured before the iterations of a substep. Where constraints bring two particles together by
more than c/8 in it, their contact may be found in the next one only. Two that move relative to each other by more than
c in an interval may pass through one another. Take smaller steps or a shorter interval where things move so fast.
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY
from pbd.data import CONTACT_GROUP, REPORT
from pbd.execution.phases import LARGEST, for_each, for_each_world
from pbd.integrate import position

# A search is due when particles have moved relative to each other by more than this part of the largest contact
# distance. It looks ahead for the time in which they do so without forces.
MOVED = 0.375


@ti.func
def is_search_due(s: ti.template(), world):
    """Whether this substep begins with a search for contacts."""
    return s.report[world, REPORT.substeps_to_search] <= 0.0


@ti.func
def may_demand_search(s: ti.template(), world):
    """Whether a search is due in this substep if particles move too far for the last one."""
    left = s.report[world, REPORT.substeps_to_search]
    return left > 0.0 and ti.cast(left, ti.i32) % s.settings.contact_interval == 0


@ti.func
def may_look_ahead(s: ti.template(), world):
    """Whether a search is due that may serve for longer than an interval."""
    result = False
    if ti.static(not s.features.parts):
        result = is_search_due(s, world) and s.settings.contact_interval < s.settings.substeps
    return result


@ti.func
def contact_distance(s: ti.template()):
    """The largest distance that two particles keep, c [m]."""
    return s.settings.search_radius / 1.5


@ti.func
def choose_search(s: ti.template(), substep, world):
    """Choose whether a search is due, and for how many substeps it looks ahead."""
    for_each(s, groups_of(s), measure_ways, substep, world)
    for_each_world(s, demand_search, substep, world)
    for_each(s, groups_of(s), measure_displacements, substep, world)
    for_each_world(s, look_ahead, substep, world)


@ti.func
def groups_of(s: ti.template()):
    """How many groups of particles are measured on their own."""
    return (s.counts.particles + CONTACT_GROUP - 1) // CONTACT_GROUP


@ti.func
def measure_ways(s: ti.template(), substep, group, world):
    """Bound the ways of a group's particles in this interval from where they were compared, if a search may be due."""
    if may_demand_search(s, world):
        ahead = ti.cast(s.settings.contact_interval, float)
        low = ti.Vector([LARGEST, LARGEST, LARGEST])
        high = -low
        for i in range(group * CONTACT_GROUP, ti.min((group + 1) * CONTACT_GROUP, s.counts.particles)):
            if s.particles.radius[i, world] > 0.0:
                before = s.particles.previous_position[i, world]
                start = before - s.contacts.half_way[i, world]
                end = start + ahead * (position(s, i, world) - before)
                low, high = ti.min(low, start, end), ti.max(high, start, end)
        s.contacts.low[group, world], s.contacts.high[group, world] = low, high


@ti.func
def measure_displacements(s: ti.template(), substep, group, world):
    """Bound the displacements of a group's particles in this substep, if a search is due that may look ahead."""
    if may_look_ahead(s, world):
        low = ti.Vector([LARGEST, LARGEST, LARGEST])
        high = -low
        for i in range(group * CONTACT_GROUP, ti.min((group + 1) * CONTACT_GROUP, s.counts.particles)):
            if s.particles.radius[i, world] > 0.0:
                displacement = position(s, i, world) - s.particles.previous_position[i, world]
                low, high = ti.min(low, displacement), ti.max(high, displacement)
        s.contacts.low[group, world], s.contacts.high[group, world] = low, high


@ti.func
def diagonal(s: ti.template(), world):
    """Diagonal of the box around what groups of particles have measured [m]."""
    low = ti.Vector([LARGEST, LARGEST, LARGEST])
    high = -low
    for group in range(groups_of(s)):
        low, high = ti.min(low, s.contacts.low[group, world]), ti.max(high, s.contacts.high[group, world])
    return ti.max(high - low, 0.0).norm()


@ti.func
def demand_search(s: ti.template(), substep, world):
    """Make a search due, by the sign of the substeps that are left, if particles move too far for the last one."""
    if may_demand_search(s, world):
        if diagonal(s, world) > MOVED * contact_distance(s):
            s.report[world, REPORT.substeps_to_search] = -s.report[world, REPORT.substeps_to_search]


@ti.func
def look_ahead(s: ti.template(), substep, world):
    """Choose for how many substeps a search that is due looks ahead: for an interval at least."""
    if is_search_due(s, world):
        ahead = ti.cast(s.settings.contact_interval, float)
        if may_look_ahead(s, world):
            longest = MOVED * contact_distance(s) / (diagonal(s, world) + TINY)
            ahead = ti.max(ahead, ti.min(longest, substeps_left(s, world)))
        s.report[world, REPORT.search_ahead] = ahead


@ti.func
def substeps_left(s: ti.template(), world):
    """How many substeps are left in the step, with this one."""
    left = ti.abs(s.report[world, REPORT.substeps_to_search])
    if left == 0.0:
        left = ti.cast(s.settings.substeps, float)
    return left


@ti.func
def count_down_to_search(s: ti.template(), substep, world):
    """Count a substep. Parts of substeps are not counted: each begins with a search."""
    if ti.static(not s.features.parts):
        s.report[world, REPORT.substeps_to_search] = substeps_left(s, world) - 1.0
