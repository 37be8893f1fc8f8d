"""Warm start: contacts begin a substep with their impulses of the last one, as far as these fit.

Where joints are solved directly they pass these impulses on (pbd/direct/motion.py), and what is at rest stays there. An
impulse that an impact has left throws a body that it no longer holds, so it is taken back. In stacks of bodies without
joints the same would take back loads that tremble, and what lies below would sink in.
"""

import taichi as ti

from pbd.core.kernels import load_vector, store_vector
from pbd.integrate import gravity
from rigid.solvers.verlet.contacts import (
    RESTING_STEPS,
    apply_contact_impulse,
    impulse_of,
    measure_displacement,
)
from rigid.solvers.verlet.contacts_in_lanes import contact_count
from rigid.solvers.verlet.data import CONTACT
from rigid.solvers.verlet.frame_motion import move_bodies


@ti.func
def warm_start(s: ti.template(), c, world):
    """Apply the last step's impulse at contact c."""
    if s.hooked.contacts[world, c, CONTACT.impulse] > 0.0:
        apply_contact_impulse(s, s.particles.position, 1.0, c, impulse_of(s, c, world), world)


@ti.func
def pushes_too_far(s: ti.template(), c, world):
    """Whether the impulse of contact c displaces its sides farther than resting ones: the load that it held is gone."""
    impulse = impulse_of(s, c, world)
    resting = RESTING_STEPS * gravity(s, 0).norm() * s.settings.h**2
    return impulse.dot(load_vector(s.hooked.contacts, c, CONTACT.displacement, world)) > resting * impulse.norm()


@ti.func
def take_back_impulse(s: ti.template(), c, world):
    """Take back what `warm_start` has applied at contact c."""
    apply_contact_impulse(s, s.particles.position, 1.0, c, -impulse_of(s, c, world), world)
    store_vector(s.hooked.contacts, c, CONTACT.impulse, ti.Vector([0.0, 0.0, 0.0]), world)


@ti.func
def take_back_impulses(s: ti.template(), world):
    """Take back the warm start of contacts that it displaces farther than at rest. Returns: whether there were any."""
    found = False
    for c in range(contact_count(s, world)):
        measure_displacement(s, c, world)
        if pushes_too_far(s, c, world):
            take_back_impulse(s, c, world)
            found = True
    if found:
        move_bodies(s, s.particles.position, s.particles.previous_position, 1.0, world)
    return found


@ti.func
def take_back_nothing(s: ti.template(), world):
    """Take no impulse back: for bodies without joints."""
    return False
