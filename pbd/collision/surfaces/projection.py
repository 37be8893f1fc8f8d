"""Contacts of surfaces, projected one after another.

A contact is C = n·Σ c_i x_i - d >= 0, with the weights c of the closest points. It projects one impulse at these
points, x_i += c_i w_i λ n with λ = (d - gap)/Σ c_j² w_j, so linear and angular momentum are conserved. λ accumulates
over the iterations of a substep and is clamped to λ >= 0: what one iteration pushed too far, a later one takes back.
Otherwise sheets that meet would bounce. Friction takes the tangential displacement of the two points in the substep
away, by an impulse of at most μ λ, which accumulates, too.

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
    """Let the normal of candidate k be along its gap, and its impulses zero. Args: start: of the substep (4, 3) [m]."""
    gap = weighted_sum(start, closest_weights(is_edge, start))
    length = gap.norm()
    if length > 0.0:
        s.surface.pairs.normal[k, world] = gap / length
    s.surface.pairs.numbers[k, CANDIDATE_NUMBER.impulse, world] = 0.0
    s.surface.pairs.friction[k, world] = ti.Vector([0.0, 0.0, 0.0])


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
    """Move the two features of candidate k apart, or back together, with friction. Returns: how deep they were [m]."""
    depth = 0.0
    is_edge = s.surface.pairs.members[k, CANDIDATE.is_edge, world]
    distance = s.surface.pairs.numbers[k, CANDIDATE_NUMBER.distance, world]
    impulse = s.surface.pairs.numbers[k, CANDIDATE_NUMBER.impulse, world]
    i = members_of(s, k, world)
    start, now = positions_of(s, i, world)
    n = s.surface.pairs.normal[k, world]
    if impulse > 0.0 or separation(is_edge, now, n) < distance:
        c = closest_weights(is_edge, now)
        gap = weighted_sum(now, c)
        length = gap.norm()
        if gap.dot(n) > 0.0:
            n = gap / length
        depth = distance - gap.dot(n)
        weight = inverse_mass_of(s, i, c, world)
        if weight > 0.0 and (impulse > 0.0 or depth > 0.0):
            total = ti.max(impulse + depth / weight, 0.0)
            s.surface.pairs.numbers[k, CANDIDATE_NUMBER.impulse, world] = total
            limit = s.surface.pairs.numbers[k, CANDIDATE_NUMBER.friction, world] * total
            friction = change_friction(s, k, weighted_sum(now - start, c) / weight, n, limit, world)
            apply(s, i, c, (total - impulse) * n + friction, world)
    return ti.max(depth, 0.0)


@ti.func
def change_friction(s: ti.template(), k, momentum, n, limit, world):
    """Change the friction of candidate k. Args: momentum: that ends its slip (3,); limit: of friction [kg m].

    Returns: the change (3,), which is tangential but for what turns with the normal n.
    """
    before = s.surface.pairs.friction[k, world]
    after = before - momentum
    after -= after.dot(n) * n
    size = after.norm()
    if size > limit:
        after *= limit / size
    s.surface.pairs.friction[k, world] = after
    return after - before


@ti.func
def inverse_mass_of(s: ti.template(), i, c, world):
    """Inverse mass Σ c_j² w_j of a gap Σ c_j x_j of four particles [1/kg]. Args: i, c: (4,)."""
    result = 0.0
    for k in ti.static(range(4)):
        result += c[k] * c[k] * s.particles.position[i[k], world][3]
    return result


@ti.func
def apply(s: ti.template(), i, c, impulse, world):
    """Apply one impulse to the gap Σ c_j x_j of four particles. Args: i, c: (4,); impulse: times h (3,) [kg m]."""
    for k in ti.static(range(4)):
        q = s.particles.position[i[k], world]
        d = (c[k] * q[3]) * impulse
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
