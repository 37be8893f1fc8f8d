"""Restitution of contacts: after the iterations, an impulse on the previous positions gives bodies their speed back."""

import taichi as ti

from pbd.constraints.constraint_type import WEIGHTLESS
from pbd.integrate import gravity
from rigid.kernels.vectors import load_quaternion, load_vector, store_vector
from rigid.solvers.verlet.contact_sides import closing_gravity, inverse_effective_mass, point_of, sides_of
from rigid.solvers.verlet.contacts import apply_contact_impulse, relative_displacement
from rigid.solvers.verlet.data import CONTACT, MOTION

# Iterations over all contacts with restitution.
ITERATIONS = 4

# Bodies rebound if their speed afterwards is more than this many times g h.
RESTING_STEPS = 2.0


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
