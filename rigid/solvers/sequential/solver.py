"""What solvers by sequential impulses have alike: their settings, their rows, and what they tell of a step."""

from typing import NamedTuple

from pbd.core.validate import finite_number, not_negative, whole
from rigid.collision.data import array
from rigid.solvers.report import DIVERGED_STEP, ERROR_LEFT, INCREMENT, SWEEPS, TOUCHING
from rigid.solvers.row_solver import RowSolver
from rigid.solvers.sequential.data import IMPULSE, kept


class Statistics(NamedTuple):
    """What the last substep did; arrays (worlds,) where there are several worlds.

    iterations: sweeps; residual: largest error of a joint, limit or contact that the velocities left and that was then
    mended [m or rad]; contacts: points that had rows; increment: largest change of an impulse in the last sweep [N s].
    """

    iterations: object
    residual: object
    contacts: object
    increment: object


class SequentialSolver(RowSolver):
    """A Model by sequential impulses over rows, in whatever coordinates.

    Arguments: model, dt, worlds, substeps, gyroscopic, contacts, contact_capacity, grabs, columns, held: as of a
    RowSolver; iterations, tolerance, warm_start, split_impulse, error_reduction, block, restitution_threshold: see the
    solvers.

    Subclasses make `_advance`, a kernel with its arrays bound, (report, h, numbers, first row, first group, steps,
    sweeps).
    """

    def __init__(self, model, dt, worlds, substeps, iterations, tolerance, warm_start, split_impulse, error_reduction,
                 block, gyroscopic, restitution_threshold, contacts, contact_capacity, grabs, columns,
                 held=()):  # fmt: skip
        super().__init__(model, dt, worlds, substeps, gyroscopic, contacts, contact_capacity, grabs, columns, held)
        self.iterations = whole("iterations", iterations, least=0)
        self.tolerance = not_negative("tolerance", tolerance)
        if error_reduction is None:
            error_reduction = 1.0 if split_impulse else 0.2
        self.error_reduction = finite_number("error_reduction", error_reduction)
        if not 0 <= self.error_reduction <= 1:
            raise ValueError(f"error_reduction is {self.error_reduction:g}: expected 0 <= error_reduction <= 1")
        self.restitution_threshold = not_negative("restitution_threshold", restitution_threshold)
        self._gyroscopic, self._block = gyroscopic, bool(block)
        self._warm_start, self._split_impulse = bool(warm_start), bool(split_impulse)
        turning = self._meetings is not None and self._meetings.turning_friction
        self.kept = kept(self.worlds, self._capacity, len(self.model.shapes), turning)
        self._surroundings = array(self._gravity.T)

    def _contact_arrays(self):
        """Taichi arrays of contacts: shapes, points, broad phase, impulses kept."""
        return [*super()._contact_arrays(), *self.kept]

    def _launch(self, count):
        self._report[:, DIVERGED_STEP:] = -1
        self._advance(
            self._report, self._h, *map(float, self._numbers()), self._first_row, self._first_group, count,
            self.iterations,
        )  # fmt: skip
        self._refuse_failure()

    def _numbers(self):
        """What the kernel takes between the length of a substep and the first row."""
        return self.tolerance, self.error_reduction, self.restitution_threshold

    def _remembered(self):
        return [self.rows.numbers, *self.kept]

    def _forget(self):
        self._clear_rows([IMPULSE])
        self.kept.heads.fill(-1)
        self.kept.turns.fill(0)

    # Readings ---------------------------------------------------------------------------------------------------------

    def statistics(self):
        """Sweeps, residual, contacts and largest change of an impulse of the last substep: a Statistics."""
        sweeps, left, touching, change = self._reported(SWEEPS, ERROR_LEFT, TOUCHING, INCREMENT)
        return Statistics(sweeps.astype(int), left, touching.astype(int), change)

    def _efforts(self, rows):
        return rows[..., IMPULSE] / self._h
