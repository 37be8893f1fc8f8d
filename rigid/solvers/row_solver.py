"""RowSolver, the base of the solvers on rows: arrays of bodies, joints and contacts, inputs, snapshots and readings."""

import time
from dataclasses import replace

import numpy as np

from pbd.core.clock import Clock
from pbd.core.kernels import (
    LaunchLength,
    allocate,
    arrays_of,
    read,
    real_type,
    refuse_ended_loops,
    with_lanes,
    write,
)
from pbd.core.results import Diverged
from pbd.core.validate import boolean, one_index, refuse_gigabytes, spread, unchanging, whole
from rigid.collision.upload import (
    capacity_of_several,
    collision_arrays,
    default_capacity,
    pair_types,
    refuse_mesh_colliders,
)
from rigid.constraints.contact_forces import contact_forces
from rigid.constraints.contact_rows import contact_size
from rigid.constraints.joint_forces import joint_forces
from rigid.constraints.joints.builder import JointBuilder
from rigid.constraints.joints.data import COORDINATE
from rigid.constraints.joints.rotors import armature_energy, set_rotors
from rigid.constraints.rows import ROW, RowBuilder
from rigid.energy import energy, inertial_properties
from rigid.kernels.motion import PSEUDO, allocate_bodies, bounding_radii
from rigid.names import GROUND, checked_index
from rigid.solvers.base import Solver
from rigid.solvers.breaking import Breaking, JointRows, joints_that_break
from rigid.solvers.energy_bound import LARGEST_RISE, UNWATCHED, WATCHED, watch_values
from rigid.solvers.energy_warning import PassiveEnergy
from rigid.solvers.inputs import ExternalForces, GrabSprings, MotorTargets, Paths
from rigid.solvers.report import EVENTS, NOTHING, REPORT
from rigid.state import State, join_arrays, split_arrays


class RowSolver(Solver):
    """A Solver that moves bodies by rows of joints and contacts (rigid/constraints/rows.py).

    Args:
        model, worlds, options: see Solver.
        closed: joints that the solver's coordinates keep closed; they get no rows for that.
        values: more arrays of `declaration`, see pbd.core.kernels.arrays.allocate; counts: more lengths of axes.

    Attributes:
        data: all Taichi arrays, an instance of `declaration`.
        lanes: how many worlds one thread moves at a time.
        pair_types: which kinds of pairs can touch, None if nothing can.
        rotors: {name of a joint with armature: its rotor's row}.

    A subclass sets the class attributes `declaration` (its Data, with bodies first), `row_columns` (how many columns
    its rows have) and `remedies` (against rising energy and open joints), and defines

        _launch(count)       make `count` substeps
        _clear_caches()      clear what earlier steps left, as at the start, but not the full turns of angles
        _row_efforts(rows)   the effort of each row [N or N m]
        _stores_energy()         whether rows are springs, if not always
        _report_stored(report)   write REPORT.stored for the present poses; what that changes is put back
        _wake(bodies, world)   if its bodies can sleep
        _watches()           what is watched where nothing drives the bodies, if not WATCHED (energy_bound.py)
        _watches_motors()    what is watched where motors alone drive them, if not UNWATCHED
    """

    declaration, row_columns = None, ROW.total
    remedies = "a shorter step, or more iterations"

    def __init__(self, model, worlds, options, closed=(), values=None, **counts):
        super().__init__(model, worlds, **options)
        self._clock = Clock(self.dt, self.substeps)
        self._launch_length = LaunchLength()
        self._stepped = False  # since the start, the last `set_state` or change of the step
        models, worlds, bodies = self.models, self.worlds, len(self.model.bodies)
        self._gravity = unchanging(np.broadcast_to([each.gravity for each in models], (worlds, 3)))
        self._strongest_gravity = strongest(self._gravity)
        types = pair_types(models)
        touching = self.options.contacts and types.any_pair
        self.pair_types = types if touching else None
        capacity = self.options.contact_capacity or max(default_capacity(self.model), 1)
        self.lanes = self._choose_lanes()
        if touching and worlds > 1 and self.options.contact_capacity is None:
            capacity = capacity_of_several(self.model, capacity)
        self.contact_capacity = capacity if touching else 1
        for each in models if not touching else ():
            refuse_mesh_colliders(each)
        rows = RowBuilder(self.row_columns, worlds)
        joints = JointBuilder(models, rows, closed, self.options.grabs)
        self.first_coordinates, self._rows_of_joints = joints.first_coordinates, joints.rows_of
        self.rotors = joints.rotors
        self.first_contact_row, self.first_contact_group = len(rows.rows), len(rows.groups)
        self.has_joint_rows = bool(len(rows.rows) or self.model.joints or self.model.springs)
        self._contact_rows, contact_groups = contact_size(types)
        size = 8 * self._contact_rows * self.row_columns * self.contact_capacity * worlds
        refuse_gigabytes("contact_capacity", f"{self.contact_capacity} in {worlds} worlds", size)
        self._report = np.zeros((worlds, REPORT.total), real_type())
        shapes, points, scratch = collision_arrays(models, worlds, self.contact_capacity)
        given = {
            "bodies": allocate_bodies(models, worlds),
            "joints": joints.allocate(),
            "rows": rows.allocate(self._contact_rows * self.contact_capacity, contact_groups * self.contact_capacity),
            "shapes": shapes,
            "points": points,
            "scratch": scratch,
            "gravity": self._gravity,
            "watch": watch_values(models, worlds, bounding_radii(self.model) if touching else ()),
        }
        self.packs = self._has_packs()
        packs = self.contact_capacity if self.packs else 0
        self.data = allocate(
            self.declaration, {**given, **(values or {})}, worlds=worlds, bodies=bodies + 1, margins=bodies,
            shapes=len(self.model.shapes), contacts=self.contact_capacity,
            packs=packs, pack_bodies=2 * packs, soft_slots=packs if self._has_small_steps() else 0,
            readings=self.contact_capacity if self.lanes > 1 else 0,
            rows=self.first_contact_row + self._contact_rows * self.contact_capacity, **counts,
        )  # fmt: skip
        if self.lanes > 1:
            self.data = with_lanes(self.data, self.lanes)
        self._paths = Paths(models, worlds, bounding_radii(self.model))
        self._inertial = inertial_properties(models)
        self._passive = PassiveEnergy(models, self.data.watch.numbers, self._watches(), self._watches_motors())
        self._external_forces = ExternalForces(self.data.bodies.external)
        self._motor_targets = MotorTargets(self.data.joints, self.first_coordinates)
        self._grab_springs = GrabSprings(self.data.joints, self.data.rows, joints.grabs)
        breaking = JointRows(joints_that_break(self.model), self.data, joints.rows_of)
        self._breaking = Breaking(models, worlds, breaking.write)
        self._start_rotors()

    # Time -------------------------------------------------------------------------------------------------------------

    @property
    def time(self):
        """Time since the start [s]."""
        return self._clock.time

    @property
    def _h(self):
        return self._clock.h

    def _set_options(self, options):
        if (options.dt, options.substeps) != (self.dt, self.substeps):
            self._clock.set(options.dt, options.substeps)
            self._stepped = False
        super()._set_options(options)

    def step(self, count=1):
        """Make steps of dt. Args: count. Raises: pbd.Diverged if a state stops being finite."""
        left = whole("count", count) * self.substeps
        self._passive.choose(self._external_forces.act or self._grab_springs.grabbed)
        # Paths give the pose of each substep, and joints may break in each, so it has a launch of its own.
        each = self._paths.bodies or len(self._breaking)
        while left > 0:
            substeps = 1 if each else self._launch_length.limited(left)
            if self._paths.bodies:
                self._wake(self._paths.follow(self.data.bodies, self.time, self._h))
            self._report[:, REPORT.rise :] = NOTHING
            start = time.perf_counter()
            self._launch(substeps)
            self._launch_length.adapt(substeps, time.perf_counter() - start)
            refuse_ended_loops(self._report, REPORT.last_turns)
            if self._report[:, EVENTS].max() > NOTHING:
                self._passive.warn(self, self._report)
                self._raise_failure()
            self._clock.substep += substeps
            self._look_at(self._report)
            left -= substeps
            self._stepped = True
            if len(self._breaking):
                self._break_joints()

    def _break_joints(self):
        """Break the joints with too much load in the last substep."""
        events, broken = self._breaking.break_overloaded(self.joint_forces(), self._snapshot)
        self.events += events
        for world, index in broken:
            joint = self.model.joints[index]
            self._wake([body for body in (joint.parent, joint.child) if body != GROUND], world)

    def _look_at(self, report):
        """Look at what a launch has reported. Args: report (worlds, REPORT)."""

    def _watches(self):
        return WATCHED

    def _watches_motors(self):
        return UNWATCHED

    def _has_packs(self):
        """Whether contacts of one world lie in the lanes of vectors."""
        return False

    def _has_small_steps(self):
        """Whether substeps are made in small steps with soft rows."""
        return False

    def _choose_lanes(self):
        """Choose how many worlds lie in the lanes of a vector."""
        return 1

    def _raise_failure(self):
        """Raise if the contact buffer was full in the last launch, or a state stopped being finite."""
        needed = int(self._report[:, REPORT.overflow].max())
        if needed >= 0:
            raise RuntimeError(f"contact buffer full ({needed} of {self.contact_capacity}): increase contact_capacity")
        for world in np.flatnonzero(self._report[:, REPORT.diverged_substep] >= 0):
            substep = int(self._report[world, REPORT.diverged_substep])
            with np.errstate(over="ignore", invalid="ignore"):
                finite = np.isfinite(read(self.data.bodies.pose)[world, :-1]).all(axis=1)
            step, time = self._clock.step_of(self._clock.substep + substep), self._clock.time_after(substep + 1)
            risen = self._report[world, REPORT.rise] > LARGEST_RISE
            raise Diverged(int(world), step, int(np.argmin(finite)), time, "body", "gained energy" if risen else None)

    # Gravity, motors and grabs ----------------------------------------------------------------------------------------

    @property
    def gravity(self):
        """Gravity (3,), or (worlds, 3) for several worlds [m/s²]. It can be set, for all worlds or for each."""
        return self._gravity[0] if self.worlds == 1 else self._gravity

    @gravity.setter
    def gravity(self, gravity):
        self._gravity = unchanging(spread("gravity", gravity, (self.worlds, 3)))
        self._strongest_gravity = strongest(self._gravity)
        write(self.data.gravity, self._gravity)
        self._passive.forget()
        self._wake(range(len(self.model.bodies)))

    def _set_target(self, joint, name, target):
        if self._motor_targets.set(joint, name, target):
            self._wake([self.model.joints[joint].parent, self.model.joints[joint].child])

    def grab(self, grab, body, point, target, stiffness, damping=0.0):
        """Pull a point of a body to a target by a spring, see Solver.grab."""
        body = checked_index("grabbed body", body, self.model.bodies, "body")
        self._wake(self._grab_springs.bodies())
        self._grab_springs.grab(grab, body, point, target, stiffness, damping)
        self._wake([body])

    def release(self, grab):
        """Release what a grab spring pulls. Args: grab: index."""
        self._wake(self._grab_springs.bodies())
        self._grab_springs.release(grab)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def state(self, warm_start=True):
        """Poses and velocities at the end of the last step, see Solver.state.

        The velocities are those that made the last step, half a step behind the poses. With the variational integrator
        they are at the time of the poses, except for bodies on which rows act, directly or through joints.
        """
        return self._snapshot(join_arrays(self._kept()) if boolean("warm_start", warm_start) else ())

    def _snapshot(self, warm_start=()):
        """The present State, without `warm_start` unless it is given."""
        found = self._split(read(self.data.bodies.pose), read(self.data.bodies.velocity))
        angles = self._joint_angles() if self.joint_reader.count else np.zeros((self.worlds, 0))
        angles = angles[0] if self.worlds == 1 else angles
        return State(*found, self.time, warm_start, **self._clock.state(), joint_angles=angles)

    def _split(self, pose, velocity):
        """Position, rotation, velocity and angular velocity from the arrays of Bodies."""
        table = np.concatenate([pose[:, :-1], velocity[:, :-1, :PSEUDO]], axis=2).astype(float)
        return np.split(table[0] if self.worlds == 1 else table, (3, 7, 10), axis=-1)

    def _kept(self):
        """All that a later step reads and that changes: numpy arrays, poses and velocities first.

        These are the arrays declared with kept=True, and the targets of motors. The array of targets also contains
        constants of the model, so it is not kept as a whole.
        """
        arrays = map(read, arrays_of(self.data, kept=True))
        return [*arrays, self._motor_targets.values(), self._breaking.broken.astype(float)]

    def set_state(self, state):
        """Set poses and velocities, see Solver.set_state."""
        if not isinstance(state, State):
            raise TypeError(f"state is {type(state).__name__}: expected a rigid.State")
        bodies = self.data.bodies
        pose, velocity = read(bodies.pose), read(bodies.velocity)
        shape = self._split(pose, velocity)[0].shape
        if state.position.shape != shape:
            raise ValueError(f"state's position has shape {state.position.shape}: expected {shape}")
        angles = self._angles_of(state)
        self._report[:] = 0.0
        self._stepped = False
        self.data.scratch.placements.fill(0)  # nothing is kept of contacts in other poses
        if self._restore(state):
            return
        self._clock.continue_at(state.time, **state.clock())
        given = np.concatenate([state.position, state.rotation, state.velocity, state.angular_velocity], axis=-1)
        given = given.reshape(self.worlds, -1, 13)
        pose[:, :-1], velocity[:, :-1, :PSEUDO] = given[..., :7], given[..., 7:]
        pose[..., 3:] /= np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
        write(bodies.pose, pose)
        write(bodies.velocity, velocity)
        self.data.joints.coordinates.fill(0)
        self._count_from(angles)
        self._passive.forget()
        self._start_rotors()
        self._clear_caches()

    def _start_rotors(self):
        """Let rotors have the speeds of their joints."""
        set_rotors(self.data.rows, self.rotors, self.joint_velocities() if self.rotors else {})

    def _restore(self, state):
        """Continue from a state bit for bit, if its `warm_start` is of this solver and its poses are unchanged.

        Returns: whether the run continues.
        """
        parts = split_arrays(state.warm_start, self._kept())
        given = (state.position, state.rotation, state.velocity, state.angular_velocity)
        if not parts or not all(map(np.array_equal, self._split(*parts[:2]), given)):
            return False
        if state.dt and state.substeps:
            self._set_options(replace(self.options, dt=state.dt, substeps=state.substeps))
        self._clock.continue_at(state.time, **state.clock())
        for array, part in zip(arrays_of(self.data, kept=True), parts):
            write(array, part)
        self._external_forces.reload()
        self._motor_targets.restore(parts[-2])
        self._breaking.restore(parts[-1])
        self._grab_springs.write_all()  # the state has the stiffness of what was grabbed then
        self._wake(self._grab_springs.bodies())
        return True

    def _clear_columns(self, *columns):
        """Set columns of all rows to zero."""
        numbers = read(self.data.rows.numbers)
        numbers[:, :, columns] = 0.0
        write(self.data.rows.numbers, numbers)

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the poses or velocities."""
        return self._snapshot().digest()

    # Readings ---------------------------------------------------------------------------------------------------------

    def _angle_coordinates(self):
        """Coordinates that are counted angles, in the order of the joints (angles,)."""
        joints = zip(self.model.joints, self.first_coordinates)
        return np.array([first + k for joint, first in joints for k in joint.type.angles], int)

    def _joint_angles(self):
        """Counted angles of all joints, at the start of the last step (worlds, angles) [rad]."""
        return read(self.data.joints.coordinates)[:, self._angle_coordinates(), COORDINATE.value].astype(float)

    def _count_from(self, angles):
        """Count full turns from given angles (worlds, angles) [rad]."""
        coordinates = read(self.data.joints.coordinates)
        coordinates[:, self._angle_coordinates(), COORDINATE.value] = angles
        write(self.data.joints.coordinates, coordinates)

    def energy(self):
        """Kinetic, potential and total energy at the end of the last step: a pbd.Energy [J].

        The velocities are those of `state`, half a step behind the poses, so the total of a free swing oscillates by a
        part of first order in the step; with the variational integrator of second order. Potential energy is that of
        gravity (zero at z = 0) and of springs: between points, in joints, soft joints, grab springs, and for the solver
        "penalty" all rows of joints and contacts.
        """
        state = self._snapshot()
        rotors = armature_energy(self.models, self.joint_reader.velocities(state)) if self.rotors else 0.0
        return energy(self._inertial, state, self.gravity, self._stored_energy(), rotors)

    def _stores_energy(self):
        """Whether rows are springs now."""
        return True

    def _stored_energy(self):
        """Energy of all rows that are springs, at the present poses: a number, or (worlds,) [J].

        To write rows there changes what the next step reads, so all of that is put back.
        """
        if not self._stores_energy():
            return 0.0
        arrays, report = [*arrays_of(self.data, kept=True), self.data.rows.kinds], self._report.copy()
        report[:, EVENTS], report[:, REPORT.stored] = NOTHING, 0.0
        kept = [read(array) for array in arrays]
        self._report_stored(report)
        refuse_ended_loops(report, REPORT.last_turns)
        for array, values in zip(arrays, kept):
            write(array, values)
        stored = report[:, REPORT.stored].astype(float)
        return stored[0] if self.worlds == 1 else stored

    def joint_forces(self):
        """Forces and torques that joints apply to their children, see Solver.joint_forces.

        They include limits, friction, motors and springs of a joint, but not gears. The efforts are those of the last
        substep. Their directions are those that the rows have now, so the forces are of first order in the step.
        """
        numbers = read(self.data.rows.numbers).astype(float)
        forces = joint_forces(self.models, self._snapshot(), numbers, self._row_efforts(numbers), self._rows_of_joints)
        return self._by_world(forces)

    def _by_world(self, arrays):
        """{name: array}, without the axis of worlds if there is one world."""
        return {name: found[0] if self.worlds == 1 else found for name, found in arrays.items()}

    def contact_forces(self, world=0):
        """Contact points of the last substep and the forces in them, see Solver.contact_forces."""
        world = one_index("world", world, self.worlds, "worlds")
        count, first = int(self._report[world, REPORT.contacts]), self.first_contact_row
        rows = read(self.data.rows.numbers)[world, first : first + self._contact_rows * count]
        rows = rows.reshape(count, self._contact_rows, rows.shape[-1])
        points = [read(array)[world, :count] for array in (self.data.points.integers, self.data.points.numbers)]
        return contact_forces(points, rows, self._row_efforts(rows))

    def _reported(self, *columns):
        """Columns of the report: numbers, or arrays (worlds,) for several worlds."""
        found = [self._report[:, column] for column in columns]
        return [column[0] if self.worlds == 1 else column.copy() for column in found]


def strongest(gravity):
    """The largest gravity of any world [m/s²]. Args: gravity (worlds, 3)."""
    return float(np.linalg.norm(gravity, axis=1).max())
