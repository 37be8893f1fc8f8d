"""Rebound of bodies from contacts: after the relaxation, by where they were before."""

import taichi as ti

from pbd.constraints.constraint_type import WEIGHTLESS
from pbd.integrate import gravity
from rigid.solvers.verlet.contacts import apart, push_both
from rigid.solvers.verlet.data import (
    APPROACH,
    ARM_A,
    ARM_B,
    CENTRE,
    IMPULSE,
    INVERSE_WEIGHT,
    NORMAL,
    RESTITUTION,
    START,
    WEIGHTS_A,
    WEIGHTS_B,
    four,
    sides_of,
    triple,
    write_triple,
)
from rigid.solvers.verlet.sides import answer, point_of, pull

# Passes over all contacts, to give those that rebound their speed.
PASSES = 4


@ti.func
def rebounds(s: ti.template(), c, world):
    """Whether contact c sends its bodies back: it stopped them, and not from mere rest."""
    g = gravity(s, 0).norm()
    speed = s.hooked.contacts[c, world, APPROACH] * s.hooked.contacts[c, world, RESTITUTION]
    return s.hooked.contacts[c, world, IMPULSE] > 0.0 and speed > 2.0 * g * s.settings.h


@ti.func
def aim(s: ti.template(), c, world):
    """Take contact c as it is at the end of the step: its rebound is an impulse at that instant.

    With arms from there the change of x* keeps Σ m x* × x, which is the angular momentum.
    """
    a, b = sides_of(s, c, world)
    weights_a, weights_b = four(s.hooked.contacts, c, world, WEIGHTS_A), four(s.hooked.contacts, c, world, WEIGHTS_B)
    now, before = ti.static(s.particles.position, s.particles.previous_position)
    here, there = point_of(s, now, a, weights_a, world), point_of(s, now, b, weights_b, world)
    start = point_of(s, before, a, weights_a, world) - point_of(s, before, b, weights_b, world)
    p = here
    if a < 0:
        p = there
    elif b >= 0:
        p = 0.5 * (here + there)
    n = triple(s.hooked.contacts, c, world, NORMAL)
    arm_a, arm_b = p, p
    if a >= 0:
        arm_a -= triple(s.hooked.motion, a, world, CENTRE)
    if b >= 0:
        arm_b -= triple(s.hooked.motion, b, world, CENTRE)
    write_triple(s.hooked.contacts, c, world, ARM_A, arm_a)
    write_triple(s.hooked.contacts, c, world, ARM_B, arm_b)
    write_triple(s.hooked.contacts, c, world, START, start)
    weight = answer(s, a, arm_a, n, world) + answer(s, b, arm_b, n, world)
    s.hooked.contacts[c, world, INVERSE_WEIGHT] = 1.0 / (weight + WEIGHTLESS)
    s.hooked.contacts[c, world, IMPULSE + 1] = 0.0


@ti.func
def rebound(s: ti.template(), c, world):
    """Give contact c's bodies the speed of their rebound, e times that of approach, by where they were before.

    As in an exact start of Verlet, x - x* = v h - a h²/2.
    """
    a, b = sides_of(s, c, world)
    n = triple(s.hooked.contacts, c, world, NORMAL)
    wanted = s.hooked.contacts[c, world, APPROACH] * s.hooked.contacts[c, world, RESTITUTION] * s.settings.h
    wanted += 0.5 * pull(s, a, b, n) * s.settings.h * s.settings.h
    before = s.hooked.contacts[c, world, IMPULSE + 1]
    lacking = wanted - n.dot(apart(s, c, world))
    impulse = ti.max(before + lacking * s.hooked.contacts[c, world, INVERSE_WEIGHT], 0.0)
    s.hooked.contacts[c, world, IMPULSE + 1] = impulse
    push_both(s, s.particles.previous_position, -1.0, c, (impulse - before) * n, world)
