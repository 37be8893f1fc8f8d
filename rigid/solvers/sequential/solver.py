"""Base class of the solvers that use sequential impulses."""

from dataclasses import replace
from functools import cached_property

from pbd.core.kernels import Launch
from pbd.core.results import Statistics
from pbd.core.validate import one_index
from rigid.solvers.energy_bound import OF_IMPULSES, UNDIVIDED
from rigid.solvers.fast_spins import FastSpins
from rigid.solvers.report import REPORT, by_groups
from rigid.solvers.row_solver import RowSolver
from rigid.solvers.sequential.contacts import read_contacts
from rigid.solvers.sequential.data import ROW, Step
from rigid.solvers.sequential.energy_of_rows import energy_kernel
from rigid.solvers.slow_motors import MotorsOfRows
from rigid.solvers.substeps import first_worlds

# Without a given tolerance: the largest [N s], and in parts of the impulse that gravity gives the lightest body in h.
MOST_TOLERANCE, WEIGHT_TOLERANCE = 1e-6, 1e-2


class SequentialSolver(RowSolver):
    """A RowSolver that uses sequential impulses, in maximal or generalised coordinates.

    Args: see RowSolver.

    A subclass makes `_advance` by `_make_launch`, and overrides `_numbers` if its kernels take more than a Step.
    """

    _changing = None  # what the last Step was made of

    @property
    def iterations(self):
        """Most iterations of a substep. It can be set."""
        return self.options.iterations

    @iterations.setter
    def iterations(self, iterations):
        self._set_options(replace(self.options, iterations=iterations))

    def step(self, count=1):
        """Make steps of dt. Args: count. Raises: pbd.Diverged if a state stops being finite."""
        motors = self._slow_motors  # which begins to watch now
        super().step(count)
        motors.look(self)

    @cached_property
    def _slow_motors(self):
        return MotorsOfRows(self)

    @property
    def _time_of_impulses(self):
        """How long the impulses of rows act [s]."""
        return self._h

    def _is_variational(self):
        """Whether the integrator is "variational". Raises: NotImplementedError if it is and bodies follow paths, or
        joints have armatures."""
        variational = self.options.integrator == "variational"
        if variational and self.rotors:
            raise NotImplementedError(
                f'joint {next(iter(self.rotors))!r} has an armature, with integrator="variational": expected '
                'integrator="semi_implicit"'
            )
        if variational and self._paths.bodies:
            name = self.model.bodies[self._paths.bodies[0]].name
            raise NotImplementedError(
                f'body {name!r} follows a path, with integrator="variational": expected integrator="semi_implicit"'
            )
        return variational

    def _division(self):
        """The Division of substeps into parts: none with methods that are for comparison."""
        given = self.options
        default = given.integrator == "semi_implicit" and given.gyroscopic != "explicit" and given.split_impulse
        return OF_IMPULSES if default else UNDIVIDED

    def _make_launch(self, kernel, features, *more):
        """Make a function (report, numbers, substeps, iterations) that launches a kernel for all worlds.

        Args: kernel: of a step; features: of the kernel; more: groups of arrays that it needs besides `data`.
        """
        self._features = features
        launch = by_groups(Launch(kernel, self.data, *more), self.lanes)
        firsts = first_worlds(self.worlds)

        def advance(report, numbers, substeps, iterations):
            for first in firsts:
                launch(report, *numbers, substeps, iterations, first)

        return advance

    @cached_property
    def _fast_spins(self):
        given = self.options
        found = FastSpins(self.models, not self.rotors and not self._paths.bodies and given.split_impulse)
        found.active &= given.integrator == "semi_implicit" and given.gyroscopic == "implicit"
        return found

    def _launch(self, count):
        self._fast_spins.check(self, count)
        self._advance(self._report, self._numbers(), count, self.options.iterations)
        self._fast_spins.count(self, count)

    def _numbers(self):
        """Numbers of a launch, a Step first."""
        return tuple(self._step())

    def _step(self):
        """Numbers of a launch: a Step, the same object as long as they are the same, which is quicker to launch."""
        given = self.options
        time = self._time_of_impulses
        changing = time, self._strongest_gravity, given, self._external_forces.act, self._passive.watched
        if changing != self._changing:
            self._changing = changing
            self._numbers_of_step = Step(
                time, self._tolerance(), given.error_reduction, given.restitution_threshold,
                self._external_forces.act, self._passive.watched, self.first_contact_row, self.first_contact_group,
            )  # fmt: skip
        return self._numbers_of_step

    @cached_property
    def _measure(self):
        return by_groups(Launch(energy_kernel(self.declaration, self._features, self.lanes), self.data), self.lanes)

    def _stores_energy(self):
        soft = any(joint.springs or joint.soft is not None for joint in self.model.joints)
        return bool(soft or self.model.springs or self._grab_springs.grabbed)

    def _report_stored(self, report):
        self._measure(report, *self._numbers())

    def _tolerance(self):
        """The tolerance of the iterations [N s]."""
        if self.options.tolerance is not None:
            return self.options.tolerance
        weight = WEIGHT_TOLERANCE * self._lightest * self._strongest_gravity * self._time_of_impulses
        return float(min(MOST_TOLERANCE, weight)) if weight > 0 else MOST_TOLERANCE

    @cached_property
    def _lightest(self):
        """The least mass of a body that moves freely [kg]."""
        masses = [body.mass for model in self.models for body in model.bodies if body.path is None]
        return min(masses, default=0.0)

    def _clear_caches(self):
        self._clear_columns(ROW.impulse)
        self.data.cache.first.fill(0)

    def statistics(self):
        """Iterations, residual and contacts of the last substep: a pbd.Statistics.

        The residual is the largest error of a joint, limit or contact that the velocities left, before it was corrected
        [m or rad]; contacts are points that had rows.
        """
        iterations, residual, contacts = self._reported(REPORT.iterations, REPORT.position_error, REPORT.contacts)
        return Statistics(iterations.astype(int), residual, contacts.astype(int), lanes=self.lanes)

    def contact_forces(self, world=0):
        """Contact points of the last substep and the forces in them, see Solver.contact_forces."""
        if self.lanes == 1:
            return super().contact_forces(world)
        world = one_index("world", world, self.worlds, "worlds")
        return read_contacts(
            self.data.in_lanes, world, int(self._report[world, REPORT.contacts]), self._time_of_impulses
        )

    def _row_efforts(self, rows):
        return rows[..., ROW.impulse] / self._time_of_impulses
