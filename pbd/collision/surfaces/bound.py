"""The bound that makes crossing impossible, whatever iterations leave.

Particles move straight in a substep. Two features that are apart along one direction at its start and at its end are so
all the time, because then a plane that moves straight, too, keeps between them. So a motion is safe if each pair has
such a direction. Most pairs have not moved enough to meet, or are apart along the direction of their gap; for the
others all directions that could be the best are tried.

Where pairs are not safe, three means follow one another, until all are:

    1. contacts of these pairs and of colliders are projected again, as in an iteration
    2. the four particles of such a pair move by their mean motion, as if they had stuck together in an impact
    3. their motions are halved, and again, and then end: what does not move has the directions of the start

The first two keep linear momentum, as one impulse does, but for what colliders take. The third loses it, and the report
says so. Then no two features have passed one another. What is not a candidate is apart as long as particles stay in
their regions; if one has left its region, candidates are sought again first.

Whether a pair is safe depends on the positions alone, not on when it was found: so do the bits of the result.

Bodies and elements are held apart likewise, by step hooks (rigid/solvers/verlet/surface_bound.py).

Particles on a path do not wait. What they run over, and cannot push, crosses; the report says so.

Sources: Wu, Wang, Wang, A Safe and Fast Repulsion Method for GPU-based Cloth Self Collisions (2021),
https://doi.org/10.1145/3430025, and Chen and others, Offset Geometric Contact (2025), https://doi.org/10.1145/3731205,
for bounds on displacements; Bridson, Fedkiw, Anderson, Robust Treatment of Collisions, Contact and Friction for Cloth
Animation (2002), https://doi.org/10.1145/566654.566623, section 7, for the order of the means. Departures: the first
two bound a displacement by the smallest gap around, so all that moves together is held back, too; a direction bounds
what is relative alone. The third moves whole zones as rigid bodies, also turning; a pair moves along together here.
"""

import taichi as ti

from pbd.collision.colliders import project_colliders
from pbd.collision.surfaces.closest import closest_weights, separation
from pbd.collision.surfaces.projection import (
    members_of,
    positions_of,
    project_contact,
    search_if_outside,
    set_normal,
)
from pbd.collision.surfaces.regions import measure_moved, start_of, way_together
from pbd.constraints.constraint_type import TINY
from pbd.constraints.contact_point import weighted_sum
from pbd.core.kernels import hidden_if
from pbd.core.vectors import length_or_huge
from pbd.data import CANDIDATE, CANDIDATE_NUMBER, REPORT
from pbd.execution.halo import one_particle_at_a_time
from pbd.integrate import position

# Pairs are apart by at least this part of the distance that they keep.
LEAST = 0.01
# Features that are nearer already may come nearer by round-off.
ROUND_OFF = 1.0 - 1e-6
# Differences of corners of two features at two times.
CORNERS = 8
# Pairs that are not safe are moved apart so often at most, and then joined so often.
APART, TOGETHER = 8, 56
# A particle moves by a part of its motion, halved this often, and then not at all. All come to that in so many rounds.
HALVINGS, ROUNDS = 4, 64
# What step hooks do with pairs of a body and an element that are not safe: the first and the third means, see above.
MOVE_APART, HALVE = 0, 1


@one_particle_at_a_time
@ti.func
def prevent_crossings(s: ti.template(), substep, world):
    """Change motions until no features can have passed one another in this substep."""
    unsafe, bodies, tried, again = 0, 0, 0, True
    while again:
        for place in range(unsafe):  # none at first
            k = s.surface.pairs.active[place, world]
            if tried <= APART:
                project_contact(s, k, world)
            else:
                join_motions(s, members_of(s, k, world), world)
        if tried > 0:
            leave_colliders(s, substep, world)
        unsafe = list_unsafe(s, substep, world)
        if ti.static(has_bodies(s)):
            bodies = hold_bodies(s, MOVE_APART, world)
        again = unsafe + bodies > 0 and tried < APART + TOGETHER
        tried += 1
    if unsafe + bodies > 0:
        cut_back(s, world)


def has_bodies(s):
    """Whether step hooks have something that may cross surfaces."""
    return s.features.has_hooks and s.features.hooks.hold_back is not None


@ti.func
def hold_bodies(s: ti.template(), how, world):
    """Let step hooks treat what may have crossed surfaces, see MOVE_APART. Returns: 0, or 1 and a particle of these."""
    s.features.hooks.hold_back(s, how, world)
    return s.surface.bodies[hidden_if(True, world)]


@ti.func
def list_unsafe(s: ti.template(), substep, world):
    """List the pairs that are not safe, in place of those that may touch. Returns: how many."""
    search_if_outside(s, substep, world)
    measure_moved(s, world)
    unsafe = 0
    for k in range(s.surface.found[0, world]):
        i = members_of(s, k, world)
        if not is_safe(s, k, i, world):
            start, _ = positions_of(s, i, world)
            set_normal(s, k, s.surface.pairs.members[k, CANDIDATE.is_edge, world], start, world)
            s.surface.pairs.active[unsafe, world] = k
            unsafe += 1
    return unsafe


@ti.func
def join_motions(s: ti.template(), i, world):
    """Let particles i (4,) move by their mean motion in this substep: that of those which nothing moves, if any."""
    mass, weighted = 0.0, ti.Vector([0.0, 0.0, 0.0])
    fixed, along = 0.0, ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(4)):
        inverse_mass = s.particles.position[i[k], world][3]
        motion = position(s, i[k], world) - start_of(s, i[k], world)
        if inverse_mass > 0.0:
            mass += 1.0 / inverse_mass
            weighted += motion / inverse_mass
        else:
            fixed += 1.0
            along += motion
    if fixed > 0.0:
        mass, weighted = fixed, along
    for k in ti.static(range(4)):
        inverse_mass = s.particles.position[i[k], world][3]
        if inverse_mass > 0.0:
            x = start_of(s, i[k], world) + weighted / mass
            s.particles.position[i[k], world] = ti.Vector([x[0], x[1], x[2], inverse_mass])


@ti.func
def leave_colliders(s: ti.template(), substep, world):
    """Move the particles of surfaces out of colliders."""
    if ti.static(s.features.obstacles):
        for k in range(s.surface.particles.shape[0]):
            project_colliders(s, substep, s.surface.particles[k], world)


@ti.func
def cut_back(s: ti.template(), world):
    """Halve motions until all pairs are safe."""
    for i in range(s.surface.halvings.shape[0]):
        s.surface.halvings[i, world] = 0
    held, unsafe, rounds = 0, 1, 0
    while unsafe > 0 and rounds < ROUNDS:
        measure_moved(s, world)  # in each round: what is held back moves against what moves on
        unsafe = halve_unsafe(s, world)
        if rounds == 0:
            held = unsafe
        rounds += 1
    if unsafe > 0:
        s.report[world, REPORT.crossing_particle] = ti.cast(unsafe - 1, float)
    else:
        s.report[world, REPORT.held_particle] = ti.cast(held - 1, float)


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
    if ti.static(has_bodies(s)):
        result = ti.max(result, hold_bodies(s, HALVE, world))
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
        result = ti.min(separation(is_edge, start, n), separation(is_edge, now, n)) >= least
        if not result:
            result = are_apart_along_any(is_edge, start, now, least)
    return result


@ti.func
def are_apart_along_any(is_edge, start, now, least):
    """Whether there is a direction along which two features are apart by `least` [m] at the start and now.

    The largest distance along any direction is that of the origin from the hull of all differences of a corner of the
    first feature and one of the second, at both times. Its closest point is in a corner, on an edge or on a face of the
    hull, so all of these are tried. Features that were nearer at the start need not be farther apart now. Those that
    were not apart are safe, because nothing can hold them.
    """
    gap = weighted_sum(start, closest_weights(is_edge, start)).norm()
    wanted = ti.min(least, ROUND_OFF * gap)
    p = differences(is_edge, start, now)
    result = wanted == 0.0
    for a in range(CORNERS):
        for b in range(a + 1):
            for c in range(b + 1):
                if not result:
                    n = nearest_of_plane(corner_of(p, a), corner_of(p, b), corner_of(p, c), a - b, b - c)
                    result = (p @ n).min() >= wanted
    return result


@ti.func
def differences(is_edge, start, now):
    """Differences (8, 3) of a corner of the first feature and one of the second, at two times [m]."""
    first = ti.Vector([0, 0, 0, 0])
    second = ti.Vector([1, 2, 3, 3])
    if is_edge == 1:
        first, second = ti.Vector([0, 0, 1, 1]), ti.Vector([2, 3, 2, 3])
    p = ti.Matrix([[0.0 for _ in ti.static(range(3))] for _ in ti.static(range(CORNERS))])
    for k in ti.static(range(4)):
        for axis in ti.static(range(3)):
            p[k, axis] = start[first[k], axis] - start[second[k], axis]
            p[k + 4, axis] = now[first[k], axis] - now[second[k], axis]
    return p


@ti.func
def corner_of(p, k):
    """Row k of a matrix (8, 3)."""
    return ti.Vector([p[k, 0], p[k, 1], p[k, 2]])


@ti.func
def nearest_of_plane(a, b, c, second, third):
    """Direction (3,) from the origin to the plane through a, b, c; to a line or a point if `second` or `third` is 0."""
    n = a
    if second > 0 and third > 0:
        n = (b - a).cross(c - a)
        n = n.dot(a) * n
    elif second > 0 or third > 0:
        end = b
        if second == 0:
            end = c
        d = end - a
        n = a - (a.dot(d) / (d.norm_sqr() + TINY)) * d
    return n / length_or_huge(n)
