"""Restitution of contacts: after the iterations, an impulse on the previous positions gives bodies their speed back.

Contacts of one impact rebound together, and each one's approach speed is only that of its point at the start of the
substep. So the impulses of all are scaled by one factor f, by which the impact is consistent in energy. With p, x and s
the predicted positions, those after the iterations and those at the start of the substep, and δ what restitution moves
x* = s back by, the energy (times h², at the middle of the substep as in pbd/diagnostics.py) changes

    in the iterations by  -W,          W = Σ m (|p - s|² - |x - s|²)/2 - Σ m h² g·(p - x)/2
    by restitution by  f B + f² C,     B = Σ m ((x - s)·δ + h² g·δ/2),   C = Σ m |δ|²/2

It is least at f = -B/2C, where the bodies have stopped: in x - s they still move to the surface. From there on it may
grow by e² of what they have lost until then, so C (f + B/2C)² = e² (W + B²/4C).

What bodies on paths do is subtracted from W and B. The equation holds if nothing else takes energy: all contacts that
push rebound with one e and without friction, and nothing joins the bodies. In other impacts e is the largest one, f is
at most that of the equation, and at most one: no impact gains energy. Motors do work in the same substep, and the
user's particles move at once: there f is one.

Source: Stronge, Rigid body collisions with friction (1990), who defines e² by these two works.
"""

import taichi as ti

from pbd.constraints.constraint_type import WEIGHTLESS
from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.integrate import gravity
from rigid.solvers.verlet.contact_sides import (
    PARTICLE,
    closing_gravity,
    gravity_scale,
    inverse_effective_mass,
    point_of,
    sides_of,
)
from rigid.solvers.verlet.contacts import (
    apply_contact_impulse,
    impulse_of,
    measure_displacement,
    relative_displacement,
)
from rigid.solvers.verlet.contacts_in_lanes import contact_count
from rigid.solvers.verlet.data import CONTACT, MOTION, SIZE
from rigid.solvers.verlet.frame_motion import move_bodies, read_inertias, weighted_point

# Iterations over all contacts with restitution.
ITERATIONS = 4

# Bodies rebound if their speed afterwards is more than this many times g h.
RESTING_STEPS = 2.0

# The largest factor of restitution impulses. A larger one would hide an error that is not of the step.
LARGEST_FACTOR = 1.25

# What is known of the energy of impacts: all of it; that it does not rise, because joints may take some; nothing.
KEPT, BOUNDED, UNKNOWN = 0, 1, 2


@ti.func
def rebounds(s: ti.template(), c, world):
    """Whether contact c has restitution: it stopped its bodies, and they were not merely at rest."""
    contacts = ti.static(s.hooked.contacts)
    g = gravity(s, 0).norm()
    speed = contacts[world, c, CONTACT.approach_speed] * contacts[world, c, CONTACT.restitution]
    return contacts[world, c, CONTACT.impulse] > 0.0 and speed > RESTING_STEPS * g * s.settings.h


@ti.func
def prepare_restitution(s: ti.template(), c, world):
    """Take arms and start of contact c from the positions at the end of the step, when the impulse acts.

    With these arms a change of x* conserves Σ m x* × x, which is the angular momentum.
    """
    contacts = ti.static(s.hooked.contacts)
    x, before = ti.static(s.particles.position, s.particles.previous_position)
    a, b = sides_of(s, c, world)
    weights_a = load_quaternion(contacts, c, CONTACT.weights_a, world)
    weights_b = load_quaternion(contacts, c, CONTACT.weights_b, world)
    point_a, point_b = point_of(s, x, a, weights_a, world), point_of(s, x, b, weights_b, world)
    start = point_of(s, before, a, weights_a, world) - point_of(s, before, b, weights_b, world)
    p = point_a
    if a < 0:
        p = point_b
    elif b >= 0:
        p = 0.5 * (point_a + point_b)
    arm_a, arm_b = p, p
    if a >= 0:
        arm_a -= load_vector(s.hooked.motion, a, MOTION.centre, world)
    if b >= 0:
        arm_b -= load_vector(s.hooked.motion, b, MOTION.centre, world)
    store_vector(contacts, c, CONTACT.arm_a, arm_a, world)
    store_vector(contacts, c, CONTACT.arm_b, arm_b, world)
    store_vector(contacts, c, CONTACT.start, start, world)
    n = load_vector(contacts, c, CONTACT.normal, world)
    weight = inverse_effective_mass(s, a, arm_a, n, world) + inverse_effective_mass(s, b, arm_b, n, world)
    contacts[world, c, CONTACT.effective_mass] = 1.0 / (weight + WEIGHTLESS)


@ti.func
def apply_restitution(s: ti.template(), c, world):
    """Give the bodies of contact c the restitution coefficient times their approach speed, by a change of x*.

    As in an exact start of Verlet, x - x* = v h - a h²/2.
    """
    contacts = ti.static(s.hooked.contacts)
    a, b = sides_of(s, c, world)
    n = load_vector(contacts, c, CONTACT.normal, world)
    h = s.settings.h
    wanted = contacts[world, c, CONTACT.approach_speed] * contacts[world, c, CONTACT.restitution] * h
    wanted += 0.5 * closing_gravity(s, a, b, n, world) * h * h
    before = contacts[world, c, CONTACT.restitution_impulse]
    lacking = wanted - n.dot(relative_displacement(s, c, world))
    impulse = ti.max(before + lacking * contacts[world, c, CONTACT.effective_mass], 0.0)
    contacts[world, c, CONTACT.restitution_impulse] = impulse
    apply_contact_impulse(s, s.particles.previous_position, -1.0, c, (impulse - before) * n, world)


@ti.func
def rebound(s: ti.template(), energy: ti.template(), world):
    """Apply the restitution of all contacts. Args: energy: KEPT, BOUNDED or UNKNOWN."""
    rebounding = False
    for c in range(contact_count(s, world)):
        rebounding = rebounding or rebounds(s, c, world)
    if rebounding:
        read_inertias(s, s.particles.position, world)
        for c in range(contact_count(s, world)):
            prepare_restitution(s, c, world)
            measure_displacement(s, c, world)
        store_free_motion(s, -1.0, world)
        for _ in range(ITERATIONS):
            for c in range(contact_count(s, world)):
                if rebounds(s, c, world):
                    apply_restitution(s, c, world)
        if ti.static(energy != UNKNOWN):
            scale_impulses_of_impact(s, factor_of_impact(s, ti.static(energy == KEPT), world), world)
        move_bodies(s, s.particles.previous_position, s.particles.position, -1.0, world)
        store_free_motion(s, 1.0, world)


@ti.func
def store_free_motion(s: ti.template(), sign, world):
    """Change predicted positions as restitution changes x*, so that their difference stays that of free motion.

    It is called with -1 before and with 1 after x* changes.
    """
    for i in range(s.counts.particles):
        change = sign * s.particles.previous_position[i, world]
        s.particles.predicted_position[i, world] = s.particles.predicted_position[i, world] + change


@ti.func
def factor_of_impact(s: ti.template(), kept: ti.template(), world):
    """The factor f of the impulses of restitution. Args: kept: whether nothing but contacts takes energy."""
    contacts = ti.static(s.hooked.contacts)
    restitution, most, with_particles = 0.0, ti.static(LARGEST_FACTOR if kept else 1.0), False
    for c in range(contact_count(s, world)):
        if rebounds(s, c, world):
            restitution = ti.max(restitution, contacts[world, c, CONTACT.restitution])
            a, b = sides_of(s, c, world)
            with_particles = with_particles or a <= PARTICLE or b <= PARTICLE
    lost, linear, quadratic = 0.0, 0.0, 0.0
    for c in range(contact_count(s, world)):
        impulse = load_vector(contacts, c, CONTACT.impulse, world)
        if impulse[0] > 0.0:
            same = rebounds(s, c, world) and contacts[world, c, CONTACT.restitution] == restitution
            if not same or impulse[1] != 0.0 or impulse[2] != 0.0:
                most = 1.0
            driven = displacement_of_paths(s, c, world)
            lost -= impulse_of(s, c, world).dot(driven)
            n = load_vector(contacts, c, CONTACT.normal, world)
            linear += contacts[world, c, CONTACT.restitution_impulse] * n.dot(driven)
    for body in range(s.hooked.sizes[SIZE.bodies]):
        takes_part = True
        if ti.static(kept):
            takes_part = s.hooked.motion[world, body, MOTION.in_contact] > 0.0
        if takes_part:
            found = works_of(s, body, world)
            lost, linear, quadratic = lost + found[0], linear + found[1], quadratic + found[2]
    factor = 1.0
    if quadratic > 0.0 and not with_particles:
        root = restitution * ti.sqrt(ti.max(linear * linear + 4.0 * quadratic * lost, 0.0))
        factor = ti.min(ti.max((root - linear) / (2.0 * quadratic), 0.0), most)
    return factor


@ti.func
def displacement_of_paths(s: ti.template(), c, world):
    """By how much bodies on paths move the point of contact c in the substep, A's less B's (3,) [m]."""
    result = ti.Vector([0.0, 0.0, 0.0])
    a, b = sides_of(s, c, world)
    if a >= 0:
        if s.hooked.motion[world, a, MOTION.inverse_mass] == 0.0:
            result += displacement_of(s, a, load_quaternion(s.hooked.contacts, c, CONTACT.weights_a, world), world)
    if b >= 0:
        if s.hooked.motion[world, b, MOTION.inverse_mass] == 0.0:
            result -= displacement_of(s, b, load_quaternion(s.hooked.contacts, c, CONTACT.weights_b, world), world)
    return result


@ti.func
def displacement_of(s: ti.template(), body, weights, world):
    """Displacement of a point of a body in the substep (3,) [m]. Args: weights: of the point (4,)."""
    x, before = ti.static(s.particles.position, s.particles.previous_position)
    return weighted_point(s, x, body, weights, world) - weighted_point(s, before, body, weights, world)


@ti.func
def scale_impulses_of_impact(s: ti.template(), factor, world):
    """Multiply the pending impulses of restitution by a factor."""
    motion, contacts = ti.static(s.hooked.motion, s.hooked.contacts)
    for body in range(s.hooked.sizes[SIZE.bodies]):
        for k in ti.static(range(6)):
            place = ti.static(MOTION.linear + k)
            motion[world, body, place] = factor * motion[world, body, place]
    for c in range(contact_count(s, world)):
        before = contacts[world, c, CONTACT.restitution_impulse]
        contacts[world, c, CONTACT.restitution_impulse] = factor * before


@ti.func
def works_of(s: ti.template(), body, world):
    """Energy that a body lost in the compression, and the two terms of its gain by pending impulses, times h² [kg m²].

    `predicted_position` is p - s meanwhile, see `store_free_motion`.
    """
    motion, x, start = ti.static(s.hooked.motion, s.particles.position, s.particles.previous_position)
    moved, turned = load_vector(motion, body, MOTION.linear, world), load_vector(motion, body, MOTION.angular, world)
    centre = load_vector(motion, body, MOTION.centre, world)
    half_fall = 0.5 * s.settings.h * s.settings.h * gravity_scale(s, body, world) * gravity(s, 0)
    lost, linear, quadratic = 0.0, 0.0, 0.0
    for m in range(s.hooked.first_member[body], s.hooked.first_member[body + 1]):
        i = s.hooked.members[m]
        q = x[i, world]
        if q[3] > 0.0:
            now, mass = ti.Vector([q[0], q[1], q[2]]), 1.0 / q[3]
            free, made = s.particles.predicted_position[i, world], now - start[i, world]
            back = moved + turned.cross(now - centre)
            lost += mass * (0.5 * (free.norm_sqr() - made.norm_sqr()) - half_fall.dot(free - made))
            linear += mass * (made + half_fall).dot(back)
            quadratic += mass * 0.5 * back.norm_sqr()
    return lost, linear, quadratic
