"""Rows, which are scalar constraints, and groups of rows that are solved together.

A row connects two bodies i and j by the derivative of a value G, with two 6-vectors whose linear parts are opposite:

    dG/dt = J_i V_i + J_j V_j = d·(v_i - v_j) + a_i·ω_i + a_j·ω_j

It has bounds on its effort, a target velocity, and a stiffness k and damping c, which are infinite for a hard row. The
effort is the force or torque along the row; its impulse is λ = effort h. Joints (rigid/constraints/joints) and contacts
(rigid/constraints/contact_rows.py) write rows and know no solver. Solvers read rows: sequential impulses solve them,
penalties turn them into forces.

A group is one or more rows of the same bodies:

    EQUALITY  G = 0 without bounds, for all rows together (five for a hinge); hard or soft: a spring is a soft one
    LIMIT     one row: G >= 0 with effort >= 0 (low = 0), or G <= 0 with effort <= 0 (high = 0)
    DRIVE     one row: dG/dt = target, as far as low <= effort <= high allows: motors, friction of joints
    FRICTION  dG/dt = 0, as far as |effort| <= high allows, for the rows together as a vector of two or three; if the
              group has a normal row, high is μ and the bound is μ times that row's effort
    GEAR      two rows, each with its own bodies: G = G_1 + G_2 = 0, with one impulse for both
    IDLE      nothing in this step

Kinds may differ between worlds, so they are real numbers: integers are common to worlds in lanes. What kinds a group
can have follows from its form, which is common:

    SINGLE    one row: any kind but FRICTION and GEAR
    BLOCK     rows of an EQUALITY, or IDLE
    SLIP      rows of FRICTION, or IDLE
    PAIR      rows of a GEAR
"""

from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.kernels import Columns, Integer, Real, allocate, count, store_vector

# d, a_i, a_j; G [m or rad]; target velocity; bounds of the effort [N or N m]; stiffness and damping. If per_mass is 1,
# these are for a row of effective mass one: ω² and 2ζω. The inverse inertia of a rotor, whose speed is the target; zero
# for none. Solvers extend this layout by their own columns.
ROW = Columns(
    linear=3, angular_i=3, angular_j=3, error=1, target=1, low=1, high=1, stiffness=1, damping=1, per_mass=1, rotor=1
)  # fmt: skip

# The form, a Form; bodies i and j; the first row and the number of rows; the normal row of friction, or -1; the
# bodies of a gear's second row.
GROUP = Columns(form=1, body_i=1, body_j=1, first=1, count=1, normal=1, body_k=1, body_l=1)


class Group:
    """Kinds of groups."""

    IDLE, EQUALITY, LIMIT, DRIVE, FRICTION, GEAR = map(float, range(6))


class Form:
    """Forms of groups."""

    SINGLE, BLOCK, SLIP, PAIR = range(4)


class Rows(NamedTuple):
    """Rows of joints, followed by rows of contacts."""

    numbers: Real(count.worlds, count.rows, count.row_columns, kept=True)  # ROW, and the solver's columns
    kinds: Real(count.worlds, count.groups)  # of each group, a Group
    groups: Integer(count.worlds, count.groups, GROUP, common=True)


class RowBuilder:
    """Rows and groups while they are counted and first filled in, in numpy.

    Args: columns: number of columns of a row, the solver's included; worlds.
    """

    def __init__(self, columns, worlds):
        self.columns, self.worlds = columns, worlds
        self.rows, self.kinds, self.groups = [], [], []

    def add(self, kind, i, j, count=1, stiffness=np.inf, damping=0.0, per_mass=0.0):
        """Add a group.

        Args: kind: a Group; i, j: bodies; count: of rows; stiffness, damping, per_mass: numbers, or one for each world.

        Returns: the group and its first row.
        """
        first = len(self.rows)
        for _ in range(count):
            row = np.zeros((self.columns, self.worlds))
            row[ROW.low], row[ROW.high] = -np.inf, np.inf
            row[ROW.stiffness], row[ROW.damping], row[ROW.per_mass] = stiffness, damping, per_mass
            self.rows.append(row)
        self.kinds.append(kind)
        form = Form.SLIP if kind == Group.FRICTION else Form.SINGLE if count == 1 else Form.BLOCK
        self.groups.append([form, i, j, first, count, -1, i, j])
        return len(self.groups) - 1, first

    def allocate(self, rows=0, groups=0):
        """Make the Taichi arrays, a Rows. Args: rows, groups: capacity for those of contacts."""
        rows, groups = rows + len(self.rows), groups + len(self.groups)
        numbers = np.zeros((self.worlds, rows, self.columns))
        numbers[:, : len(self.rows)] = by_world(self.rows, self.columns, self.worlds)
        kinds, integers = np.zeros((self.worlds, groups)), np.zeros((self.worlds, groups, GROUP.total), np.int32)
        kinds[:, : len(self.kinds)] = self.kinds
        integers[:, : len(self.groups)] = np.reshape(self.groups, (-1, GROUP.total))
        return allocate(
            Rows, {"numbers": numbers, "kinds": kinds, "groups": integers},
            worlds=self.worlds, rows=rows, groups=groups, row_columns=self.columns,
        )  # fmt: skip


def by_world(rows, columns, worlds):
    """Rows of numbers, each (columns, worlds), as an array (worlds, rows, columns)."""
    return np.moveaxis(np.reshape(rows, (-1, columns, worlds)), -1, 0)


@ti.func
def write_jacobian(rows: ti.template(), row, linear, angular_i, angular_j, error, world):
    """Write the numbers of a row that change from step to step: d, a_i, a_j and G."""
    store_vector(rows.numbers, row, ROW.linear, linear, world)
    store_vector(rows.numbers, row, ROW.angular_i, angular_i, world)
    store_vector(rows.numbers, row, ROW.angular_j, angular_j, world)
    rows.numbers[world, row, ROW.error] = error


@ti.func
def write_bounds(rows: ti.template(), row, target, low, high, world):
    """Write the target velocity of a row and the bounds of its effort."""
    rows.numbers[world, row, ROW.target] = target
    rows.numbers[world, row, ROW.low] = low
    rows.numbers[world, row, ROW.high] = high


@ti.func
def bodies_of(rows: ti.template(), group, k, world):
    """Bodies i and j of the k-th row of a group. The second row of a gear has its own."""
    column = GROUP.body_i
    if rows.groups[world, group, GROUP.form] == Form.PAIR and k == 1:
        column = GROUP.body_k
    return rows.groups[world, group, column], rows.groups[world, group, column + 1]


@ti.func
def position_error(rows: ti.template(), row, kind, world):
    """The part of G that is an error: for a limit the part beyond it, for drives and friction zero."""
    error = rows.numbers[world, row, ROW.error]
    result = 0.0
    if kind == Group.EQUALITY or kind == Group.GEAR:
        result = error
    elif kind == Group.LIMIT:
        result = ti.min(error, 0.0)
        if rows.numbers[world, row, ROW.high] == 0.0:
            result = ti.max(error, 0.0)
    return result
