"""The sticks of the direct solve: their ends, and their stiffness by tension."""

import taichi as ti

from pbd.core.vectors import length_or_huge
from pbd.data import RANGE
from pbd.integrate import position


@ti.func
def ends_of(index: ti.template(), s: ti.template(), row):
    """The two particles of a row's stick."""
    member = s.constraints.ranges[index, RANGE.members] + 2 * s.direct.constraint[row]
    return s.constraints.members[member], s.constraints.members[member + 1]


@ti.func
def tension_of(index: ti.template(), s: ti.template(), row, world):
    """Particles of a stick, its stiffness across itself, which is its tension by its length [kg], and its direction."""
    i, j = ends_of(index, s, row)
    difference = position(s, j, world) - position(s, i, world)
    distance = difference.norm() + 1e-30  # what has no length is stiff across itself in every direction
    return i, j, -s.direct.multiplier[s.direct.place[row], world] / distance, difference / length_or_huge(difference)
