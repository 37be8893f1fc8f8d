"""How soft rows are in small steps, see soft.py."""

import math

import taichi as ti

from rigid.solvers.adaptive_substeps import of_part

# h ω and ζ of joints and of contacts: 60 Hz at h = 1/240 s. The source has half of it for contacts of two bodies that
# move. With that a pile sinks three times as far, and a tower of 16 boxes buckles: its weight exceeds what the corners
# of soft boxes hold upright.
JOINT, CONTACT = (0.5 * math.pi, 2.0), (0.5 * math.pi, 10.0)


def of_substep(s):
    """The data of a step with the length of a substep. Args: s: with that of a small step, if there are any."""
    return of_part(s, max(s.features.small_steps, 1))


@ti.func
def softness_of(of_contact):
    """h ω and ζ of the softness of a row. Args: of_contact: whether it is that of a contact."""
    turn, damping = JOINT
    if of_contact:
        turn, damping = CONTACT
    return turn, damping
