"""Relaxation: constraints projected one after another, each with the positions that the one before left.

Source: Jakobsen, Advanced Character Physics (2001), section 4. Which constraints one thread takes, and in what order,
is the schedule's (pbd/schedule.py); how one is projected, its kind's (pbd/constraints).
"""

from functools import lru_cache

import taichi as ti

from pbd.data import RANGE
from pbd.phases import count_worlds, report_violation


@ti.func
def gather(kind: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Members of constraint c of a kind, their positions with inverse masses, and its numbers; where they end."""
    first = s.constraints.ranges[index, RANGE.members] + c * kind.arity
    count = ti.static(len(kind.parameters))
    number = s.constraints.ranges[index, RANGE.parameters] + c * ti.static(count + kind.compliance)
    i = [s.constraints.members[first + k] for k in ti.static(range(kind.arity))]
    q = [s.particles.position[i[k], world] for k in ti.static(range(kind.arity))]
    parameters = [
        s.constraints.parameters[number + k, world] if ti.static(k < count) else s.settings.h
        for k in ti.static(range(len(kind.parameters) + kind.needs_time))
    ]
    return i, q, parameters, number + count


@ti.func
def project(kind: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Project constraint c of a kind, unless it is an inequality that is seen to hold."""
    i, q, parameters, number = gather(kind, index, s, c, world)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(kind.arity))]
    w = [q[k][3] for k in ti.static(range(kind.arity))]
    if ti.static(kind.may_be_skipped):
        if not kind.is_satisfied(x, parameters):
            move(kind, index, s, c, world, i, x, w, parameters, number)
    else:
        move(kind, index, s, c, world, i, x, w, parameters, number)


@ti.func
def move(kind: ti.template(), index: ti.template(), s: ti.template(), c, world, i, x, w, parameters, number):
    """Replace positions of members i by their projections."""
    earlier = ti.static(s.features.from_start or kind.needs_time)
    previous = ti.static(s.particles.previous_position)
    start = [previous[i[k], world] if ti.static(earlier) else x[k] for k in ti.static(range(kind.arity))]
    compliance, multiplier, place = 0.0, 0.0, 0
    if ti.static(kind.compliance):
        compliance = s.constraints.parameters[number, world] / (s.settings.h * s.settings.h)
        place = s.constraints.ranges[index, RANGE.multipliers] + c
        multiplier = s.constraints.multipliers[place, world]
    result = kind.project(x, start, w, parameters, compliance, multiplier, s.features.from_start)
    projected = result[0]
    if ti.static(kind.compliance):
        s.constraints.multipliers[place, world] = result[1]
    for k in ti.static(range(kind.state_size)):
        s.constraints.parameters[number - kind.state_size + k, world] = result[2][k]
    for k in ti.static(range(kind.arity)):
        s.particles.position[i[k], world] = ti.Vector([projected[k][0], projected[k][1], projected[k][2], w[k]])


@ti.func
def violation(kind: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """How far constraint c of a kind is from being satisfied, |C + α' λ|, in the unit of C; zero for a timed force."""
    C = 0.0
    if ti.static(not kind.needs_time):
        _, q, parameters, number = gather(kind, index, s, c, world)
        C = kind.value([ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(kind.arity))], parameters)
        if ti.static(kind.compliance):
            place = s.constraints.ranges[index, RANGE.multipliers] + c
            compliance = s.constraints.parameters[number, world] / (s.settings.h * s.settings.h)
            C += compliance * s.constraints.multipliers[place, world]
    return ti.abs(C)


@ti.func
def elastic_energy(kind: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Energy C²/2α stored in constraint c of a kind [J]; zero in a rigid one."""
    energy = 0.0
    if ti.static(kind.compliance):
        _, q, parameters, number = gather(kind, index, s, c, world)
        C = kind.value([ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(kind.arity))], parameters)
        energy = C * C / (2.0 * s.constraints.parameters[number, world])
    return energy


@ti.func
def project_clusters(s: ti.template(), world):
    """Project all constraints once: the one cluster of `world` by this thread, or clusters of a colour by threads.

    Returns: the largest violation, see `pbd.phases.project_each`.
    """
    worst = 0.0
    if ti.static(s.features.shared):
        first = ti.static(s.constraints.first_cluster)
        for colour in ti.static(range(s.features.colours)):
            for index in range((first[colour + 1] - first[colour]) * s.features.loop_stride):
                if index % s.features.loop_stride == 0:
                    for each_world in range(count_worlds(s)):
                        found = project_cluster(s, first[colour] + index // s.features.loop_stride, each_world)
                        report_violation(s, found, each_world)
    else:
        worst = project_cluster(s, 0, world)
    return worst


@ti.func
def project_cluster(s: ti.template(), cluster, world):
    """Project all constraints of a cluster once, in order. Returns: the largest violation if there is a tolerance."""
    worst = 0.0
    for index, kind in ti.static(enumerate(s.features.types)):
        for c in range(s.constraints.runs[cluster, index, 0], s.constraints.runs[cluster, index, 1]):
            if ti.static(s.features.watch):
                worst = ti.max(worst, violation(kind, index, s, c, world))
            project(kind, index, s, c, world)
    return worst


@lru_cache
def project_colour(index):
    """Make the function (s, begin, end) that projects constraints of one colour and type, shared by threads."""

    @ti.func
    def project_range(s: ti.template(), begin, end):
        for c in range(begin, end):
            for world in range(count_worlds(s)):
                if ti.static(s.features.watch):
                    report_violation(s, violation(s.features.types[index], index, s, c, world), world)
                project(s.features.types[index], index, s, c, world)

    return project_range
