"""Solver "penalty": bodies in maximal coordinates, by springs and dampers. The step is in step.py of this folder."""

from functools import cached_property

import numpy as np

from pbd.core.kernels import LOOP_STRIDE, Launch, on_cpu, read, write
from pbd.core.results import Statistics
from rigid.collision.upload import refuse_rolling_and_spinning_friction
from rigid.constraints.joints.data import DRIVE, JOINT, DriveKind
from rigid.solvers.energy_bound import GAPS_WATCHED, MOTORS_WATCHED, OF_BODY, OF_SPRINGS, UNDIVIDED, UNWATCHED, WATCHED
from rigid.solvers.penalty.data import ROW, Data, Features, Step
from rigid.solvers.penalty.deep_contacts import DeepContacts
from rigid.solvers.penalty.limits import refuse_wide_limits
from rigid.solvers.penalty.options import PenaltyOptions
from rigid.solvers.penalty.runaway import DrivenEnergy
from rigid.solvers.penalty.servos import MOST_GROWTH, servo_gains
from rigid.solvers.penalty.stability import BOUND, damped, find_islands, largest_growth, largest_load, longest_step
from rigid.solvers.penalty.step import step_kernel
from rigid.solvers.report import EVENTS, NOTHING, REPORT
from rigid.solvers.row_solver import RowSolver
from rigid.solvers.substeps import first_worlds

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
    A warning tells of bodies that are inside one another by a quarter of the thinner shape. Bodies that overlap at the
    start are thrown apart. Errors add up over bodies: each body of a stack sinks in under the weight above, and light
    bodies between heavy ones give way by the ratio of their masses or moments. Contacts rebound by their damping, with
    0.135 of their speed at least, and more if the step is long; joint limits rebound with 0.3. Friction and motors are
    springs that slip: they give way by millimetres before they hold, and a sudden load overshoots. Angular momentum is
    kept as far as joints are closed. The bound on the step is that of the starting pose. One thread moves one world.

    Source: Mikhaylyuk and Strashnov, Simulation of Articulated Rigid Bodies with Penalty Method (2013).
    """

    name, Options = "penalty", PenaltyOptions
    declaration, row_columns = Data, ROW.total
    remedies = "a shorter step, or more stiffness"

    def __init__(self, model, worlds=1, **options):
        super().__init__(model, worlds, options)
        write(self.data.driven_energy, self._driven_energy.of_worlds())
        for each in self.models:
            refuse_rolling_and_spinning_friction(each, "penalty")
            if self.options.limit_form == "sine":
                refuse_wide_limits(each)
        given = self.options
        features = Features(
            joints=self.has_joint_rows, rotors=bool(self.rotors), pair_types=self.pair_types,
            gyroscopic=given.gyroscopic,
            sine_limits=given.limit_form == "sine",
            division=OF_SPRINGS if self._watches() == WATCHED else UNDIVIDED,
            one_world=self.worlds == 1, spread=LOOP_STRIDE if on_cpu() else 1,
        )  # fmt: skip
        self._advance_from = Launch(step_kernel(features), self.data)
        self._deep_contacts = DeepContacts()
        self._islands = self._find_islands() if self.first_contact_row else []
        self._check_stability(given)

    # Stability --------------------------------------------------------------------------------------------------------

    def _find_islands(self):
        """Find the islands of joint rows as the model starts: a list for each model."""
        self._report[:, EVENTS] = NOTHING
        watched = read(self.data.watch.bodies)
        still = watched.copy()
        still[..., OF_BODY.swing] = 0.0  # nothing moves, so that not even so long a step needs parts
        write(self.data.watch.bodies, still)
        self._advance(self._report, ANY_REACH, 1, 0)
        write(self.data.watch.bodies, watched)
        rows, bodies = self.data.rows, self.data.bodies
        numbers, of_joints = read(rows.numbers).astype(float), slice(self.first_contact_group)
        kinds, groups = read(rows.kinds)[:, of_joints], read(rows.groups)[:, of_joints]
        mass, inverse_inertia = read(bodies.mass).astype(float), read(bodies.inverse_inertia).astype(float)
        self._clear_columns(ROW.stretch, ROW.effort)  # nothing has moved
        drives, drive_numbers = read(self.data.joints.drives), read(self.data.joints.drive_numbers)
        slipping = set(drives[drives[:, DRIVE.kind] == DriveKind.FRICTION, DRIVE.row].tolist())
        return [
            find_islands(numbers[k], kinds[k], groups[k], mass[k], inverse_inertia[k],
                         servo_gains(drives, drive_numbers[k]), slipping)
            for k in range(len(self.models))
        ]  # fmt: skip

    def _check_stability(self, options):
        """Raise ValueError if a step is too long; give servos the damping that they need, and contacts what joints
        leave. Args: options: PenaltyOptions."""
        h, left, numbers = options.dt / options.substeps, [BOUND] * len(self.models), read(self.data.rows.numbers)
        numbers[..., ROW.least_damping] = 0.0
        for world, islands in enumerate(self._islands):
            found, least = damped(islands, h)
            load, row = largest_load(found, h)
            rate, servo = largest_growth(found, h)
            if options.check_stability and not (load < BOUND and rate < MOST_GROWTH):
                where = f" of world {world}" if len(self._islands) > 1 else ""
                self._refuse_step(h, longest_step(islands, h), (load, row), (rate, servo), where)
            left[world] = max(BOUND - load, LEAST_CONTACT_LOAD)
            for row, damping in least.items():
                numbers[world if len(self._islands) > 1 else slice(None), row, ROW.least_damping] = damping
        drives = read(self.data.joints.drives)
        gears = drives[drives[:, DRIVE.kind] == DriveKind.GEAR, DRIVE.row]
        numbers[:, gears + 1, ROW.least_damping] = numbers[:, gears, ROW.least_damping]  # two rows, one force
        write(self.data.rows.numbers, numbers)
        write(self.data.contact_load, np.broadcast_to(left, self.worlds))

    def _refuse_step(self, h, longest, load, growth, where):
        """Raise ValueError for a step that is too long.

        Args: h; longest: that is stable, 0 for none [s]; load, growth: the largest ones, and their rows; where.
        """
        (load, row), (rate, servo) = load, growth
        remedies = f"use a step below {longest:.3g} s, or" if longest > 0 else "use"
        stiffer = "" if longest > 0 else ", or more stiffness in shorter steps"
        if load >= BOUND:
            raise ValueError(
                f"a step of {h:g} s is unstable: the row of {self._name_of(row)}{where}, and rows that share its "
                f"bodies, have h² α + 2 h β = {load:.3g}: expected below {BOUND:g}; {remedies} less stiffness and "
                "damping"
            )
        raise ValueError(
            f"a step of {h:g} s is unstable: the motor of {self._name_of(servo)}{where} makes a motion that grows by "
            f"{rate:.3g}/s: expected one that fades; {remedies} a smaller position_gain{stiffer}"
        )

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
        """Choose what is watched: not the energy with contacts, whose α changes; nothing where a method is compared.

        Without the check of stability, an unstable step is what was asked for.
        """
        given = self.options
        if given.gyroscopic == "explicit" or given.limit_form == "sine" or not given.check_stability:
            return UNWATCHED
        return WATCHED if self.pair_types is None else GAPS_WATCHED

    @cached_property
    def _driven_energy(self):
        return DrivenEnergy(self.models, self.worlds)

    def _watches_motors(self):
        return MOTORS_WATCHED if self._driven_energy.only else UNWATCHED

    def _set_target(self, joint, name, target):
        super()._set_target(joint, name, target)
        if name == "position":
            self._driven_energy.add_target(joint, target)
            write(self.data.driven_energy, self._driven_energy.of_worlds())

    def _launch(self, count):
        self._advance(self._report, self._h, count, 1)

    def _look_at(self, report):
        self._deep_contacts.warn(self, report)

    def _report_stored(self, report):
        self._advance(report, self._h, 1, 0)

    def _advance(self, report, h, substeps, moving):
        """Launch the kernel for all worlds. Args: h: see `_step`; substeps: how many; moving: 0 to move nothing."""
        for first in first_worlds(self.worlds):
            self._advance_from(report, *self._step(h), substeps, moving, first)

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
