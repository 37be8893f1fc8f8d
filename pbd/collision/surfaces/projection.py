"""Contacts of surfaces, projected one after another.

A contact is C = n·Σ c_i x_i - d >= 0, with the weights c of the closest points. Its projection is one impulse at these
points, x_i += c_i w_i λ n with λ = (d - gap)/Σ c_j² w_j, so linear and angular momentum are conserved. Friction reduces
the relative tangential displacement of these two points in the substep by at most μ times the normal correction.

n points along the gap. If two features have passed one another, it is that of the start of the substep.

One thread treats all contacts of a world, because they share particles.

Source: Müller and others, Position Based Dynamics (2007), section 4.2; Bridson, Fedkiw, Anderson, Robust Treatment of
Collisions, Contact and Friction for Cloth Animation (2002), https://doi.org/10.1145/566654.566623.
"""

import taichi as ti

from pbd.collision.surfaces.closest import closest_weights, separation
from pbd.collision.surfaces.regions import any_outside, measure_moved, start_of, way_together
from pbd.collision.surfaces.search import NEAR, search
from pbd.constraints.contact_point import weighted_sum
from pbd.data import CANDIDATE, CANDIDATE_NUMBER
from pbd.execution.halo import one_particle_at_a_time
from pbd.integrate import position

# Features touch if they are no farther apart than this many of the distances that they keep.
TOUCHING = 1.0 + 1e-4


@ti.func
def search_if_outside(s: ti.template(), substep, world):
    """Search for candidates anew if particles have left their regions."""
    left = s.settings.substeps - substep % s.settings.substeps
    if ti.static(s.features.parts):
        left = 1  # of a part, there are no more substeps
    if any_outside(s, world):
        search(s, left, world)


@ti.func
def members_of(s: ti.template(), k, world):
    """Particles (4,) of candidate k."""
    return ti.Vector([s.surface.pairs.members[k, CANDIDATE.members + m, world] for m in ti.static(range(4))])


@ti.func
def positions_of(s: ti.template(), i, world):
    """Positions of particles i (4,) at the start of the substep and now, (4, 3) [m], relative to one of them."""
    origin = start_of(s, i[0], world)
    a = [start_of(s, i[k], world) - origin for k in ti.static(range(4))]
    b = [position(s, i[k], world) - origin for k in ti.static(range(4))]
    return (
        ti.Matrix([[a[k][axis] for axis in ti.static(range(3))] for k in ti.static(range(4))]),
        ti.Matrix([[b[k][axis] for axis in ti.static(range(3))] for k in ti.static(range(4))]),
    )


@one_particle_at_a_time
@ti.func
def prepare_surface_contacts(s: ti.template(), substep, world):
    """Search for candidates if particles have left their regions, and list those that may touch in this substep."""
    search_if_outside(s, substep, world)
    measure_moved(s, world)
    active = 0
    for k in range(s.surface.found[0, world]):
        if may_touch(s, k, world):
            s.surface.pairs.active[active, world] = k
            active += 1
    s.surface.found[1, world] = active


@ti.func
def may_touch(s: ti.template(), k, world):
    """Whether candidate k may touch in this substep. Its normal is made anew if it is near."""
    result = False
    is_edge = s.surface.pairs.members[k, CANDIDATE.is_edge, world]
    near = NEAR * s.surface.pairs.numbers[k, CANDIDATE_NUMBER.distance, world]
    i = members_of(s, k, world)
    if s.surface.pairs.numbers[k, CANDIDATE_NUMBER.apart, world] - way_together(s, is_edge, i, world) < near:
        start, now = positions_of(s, i, world)
        set_normal(s, k, is_edge, start, world)
        result = separation(is_edge, now, s.surface.pairs.normal[k, world]) < near
    return result


@ti.func
def set_normal(s: ti.template(), k, is_edge, start, world):
    """Let the normal of candidate k be along its gap. Args: start: of the substep (4, 3) [m]."""
    gap = weighted_sum(start, closest_weights(is_edge, start))
    length = gap.norm()
    if length > 0.0:
        s.surface.pairs.normal[k, world] = gap / length


@one_particle_at_a_time
@ti.func
def project_surface_contacts(s: ti.template(), substep, world):
    """Move all features that touch apart, one pair after another. Returns: the deepest contact [m]."""
    deepest = 0.0
    for place in range(s.surface.found[1, world]):
        deepest = ti.max(deepest, project_contact(s, s.surface.pairs.active[place, world], world))
    return deepest


@ti.func
def project_contact(s: ti.template(), k, world):
    """Move the two features of candidate k apart, with friction. Returns: how deep they were [m]."""
    depth = 0.0
    is_edge = s.surface.pairs.members[k, CANDIDATE.is_edge, world]
    distance = s.surface.pairs.numbers[k, CANDIDATE_NUMBER.distance, world]
    i = members_of(s, k, world)
    start, now = positions_of(s, i, world)
    n = s.surface.pairs.normal[k, world]
    if separation(is_edge, now, n) < distance:
        c = closest_weights(is_edge, now)
        gap = weighted_sum(now, c)
        length = gap.norm()
        if gap.dot(n) > 0.0:
            n = gap / length
        depth = distance - gap.dot(n)
        if depth > 0.0:
            slip = weighted_sum(now - start, c)
            slip -= slip.dot(n) * n
            size = slip.norm()
            move = depth * n
            if size > 0.0:
                limit = s.surface.pairs.numbers[k, CANDIDATE_NUMBER.friction, world] * depth
                move -= slip * (ti.min(limit, size) / size)
            apply(s, i, c, move, world)
    return ti.max(depth, 0.0)


@ti.func
def apply(s: ti.template(), i, c, move, world):
    """Change the gap Σ c_i x_i of four particles by one impulse. Args: i, c: (4,); move: the change (3,) [m]."""
    weight = 0.0
    for k in ti.static(range(4)):
        weight += c[k] * c[k] * s.particles.position[i[k], world][3]
    if weight > 0.0:
        for k in ti.static(range(4)):
            q = s.particles.position[i[k], world]
            d = (c[k] * q[3] / weight) * move
            s.particles.position[i[k], world] = ti.Vector([q[0] + d[0], q[1] + d[1], q[2] + d[2], q[3]])


@ti.func
def count_touching_pairs(s: ti.template(), world):
    """Count the candidates that are no farther apart than they should be."""
    touching = 0
    for k in range(s.surface.found[0, world]):
        is_edge = s.surface.pairs.members[k, CANDIDATE.is_edge, world]
        _, now = positions_of(s, members_of(s, k, world), world)
        gap = weighted_sum(now, closest_weights(is_edge, now)).norm()
        touching += ti.cast(gap <= TOUCHING * s.surface.pairs.numbers[k, CANDIDATE_NUMBER.distance, world], ti.i32)
    return touching
