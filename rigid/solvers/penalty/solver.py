"""Solver "penalty": bodies in maximal coordinates, by springs and dampers. The step is in step.py of this folder."""

import numpy as np

from pbd.core.arrays import read, write
from pbd.core.kernels import Launch
from pbd.core.results import Statistics
from pbd.core.runtime import LOOP_STRIDE, on_cpu
from rigid.collision.setup import refuse_rolling_and_spinning_friction
from rigid.constraints.joints.data import DRIVE, JOINT, DriveKind
from rigid.solvers.penalty.data import ROW, Data, Features, Step
from rigid.solvers.penalty.limits import refuse_wide_limits
from rigid.solvers.penalty.options import PenaltyOptions
from rigid.solvers.penalty.stability import BOUND, find_islands, largest_load, longest_step
from rigid.solvers.penalty.step import step_kernel
from rigid.solvers.report import EVENTS, NOTHING, REPORT
from rigid.solvers.row_solver import RowSolver
from rigid.solvers.watch import GAPS_WATCHED, OF_SPRINGS, UNDIVIDED, UNWATCHED, WATCHED

# A step so long that all limits are in reach, so that all rows of joints are written [s].
ANY_REACH = 1e12

# The least part of the bound on stability for contacts, even if joints exceed it.
LEAST_CONTACT_LOAD = 0.1


class PenaltySolver(RowSolver):
    """Rigid bodies by penalties: every joint, limit and contact is a spring and a damper.

    Args:
        model: a rigid.Model, or a list of models of one structure, one for each world.
        worlds: how many copies of one model run side by side.
        options: fields of PenaltyOptions. The stiffness of grab springs is not checked for stability.

    Raises: ValueError if h² α + 2 h β of the joints' rows together is 4 or more at the start; the message names the row
    and the longest stable step. Contacts use what joints leave of that bound: if many points are on one body, their
    damping is reduced, and then their stiffness.

    Limitations: first order in the step; the opening of joints is proportional to 1/α*. Nothing is hard: joints open
    under load, bodies pass limits and contacts by their stopping distance, and fast bodies can pass through thin ones.
    Bodies that overlap at the start are thrown apart. Errors add up over bodies: each body of a stack sinks in under
    the weight above, and light bodies between heavy ones give way by the ratio of their masses or moments. Contacts
    rebound by their damping, with 0.135 of their speed at least, and more if the step is long; joint limits rebound
    with 0.3. Friction and motors are springs that slip: they give way by millimetres before they hold, and a sudden
    load overshoots. Angular momentum is kept as far as joints are closed. The bound on the step is that of the starting
    pose. One thread moves one world.

    Source: Mikhaylyuk and Strashnov, Simulation of Articulated Rigid Bodies with Penalty Method (2013).
    """

    name, Options = "penalty", PenaltyOptions
    declaration, row_columns = Data, ROW.total
    remedies = "a shorter step, or more stiffness"

    def __init__(self, model, worlds=1, **options):
        super().__init__(model, worlds, options)
        for each in self.models:
            refuse_rolling_and_spinning_friction(each, "penalty")
            if self.options.limit_form == "sine":
                refuse_wide_limits(each)
        given = self.options
        features = Features(
            joints=self.has_joint_rows, rotors=bool(self.rotors), pair_types=self.pair_types,
            gyroscopic=given.gyroscopic,
            sine_limits=given.limit_form == "sine", scaling=given.scaling, block=given.block,
            division=OF_SPRINGS if self._watches() == WATCHED else UNDIVIDED,
            one_world=self.worlds == 1, spread=LOOP_STRIDE if on_cpu() else 1,
        )  # fmt: skip
        self._advance = Launch(step_kernel(features), self.data)
        self._islands = self._find_islands() if self.first_contact_row else []
        self._check_stability(given)

    # Stability --------------------------------------------------------------------------------------------------------

    def _find_islands(self):
        """Find the islands of joint rows as the model starts: a list for each model."""
        self._report[:, EVENTS] = NOTHING
        self._advance(self._report, *self._step(ANY_REACH), 1, 0)
        rows, bodies = self.data.rows, self.data.bodies
        numbers, of_joints = read(rows.numbers).astype(float), slice(self.first_contact_group)
        kinds, groups = read(rows.kinds)[:, of_joints], read(rows.groups)[:, of_joints]
        mass, inverse_inertia = read(bodies.mass).astype(float), read(bodies.inverse_inertia).astype(float)
        self._clear_columns(ROW.stretch, ROW.effort)  # nothing has moved
        worlds = range(len(self.models))
        return [find_islands(numbers[k], kinds[k], groups[k], mass[k], inverse_inertia[k]) for k in worlds]

    def _check_stability(self, options):
        """Raise ValueError if a step is too long; give contacts what joints leave. Args: options: PenaltyOptions."""
        h, left = options.dt / options.substeps, [BOUND] * len(self.models)
        for world, islands in enumerate(self._islands):
            load, row = largest_load(islands, h)
            if load >= BOUND and options.check_stability:
                where = f" of world {world}" if len(self._islands) > 1 else ""
                raise ValueError(
                    f"a step of {h:g} s is unstable: the row of {self._name_of(row)}{where}, and rows that share its "
                    f"bodies, have h² α + 2 h β = {load:.3g}: expected below {BOUND:g}; use a step below "
                    f"{longest_step(islands, h):.3g} s, or less stiffness and damping"
                )
            left[world] = max(BOUND - load, LEAST_CONTACT_LOAD)
        write(self.data.contact_load, np.broadcast_to(left, self.worlds))

    def _name_of(self, row):
        """The owner of a row, such as "joint 'door'". Rows are in the order of joints, springs and gears."""
        model, drives = self.model, read(self.data.joints.drives)
        gears = drives[drives[:, DRIVE.kind] == DriveKind.GEAR]
        first = read(self.data.joints.integers)[: len(model.joints) + len(model.springs), JOINT.first_row]
        first = [*first.tolist(), *gears[:, DRIVE.row].tolist()]
        names = [
            f"{kind} {each.name!r}"
            for kind, known in (("joint", model.joints), ("spring", model.springs), ("gear", model.gears))
            for each in known
        ]
        return names[int(np.searchsorted(first, row, side="right")) - 1]

    def _set_options(self, options):
        self._check_stability(options)
        super()._set_options(options)

    # Steps ------------------------------------------------------------------------------------------------------------

    def _step(self, h):
        """Numbers of a launch: a Step. Args: h: length of a substep [s]."""
        given = self.options
        return Step(
            float(h), given.stiffness, given.damping, given.angular_stiffness, given.angular_damping, 0.0,
            self._external_forces.act, self._passive.watched, self.first_contact_row, self.first_contact_group,
        )  # fmt: skip

    def _watches(self):
        """What is watched: not the energy with contacts, whose α changes; nothing where a method is compared.

        Without the check of stability, an unstable step is what was asked for.
        """
        given = self.options
        compared = given.gyroscopic == "explicit" or given.limit_form == "sine" or given.scaling == "mass"
        if compared or not given.check_stability:
            return UNWATCHED
        return WATCHED if self.pair_types is None else GAPS_WATCHED

    def _launch(self, count):
        self._advance(self._report, *self._step(self._h), count, 1)

    def _report_stored(self, report):
        self._advance(report, *self._step(self._h), 1, 0)

    def _clear_caches(self):
        self._clear_columns(ROW.stretch, ROW.effort)
        self.data.cache.first.fill(0)

    # Readings ---------------------------------------------------------------------------------------------------------

    def statistics(self):
        """Iterations, residual and contacts of the last substep: a pbd.Statistics.

        There is one iteration. The residual is the largest error of a joint, limit or contact at its start [m or rad];
        contacts are points at which bodies overlapped.
        """
        iterations, residual, contacts = self._reported(REPORT.iterations, REPORT.position_error, REPORT.contacts)
        return Statistics(iterations.astype(int), residual, contacts.astype(int))

    def _row_efforts(self, rows):
        return rows[..., ROW.effort]
