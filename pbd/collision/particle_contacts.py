"""Particles kept apart from one another: cloth from itself, grains from grains.

Two particles keep the distance r1 + r2, or the distance of their description if that is less, so that neighbours in a
cloth, described closer than its thickness, are left alone (Müller, Ten Minute Physics 15, "Self-collision solved").

A spatial hash finds the pairs that could meet, in the next substep or in the next `contact_interval` of them
(Teschner et al., Optimized Spatial Hashing, 2003; counting sort by bucket as in Green, Particle Simulation using CUDA,
2010). Each sweep then corrects all pairs at once, as Jacobi does, a particle gathering from its own neighbours: no two
threads write to one place, and the result has the same bits whatever the threads. A pair's correction is divided by
the larger number of touching neighbours of its two particles, the same for both, so that momentum is kept to
round-off.

Limits: a pair is sought where its two are half way through these steps, should they go on as they go now, within
`reach`, the largest contact distance c and half as much again. Two that meet or pass through one another are therefore
noticed for certain if, relative to one another, they move less than c in that time: where they meet they are within c,
and the middle is half that way from there. Take smaller steps, or search more often, where things move faster than
that.
"""

import taichi as ti

from pbd.constraints.kind import TINY
from pbd.data import MOST_NEIGHBOURS, REPORT
from pbd.integrate import position


@ti.func
def bucket_of(cell, buckets):
    """Hash of a cell (three integers) into a power of two of buckets; cells in a row along x have buckets in a row."""
    mixed = (cell[1] * 19349663) ^ (cell[2] * 83492791)
    return (cell[0] + mixed) & (buckets - 1)


@ti.func
def cell_of(x, reach):
    """The cell of size `reach` that a point lies in."""
    return ti.Vector([ti.cast(ti.floor(x[k] / reach), ti.i32) for k in ti.static(range(3))])


@ti.func
def wanted(s: ti.template(), world):
    """Whether contacts are to be sought in this substep."""
    return s.report[world, REPORT.substeps_to_search] <= 0.0


@ti.func
def count_down(s: ti.template(), world):
    """Count a substep towards the next search."""
    left = s.report[world, REPORT.substeps_to_search]
    if left <= 0.0:
        left = ti.cast(s.settings.contact_interval, float)
    s.report[world, REPORT.substeps_to_search] = left - 1.0


@ti.func
def sort_into_buckets(s: ti.template(), world):
    """Counting sort of a world's particles by bucket, in the order of their indices.

    Where each is half way through the steps until the next search is kept where its correction will be.
    """
    n = s.counts.particles
    buckets = s.contacts.first_in_bucket.shape[0] - 1
    half_way = 0.5 * s.settings.contact_interval
    for b in range(buckets + 1):
        s.contacts.first_in_bucket[b, world] = 0
    for i in range(n):
        before = s.particles.previous_position[i, world]
        s.contacts.correction[i, world] = before + half_way * (position(s, i, world) - before)
        b = bucket_of(cell_of(s.contacts.correction[i, world], s.settings.search_radius), buckets)
        s.contacts.first_in_bucket[b, world] = s.contacts.first_in_bucket[b, world] + 1
    total = 0
    for b in range(buckets):
        total += s.contacts.first_in_bucket[b, world]
        s.contacts.first_in_bucket[b, world] = total
    s.contacts.first_in_bucket[buckets, world] = total
    for k in range(n):  # backwards, so that each count ends as the first place of its bucket
        i = n - 1 - k
        b = bucket_of(cell_of(s.contacts.correction[i, world], s.settings.search_radius), buckets)
        place = s.contacts.first_in_bucket[b, world] - 1
        s.contacts.first_in_bucket[b, world] = place
        s.contacts.sorted_particles[place, world] = i


@ti.func
def find_neighbours(s: ti.template(), i, world):
    """List the particles that particle i could meet in this step."""
    found = 0
    if s.particles.radius[i, world] > 0.0:
        x = s.contacts.correction[i, world]
        home = cell_of(x, s.settings.search_radius)
        buckets = s.contacts.first_in_bucket.shape[0] - 1
        for k in range(9):  # rows of three cells, whose particles stand one after another in `binned`
            row = home + ti.Vector([-1, k // 3 - 1, k % 3 - 1])
            first = bucket_of(row, buckets)
            for part in range(2):  # the row, and what of it went on at the first bucket
                begin = s.contacts.first_in_bucket[first, world]
                end = s.contacts.first_in_bucket[ti.min(first + 3, buckets), world]
                if part == 1:
                    begin, end = 0, s.contacts.first_in_bucket[ti.max(first + 3 - buckets, 0), world]
                for place in range(begin, end):
                    j = s.contacts.sorted_particles[place, world]
                    y = s.contacts.correction[j, world]
                    # Cells far apart may share a bucket, and two of the nine rows: take a particle with its own row
                    # only.
                    near = (y - x).norm_sqr() < s.settings.search_radius * s.settings.search_radius
                    if near and j != i and s.particles.radius[j, world] > 0.0:
                        cell = cell_of(y, s.settings.search_radius)
                        if cell[1] == row[1] and cell[2] == row[2]:
                            if found < MOST_NEIGHBOURS:
                                s.contacts.neighbours[i, found, world] = j
                            found += 1
    if found > MOST_NEIGHBOURS:
        s.report[world, REPORT.neighbour_overflow] = ti.cast(found, float)
        found = MOST_NEIGHBOURS
    s.contacts.neighbour_count[i, world] = found


@ti.func
def contact(s: ti.template(), i, j, world):
    """Depth [m] of the contact of particles i and j, and its normal from j to i.

    The normal is that of the start of the step where the two have passed through one another since: where they are on
    opposite sides, and were nearer than the contact distance on the (straight) way there.
    """
    offset = position(s, i, world) - position(s, j, world)
    before = s.particles.previous_position[i, world] - s.particles.previous_position[j, world]
    together = s.particles.radius[i, world] + s.particles.radius[j, world]
    crossed = offset.dot(before) < 0.0 or offset.norm_sqr() == 0.0
    depth, normal = 0.0, ti.Vector([0.0, 0.0, 0.0])
    if crossed or offset.norm_sqr() < together * together:  # most candidates are farther off, and cost no root
        keep = ti.min(together, (s.contacts.rest_position[i, world] - s.contacts.rest_position[j, world]).norm())
        axis = offset
        if crossed:
            way = offset - before
            nearest = before - way * (before.dot(way) / (way.norm_sqr() + TINY))
            if nearest.norm_sqr() < keep * keep:
                axis = before
        length = axis.norm()
        if length > 0.0:
            normal = axis / length
            depth = ti.max(keep - offset.dot(normal), 0.0)
    return depth, normal


@ti.func
def count_touching(s: ti.template(), i, world):
    """How many neighbours particle i touches now; kept where its binned entry was, which is no longer needed."""
    touching = 0
    for k in range(s.contacts.neighbour_count[i, world]):
        depth, _ = contact(s, i, s.contacts.neighbours[i, k, world], world)
        if depth > 0.0:
            touching += 1
    s.contacts.sorted_particles[i, world] = touching


@ti.func
def touches(s: ti.template(), i, world):
    """1 if particle i met another in the last sweep, else 0."""
    result = 0
    if s.report[world, REPORT.iterations] > 0:  # without a sweep `binned` still holds what the hash put there
        result = ti.min(s.contacts.sorted_particles[i, world], 1)
    return result


@ti.func
def push_apart(s: ti.template(), i, world):
    """Sum of particle i's corrections from all that it touches; return its deepest contact."""
    total = ti.Vector([0.0, 0.0, 0.0])
    deepest = 0.0
    w = s.particles.position[i, world][3]
    for k in range(s.contacts.neighbour_count[i, world]):
        j = s.contacts.neighbours[i, k, world]
        depth, normal = contact(s, i, j, world)
        other = s.particles.position[j, world][3]
        if depth > 0.0 and w + other > 0.0:
            move = depth * normal
            # Friction: the relative tangential displacement of the step, less at most μ times the normal correction.
            before = ti.static(s.particles.previous_position)
            slip = position(s, i, world) - before[i, world] - position(s, j, world) + before[j, world]
            slip -= slip.dot(normal) * normal
            distance = slip.norm()
            if distance > 0.0:
                move -= slip * (ti.min(s.settings.contact_friction * depth, distance) / distance)
            # At least one: a depth of mere round-off may be zero where `count_touching` asked.
            touching = ti.max(1, s.contacts.sorted_particles[i, world], s.contacts.sorted_particles[j, world])
            share = w / ((w + other) * touching)
            total += share * move
            deepest = ti.max(deepest, depth)
    s.contacts.correction[i, world] = total
    return deepest


@ti.func
def take_correction(s: ti.template(), i, world):
    """Add what `push_apart` found."""
    q = s.particles.position[i, world]
    d = s.contacts.correction[i, world]
    s.particles.position[i, world] = ti.Vector([q[0] + d[0], q[1] + d[1], q[2] + d[2], q[3]])
