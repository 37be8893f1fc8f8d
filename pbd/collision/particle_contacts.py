"""Contacts between particles, for example of cloth with itself or of grains.

Two particles keep the distance r1 + r2. If the description has them closer than that, they keep the described distance
instead, so that neighbours in a cloth do not push each other (Müller, Ten Minute Physics 15, "Self-collision solved").
Two ends of a rigid stick have no contact, because the stick keeps them apart, nor have those of an edge of fabric.

A spatial hash finds the pairs that could touch until the next search (pbd/core/spatial_hash.py; counting sort by bucket
as in Green, Particle Simulation using CUDA, 2010). Each iteration then corrects all pairs at once (Jacobi), and each
particle gathers the corrections from its own neighbours. So no two threads write to one place, and the bits do not
depend on the number of threads. A pair's correction is divided by the larger number of touching neighbours of its two
particles. This number is the same for both, so momentum is conserved to round-off.

When a search is due, where it compares particles, and what it may miss, is told in pbd/collision/search_times.py.
"""

import taichi as ti

from pbd.collision.search_times import choose_search, count_down_to_search, is_search_due
from pbd.constraints.constraint_type import TINY
from pbd.core.spatial_hash import bucket_of_pair, cell_of
from pbd.data import MOST_NEIGHBOURS, REPORT
from pbd.execution.halo import one_particle_at_a_time
from pbd.execution.phases import for_each, for_each_world, project_each
from pbd.integrate import position

# Where particles without contacts are in the search [m]: its square is larger than that of any search radius.
FAR = 1e30

# The search -----------------------------------------------------------------------------------------------------------


@one_particle_at_a_time
@ti.func
def search_contacts(s: ti.template(), substep, world):
    """Find the pairs that could touch, if a search is due, and count the substep."""
    choose_search(s, substep, world)
    if ti.static(s.features.shared):
        sort_together(s, substep, world)
    else:
        for_each_world(s, sort_into_buckets, substep, world)
    for_each(s, s.counts.particles, find_neighbours, substep, world)
    for_each_world(s, count_down_to_search, substep, world)


@ti.func
def sort_into_buckets(s: ti.template(), substep, world):
    """Sort a world's particles by bucket of the spatial hash, if a search is due."""
    if is_search_due(s, world):
        fill_buckets(s, world)


@ti.func
def find_neighbours(s: ti.template(), substep, i, world):
    """List the particles that particle i could touch, if a search is due."""
    if is_search_due(s, world):
        list_neighbours(s, i, world)


@ti.func
def fill_buckets(s: ti.template(), world):
    """Sort a world's particles by bucket with a counting sort, which keeps the order of indices in a bucket.

    Particles without contacts are left out.
    """
    n = s.counts.particles
    first_in_bucket = ti.static(s.contacts.first_in_bucket)
    buckets = first_in_bucket.shape[0] - 1
    for b in range(buckets + 1):
        first_in_bucket[b, world] = 0
    for i in range(n):
        x = half_way(s, i, world)
        if s.particles.radius[i, world] > 0.0:
            b = bucket_at(s, x)
            first_in_bucket[b, world] = first_in_bucket[b, world] + 1
        else:
            x = ti.Vector([FAR, FAR, FAR])
        s.contacts.half_way[i, world] = x
    total = 0
    for b in range(buckets):
        total += first_in_bucket[b, world]
        first_in_bucket[b, world] = total
    first_in_bucket[buckets, world] = total
    for k in range(n):  # backwards, so that each count ends as the first place of its bucket
        i = n - 1 - k
        if s.particles.radius[i, world] > 0.0:
            x = s.contacts.half_way[i, world]
            b = bucket_at(s, x)
            place = first_in_bucket[b, world] - 1
            first_in_bucket[b, world] = place
            s.contacts.sorted_particles[place, world] = i
            s.contacts.sorted_position[place, world] = x


@ti.func
def sort_together(s: ti.template(), substep, world):
    """Sort particles by bucket as `fill_buckets` does, shared by threads. The order is the same.

    Counts are summed up in blocks of buckets: in each block, over the blocks, and again in each block.
    """
    for_each(s, s.contacts.first_in_bucket.shape[0], clear_bucket, substep, world)
    for_each(s, s.counts.particles, count_in_bucket, substep, world)
    for_each(s, blocks_of(s), sum_in_block, substep, world)
    for_each_world(s, sum_over_blocks, substep, world)
    for_each(s, blocks_of(s), add_earlier_blocks, substep, world)
    for_each(s, s.counts.particles, put_into_bucket, substep, world)
    for_each(s, s.counts.particles, sort_in_bucket, substep, world)


@ti.func
def blocks_of(s: ti.template()):
    """How many blocks of buckets there are: their number and their length are powers of 2, about the same."""
    buckets, blocks = s.contacts.first_in_bucket.shape[0] - 1, 1
    while blocks * blocks < buckets:
        blocks *= 2
    return blocks


@ti.func
def clear_bucket(s: ti.template(), substep, b, world):
    """Begin to count particles of a bucket."""
    if is_search_due(s, world):
        s.contacts.first_in_bucket[b, world] = 0


@ti.func
def count_in_bucket(s: ti.template(), substep, i, world):
    """Count particle i in its bucket."""
    if is_search_due(s, world):
        x = ti.Vector([FAR, FAR, FAR])
        if s.particles.radius[i, world] > 0.0:
            x = half_way(s, i, world)
            ti.atomic_add(s.contacts.first_in_bucket[bucket_at(s, x), world], 1)
        s.contacts.half_way[i, world] = x


@ti.func
def sum_in_block(s: ti.template(), substep, block, world):
    """Add to each count of a block those before it in the block."""
    if is_search_due(s, world):
        length, total = (s.contacts.first_in_bucket.shape[0] - 1) // blocks_of(s), 0
        for b in range(block * length, (block + 1) * length):
            total += s.contacts.first_in_bucket[b, world]
            s.contacts.first_in_bucket[b, world] = total


@ti.func
def sum_over_blocks(s: ti.template(), substep, world):
    """Add to the last count of each block those of earlier blocks."""
    if is_search_due(s, world):
        buckets, blocks = s.contacts.first_in_bucket.shape[0] - 1, blocks_of(s)
        length, total = buckets // blocks, 0
        for block in range(blocks):
            total += s.contacts.first_in_bucket[(block + 1) * length - 1, world]
            s.contacts.first_in_bucket[(block + 1) * length - 1, world] = total
        s.contacts.first_in_bucket[buckets, world] = total


@ti.func
def add_earlier_blocks(s: ti.template(), substep, block, world):
    """Add the counts of earlier blocks to all but the last count of a block."""
    if is_search_due(s, world) and block > 0:
        length = (s.contacts.first_in_bucket.shape[0] - 1) // blocks_of(s)
        earlier = s.contacts.first_in_bucket[block * length - 1, world]
        for b in range(block * length, (block + 1) * length - 1):
            s.contacts.first_in_bucket[b, world] = s.contacts.first_in_bucket[b, world] + earlier


@ti.func
def put_into_bucket(s: ti.template(), substep, i, world):
    """Put particle i into its bucket, from the last place on, in any order: neighbours are not counted yet."""
    if is_search_due(s, world) and s.particles.radius[i, world] > 0.0:
        b = bucket_at(s, s.contacts.half_way[i, world])
        place = ti.atomic_sub(s.contacts.first_in_bucket[b, world], 1) - 1
        s.contacts.neighbour_count[place, world] = i


@ti.func
def sort_in_bucket(s: ti.template(), substep, i, world):
    """Put particle i behind those in its bucket that have lower indices."""
    if is_search_due(s, world) and s.particles.radius[i, world] > 0.0:
        x = s.contacts.half_way[i, world]
        b = bucket_at(s, x)
        place = s.contacts.first_in_bucket[b, world]
        for k in range(place, s.contacts.first_in_bucket[b + 1, world]):
            place += ti.cast(s.contacts.neighbour_count[k, world] < i, ti.i32)
        s.contacts.sorted_particles[place, world] = i
        s.contacts.sorted_position[place, world] = x


@ti.func
def bucket_at(s: ti.template(), x):
    """The bucket of a point. Cells are twice as wide as the search radius."""
    return bucket_of_pair(cell_of(x, 2.0 * s.settings.search_radius), s.contacts.first_in_bucket.shape[0] - 1)


@ti.func
def half_way(s: ti.template(), i, world):
    """Where particle i will be half way to the next search if it keeps its velocity (3,) [m]."""
    before = s.particles.previous_position[i, world]
    return before + 0.5 * s.report[world, REPORT.search_ahead] * (position(s, i, world) - before)


@ti.func
def list_neighbours(s: ti.template(), i, world):
    """List the particles within the search radius of particle i, but for those that a stick or fabric joins to it.

    In a cloth, most particles have no others near. They are counted first, which is cheaper than a list.
    """
    count = 0
    others_near = s.particles.radius[i, world] > 0.0
    if others_near and s.contacts.first_stick[i] < s.contacts.first_stick[i + 1]:
        others_near = find_near(s, i, world, False) != count_joined(s, i, world)
    if others_near:
        count = find_near(s, i, world, True)
        others = count - 1
        if others > MOST_NEIGHBOURS:
            s.report[world, REPORT.neighbour_overflow] = ti.cast(others, float)
            count = MOST_NEIGHBOURS + 1
        count = remove_joined(s, i, count, world)
    s.contacts.neighbour_count[i, world] = count


@ti.func
def find_near(s: ti.template(), i, world, listed: ti.template()):
    """Find the particles within the search radius of particle i, and i itself. Args: listed: whether to list them.

    Each particle is written before it is known to be near, and counted if it is. A branch, which the processor could
    not foresee, would take longer.

    Returns: how many there are.
    """
    near = 0
    reach = s.settings.search_radius
    first_in_bucket = ti.static(s.contacts.first_in_bucket)
    x = s.contacts.half_way[i, world]
    home = cell_of(x - reach, 2.0 * reach)
    buckets = first_in_bucket.shape[0] - 1
    for k in range(4):  # rows of two cells, whose particles are consecutive in `sorted_particles`
        first = bucket_of_pair(home + ti.Vector([0, k // 2, k % 2]), buckets)
        for part in range(ti.select(first + 2 > buckets, 2, 1)):  # the second cell may have the first bucket
            begin = first_in_bucket[first, world]
            end = first_in_bucket[ti.min(first + 2, buckets), world]
            if part == 1:
                begin, end = 0, first_in_bucket[1, world]
            for place in range(begin, end):
                if ti.static(listed):
                    slot = ti.min(near, MOST_NEIGHBOURS + 1)  # the last one takes what there is no room for
                    s.contacts.neighbours[i, slot, world] = s.contacts.sorted_particles[place, world]
                offset = s.contacts.sorted_position[place, world] - x
                near += ti.cast(offset.norm_sqr() < reach * reach, ti.i32)
    return near


@ti.func
def count_joined(s: ti.template(), i, world):
    """Count particle i and those within the search radius that a rigid stick joins to it, by sticks."""
    x, count = s.contacts.half_way[i, world], 1
    members = ti.static(s.constraints.members)
    for place in range(s.contacts.first_stick[i], s.contacts.first_stick[i + 1]):
        stick = s.contacts.sticks[place]
        a, b = members[stick], members[stick + 1]  # the same particle twice if the stick was cut
        offset = s.contacts.half_way[ti.select(a == i, b, a), world] - x
        near = offset.norm_sqr() < s.settings.search_radius * s.settings.search_radius
        count += ti.cast(near & (a != b), ti.i32)
    return count


@ti.func
def remove_joined(s: ti.template(), i, count, world):
    """Remove particle i and those that a rigid stick joins to it from its list. Returns: how many are left.

    Sticks keep their ends apart themselves.
    """
    left = 0
    members = ti.static(s.constraints.members)
    for k in range(count):
        j = s.contacts.neighbours[i, k, world]
        s.contacts.neighbours[i, left, world] = j
        free = ti.cast(j != i, ti.i32)
        for place in range(s.contacts.first_stick[i], s.contacts.first_stick[i + 1]):
            stick = s.contacts.sticks[place]
            a, b = members[stick], members[stick + 1]  # the same particle twice if the stick was cut
            joined = ((a == i) & (b == j)) | ((a == j) & (b == i))
            free &= 1 - ti.cast(joined, ti.i32)
        left += free
    return left


# The projection -------------------------------------------------------------------------------------------------------


@one_particle_at_a_time
@ti.func
def project_contacts(s: ti.template(), substep, world):
    """Correct all pairs that touch, at once. Returns: the deepest contact [m], see `project_each`."""
    for_each(s, s.counts.particles, count_touching, substep, world)
    deepest = project_each(s, s.counts.particles, compute_correction, substep, world)
    for_each(s, s.counts.particles, apply_correction, substep, world)
    return deepest


@ti.func
def pair_contact(s: ti.template(), i, j, world):
    """Depth [m] of the contact of particles i and j, and its normal from j to i.

    If the two passed through one another in this substep, the normal is that of the start of the substep. They did if
    they are on opposite sides, and were nearer than the contact distance on the straight way there.
    """
    offset = position(s, i, world) - position(s, j, world)
    before = s.particles.previous_position[i, world] - s.particles.previous_position[j, world]
    together = s.particles.radius[i, world] + s.particles.radius[j, world]
    crossed = offset.dot(before) < 0.0 or offset.norm_sqr() == 0.0
    depth, normal = 0.0, ti.Vector([0.0, 0.0, 0.0])
    if crossed or offset.norm_sqr() < together * together:  # most candidates are farther apart and need no root
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
def count_touching(s: ti.template(), substep, i, world):
    """Count the neighbours that particle i touches. `sorted_particles` holds the count, since the search is over."""
    touching = 0
    for k in range(s.contacts.neighbour_count[i, world]):
        depth, _ = pair_contact(s, i, s.contacts.neighbours[i, k, world], world)
        if depth > 0.0:
            touching += 1
    s.contacts.sorted_particles[i, world] = touching


@ti.func
def touches_particle(s: ti.template(), i, world):
    """1 if particle i touched another in the last iteration, else 0."""
    result = 0
    if s.report[world, REPORT.iterations] > 0:  # without an iteration `sorted_particles` holds the sorted particles
        result = ti.min(s.contacts.sorted_particles[i, world], 1)
    return result


@ti.func
def compute_correction(s: ti.template(), substep, i, world):
    """Write the sum of particle i's corrections from all that it touches. Returns: the deepest contact [m]."""
    deepest = 0.0
    if s.contacts.sorted_particles[i, world] > 0:
        deepest = sum_corrections(s, i, world)
    return deepest


@ti.func
def sum_corrections(s: ti.template(), i, world):
    """Do what `compute_correction` does, for a particle that touches another."""
    total = ti.Vector([0.0, 0.0, 0.0])
    deepest = 0.0
    w = s.particles.position[i, world][3]
    previous, touching = ti.static(s.particles.previous_position, s.contacts.sorted_particles)
    for k in range(s.contacts.neighbour_count[i, world]):
        j = s.contacts.neighbours[i, k, world]
        depth, normal = pair_contact(s, i, j, world)
        other = s.particles.position[j, world][3]
        if depth > 0.0 and w + other > 0.0:
            move = depth * normal
            # Friction reduces the relative tangential displacement of the substep by at most μ times the depth.
            slip = position(s, i, world) - previous[i, world] - position(s, j, world) + previous[j, world]
            slip -= slip.dot(normal) * normal
            distance = slip.norm()
            if distance > 0.0:
                move -= slip * (ti.min(s.settings.contact_friction * depth, distance) / distance)
            # At least one: a depth of mere round-off may have been zero in `count_touching`.
            share = w / ((w + other) * ti.max(1, touching[i, world], touching[j, world]))
            total += share * move
            deepest = ti.max(deepest, depth)
    s.contacts.correction[i, world] = total
    return deepest


@ti.func
def apply_correction(s: ti.template(), substep, i, world):
    """Add the sum of corrections to the position of particle i."""
    if s.contacts.sorted_particles[i, world] > 0:
        q = s.particles.position[i, world]
        d = s.contacts.correction[i, world]
        s.particles.position[i, world] = ti.Vector([q[0] + d[0], q[1] + d[1], q[2] + d[2], q[3]])
