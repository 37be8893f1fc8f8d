"""Constraints of a particle system, as they are read and changed between steps."""

import math
from functools import cached_property

import numpy as np

from pbd.core.kernels import read, write
from pbd.core.validate import finite_array, indices
from pbd.data import RANGE
from pbd.host.edges import have_both

# Compliance of bending across a cut: none of a constraint's forces is left, in any unit.
CUT_COMPLIANCE = 1e30


class ConstraintValues:
    """Parameters of the constraints of all worlds, and cutting of sticks.

    Args:
        arrays: a pbd.data.Data of Taichi arrays.
        types: tuple of ConstraintType.
        orders: for each type, the order of its constraints in the schedule.
        triangles: (n, 3) indices of particles, on which the wind acts.

    Attributes: changes: how often constraints were changed.
    """

    def __init__(self, arrays, types, orders, triangles):
        self.arrays, self.types, self.orders, self.triangles = arrays.constraints, types, orders, triangles
        self.drag_coefficient = arrays.wind.drag_coefficient
        self.ranges = read(self.arrays.ranges)
        self.changes = 0

    def row_of(self, constraint_type, number, name):
        """Find the row of a parameter, for `read` and `write`.

        Args: constraint_type: a ConstraintType; number: of the constraint, counted as constraints of the type were
        added; name: one of the type's parameters, or "compliance".
        """
        return int(self.rows_of(constraint_type, [number], [name])[0, 0])

    def rows_of(self, constraint_type, numbers, names):
        """Find the rows of several parameters of many constraints (numbers, names). Args: see `row_of`."""
        index, places = self._places_of(constraint_type, numbers)
        columns = [(*constraint_type.parameters, "compliance").index(name) for name in names]
        return self.ranges[index, RANGE.parameters] + constraint_type.width * places[:, None] + columns

    def multiplier_of(self, constraint_type, number):
        """Find where a compliant constraint has its λ, for `read_multipliers`. Args: see `row_of`."""
        index, places = self._places_of(constraint_type, [number])
        return int(self.ranges[index, RANGE.multipliers] + places[0])

    def _places_of(self, constraint_type, numbers):
        """Index of a type, and the places of constraints among those of the type. Args: see `row_of`."""
        index = self.types.index(constraint_type)
        return index, np.argsort(self.orders[index])[numbers]

    def read(self, rows):
        """Read parameters. Args: rows: see `row_of`. Returns: (rows, worlds)."""
        return read(self.arrays.parameters)[rows]

    def write(self, rows, values):
        """Change parameters, from the next step on. Args: rows: see `row_of`; values: (rows, worlds)."""
        self.changes += 1
        parameters = read(self.arrays.parameters)
        parameters[rows] = values
        write(self.arrays.parameters, parameters)

    def read_multipliers(self, places):
        """λ of the last substep [kg m, or kg m²]. Args: places: see `multiplier_of`. Returns: (places, worlds)."""
        return read(self.arrays.multipliers)[places].astype(float)

    def multipliers_between(self, pairs):
        """λ of the compliant constraint between two particles, for each pair; zero if there is none.

        Args: pairs (n, 2): indices of particles, in the constraint's order. Returns: (n, worlds).
        """
        members, multipliers = read(self.arrays.members), read(self.arrays.multipliers).astype(float)
        found = np.zeros((len(pairs), multipliers.shape[1]))
        for each, place in zip(self.types, self.ranges):
            if each.arity == 2 and each.compliance:
                first, at, count = place[[RANGE.members, RANGE.multipliers, RANGE.count]]
                of_type = members[first : first + 2 * count].reshape(count, 2)
                same = (np.asarray(pairs)[:, None] == of_type).all(axis=2)
                found += same @ multipliers[at : at + count]
        return found

    def read_state(self):
        """Parameters that projections change, (numbers, worlds): see `ConstraintType.state_size`."""
        return self.read(self._state_rows)

    def write_state(self, values):
        """Continue from values that `read_state` returned; zeros for a fresh start."""
        if self._state_rows.size:
            shape = self.read_state().shape
            self.write(self._state_rows, finite_array("state of constraints", values, shape, math.inf))

    @cached_property
    def _state_rows(self):
        count = sum(each.state_size * place[RANGE.count] for each, place in zip(self.types, self.ranges))
        return read(self.arrays.state)[:count]  # Taichi's array has an element even if there are none

    # Cutting ----------------------------------------------------------------------------------------------------------

    def sticks(self):
        """All sticks, type after type in the order of the schedule.

        Returns: particles (n, 2); lengths in the first world (n,) [m]. A stick that was cut has one particle twice and
        length zero.
        """
        members, lengths = read(self.arrays.members), read(self.arrays.parameters)[:, 0]
        return members[self._stick_places[:, :1] + np.arange(2)], lengths[self._stick_places[:, 1]]

    def cut(self, sticks):
        """Cut sticks in all worlds, with bending and wind across them. Args: sticks: (n,) indices into `sticks()`."""
        self.changes += 1
        places = self._stick_places[indices("sticks", sticks, len(self._stick_places), of="sticks")]
        members, parameters = read(self.arrays.members), read(self.arrays.parameters)
        ends = members[places[:, :1] + np.arange(2)]
        members[places[:, 0] + 1] = members[places[:, 0]]
        parameters[places[:, 1]] = 0.0
        for each, place in zip(self.types, self.ranges):
            if each.arity > 2 and each.compliance:
                first, count = place[RANGE.members], place[RANGE.count]
                crossing = have_both(members[first : first + each.arity * count].reshape(count, each.arity), ends)
                compliances = place[RANGE.parameters] + each.width * np.flatnonzero(crossing) + each.width - 1
                parameters[compliances] = CUT_COMPLIANCE
        write(self.arrays.members, members)
        write(self.arrays.parameters, parameters)
        if len(self.triangles):
            drag = read(self.drag_coefficient)
            write(self.drag_coefficient, np.where(have_both(self.triangles, ends)[:, None], 0.0, drag))

    @cached_property
    def _stick_places(self):
        """Where each stick has its members and its length in the arrays, (n, 2)."""
        places = [np.zeros((0, 2), int)]
        for each, place in zip(self.types, self.ranges):
            if each.name.startswith("stick"):
                step = np.arange(place[RANGE.count])[:, None]
                places.append(place[[RANGE.members, RANGE.parameters]] + step * [2, each.width])
        return np.concatenate(places)
