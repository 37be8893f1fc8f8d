"""Solver "penalty": a Model in maximal coordinates, by springs and dampers. The step is in rigid/solvers/penalty/step.py."""

import numpy as np

from pbd.core.launch import Launch, on_cpu, read, write
from pbd.core.results import Statistics
from pbd.core.runtime import LOOP_STRIDE
from rigid.collision.data import array
from rigid.collision.setup import refuse_turning_friction
from rigid.constraints.joints.drive import DRIVE_KIND, GEARS, ROW
from rigid.constraints.joints.table import FIRST_ROW
from rigid.kernels.motion import Motion
from rigid.solvers.penalty.data import COLUMNS, EFFORT, ROOM, STRETCH, Features, Kept
from rigid.solvers.penalty.options import PenaltyOptions
from rigid.solvers.penalty.stability import BOUND, islands, longest_step, worst
from rigid.solvers.penalty.step import step_kernel
from rigid.solvers.report import DIVERGED_STEP, ERROR_LEFT, SWEEPS, TOUCHING
from rigid.solvers.row_solver import RowSolver

# A step so long that no limit is out of its reach [s]: rows that are written for it are all there are.
ANY_REACH = 1e12

# What contacts get, at least, of the bound on stability, where joints are forced beyond it.
LEAST_ROOM = 0.1


class PenaltySolver(RowSolver):
    """A Model by penalties: every joint, limit and contact is a spring and a damper.

    Args: model, worlds: see rigid.solvers.base.Solver; options: those of PenaltyOptions.

    Errors: ValueError where h² α + 2 h β of joints' rows together is 4 or more at the start; it names the row and the
    longest stable step. Contacts keep within what joints leave of that: where many points are on one body they are
    damped less, and at last softer.

    Limitations: first order in the step, and what joints give goes with 1/α*. Nothing is hard: joints open under load,
    limits and contacts are passed by what it takes to stop what comes, and what comes fast meets thin things too late;
    what overlaps at the start is thrown apart. What bodies share adds up: a stack sinks into itself by the weights
    above, and what is light between heavy things gives by the ratio of their masses or moments. Contacts rebound by
    their damping, with 0.135 of their speed at least, and more where the step is long for it; joint limits throw back
    some 0.3. Friction and motors are springs that slip, and give by millimetres before they hold; what is loaded at
    once overshoots. Angular momentum is kept as far as joints are closed. The bound on the step is that of the starting
    pose. One thread moves one world.

    Source: Mikhaylyuk and Strashnov, Simulation of Articulated Rigid Bodies with Penalty Method (2013).
    """

    name, Options = "penalty", PenaltyOptions

    def __init__(self, model, worlds=1, **options):
        super().__init__(model, worlds, options, COLUMNS)
        given = self.options
        for each in self.models:
            refuse_turning_friction(each, "penalty")
        worlds, capacity, bodies = self.worlds, self._capacity, len(self.model.bodies) + 1
        self.kept = Kept(
            array(np.zeros((worlds, capacity, 3))),
            array(np.zeros((worlds, capacity, 3), np.int32)),
            array(np.zeros(worlds, np.int32)),
        )
        forces, crowds = array(np.zeros((worlds, bodies, 6))), array(np.zeros((worlds, bodies), np.int32))
        self._surroundings = array(np.zeros((ROOM + 1, worlds)))
        features = Features(
            bool(self._first_row or self.model.joints or self.model.springs), self._meetings, given.gyroscopic, given.scaling,
            given.block, worlds == 1, LOOP_STRIDE if on_cpu() else 1,
        )  # fmt: skip
        self._advance = Launch(
            step_kernel(features), *self.motion, *self.joints, *self.rows, *self._contact_arrays(), *self.kept, forces,
            self._reach, crowds, self._surroundings,
        )  # fmt: skip
        self._islands = self._find_islands() if self._first_row else []
        self._keep_stable(given)

    # Stability --------------------------------------------------------------------------------------------------------

    def _find_islands(self):
        """Rows of joints that hang together, as the model starts: rigid/solvers/penalty/stability.py; a list for each model."""
        self._run(ANY_REACH, 0)
        numbers, groups = (read(array) for array in self.rows)
        arrays = [read(array) for array in self.motion]
        return [
            islands(
                numbers[world].astype(float), groups[world, : self._first_group],
                Motion(*(array[world].astype(float) for array in arrays)),
            )
            for world in range(len(self.models))
        ]  # fmt: skip

    def _keep_stable(self, options):
        """Refuse a step that is too long; and share out to contacts what joints leave."""
        h, room = options.dt / options.substeps, [BOUND] * len(self.models)
        for world, found in enumerate(self._islands):
            one, row = worst(found, h)
            if one >= BOUND and options.check_stability:
                where = f" of world {world}" if len(self._islands) > 1 else ""
                raise ValueError(
                    f"a step of {h:g} s is unstable: with the row of {self._name(row)}{where} and what shares its "
                    f"bodies, h² α + 2 h β comes to {one:.3g}, expected below {BOUND:g}; steps up to "
                    f"{longest_step(found, h):.3g} s are stable, or smaller gains"
                )
            room[world] = max(BOUND - one, LEAST_ROOM)
        rows = np.concatenate([self._gravity.T, np.broadcast_to(room, (1, self.worlds))])
        write(self._surroundings, rows)

    def _name(self, row):
        """What has a row: "joint 'door'". Rows stand in the order of joints, springs and gears."""
        drives = self._drives
        model, first = self.model, read(self.joints.integers)[:, FIRST_ROW].tolist()
        first = first[: len(model.joints) + len(model.springs)] + drives[drives[:, DRIVE_KIND] == GEARS, ROW].tolist()
        names = [
            f"{kind} {each.name!r}"
            for kind, known in (("joint", model.joints), ("spring", model.springs), ("gear", model.gears))
            for each in known
        ]
        return names[int(np.searchsorted(first, row, side="right")) - 1]

    def _set_options(self, options):
        self._keep_stable(options)
        super()._set_options(options)

    # Steps ------------------------------------------------------------------------------------------------------------

    def _run(self, h, count):
        self._report[:, DIVERGED_STEP:] = -1
        given = self.options
        self._advance(
            self._report, float(h), given.stiffness, given.damping, given.angular_stiffness, given.angular_damping,
            self._first_row, self._first_group, count,
        )  # fmt: skip

    def _launch(self, count):
        self._run(self._h, count)
        self._refuse_failure()

    def _remembered(self):
        return [self.rows.numbers, *self.kept]

    def _forget(self):
        self._clear_rows([STRETCH, EFFORT])
        self.kept.count.fill(0)

    # Readings ---------------------------------------------------------------------------------------------------------

    def statistics(self):
        """What the last substep did: a pbd.Statistics.

        Iterations are one; the residual is the largest error of a joint, limit or contact at its start [m or rad];
        contacts are points at which bodies overlapped.
        """
        sweeps, left, touching = self._reported(SWEEPS, ERROR_LEFT, TOUCHING)
        return Statistics(sweeps.astype(int), left, touching.astype(int))

    def _efforts(self, rows):
        return rows[..., EFFORT]
