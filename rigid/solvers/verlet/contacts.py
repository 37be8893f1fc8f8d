"""Contacts of bodies, on their frames: one impulse at one point, and the frame answers as the body it is.

A contact keeps a point of A out of B, along the normal n from B to A. Both points ride on their frames,
p = Σ c_i x_i (rigid/solvers/verlet/frame.py), and with D the displacement of A's point relative to B's since the start of the
step, and g the gap there,

    C = max(g - skin, 0) - part + n·D >= 0,    λ >= 0,    λ C = 0
    t·D = 0  while  |λ_t| <= μ λ                             (two tangents t, the cone of Coulomb)

with skin and part as below: what overlaps already comes no deeper, and is parted slowly.

An impulse P at p moves the particles of a frame as it moves the body: with M, c and I those of its particles as they
were at the start of the step,  x_i += P/M + I⁻¹((p - c) × P) × (x*_i - c).

Source: Jakobsen, Advanced Character Physics (2001), section 5, who moves the four corners by x_i += c_i w_i λ Δ. Of all
gradients of p that agree on rigid motions his is one that strains the frame, and sticks have to mend it; this is the
one they leave alone, the least in mass. Linear momentum is exact, and angular momentum Σ m x* × (x - x*)/h as well,
since both bodies take the impulse at one point of the start of the step.

Accumulated λ, clamped as a sum (Catto, Iterative dynamics with temporal coherence, 2005): it may shrink again within a
step, so that sweeps converge to λ C = 0 instead of leaving bodies apart, and the last step's λ starts the next.
"""

import taichi as ti

from pbd.constraints.constraint_type import WEIGHTLESS
from pbd.integrate import gravity
from rigid.collision.data import POINT
from rigid.solvers.verlet.contact_cache import CALM, recall
from rigid.solvers.verlet.data import (
    APPROACH,
    ARM_A,
    ARM_B,
    DRIFT,
    FRICTION,
    IMPULSE,
    INVERSE_WEIGHT,
    NORMAL,
    RESTITUTION,
    ROLL,
    ROOM,
    START,
    TANGENT,
    WEIGHTS_A,
    WEIGHTS_B,
    four,
    sides_of,
    tangents,
    triple,
    write_triple,
)
from rigid.solvers.verlet.poses import combined
from rigid.solvers.verlet.rolling import prepare_rolling, rise
from rigid.solvers.verlet.sides import PARTICLE, answer, margins, moved, point_of, pull, push, weights_of

# Parts of the bodies' margins (rigid/solvers/verlet/upload.py). Within the skin two surfaces already come no closer: a corner
# that lifts off by a hair's breadth cannot fall back, and what rocks comes to rest. What overlaps by more than the slop
# is parted: a part of it in each step, and no faster than FASTEST [m/s], which is all the speed it can gain.
SKIN, SLOP = 0.3, 0.25
PARTED, FASTEST = 0.2, 0.02


@ti.func
def count(s: ti.template(), world):
    """How many contacts there are in this step."""
    return ti.min(s.hooked.points.count[world], s.hooked.contacts.shape[0])


@ti.func
def measure(s: ti.template(), c, world):
    """Write the part of D, for contact c, that the frames show: without what impulses are about to do to them.

    And without what the two points part by rolling.
    """
    a, b = sides_of(s, c, world)
    drift = -triple(s.hooked.contacts, c, world, START)
    if a >= 0:
        drift += combined(s, s.particles.position, a, four(s.hooked.contacts, c, world, WEIGHTS_A), world)
    if b >= 0:
        drift -= combined(s, s.particles.position, b, four(s.hooked.contacts, c, world, WEIGHTS_B), world)
    drift -= rise(s, c, world) * triple(s.hooked.contacts, c, world, NORMAL)
    write_triple(s.hooked.contacts, c, world, DRIFT, drift)


@ti.func
def apart(s: ti.template(), c, world):
    """D: how far the two points of contact c have moved apart since the start of the step (3,) [m]."""
    a, b = sides_of(s, c, world)
    here = moved(s, a, triple(s.hooked.contacts, c, world, ARM_A), world)
    there = moved(s, b, triple(s.hooked.contacts, c, world, ARM_B), world)
    return triple(s.hooked.contacts, c, world, DRIFT) + here - there


@ti.func
def push_both(s: ti.template(), array: ti.template(), sign, c, impulse, world):
    """Give A an impulse at contact c, and B the opposite one."""
    a, b = sides_of(s, c, world)
    push(s, array, sign, a, triple(s.hooked.contacts, c, world, ARM_A), impulse, world)
    push(s, array, sign, b, triple(s.hooked.contacts, c, world, ARM_B), -impulse, world)


# The phases of a step -----------------------------------------------------------------------------------------------


@ti.func
def prepare(s: ti.template(), c, world):
    """Make contact c from the narrow phase's point, and find what it had in the last step."""
    a, b = sides_of(s, c, world)
    n = ti.Vector([s.hooked.points.numbers[world, c, POINT.normal + k] for k in ti.static(range(3))])
    gap = s.hooked.points.numbers[world, c, POINT.gap]
    p = ti.Vector([s.hooked.points.numbers[world, c, POINT.position + k] for k in ti.static(range(3))]) - 0.5 * gap * n
    t = ti.Vector([0.0, n[2], -n[1]])
    if ti.abs(n[0]) > 0.6:
        t = ti.Vector([-n[2], 0.0, n[0]])
    t /= t.norm()
    weights_a, arm_a = weights_of(s, a, p, world)
    weights_b, arm_b = weights_of(s, b, p, world)
    now, before = ti.static(s.particles.position, s.particles.previous_position)
    start = point_of(s, before, a, weights_a, world) - point_of(s, before, b, weights_b, world)
    write_triple(s.hooked.contacts, c, world, NORMAL, n)
    write_triple(s.hooked.contacts, c, world, TANGENT, t)
    write_triple(s.hooked.contacts, c, world, ARM_A, arm_a)
    write_triple(s.hooked.contacts, c, world, ARM_B, arm_b)
    write_triple(s.hooked.contacts, c, world, START, start)
    for k in ti.static(range(4)):
        s.hooked.contacts[c, world, WEIGHTS_A + k] = weights_a[k]
        s.hooked.contacts[c, world, WEIGHTS_B + k] = weights_b[k]
    prepare_rolling(s, c, world)
    skin = SKIN * margins(s, a, b, world)
    room = gap - skin
    if a > PARTICLE:  # a particle is put outside, as by any collider of pbd's; bodies that overlap are parted gently
        deep = ti.max(-gap - SLOP * margins(s, a, b, world), 0.0)
        room = ti.max(room, 0.0) - ti.min(PARTED * deep, FASTEST * s.settings.h)
    s.hooked.contacts[c, world, ROOM] = room
    across = n.cross(t)
    for k, d in ti.static(enumerate((n, t, across))):
        s.hooked.contacts[c, world, INVERSE_WEIGHT + k] = 1.0 / (
            answer(s, a, arm_a, d, world) + answer(s, b, arm_b, d, world) + WEIGHTLESS
        )
    s.hooked.contacts[c, world, FRICTION] = s.hooked.points.numbers[world, c, POINT.friction]
    s.hooked.contacts[c, world, RESTITUTION] = s.hooked.points.numbers[world, c, POINT.restitution]
    foreseen = point_of(s, now, a, weights_a, world) - point_of(s, now, b, weights_b, world) - start
    foreseen += rise(s, c, world) * n  # corners go on along their tangents, and the frame grows
    # Speed at the end of the step as foreseen, and from it the speed at the surface, `depth` before.
    given = pull(s, a, b, n)
    speed = -n.dot(foreseen) / s.settings.h + 0.5 * given * s.settings.h
    depth = ti.max(skin - gap - n.dot(foreseen), 0.0)
    approach = ti.sqrt(ti.max(speed * speed - 2.0 * given * depth, 0.0)) * (speed > 0.0)
    s.hooked.contacts[c, world, APPROACH] = approach
    # What strikes does not roll: it turns and slips far within the step, and a rise for that would throw it.
    if approach > CALM * gravity(s, 0).norm() * s.settings.h:
        write_triple(s.hooked.contacts, c, world, ROLL, ti.Vector([0.0, 0.0, 0.0]))
    impulse = recall(s, c, world)
    normal = ti.max(impulse.dot(n), 0.0)
    write_triple(s.hooked.contacts, c, world, IMPULSE, ti.Vector([normal, impulse.dot(t), impulse.dot(across)]))


@ti.func
def warm_start(s: ti.template(), c, world):
    """Begin with the last step's impulse."""
    n, t, u = tangents(s, c, world)
    impulse = triple(s.hooked.contacts, c, world, IMPULSE)
    if impulse[0] > 0.0:
        push_both(s, s.particles.position, 1.0, c, impulse[0] * n + impulse[1] * t + impulse[2] * u, world)


@ti.func
def solve(s: ti.template(), c, world):
    """Project contact c, with friction; return how deep it was [m]."""
    n, t, u = tangents(s, c, world)
    D = apart(s, c, world)
    before = triple(s.hooked.contacts, c, world, IMPULSE)
    C = s.hooked.contacts[c, world, ROOM] + n.dot(D)
    if C < 0.0 or before[0] > 0.0:
        inverse = triple(s.hooked.contacts, c, world, INVERSE_WEIGHT)
        normal = ti.max(before[0] - C * inverse[0], 0.0)
        along, across = before[1] - D.dot(t) * inverse[1], before[2] - D.dot(u) * inverse[2]
        limit = s.hooked.contacts[c, world, FRICTION] * normal
        if along * along + across * across > limit * limit:
            # What slides: the same step for both tangents, so that it ends where λ_t lies against the slip; each with
            # its own would turn it aside. No longer than either bears (as rigid/solvers/sequential/relax.py has it).
            step = ti.min(inverse[1], inverse[2])
            along, across = before[1] - D.dot(t) * step, before[2] - D.dot(u) * step
            length = ti.sqrt(along * along + across * across)
            if length > limit:
                along *= limit / length
                across *= limit / length
        write_triple(s.hooked.contacts, c, world, IMPULSE, ti.Vector([normal, along, across]))
        push_both(
            s, s.particles.position, 1.0, c,
            (normal - before[0]) * n + (along - before[1]) * t + (across - before[2]) * u, world,
        )  # fmt: skip
    return ti.max(-C, 0.0)
