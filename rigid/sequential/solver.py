"""What solvers by sequential impulses have alike: their settings, their rows, and what they tell of a step."""

from typing import NamedTuple

import numpy as np

from pbd.validate import finite_number, not_negative, one_of, whole
from rigid.bodies import BodySolver
from rigid.contact import tables
from rigid.contact.rows import size
from rigid.joints.table import JointTable
from rigid.motion import motion
from rigid.rows import DIRECTION, RowTable
from rigid.sequential.arrays import (
    CROWDED,
    DIVERGED_STEP,
    ERROR_LEFT,
    IMPULSE,
    INCREMENT,
    REPORTS,
    SWEEPS,
    TOUCHING,
    kept,
)


class Statistics(NamedTuple):
    """What the last substep did; arrays (worlds,) where there are several worlds.

    iterations: sweeps; residual: largest error of a joint, limit or contact that the velocities left and that was then
    mended [m or rad]; contacts: points that had rows; increment: largest change of an impulse in the last sweep [N s].
    """

    iterations: object
    residual: object
    contacts: object
    increment: object


class Contacts(NamedTuple):
    """Points of contact of the last substep, n of them in the world asked for.

    bodies (n, 2), the second -1 for the ground; points (n, 3) on the first [m]; normals (n, 3) from the second to the
    first; gaps (n,) [m] at the substep's start; forces (n, 3) on the first, friction included [N].
    """

    bodies: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    forces: np.ndarray


class SequentialSolver(BodySolver):
    """A Model by sequential impulses over rows, in whatever coordinates.

    Arguments: model, dt, worlds, substeps: as of a BodySolver; iterations, tolerance, warm_start, split_impulse,
    error_reduction, block, gyroscopic, restitution_threshold, contacts, contact_capacity: see the solvers; columns: of
    a row, the solver's own included; held: joints that coordinates hold together, which have no rows for that.

    Subclasses make `_advance`, a kernel with its arrays bound, (report, h, numbers, first row, first group, steps,
    sweeps).
    """

    def __init__(self, model, dt, worlds, substeps, iterations, tolerance, warm_start, split_impulse, error_reduction,
                 block, gyroscopic, restitution_threshold, contacts, contact_capacity, columns, held=()):  # fmt: skip
        super().__init__(model, dt, worlds, substeps)
        self.iterations = whole("iterations", iterations, least=0)
        self.tolerance = not_negative("tolerance", tolerance)
        if error_reduction is None:
            error_reduction = 1.0 if split_impulse else 0.2
        self.error_reduction = finite_number("error_reduction", error_reduction)
        if not 0 <= self.error_reduction <= 1:
            raise ValueError(f"error_reduction is {self.error_reduction:g}: expected 0 <= error_reduction <= 1")
        self.restitution_threshold = not_negative("restitution_threshold", restitution_threshold)
        one_of("gyroscopic", gyroscopic, ("implicit", "midpoint", "explicit"))
        self._gyroscopic, self._block = gyroscopic, bool(block)
        self._warm_start, self._split_impulse = bool(warm_start), bool(split_impulse)
        models, worlds = self.models, self.worlds
        meetings = tables.meetings(models)
        self._meetings = meetings if contacts and any(meetings[:5]) else None
        capacity = 1
        if self._meetings is None:
            for each in models:
                tables.refuse_grids(each)
        else:
            capacity = max(tables.default_capacity(self.model), 1)
            if contact_capacity is not None:
                capacity = whole("contact_capacity", contact_capacity)
        self.motion = motion(models, worlds)
        table = RowTable(columns, worlds)
        joints = JointTable(models, table, held)
        self.joints, self.first_coordinates = joints.upload(), joints.first_coordinates
        self._first_row, self._first_group = len(table.rows), len(table.groups)
        self._contact_rows, groups = size(meetings)
        self.rows = table.upload(self._contact_rows * capacity, groups * capacity)
        self._contacts = tables.upload(models, worlds, capacity)
        self.points = self._contacts[1]
        self.kept = kept(worlds, capacity, len(self.model.shapes), meetings.turning)
        self._reach = tables.array(np.zeros((len(self.model.bodies), worlds)))
        gravity = np.transpose([each.gravity for each in models])
        self._gravity = tables.array(np.broadcast_to(gravity, (3, worlds)))
        self._report = np.zeros((worlds, REPORTS), tables.real())

    def _contact_arrays(self):
        """Taichi arrays of contacts: shapes, points, broad phase, impulses kept."""
        return [*(each for group in self._contacts for each in group), *self.kept]

    def _launch(self, count):
        self._report[:, DIVERGED_STEP:] = -1
        self._advance(
            self._report, self._h, *map(float, self._numbers()), self._first_row, self._first_group, count,
            self.iterations,
        )  # fmt: skip
        if self._report[:, CROWDED].max() >= 0:
            raise RuntimeError(
                f"{int(self._report[:, CROWDED].max())} points of contact at once, more than there is room for: give "
                "the solver contact_capacity= of some more"
            )
        self._refuse_divergence(self._report[:, DIVERGED_STEP])

    def _numbers(self):
        """What the kernel takes between the length of a substep and the first row."""
        return self.tolerance, self.error_reduction, self.restitution_threshold

    def _remembered(self):
        return [self.rows.numbers, *self.kept]

    def _forget(self):
        numbers = self.rows.numbers.to_numpy()
        numbers[:, :, IMPULSE] = 0.0
        self.rows.numbers.from_numpy(numbers)
        self.kept.heads.fill(-1)
        self.kept.turns.fill(0)

    # Readings ---------------------------------------------------------------------------------------------------------

    def statistics(self):
        """Sweeps, residual, contacts and largest change of an impulse of the last substep: a Statistics."""
        sweeps, left, touching, change = (self._report[:, k] for k in (SWEEPS, ERROR_LEFT, TOUCHING, INCREMENT))
        columns = sweeps.astype(int), left, touching.astype(int), change
        return Statistics(*(column[0] if self.worlds == 1 else column.copy() for column in columns))

    def contact_forces(self, world=0):
        """Points of contact of the last substep, and the forces in them: a Contacts. Arguments: world: which."""
        count = int(self._report[world, TOUCHING])
        integers, numbers = (array.to_numpy()[world, :count] for array in self.points[:2])
        rows = self.rows.numbers.to_numpy()[world, self._first_row : self._first_row + self._contact_rows * count]
        rows = rows.reshape(count, self._contact_rows, rows.shape[-1]).astype(float)
        forces = np.einsum("cr,crk->ck", rows[:, :, IMPULSE], rows[:, :, DIRECTION : DIRECTION + 3]) / self._h
        return Contacts(
            integers[:, [tables.BODY_A, tables.BODY_B]], numbers[:, tables.POINT : tables.POINT + 3],
            numbers[:, tables.NORMAL : tables.NORMAL + 3], numbers[:, tables.GAP], forces,
        )  # fmt: skip
