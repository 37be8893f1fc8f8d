"""Contacts as springs: stiffness, damping, and friction springs that stretch from step to step.

A contact's rows (rigid/constraints/contact_rows.py) become soft ones, for an effective mass of one, with α* of rows
against translation, and β* from the restitution e. A body on a spring that pushes and never pulls, with the damping
ratio ζ = sin φ, leaves with the part

    e = exp(-(π - 2φ) tan φ)        (Schwager and Pöschel, Coefficient of restitution and linear-dashpot model
                                     revisited, 2007, equation 20)

of its speed. The largest ζ, 1, gives 1/e² = 0.135; a lower restitution is not possible. (This holds for contact at one
point below the centre, and for cubes on four points; the corners of a flatter box are a little softer.)

While a contact lasts its α stays, so it is a spring that gives back what it took. With the effective mass of each pose,
and a share of the bound that changes with the number of points, bodies that turn while they touch would gain energy.

A cylinder that stands up gets points on its lower rim, beside the deepest one. They may appear at a depth, where a
spring would have an energy that nothing has paid for: 79 times that of a drop from 1 m. So a point that was already
inside a plane, beside others, pushes from the least depth that it has had since. That depth falls only while the spring
stores nothing.

Contacts come and go, so the bound on the step cannot be checked for them at the start. Instead they use what joints
leave of it. A step is stable if the largest eigenvalue of Σ (h² α + 2 h β) M^(-1/2) Jᵀ J M^(-1/2), over rows, is below
4 (stability.py). The largest eigenvalue of a sum is at most the sum of those of its parts. If each row is shared
between its two bodies as its A is, a body has at most Σ (h² α* + 2 h β*) over its own rows. So the step is stable if
each of a body's n points uses an nth of what is left. A point uses 3/4 of that, because its three rows share a point,
and together have more than one alone: 11/8 at the corner of a cube. Damping is reduced first, then stiffness: at 3 ms a
box on four points has 0.8 of critical damping, round shapes have the full damping, and a body on thirty points has
hardly any.
"""

import math

import taichi as ti

from pbd.core.kernels import load_vector, store_vector
from pbd.core.quaternions import exponential, rotate
from pbd.core.shapes import PLANE
from rigid.collision import contact_cache
from rigid.collision.contact_cache import CACHED
from rigid.collision.data import PAIR, POINT, STRUCTURE
from rigid.constraints.contact_rows import CONTACT_GROUPS, CONTACT_ROWS, carried_velocity, carrier_turn
from rigid.constraints.rows import GROUP
from rigid.solvers.penalty.data import ROW
from rigid.solvers.penalty.deep_contacts import watch_contact
from rigid.solvers.penalty.forces import row_velocity

# The part of a point's share that its three rows use.
SHARE = 0.75

# ζ divided by -ln(e)/2, if both are small.
SLOPE = 2 / math.pi


@ti.func
def damping_ratio(restitution):
    """ζ of a restitution: inverts e above by a series from both ends, with an error of at most 0.0015 in e."""
    u = ti.min(-0.5 * ti.log(ti.max(restitution, 1e-3)), 1.0)
    return u * (SLOPE + SLOPE**3 * u + (1.0 - SLOPE - SLOPE**3) * u * u)


@ti.func
def soften_contacts(s: ti.template(), count, world):
    """Write stiffness and damping of all contacts, and the stretch of their friction springs. Args: count."""
    count_contacts(s, count, world)
    n = ti.static(s.rows.numbers)
    for c in range(count):
        watch_contact(s, c, world)
        sharing = s.contact_counts[world, s.points.integers[world, c, PAIR.body_a]]
        if s.points.integers[world, c, PAIR.body_b] >= 0:
            sharing = ti.max(sharing, s.contact_counts[world, s.points.integers[world, c, PAIR.body_b]])
        load = SHARE * s.contact_load[world] / ti.cast(sharing, float)
        stiffness = ti.min(s.step.stiffness, 0.5 * load / (s.step.h * s.step.h))
        most = (load - s.step.h * s.step.h * stiffness) / (2.0 * s.step.h)
        critical = 2.0 * ti.sqrt(stiffness)
        damping = ti.min(critical * damping_ratio(s.points.numbers[world, c, POINT.restitution]), most)
        first, group = s.step.first_contact_row + CONTACT_ROWS * c, s.step.first_contact_group + CONTACT_GROUPS * c
        i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
        turn = carrier_turn(s, i, j, world)
        stretch, held, depth = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0]), depth_at_start(s, c, world)
        entry = contact_cache.look_up(s.cache, s.points, c, 0.0, world)
        if entry >= 0:
            stretch = rotate(exponential(s.step.h * turn), load_vector(s.cache.numbers, entry, CACHED.vector, world))
            normal_alpha, depth, friction_alpha = load_vector(s.cache.numbers, entry, CACHED.angular, world)
            held = ti.Vector([normal_alpha, friction_alpha, friction_alpha])
        depth = ti.min(depth, ti.max(-n[world, first, ROW.error], 0.0))
        n[world, first, ROW.rest_depth] = depth
        n[world, first, ROW.error] = n[world, first, ROW.error] + depth
        for k in ti.static(range(CONTACT_ROWS)):
            n[world, first + k, ROW.held_alpha] = held[k]
            n[world, first + k, ROW.headroom] = 0.5 * load / (s.step.h * s.step.h * stiffness)
        for row in range(first, first + CONTACT_ROWS):
            n[world, row, ROW.stiffness] = stiffness
            n[world, row, ROW.damping] = ti.min(critical, most)
            n[world, row, ROW.per_mass] = 1.0
            n[world, row, ROW.stretch] = stretch.dot(load_vector(n, row, ROW.linear, world))
        n[world, first, ROW.damping] = damping
        normal = load_vector(n, first, ROW.linear, world)
        carried = carried_velocity(s, i, j, normal, turn, -s.step.h, world)  # slip is measured after the step
        for row in range(first + 1, first + CONTACT_ROWS):
            n[world, row, ROW.target] = carried.dot(load_vector(n, row, ROW.linear, world))


@ti.func
def depth_at_start(s: ti.template(), c, world):
    """Depth from which the spring of a new contact pushes [m]: see above; 0 if the gap has closed in the last step."""
    n = ti.static(s.rows.numbers)
    row, group = s.step.first_contact_row + CONTACT_ROWS * c, s.step.first_contact_group + CONTACT_GROUPS * c
    shape_a, shape_b = s.points.integers[world, c, PAIR.shape_a], s.points.integers[world, c, PAIR.shape_b]
    result = 0.0
    if s.shapes.integers[shape_b, STRUCTURE.kind] == PLANE and s.cache.first[shape_a, world] > 0:
        i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
        before = n[world, row, ROW.error] - s.step.h * row_velocity(s, row, i, j, world)
        if before < 0.0:
            result = -n[world, row, ROW.error]
    return result


@ti.func
def count_contacts(s: ti.template(), count, world):
    """Count the contact points of each body. Args: count: of all contacts."""
    for body in range(s.contact_counts.shape[1]):
        s.contact_counts[world, body] = 0
    for c in range(count):
        for end in ti.static((PAIR.body_a, PAIR.body_b)):
            body = s.points.integers[world, c, end]
            if body >= 0:
                s.contact_counts[world, body] = s.contact_counts[world, body] + 1


@ti.func
def store_stretches(s: ti.template(), world):
    """Store the stretch of all friction springs, and of all contacts α and the depth at which they start to push."""
    if ti.static(s.features.contacts):
        n = ti.static(s.rows.numbers)
        contact_cache.clear(s.cache, world)
        count = ti.min(s.points.count[world], s.points.integers.shape[1])
        for back in range(count):
            c = count - 1 - back
            stretch = ti.Vector([0.0, 0.0, 0.0])
            for k in ti.static((1, 2)):
                row = s.step.first_contact_row + CONTACT_ROWS * c + k
                stretch += n[world, row, ROW.stretch] * load_vector(n, row, ROW.linear, world)
            contact_cache.store(s.cache, s.points, c, stretch, world)
            first = s.step.first_contact_row + CONTACT_ROWS * c
            alpha, friction_alpha = n[world, first, ROW.alpha], n[world, first + 1, ROW.alpha]
            held = ti.Vector([alpha, n[world, first, ROW.rest_depth], friction_alpha])
            store_vector(s.cache.numbers, c, CACHED.angular, held, world)
