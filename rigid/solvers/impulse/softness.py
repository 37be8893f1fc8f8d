"""How soft rows are in small steps, see soft.py."""

import math

import taichi as ti

from rigid.kernels.motion import MASS
from rigid.solvers.adaptive_substeps import of_part

# h ω and ζ of joints, of contacts, and of contacts with what nothing moves: 60, 30 and 60 Hz at h = 1/240 s.
JOINT = (0.5 * math.pi, 2.0)
CONTACT, CONTACT_WITH_FIXED = (0.25 * math.pi, 10.0), (0.5 * math.pi, 10.0)


def of_substep(s):
    """The data of a step with the length of a substep. Args: s: with that of a small step, if there are any."""
    return of_part(s, max(s.features.small_steps, 1))


@ti.func
def softness_of(s: ti.template(), i, j, of_contact, world):
    """h ω and ζ of the softness of a row. Args: i, j: its bodies; of_contact: whether it is that of a contact."""
    turn, damping = JOINT
    if of_contact:
        turn, damping = CONTACT
        mass = ti.static(s.bodies.mass)
        if mass[world, i, MASS.inverse_mass] == 0.0 or mass[world, j, MASS.inverse_mass] == 0.0:
            turn, damping = CONTACT_WITH_FIXED
    return turn, damping
