"""How the directly solved constraints answer to displacements from outside, such as those by impulses of contacts.

They call forth multipliers x that leave of a displacement u only what the constraints allow:

    A x = J u,   u' = u - W Jᵀ x

Source: Baraff, Linear-time Dynamics using Lagrange Multipliers (1996), section 7: auxiliary constraints.
"""

import taichi as ti

from pbd.data import DIRECT_RANGE
from pbd.direct.elimination import substitute
from pbd.direct.one_row import rate_of_row, subtract_row


@ti.func
def take_away_forbidden(s: ti.template(), field: ti.template(), world):
    """Take away what the constraints forbid of a displacement, with the last factor. x is in `s.direct.unknown` then.

    Args: field: u, then u' (particles, worlds).
    """
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            rate = rate_of_row(s.features.types[index], index, s, row, field, world)
            s.direct.unknown[s.direct.place[row], world] = rate
    substitute(s, world)
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            answer = s.direct.unknown[s.direct.place[row], world]
            subtract_row(s.features.types[index], index, s, row, answer, s.direct.weighted, field, world)
