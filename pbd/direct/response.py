"""How the directly solved constraints answer to impulses from outside, such as those of contacts of bodies.

An impulse moves particles by u. The constraints call forth multipliers that leave only what they allow of it:

    A x = J u,   u' = u - W Jᵀ x

Source: Baraff, Linear-time Dynamics using Lagrange Multipliers (1996), section 7: auxiliary constraints.
"""

import taichi as ti

from pbd.data import DIRECT_RANGE
from pbd.direct.elimination import substitute
from pbd.direct.one_row import rate_of_row, subtract_row
from pbd.direct.solve import apply


@ti.func
def respond(s: ti.template(), field: ti.template(), answers: ti.template(), column, world):
    """Take away what the constraints forbid of a displacement.

    Args: field: u, then u' (particles, worlds) [m]; answers: x (worlds, columns, rows); column: where x is stored.
    """
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            rate = rate_of_row(s.features.types[index], index, s, row, field, world)
            s.direct.unknown[s.direct.place[row], world] = rate
    substitute(s, world)
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            place = s.direct.place[row]
            answer = s.direct.unknown[place, world]
            answers[world, column, place] = answer
            subtract_row(s.features.types[index], index, s, row, answer, s.direct.weighted, field, world)


@ti.func
def apply_response(s: ti.template(), answers: ti.template(), impulses: ti.template(), columns, world):
    """Apply what the constraints answer to impulses. Args: answers: see `respond`; impulses: (worlds, columns)."""
    for place in range(s.counts.direct_rows):
        total = 0.0
        for column in range(columns):
            total += answers[world, column, place] * impulses[world, column]
        s.direct.unknown[place, world] = -total
    apply(s, world)
