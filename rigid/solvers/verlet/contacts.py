"""Contacts of bodies: one impulse at one point, which moves the particles of a frame as a rigid body.

A contact keeps a point of A out of B, along the normal n from B to A. Both points are fixed in their frames,
p = Σ c_i x_i (rigid/solvers/verlet/frame.py). D is the displacement of A's point relative to B's since the start of the
step, and g the gap at the start:

    C = max(g - skin, 0) - correction + n·D >= 0,    λ >= 0,    λ C = 0
    t·D = 0  while  |λ_t| <= μ λ                     (two tangents t, Coulomb's cone)

An overlap does not get deeper, and the correction reduces it slowly.

An impulse P at p moves the particles of a frame as it moves the body. M, c and I are of the particles x* at the start
of the step:  x_i += P/M + I⁻¹((p - c) × P) × (x*_i - c).

Source: Jakobsen, Advanced Character Physics (2001), section 5, who moves the four corners by x_i += c_i w_i λ Δ. Many
gradients of p agree on rigid motions. Jakobsen's strains the frame, and sticks have to restore it. The one used here
does not strain it, and has the smallest displacement weighted by mass. It conserves linear momentum exactly, and
angular momentum Σ m x* × (x - x*)/h as well, because the impulses act on both bodies at one point of the start of the
step.

The accumulated λ is clamped (Catto, Iterative dynamics with temporal coherence, 2005). It may decrease again within a
step, so the iterations converge to λ C = 0 and do not leave the bodies apart. The contact cache stores it for the next
step.
"""

import taichi as ti

from pbd.constraints.constraint_type import WEIGHTLESS
from pbd.core.kernels import each_world, load_quaternion, load_vector, store_vector
from pbd.core.vectors import tangent
from pbd.data import REPORT
from pbd.integrate import gravity
from rigid.collision.contact_cache import CACHED, clear, look_up, store
from rigid.collision.data import PAIR, POINT
from rigid.solvers.verlet.contact_sides import (
    PARTICLE,
    apply_impulse,
    closing_gravity,
    inverse_effective_mass,
    margins_at_rest,
    pending_displacement,
    point_of,
    sides_of,
    weights_of,
)
from rigid.solvers.verlet.contacts_in_lanes import contact_count, is_present, takes_part
from rigid.solvers.verlet.data import CONTACT, MOTION, READ, SIZE
from rigid.solvers.verlet.frame_motion import weighted_point
from rigid.solvers.verlet.rolling import growth, prepare_rolling, rolling_rise

# In parts of the bodies' margins at rest. Two surfaces nearer than the skin do not approach further. So a corner that
# lifts off slightly cannot fall back, and a rocking body comes to rest.
SKIN = 0.3

# An overlap d deeper than the slop (in parts of the margins at rest) is corrected by a part of it in each step, but not
# faster than √(2 a d), a = BRAKING g, or SLOWEST_CORRECTION [m/s] if that is more. At √(2 a d) the correction slows
# down with a. Gravity and friction can brake more than that, so resting bodies end it at rest. The kinetic energy that
# it gives is at most BRAKING of the weight times the depth. Sides that move faster than resting ones are corrected with
# SLOWEST_CORRECTION: more would feed impacts, whose iterations have not converged.
SLOP, CORRECTION, BRAKING, SLOWEST_CORRECTION = 0.25, 0.2, 0.1, 0.02

# What moves faster than this many times g h does not rest. An approach that fast is an impact, whose impulse does not
# start the next step.
RESTING_STEPS = 3.0


@ti.func
def axes_of(s: ti.template(), c, world):
    """Normal of contact c and two tangents, at right angles (3,) each."""
    n = load_vector(s.hooked.contacts, c, CONTACT.normal, world)
    t = load_vector(s.hooked.contacts, c, CONTACT.tangent, world)
    return n, t, n.cross(t)


@ti.func
def impulse_of(s: ti.template(), c, world):
    """Accumulated impulse of contact c in the world (3,) [kg m]."""
    n, t, u = axes_of(s, c, world)
    impulse = load_vector(s.hooked.contacts, c, CONTACT.impulse, world)
    return impulse[0] * n + impulse[1] * t + impulse[2] * u


@ti.func
def is_impact(s: ti.template(), c, world):
    """Whether the bodies of contact c approach too fast for a resting contact."""
    approach = s.hooked.contacts[world, c, CONTACT.approach_speed]
    return approach > RESTING_STEPS * gravity(s, 0).norm() * s.settings.h


@ti.func
def apply_contact_impulse(s: ti.template(), array: ti.template(), sign, c, impulse, world):
    """Apply an impulse [kg m] to A at contact c, and the opposite one to B. Args: array, sign: see `apply_impulse`."""
    a, b = sides_of(s, c, world)
    apply_impulse(s, array, sign, a, load_vector(s.hooked.contacts, c, CONTACT.arm_a, world), impulse, world)
    apply_impulse(s, array, sign, b, load_vector(s.hooked.contacts, c, CONTACT.arm_b, world), -impulse, world)


@ti.func
def measure_displacement(s: ti.template(), c, world):
    """Write D of contact c, without the displacement by pending impulses, and what rolling and strain add to it."""
    contacts = ti.static(s.hooked.contacts)
    x = ti.static(s.particles.position)
    a, b = sides_of(s, c, world)
    displacement = -load_vector(contacts, c, CONTACT.start, world)
    if a >= 0:
        displacement += weighted_point(s, x, a, load_quaternion(contacts, c, CONTACT.weights_a, world), world)
    if b >= 0:
        displacement -= weighted_point(s, x, b, load_quaternion(contacts, c, CONTACT.weights_b, world), world)
    apart = rolling_rise(s, c, world) + growth(s, c, world)
    displacement -= apart * load_vector(contacts, c, CONTACT.normal, world)
    store_vector(contacts, c, CONTACT.displacement, displacement, world)


@ti.func
def relative_displacement(s: ti.template(), c, world):
    """D: displacement of A's point at contact c relative to B's since the start of the step (3,) [m]."""
    contacts = ti.static(s.hooked.contacts)
    a, b = sides_of(s, c, world)
    of_a = pending_displacement(s, a, load_vector(contacts, c, CONTACT.arm_a, world), world)
    of_b = pending_displacement(s, b, load_vector(contacts, c, CONTACT.arm_b, world), world)
    return load_vector(contacts, c, CONTACT.displacement, world) + of_a - of_b


# The phases of a step -------------------------------------------------------------------------------------------------


@ti.func
def report_overflow(s: ti.template(), world):
    """Report to the host if there are more contact points than the capacity."""
    found = s.hooked.points.count[world]
    if found > s.hooked.contacts.shape[1]:
        s.report[world, REPORT.contact_overflow] = ti.cast(found, float)


@ti.func
def mark_bodies_in_contact(s: ti.template(), world):
    """Note which bodies have contacts. Only these are moved by impulses."""
    for body in range(s.hooked.sizes[SIZE.bodies]):
        s.hooked.motion[world, body, MOTION.in_contact] = 0.0
    for c in range(contact_count(s, world)):
        for k in ti.static((PAIR.body_a, PAIR.body_b)):
            body = s.hooked.points.integers[world, c, k]
            if body >= 0:
                s.hooked.motion[world, body, MOTION.in_contact] = 1.0


@ti.func
def prepare_contact(s: ti.template(), c, world):
    """Make contact c from a contact point. It has its impulse of the last step already, in the world."""
    contacts, points = ti.static(s.hooked.contacts, s.hooked.points.numbers)
    a, b = sides_of(s, c, world)
    n = load_vector(points, c, POINT.normal, world)
    gap = points[world, c, POINT.gap]
    p = load_vector(points, c, POINT.position, world) - 0.5 * gap * n
    t = tangent(n, 0.6)
    u = n.cross(t)
    weights_a, arm_a = weights_of(s, a, p, world)
    weights_b, arm_b = weights_of(s, b, p, world)
    x, before = ti.static(s.particles.position, s.particles.previous_position)
    start = point_of(s, before, a, weights_a, world) - point_of(s, before, b, weights_b, world)
    store_vector(contacts, c, CONTACT.normal, n, world)
    store_vector(contacts, c, CONTACT.tangent, t, world)
    store_vector(contacts, c, CONTACT.arm_a, arm_a, world)
    store_vector(contacts, c, CONTACT.arm_b, arm_b, world)
    store_vector(contacts, c, CONTACT.start, start, world)
    for k in ti.static(range(4)):
        contacts[world, c, CONTACT.weights_a + k] = weights_a[k]
        contacts[world, c, CONTACT.weights_b + k] = weights_b[k]
    contacts[world, c, CONTACT.friction] = points[world, c, POINT.friction]
    contacts[world, c, CONTACT.restitution] = points[world, c, POINT.restitution]
    contacts[world, c, CONTACT.restitution_impulse] = 0.0
    for k, d in ti.static(enumerate((n, t, u))):
        contacts[world, c, CONTACT.effective_mass + k] = 1.0 / (
            inverse_effective_mass(s, a, arm_a, d, world) + inverse_effective_mass(s, b, arm_b, d, world) + WEIGHTLESS
        )
    prepare_rolling(s, c, world)
    predicted = point_of(s, x, a, weights_a, world) - point_of(s, x, b, weights_b, world) - start
    moved = (predicted - ti.max(n.dot(predicted), 0.0) * n).norm()  # not apart, as corrections move them
    contacts[world, c, CONTACT.gap] = constraint_gap(s, a, b, gap, moved, world)
    predicted += rolling_rise(s, c, world) * n  # corners move along their tangents, so a rotating frame grows
    overlap = SKIN * margins_at_rest(s, a, b, world) - gap
    acceleration = closing_gravity(s, a, b, n, world)
    contacts[world, c, CONTACT.approach_speed] = approach_speed(s, n.dot(predicted), overlap, acceleration)
    if is_impact(s, c, world):
        # A body in an impact does not roll: it turns and slips far within the step, and the rise would throw it up.
        store_vector(contacts, c, CONTACT.rolling_axis, ti.Vector([0.0, 0.0, 0.0]), world)
    impulse = load_vector(contacts, c, CONTACT.impulse, world)
    impulse = ti.Vector([ti.max(impulse.dot(n), 0.0), impulse.dot(t), impulse.dot(u)])
    store_vector(contacts, c, CONTACT.impulse, impulse, world)


@ti.func
def constraint_gap(s: ti.template(), a, b, gap, moved, world):
    """The gap that C is computed with [m]: without the skin, and with the correction of an overlap.

    Args: gap: between the surfaces [m]; moved: how far the sides move against or along one another in this step [m].
    """
    margin = margins_at_rest(s, a, b, world)
    result = gap - SKIN * margin
    if a > PARTICLE:  # a particle is put outside at once, as a collider of pbd does
        overlap = ti.max(-gap - SLOP * margin, 0.0)
        rests = moved < RESTING_STEPS * gravity(s, 0).norm() * s.settings.h**2
        result = ti.max(result, 0.0) - correction(s, overlap, rests)
    return result


@ti.func
def correction(s: ti.template(), overlap, rests):
    """By how much an overlap is corrected in this substep [m]. Args: overlap [m]; rests: whether its sides do."""
    fastest = SLOWEST_CORRECTION
    if rests:
        fastest = ti.max(ti.sqrt(2.0 * BRAKING * gravity(s, 0).norm() * overlap), fastest)
    return ti.min(CORRECTION * overlap, fastest * s.settings.h)


@ti.func
def approach_speed(s: ti.template(), displacement, overlap, acceleration):
    """Speed at which the two surfaces meet [m/s]; zero if they separate.

    Args: displacement: along the normal, as predicted for the end of the step; overlap: at the start of the step, with
    the skin; acceleration: of A towards B by gravity.
    """
    speed = -displacement / s.settings.h + 0.5 * acceleration * s.settings.h  # at the end of the step
    depth = ti.max(overlap - displacement, 0.0)  # since the surfaces met
    return ti.sqrt(ti.max(speed * speed - 2.0 * acceleration * depth, 0.0)) * (speed > 0.0)


@each_world
@ti.func
def look_up_impulses(s: ti.template(), world):
    """Give each contact the impulse that it had in the last step, in the world [kg m]; zero for a new contact."""
    for c in range(contact_count(s, world)):
        impulse = ti.Vector([0.0, 0.0, 0.0])
        if takes_part(s, world):
            if s.hooked.points.integers[world, c, PAIR.shape_a] >= 0 and is_present(s, c, world):
                entry = look_up(s.hooked.cache, s.hooked.points, c, 0.0, world)
                if entry >= 0:
                    impulse = load_vector(s.hooked.cache.numbers, entry, CACHED.vector, world)
            store_vector(s.hooked.contacts, c, CONTACT.impulse, impulse, world)


@ti.func
def solve_contact(s: ti.template(), c, world):
    """Project contact c with friction. Returns: by how much it displaces the sides against each other [m]."""
    contacts = ti.static(s.hooked.contacts)
    n, t, u = axes_of(s, c, world)
    D = relative_displacement(s, c, world)
    before = load_vector(contacts, c, CONTACT.impulse, world)
    C, corrected = contacts[world, c, CONTACT.gap] + n.dot(D), 0.0
    if C < 0.0 or before[0] > 0.0:
        mass = load_vector(contacts, c, CONTACT.effective_mass, world)
        normal = ti.max(before[0] - C * mass[0], 0.0)
        limit = contacts[world, c, CONTACT.friction] * normal
        along, across = solve_friction(before, D.dot(t), D.dot(u), mass, limit)
        store_vector(contacts, c, CONTACT.impulse, ti.Vector([normal, along, across]), world)
        change = (normal - before[0]) * n + (along - before[1]) * t + (across - before[2]) * u
        apply_contact_impulse(s, s.particles.position, 1.0, c, change, world)
        corrected = ti.max(ti.abs(normal - before[0]) / mass[0], ti.abs(along - before[1]) / mass[1])
        corrected = ti.max(corrected, ti.abs(across - before[2]) / mass[2])
    return corrected


@ti.func
def solve_friction(before, slip_along, slip_across, mass, limit):
    """Impulses of friction along both tangents [kg m].

    A sliding contact takes the same step for both tangents, so that its impulse becomes opposite to the slip. Two
    different steps would change its direction. The step is the smaller one of both (as in
    rigid/solvers/sequential/solve.py).

    Args: before: normal and tangential impulses so far; slip_along, slip_across: [m]; mass: effective masses; limit:
    μ λ.
    """
    along, across = before[1] - slip_along * mass[1], before[2] - slip_across * mass[2]
    if along * along + across * across > limit * limit:
        step = ti.min(mass[1], mass[2])
        along, across = before[1] - slip_along * step, before[2] - slip_across * step
        length = ti.sqrt(along * along + across * across)
        if length > limit:
            along *= limit / length
            across *= limit / length
    return along, across


@each_world
@ti.func
def store_impulses(s: ti.template(), world):
    """Store the impulses of contacts for the next step, but not those of impacts."""
    if takes_part(s, world):
        clear(s.hooked.cache, world)
        count = contact_count(s, world)
        for back in range(count):
            c = count - 1 - back
            shape_a = s.hooked.points.integers[world, c, PAIR.shape_a]
            if s.hooked.contacts[world, c, CONTACT.impulse] > 0.0 and shape_a >= 0 and not is_impact(s, c, world):
                store(s.hooked.cache, s.hooked.points, c, impulse_of(s, c, world), world)


@ti.func
def scale_impulses(s: ti.template(), factor, world):
    """Multiply the impulses of all contacts, and what is stored for the next step."""
    for c in range(s.hooked.contacts.shape[1]):
        for k in ti.static((CONTACT.impulse, CONTACT.impulse + 1, CONTACT.impulse + 2, CONTACT.restitution_impulse)):
            s.hooked.contacts[world, c, k] = factor * s.hooked.contacts[world, c, k]
        for k in ti.static(range(CACHED.vector, CACHED.vector + 3)):
            s.hooked.cache.numbers[world, c, k] = factor * s.hooked.cache.numbers[world, c, k]
        if ti.static(s.features.lanes > 1):
            numbers = ti.static(s.hooked.in_lanes.numbers)
            for k in ti.static(range(READ.impulses, READ.impulses + 4)):
                numbers[world, c, k] = factor * numbers[world, c, k]
