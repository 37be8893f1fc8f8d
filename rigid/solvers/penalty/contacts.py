"""Contacts as springs: how stiff and damped each may be, and friction that remembers how far it is stretched.

A contact's rows (rigid/constraints/contact_rows.py) become soft ones, of an effective mass of one: α* that of shifts, and β* of the
restitution e. A body on a spring with the damping ratio ζ = sin φ, which pushes and never pulls, leaves with

    e = exp(-(π - 2φ) tan φ)        (Schwager and Pöschel, Coefficient of restitution and linear-dashpot model
                                     revisited, 2007, equation 20)

of its speed. The largest ζ, 1, leaves 1/e² = 0.135: what is to rebound less does not. (So it is for what meets at one
point below its middle, and for cubes on four; the corners of a flatter box are a little softer.)

Contacts come and go, so that no bound on the step can be found for them beforehand; they keep within what joints leave
of it instead. What is stable has the largest eigenvalue of Σ (h² α + 2 h β) M^(-1/2) Jᵀ J M^(-1/2), over rows, below 4
(rigid/solvers/penalty/stability.py). That of a sum is at most the sum of those of its parts, and where each row is shared out
between its two bodies as its A is, a body has at most Σ (h² α* + 2 h β*) over its own rows. So nothing swings up where
each of a body's n points has an nth of the room. Of that it takes 3/4, as its three rows share a point, and together
have more than one alone: 11/8, at the corner of a cube. Damping gives way first, then stiffness: at 3 ms a box on four
points is damped to 0.8 of critically, round things as asked, and a body on thirty points hardly.
"""

import math

import taichi as ti

from rigid.collision.data import PAIR, POINT
from rigid.constraints.contact_rows import ROWS
from rigid.constraints.rows import DAMPING, DIRECTION, PER_MASS, STIFFNESS
from rigid.kernels.columns import put_triple, triple
from rigid.solvers.penalty.data import ROOM, STRETCH

# Columns of a point that say which contact it is.
KEYS = (PAIR.shape_a, PAIR.shape_b, PAIR.feature)

SHARED = 0.75  # of what joints leave, for the three rows of each point

PART = 2 / math.pi  # of -ln(e)/2 that ζ is where both are small


@ti.func
def damping_ratio(restitution):
    """ζ of a restitution: the inverse of e above, by its first terms from both ends, within 0.0015 of e."""
    u = ti.min(-0.5 * ti.log(ti.max(restitution, 1e-3)), 1.0)
    return u * (PART + PART**3 * u + (1.0 - PART - PART**3) * u * u)


@ti.func
def begin_contacts(s: ti.template(), count, world):
    """Stiffness and damping of all contacts, and how far the friction of each was stretched. Arguments: how many."""
    n = ti.static(s.rows.numbers)
    for body in range(s.crowds.shape[1]):
        s.crowds[world, body] = 0
    for c in range(count):
        for end in ti.static((PAIR.body_a, PAIR.body_b)):
            body = s.points.integers[world, c, end]
            if body >= 0:
                s.crowds[world, body] = s.crowds[world, body] + 1
    for c in range(count):
        crowd = s.crowds[world, s.points.integers[world, c, PAIR.body_a]]
        if s.points.integers[world, c, PAIR.body_b] >= 0:
            crowd = ti.max(crowd, s.crowds[world, s.points.integers[world, c, PAIR.body_b]])
        room = SHARED * s.surroundings[ROOM, world] / ti.cast(crowd, float)
        stiffness = ti.min(s.gains.stiffness, 0.5 * room / (s.h * s.h))
        most = (room - s.h * s.h * stiffness) / (2.0 * s.h)
        critical = 2.0 * ti.sqrt(stiffness)
        damping = ti.min(critical * damping_ratio(s.points.numbers[world, c, POINT.restitution]), most)
        stretch = remembered(s, c, world)
        first = s.first_row + ROWS * c
        for row in range(first, first + ROWS):
            n[world, row, STIFFNESS] = stiffness
            n[world, row, DAMPING] = ti.min(critical, most)
            n[world, row, PER_MASS] = 1.0
            n[world, row, STRETCH] = stretch.dot(triple(n, row, DIRECTION, world))
        n[world, first, DAMPING] = damping


@ti.func
def same(s: ti.template(), c, at, world):
    """Whether point c is the one that was kept at a place."""
    result = 1
    for k in ti.static(range(3)):
        if s.points.integers[world, c, ti.static(KEYS[k])] != s.kept.keys[world, at, k]:
            result = 0
    return result


@ti.func
def remembered(s: ti.template(), c, world):
    """How far the friction of point c was stretched after the last step; zero for one that is new.

    Points are found in much the same order in every step, so that the search, which begins at c, mostly ends there.
    """
    stretch = ti.Vector([0.0, 0.0, 0.0])
    count, tried = s.kept.count[world], 0
    while tried < count:
        at = (c + tried) % count
        tried += 1
        if same(s, c, at, world) == 1:
            stretch = triple(s.kept.stretches, at, 0, world)
            tried = count
    return stretch


@ti.func
def keep_contacts(s: ti.template(), world):
    """Keep how far the friction of all contacts is stretched, for the next step."""
    n = ti.static(s.rows.numbers)
    count = ti.min(s.points.count[world], s.points.integers.shape[1])
    s.kept.count[world] = count
    for c in range(count):
        stretch = ti.Vector([0.0, 0.0, 0.0])
        for k in ti.static((1, 2)):
            row = s.first_row + ROWS * c + k
            stretch += n[world, row, STRETCH] * triple(n, row, DIRECTION, world)
        put_triple(s.kept.stretches, c, 0, stretch, world)
        for k in ti.static(range(3)):
            s.kept.keys[world, c, k] = s.points.integers[world, c, ti.static(KEYS[k])]
