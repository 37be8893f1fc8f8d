"""Base class of the solvers that use sequential impulses."""

from dataclasses import replace

from pbd.core.kernels import Launch
from pbd.core.results import Statistics
from rigid.solvers.report import REPORT
from rigid.solvers.row_solver import RowSolver
from rigid.solvers.sequential.data import ROW, Step
from rigid.solvers.sequential.time_limit import TimedSubsteps, timed_kernels


class SequentialSolver(RowSolver):
    """A RowSolver that uses sequential impulses, in maximal or generalised coordinates.

    Args: see RowSolver.

    A subclass makes `_advance` by `_make_launch`, and overrides `_numbers` if its kernels take more than a Step.
    """

    @property
    def iterations(self):
        """Most iterations of a substep. It can be set."""
        return self.options.iterations

    @iterations.setter
    def iterations(self, iterations):
        self._set_options(replace(self.options, iterations=iterations))

    def _is_variational(self):
        """Whether the integrator is "variational". Raises: NotImplementedError if it is and bodies follow paths."""
        variational = self.options.integrator == "variational"
        if variational and self._paths.bodies:
            name = self.model.bodies[self._paths.bodies[0]].name
            raise NotImplementedError(
                f'body {name!r} follows a path, with integrator="variational": expected integrator="semi_implicit"'
            )
        return variational

    def _make_launch(self, step, features):
        """Make a function (report, numbers, substeps, iterations). Args: step: the solver's module `step`; features."""
        if self.options.time_limit is not None:
            return TimedSubsteps(timed_kernels(step, features), self.data, self.options.time_limit)
        launch = Launch(step.step_kernel(features), self.data)
        return lambda report, numbers, substeps, iterations: launch(report, *numbers, substeps, iterations)

    def _launch(self, count):
        self._advance(self._report, self._numbers(), count, self.options.iterations)

    def _numbers(self):
        """Numbers of a launch, a Step first."""
        return tuple(self._step())

    def _step(self):
        """Numbers of a launch: a Step."""
        given = self.options
        return Step(
            self._h, given.tolerance, given.error_reduction, given.restitution_threshold, self._external_forces.act,
            self.first_contact_row, self.first_contact_group,
        )  # fmt: skip

    def _clear_caches(self):
        self._clear_columns(ROW.impulse)
        self.data.cache.first.fill(0)
        self.data.reversed.fill(0)

    def statistics(self):
        """What the last substep did: a pbd.Statistics.

        The residual is the largest error of a joint, limit or contact that the velocities left, before it was corrected
        [m or rad]; contacts are points that had rows.
        """
        iterations, residual, contacts = self._reported(REPORT.iterations, REPORT.position_error, REPORT.contacts)
        return Statistics(iterations.astype(int), residual, contacts.astype(int))

    def _row_efforts(self, rows):
        return rows[..., ROW.impulse] / self._h
