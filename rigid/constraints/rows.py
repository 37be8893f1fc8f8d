"""Rows: one scalar constraint each, and the groups in which solvers take them.

A row ties two bodies i and j by the derivative of a value G, of two 6-vectors of which the linear parts are opposite:

    dG/dt = J_i V_i + J_j V_j = d·(v_i - v_j) + a_i·ω_i + a_j·ω_j

and has bounds on its effort (the force or torque along it, of which λ = effort h is the impulse), a velocity it aims
at, and a stiffness k and damping c, infinite where it is hard. Joints (rigid/constraints/joints) and contacts
(rigid/constraints/contact_rows.py) write rows; they know no solver. Solvers read them: sequential impulses solve them, penalties
make forces of them.

A group is one or more rows of the same bodies that belong together:

    LOCK   G = 0, no bounds; all rows at once (a hinge's five), hard or soft: springs are soft locks
    LIMIT  one row: G >= 0 with effort >= 0 (LOW = 0), or G <= 0 with effort <= 0 (HIGH = 0)
    DRIVE  one row: dG/dt = TARGET as far as LOW <= effort <= HIGH allows: motors, friction
    DISC   dG/dt = 0 as far as |effort| <= HIGH allows, of all rows together as a vector: friction in two or three
           directions; where the group has a LEADER, HIGH is μ and the bound is μ times the effort of that row
    GEAR   two rows, each with bodies of its own: G = G_1 + G_2 = 0, one impulse for both
    IDLE   nothing in this step
"""

from typing import Any, NamedTuple

import numpy as np
import taichi as ti

from rigid.collision.data import array
from rigid.kernels.columns import put_triple


class Rows(NamedTuple):
    """Rows of joints, then those of contacts; W worlds, R rows in G groups."""

    numbers: Any  # (W, R, COLUMNS): see below; from OWN on a solver's
    groups: Any  # (W, G, 8) i32: see below


# Columns of `numbers`: d, a_i, a_j; G [m or rad]; the velocity aimed at; bounds of the effort [N or N m]; stiffness
# and damping. Where PER_MASS is 1 those are for a row of effective mass one, ω² and 2ζω.
DIRECTION, TURN_I, TURN_J, ERROR, TARGET, LOW, HIGH, STIFFNESS, DAMPING, PER_MASS = 0, 3, 6, 9, 10, 11, 12, 13, 14, 15
OWN = 16

# Columns of `groups`: its kind; bodies i and j, the ground's being the last; its first row, and how many it has; the
# row whose effort bounds it, or -1; of a gear the bodies of its second row.
KIND, BODY_I, BODY_J, FIRST, COUNT, LEADER, BODY_K, BODY_L = range(8)

IDLE, LOCK, LIMIT, DRIVE, DISC, GEAR = range(6)


class RowTable:
    """Rows and groups while they are counted and first filled in, in numpy.

    Arguments: columns: of a row, those of the solver included; worlds.
    """

    def __init__(self, columns, worlds):
        self.columns, self.worlds = columns, worlds
        self.rows, self.groups = [], []

    def add(self, kind, i, j, count=1, stiffness=np.inf, damping=0.0, per_mass=0.0, leader=-1):
        """Add a group. Arguments: as the columns; numbers, or one for each row and world. Returns: group, first row."""
        first = len(self.rows)
        for _ in range(count):
            row = np.zeros((self.columns, self.worlds))
            row[LOW], row[HIGH] = -np.inf, np.inf
            row[STIFFNESS], row[DAMPING], row[PER_MASS] = stiffness, damping, per_mass
            self.rows.append(row)
        self.groups.append([kind, i, j, first, count, leader, i, j])
        return len(self.groups) - 1, first

    def upload(self, rows=0, groups=0):
        """Taichi arrays: a Rows. Arguments: how many more rows and groups there is room for, those of contacts."""
        numbers = np.zeros((self.worlds, len(self.rows) + rows, self.columns))
        numbers[:, : len(self.rows)] = by_world(self.rows, self.columns, self.worlds)
        integers = np.zeros((self.worlds, len(self.groups) + groups, BODY_L + 1), np.int32)
        integers[:, : len(self.groups)] = np.reshape(self.groups, (-1, BODY_L + 1))
        return Rows(array(numbers), array(integers))


def by_world(rows, columns, worlds):
    """Rows of numbers, each (columns, worlds), as an array (worlds, rows, columns)."""
    return np.moveaxis(np.reshape(rows, (-1, columns, worlds)), -1, 0)


@ti.func
def put_jacobian(rows: ti.template(), row, d, a_i, a_j, error, world):
    """Write what of a row changes from step to step: d, a_i, a_j and G."""
    put_triple(rows.numbers, row, DIRECTION, d, world)
    put_triple(rows.numbers, row, TURN_I, a_i, world)
    put_triple(rows.numbers, row, TURN_J, a_j, world)
    rows.numbers[world, row, ERROR] = error


@ti.func
def put_bounds(rows: ti.template(), row, target, low, high, world):
    """Write the velocity that a row aims at and the bounds of its effort."""
    rows.numbers[world, row, TARGET] = target
    rows.numbers[world, row, LOW] = low
    rows.numbers[world, row, HIGH] = high


@ti.func
def bodies_of(rows: ti.template(), group, k, world):
    """Bodies i and j of the k-th row of a group; the second row of a gear has its own."""
    at = BODY_I
    if rows.groups[world, group, KIND] == GEAR and k == 1:
        at = BODY_K
    return rows.groups[world, group, at], rows.groups[world, group, at + 1]


@ti.func
def beyond(rows: ti.template(), row, kind, world):
    """The part of a row's error that is to be mended: of a limit what is beyond it, of drives and discs none."""
    error = rows.numbers[world, row, ERROR]
    result = 0.0
    if kind == LOCK or kind == GEAR:
        result = error
    elif kind == LIMIT:
        result = ti.min(error, 0.0)
        if rows.numbers[world, row, HIGH] == 0.0:
            result = ti.max(error, 0.0)
    return result
