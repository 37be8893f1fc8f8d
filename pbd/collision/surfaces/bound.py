"""The bound that makes crossing impossible, whatever iterations leave.

Particles move straight in a substep. Two features that are apart along one direction at its start and at its end are so
all the time, because then a plane that moves straight, too, keeps between them. So a motion is safe if each pair has
such a direction. Tried are that of the gap at the start, that at the end, and the one in the middle.

The motions of all particles of a pair without one are halved, and again, until all pairs are safe: a particle that does
not move has all the directions of the start. Then no two features have passed one another. What is not a candidate is
apart as long as particles stay in their regions; if one has left its region, candidates are sought again first.

Particles on a path do not wait. What they run over, and cannot push, crosses; the report says so.

Sources: Wu, Wang, Wang, A Safe and Fast Repulsion Method for GPU-based Cloth Self Collisions (2021),
https://doi.org/10.1145/3430025, and Chen and others, Offset Geometric Contact (2025), https://doi.org/10.1145/3731205,
for bounds on displacements. Departures: these bound a displacement by the smallest gap around, so all that moves
together is held back, too; a direction bounds what is relative alone.
"""

import taichi as ti

from pbd.collision.surfaces.closest import closest_weights, separation
from pbd.collision.surfaces.projection import members_of, positions_of, search_if_outside
from pbd.collision.surfaces.regions import measure_moved, start_of, way_together
from pbd.constraints.constraint_type import TINY
from pbd.constraints.contact_point import weighted_sum
from pbd.data import CANDIDATE, CANDIDATE_NUMBER, REPORT
from pbd.execution.halo import one_particle_at_a_time
from pbd.integrate import position

# Pairs are apart by at least this part of the distance that they keep.
LEAST = 0.01
# What round-off leaves of it, at least.
ROUND_OFF = 0.1
# A particle moves by a part of its motion, halved this often, and then not at all. All come to that in so many rounds.
HALVINGS, ROUNDS = 4, 64


@one_particle_at_a_time
@ti.func
def cut_back(s: ti.template(), substep, world):
    """Cut motions back until no features can have passed one another in this substep."""
    search_if_outside(s, substep, world)
    measure_moved(s, world)
    for k in range(s.surface.particles.shape[0]):
        s.surface.halvings[s.surface.particles[k], world] = 0
    rounds, unsafe = 0, 1
    while unsafe > 0 and rounds < ROUNDS:
        unsafe = halve_unsafe(s, world)
        rounds += 1
    if unsafe > 0:
        s.report[world, REPORT.crossing_particle] = ti.cast(unsafe - 1, float)


@ti.func
def halve_unsafe(s: ti.template(), world):
    """Halve the motions of all particles of pairs that are not safe. Returns: 0, or 1 and a particle of one."""
    result = 0
    for k in range(s.surface.found[0, world]):
        i = members_of(s, k, world)
        if not is_safe(s, k, i, world):
            result = i[0] + 1
            for m in ti.static(range(4)):
                s.surface.is_unsafe[i[m], world] = 1
    if result > 0:
        for k in range(s.surface.particles.shape[0]):
            i = s.surface.particles[k]
            if s.surface.is_unsafe[i, world] == 1:
                s.surface.is_unsafe[i, world] = 0
                halve(s, i, world)
    return result


@ti.func
def halve(s: ti.template(), i, world):
    """Halve the motion of particle i in this substep, or end it."""
    q = s.particles.position[i, world]
    if q[3] > 0.0:
        start = start_of(s, i, world)
        made = s.surface.halvings[i, world]
        part = ti.select(made < HALVINGS, 0.5, 0.0)
        x = start + part * (position(s, i, world) - start)
        s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], q[3]])
        s.surface.halvings[i, world] = made + 1


@ti.func
def is_safe(s: ti.template(), k, i, world):
    """Whether the features of candidate k are apart along one direction in all of this substep."""
    is_edge = s.surface.pairs.members[k, CANDIDATE.is_edge, world]
    least = LEAST * s.surface.pairs.numbers[k, CANDIDATE_NUMBER.distance, world]
    apart = s.surface.pairs.numbers[k, CANDIDATE_NUMBER.apart, world]
    result = apart - way_together(s, is_edge, i, world) >= least
    if not result:
        start, now = positions_of(s, i, world)
        n = s.surface.pairs.normal[k, world]
        result = apart_along(is_edge, start, now, n, least)
        if not result:
            result = apart_along_another(is_edge, start, now, least)
    return result


@ti.func
def apart_along_another(is_edge, start, now, least):
    """Whether two features are apart along the direction of their gap at the start, now, or in the middle.

    If they were not apart before, nothing can hold them. Args: see `apart_along`.
    """
    result = True
    before = weighted_sum(start, closest_weights(is_edge, start))
    if before.norm() >= ROUND_OFF * least:
        first = before.normalized()
        after = weighted_sum(now, closest_weights(is_edge, now))
        last = after / (after.norm() + TINY)
        result = apart_along(is_edge, start, now, first, least)
        if not result:
            result = apart_along(is_edge, start, now, last, least)
        if not result:
            middle = first + last
            result = apart_along(is_edge, start, now, middle / (middle.norm() + TINY), least)
    return result


@ti.func
def apart_along(is_edge, start, now, n, least):
    """Whether two features are apart along n at the start, and now as far or by `least` [m]."""
    before = separation(is_edge, start, n)
    return before >= ROUND_OFF * least and separation(is_edge, now, n) >= ti.min(before, least)
