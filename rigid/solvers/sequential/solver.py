"""What solvers by sequential impulses have alike: their settings, their rows, and what they tell of a step."""

from dataclasses import replace

from pbd.core.results import Statistics
from rigid.collision.data import array
from rigid.solvers.report import DIVERGED_STEP, ERROR_LEFT, SWEEPS, TOUCHING
from rigid.solvers.row_solver import RowSolver
from rigid.solvers.sequential.data import IMPULSE, kept


class SequentialSolver(RowSolver):
    """A RowSolver that uses sequential impulses, in maximal or generalised coordinates.

    Args: as of a RowSolver.

    Subclasses make `_advance`, a kernel with its arrays bound, (report, h, numbers, first row, first group, steps,
    iterations).
    """

    def __init__(self, model, worlds, options, columns, held=()):
        super().__init__(model, worlds, options, columns, held)
        turning = self._meetings is not None and self._meetings.turning_friction
        self.kept = kept(self.worlds, self._capacity, len(self.model.shapes), turning)
        self._surroundings = array(self._gravity.T)

    @property
    def iterations(self):
        """Most iterations of a substep."""
        return self.options.iterations

    @iterations.setter
    def iterations(self, iterations):
        self._set_options(replace(self.options, iterations=iterations))

    def _contact_arrays(self):
        """Taichi arrays of contacts: shapes, points, broad phase, impulses kept."""
        return [*super()._contact_arrays(), *self.kept]

    def _launch(self, count):
        self._report[:, DIVERGED_STEP:] = -1
        self._advance(
            self._report, self._h, *map(float, self._numbers()), self._first_row, self._first_group, count,
            self.options.iterations,
        )  # fmt: skip
        self._refuse_failure()

    def _numbers(self):
        """What the kernel takes between the length of a substep and the first row."""
        return self.options.tolerance, self.options.error_reduction, self.options.restitution_threshold

    def _remembered(self):
        return [self.rows.numbers, *self.kept]

    def _forget(self):
        self._clear_rows([IMPULSE])
        self.kept.heads.fill(-1)
        self.kept.turns.fill(0)

    # Readings ---------------------------------------------------------------------------------------------------------

    def statistics(self):
        """What the last substep did: a pbd.Statistics.

        The residual is the largest error of a joint, limit or contact that the velocities left, before it was corrected
        [m or rad]; contacts are points that had rows.
        """
        iterations, residual, contacts = self._reported(SWEEPS, ERROR_LEFT, TOUCHING)
        return Statistics(iterations.astype(int), residual, contacts.astype(int))

    def _efforts(self, rows):
        return rows[..., IMPULSE] / self._h
