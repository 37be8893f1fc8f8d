"""What the solvers on rows share: arrays of bodies, joints and contacts, inputs, snapshots and readings."""

from functools import cached_property

import numpy as np

from pbd.core.arrays import allocate, arrays_of, read, write
from pbd.core.results import Diverged
from pbd.core.runtime import real_type
from pbd.core.validate import finite_vector, not_negative, one_grab, positive, spread, whole
from rigid.collision.setup import collision_arrays, default_capacity, pair_types, refuse_mesh_colliders
from rigid.constraints.contact_forces import contact_forces
from rigid.constraints.contact_rows import contact_size
from rigid.constraints.joint_forces import joint_forces
from rigid.constraints.joints.builder import JointBuilder
from rigid.constraints.joints.data import COORDINATE, DRIVE, FRAMES, JOINT, MOTOR, DriveKind
from rigid.constraints.rows import GROUP, ROW, Group, RowBuilder
from rigid.energy import energy
from rigid.joint import Hinge, Universal
from rigid.kernels.motion import PSEUDO, allocate_bodies
from rigid.motor import motor_target
from rigid.names import look_up
from rigid.solvers.base import Solver
from rigid.solvers.report import REPORT
from rigid.state import State

# Kinds of motors, and the number that is their target.
TARGETS = {"speed": (DriveKind.MOTOR, MOTOR.speed), "position": (DriveKind.SERVO, MOTOR.position)}


class RowSolver(Solver):
    """A Solver that moves bodies by rows of joints and contacts (rigid/constraints/rows.py).

    Args:
        model, worlds, options: see Solver.
        closed: joints that the solver's coordinates keep closed; they get no rows for that.
        values: more arrays of `declaration`, see pbd.core.arrays.allocate; counts: more lengths of axes.

    Attributes:
        data: all Taichi arrays, an instance of `declaration`.
        pair_types: which kinds of pairs can touch, None if nothing can.

    A subclass sets the class attributes `declaration` (its Data, with bodies first) and `row_columns` (how many columns
    its rows have), and defines

        _launch(count)       make so many substeps
        _clear_caches()      clear what earlier steps left, as at the start
        _row_efforts(rows)   the effort of each row [N or N m]
        _wake(bodies)        if its bodies can sleep
    """

    declaration, row_columns = None, ROW.total

    def __init__(self, model, worlds, options, closed=(), values=None, **counts):
        super().__init__(model, worlds, **options)
        self._time_origin, self._substeps_done, self._steps_done = 0.0, 0, 0
        models, worlds, bodies = self.models, self.worlds, len(self.model.bodies)
        self._gravity = np.array(np.broadcast_to([each.gravity for each in models], (worlds, 3)))
        types = pair_types(models)
        touching = self.options.contacts and types.any_pair
        self.pair_types = types if touching else None
        capacity = self.options.contact_capacity or max(default_capacity(self.model), 1)
        self.contact_capacity = capacity if touching else 1
        for each in models if not touching else ():
            refuse_mesh_colliders(each)
        rows = RowBuilder(self.row_columns, worlds)
        joints = JointBuilder(models, rows, closed, self.options.grabs)
        self.first_coordinates, self._rows_of_joints = joints.first_coordinates, joints.rows_of
        self._grab_rows, self._grabbed = joints.grabs, {}
        self.first_contact_row, self.first_contact_group = len(rows.rows), len(rows.groups)
        self.has_joint_rows = bool(len(rows.rows) or self.model.joints or self.model.springs)
        self._contact_rows, contact_groups = contact_size(types)
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
        }
        self.data = allocate(
            self.declaration, {**given, **(values or {})}, worlds=worlds, bodies=bodies + 1, margins=bodies,
            shapes=len(self.model.shapes), contacts=self.contact_capacity,
            rows=self.first_contact_row + self._contact_rows * self.contact_capacity, **counts,
        )  # fmt: skip

    # Time -------------------------------------------------------------------------------------------------------------

    @property
    def time(self):
        """Time since the start [s]."""
        return self._time_origin + self._substeps_done * self._h

    @property
    def _h(self):
        return self.dt / self.substeps

    def _set_options(self, options):
        if (options.dt, options.substeps) != (self.dt, self.substeps):
            self._time_origin, self._substeps_done = self.time, 0
        super()._set_options(options)

    def step(self, count=1):
        """Make steps of dt. Args: count. Raises: pbd.Diverged if a state stops being finite."""
        count = whole("count", count)
        self._report[:, REPORT.diverged_substep :] = -1
        self._launch(count * self.substeps)
        self._raise_failure()
        self._substeps_done += count * self.substeps
        self._steps_done += count

    def _raise_failure(self):
        """Raise if the contact buffer was full in the last launch, or a state stopped being finite."""
        needed = int(self._report[:, REPORT.overflow].max())
        if needed >= 0:
            raise RuntimeError(f"contact buffer full ({needed} of {self.contact_capacity}): increase contact_capacity")
        for world in np.flatnonzero(self._report[:, REPORT.diverged_substep] >= 0):
            substep = int(self._report[world, REPORT.diverged_substep])
            with np.errstate(over="ignore", invalid="ignore"):
                finite = np.isfinite(read(self.data.bodies.pose)[world, :-1]).all(axis=1)
            step, time = self._steps_done + substep // self.substeps + 1, self.time + (substep + 1) * self._h
            raise Diverged(int(world), step, int(np.argmin(finite)), time, "body")

    # Gravity, motors and grabs ----------------------------------------------------------------------------------------

    @property
    def gravity(self):
        """Gravity (3,), or (worlds, 3) for several worlds [m/s²]. It can be set, for all worlds or for each."""
        return self._gravity[0] if self.worlds == 1 else self._gravity

    @gravity.setter
    def gravity(self, gravity):
        self._gravity = spread("gravity", gravity, (self.worlds, 3))
        write(self.data.gravity, self._gravity)
        self._wake(range(len(self.model.bodies)))

    def _wake(self, bodies):
        """Wake bodies that something new acts on. Args: bodies: indices."""

    def set_motor(self, joint, *, speed=None, position=None):
        """Change the target of a motor, see Solver.set_motor."""
        index, name, target = motor_target(self.model, joint, speed, position, self.worlds)
        kind, column = TARGETS[name]
        own = self._drives[:, DRIVE.kind] == kind
        own &= self._drives[:, DRIVE.coordinate] == self.first_coordinates[index]
        if (self._drive_numbers[:, own, column] != target[:, None]).any():
            self._drive_numbers[:, own, column] = target[:, None]
            write(self.data.joints.drive_numbers, self._drive_numbers)
            self._wake([self.model.joints[index].parent, self.model.joints[index].child])

    # Copies of arrays that no kernel changes.

    @cached_property
    def _drives(self):
        return read(self.data.joints.drives)

    @cached_property
    def _drive_numbers(self):
        return read(self.data.joints.drive_numbers)

    @cached_property
    def _motor_targets(self):
        """Which of the drives' numbers are targets of motors, (drives, numbers)."""
        found = np.zeros(self._drive_numbers.shape[1:], bool)
        for kind, column in TARGETS.values():
            found[:, column] = self._drives[:, DRIVE.kind] == kind
        return found

    def grab(self, grab, body, point, target, stiffness, damping=0.0):
        """Pull a point of a body to a target by a spring, see Solver.grab."""
        grab = self._grab_rows[one_grab(grab, len(self._grab_rows))]
        body = look_up("grabbed body", body, self.model.bodies, "body")
        target, point = finite_vector("target of a grab", target), finite_vector("grabbed point", point)
        spring = positive("stiffness of a grab", stiffness), not_negative("damping of a grab", damping)
        if self._grabbed.get(grab) != (body, *spring):
            self._grabbed[grab] = (body, *spring)
            self._write_grab(grab)
        frames = read(self.data.joints.frames)
        # The ground's frame is the world's.
        frames[:, grab.joint, FRAMES["anchor_i"]], frames[:, grab.joint, FRAMES["anchor_j"]] = target, point
        write(self.data.joints.frames, frames)
        self._wake([body])

    def release(self, grab):
        """Release what a grab spring pulls. Args: grab: which."""
        grab = self._grab_rows[one_grab(grab, len(self._grab_rows))]
        if self._grabbed.pop(grab, None):
            self._write_grab(grab)

    def _write_grab(self, grab):
        """Connect the rows of a grab spring to what it pulls. Args: grab: a GrabRows."""
        body, *spring = self._grabbed.get(grab, (0, 0.0, 0.0))
        kind = Group.EQUALITY if grab in self._grabbed else Group.IDLE
        rows = slice(grab.row, grab.row + 3)
        for array, index, given in (
            (self.data.joints.integers, (grab.joint, JOINT.body_j), body),
            (self.data.rows.groups, (slice(None), grab.group, [GROUP.kind, GROUP.body_j]), [kind, body]),
            (self.data.rows.numbers, (slice(None), rows, [ROW.stiffness, ROW.damping]), spring),
        ):
            values = read(array)
            values[index] = given
            write(array, values)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def state(self):
        """Poses and velocities at the end of the last step, see Solver.state.

        The velocities are those that made the last step, half a step behind the poses.
        """
        return self._snapshot(np.concatenate([np.ravel(array).astype(float) for array in self._kept()]))

    def _snapshot(self, warm_start=()):
        """The State of now, without `warm_start` unless it is given."""
        return State(*self._split(read(self.data.bodies.pose), read(self.data.bodies.velocity)), self.time, warm_start)

    def _split(self, pose, velocity):
        """Position, rotation, velocity and angular velocity from the arrays of Bodies."""
        table = np.concatenate([pose[:, :-1], velocity[:, :-1, :PSEUDO]], axis=2).astype(float)
        return np.split(table[0] if self.worlds == 1 else table, (3, 7, 10), axis=-1)

    def _kept(self):
        """All that a later step reads and that changes, as numpy arrays: kept arrays, poses and velocities first, and
        the targets of motors."""
        return [*map(read, arrays_of(self.data, kept=True)), self._drive_numbers[:, self._motor_targets]]

    def set_state(self, state):
        """Set poses and velocities, see Solver.set_state."""
        if not isinstance(state, State):
            raise TypeError(f"state is {type(state).__name__}: expected a rigid.State")
        bodies = self.data.bodies
        pose, velocity = read(bodies.pose), read(bodies.velocity)
        shape = self._split(pose, velocity)[0].shape
        if state.position.shape != shape:
            raise ValueError(f"state's position has shape {state.position.shape}: expected {shape}")
        self._report[:] = 0.0
        if self._restore(state):
            return
        given = np.concatenate([state.position, state.rotation, state.velocity, state.angular_velocity], axis=-1)
        given = given.reshape(self.worlds, -1, 13)
        pose[:, :-1], velocity[:, :-1, :PSEUDO] = given[..., :7], given[..., 7:]
        pose[..., 3:] /= np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
        write(bodies.pose, pose)
        write(bodies.velocity, velocity)
        self.data.joints.coordinates.fill(0)
        self.joint_reader.forget()
        self._clear_caches()

    def _restore(self, state):
        """Continue from a state bit for bit, if its `warm_start` is of this solver and its poses are unchanged.

        Returns: whether it was so.
        """
        now = self._kept()
        ends = np.cumsum([array.size for array in now])
        if len(state.warm_start) != ends[-1]:
            return False
        parts = [
            np.ascontiguousarray(part.reshape(array.shape), array.dtype)
            for part, array in zip(np.split(state.warm_start, ends[:-1]), now)
        ]
        given = (state.position, state.rotation, state.velocity, state.angular_velocity)
        if not all(map(np.array_equal, self._split(*parts[:2]), given)):
            return False
        for array, part in zip(arrays_of(self.data, kept=True), parts):
            write(array, part)
        self._drive_numbers[:, self._motor_targets] = parts[-1]
        write(self.data.joints.drive_numbers, self._drive_numbers)
        self._time_origin, self._substeps_done = state.time, 0
        for grab in self._grabbed:
            self._write_grab(grab)  # the state has the stiffness of what was grabbed then
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

    def joint_positions(self):
        """Positions of all joints, see Solver.joint_positions."""
        return self._joint_positions(self._snapshot())

    def _joint_positions(self, state):
        """The same of a state. Angles are counted on from those of the last step's start."""
        self.joint_reader.count_from(self._joint_angles())
        return self.joint_reader.positions(state)

    def _joint_angles(self):
        """{name: angle} of hinges and universal joints at the last step's start, past full turns."""
        values = read(self.data.joints.coordinates)[:, :, COORDINATE.value].astype(float)
        angles = {}
        for joint, first in zip(self.model.joints, self.first_coordinates):
            if isinstance(joint, (Hinge, Universal)):
                angle = values[:, first] if isinstance(joint, Hinge) else values[:, first : first + 2]
                angles[joint.name] = angle[0] if self.worlds == 1 else angle
        return angles

    def joint_velocities(self):
        """Velocities of all joints, see Solver.joint_velocities."""
        return self.joint_reader.velocities(self._snapshot())

    def energy(self):
        """Kinetic, potential and total energy at the end of the last step: a pbd.Energy [J].

        The velocities are those of `state`, half a step behind the poses, so the total of a free swing oscillates by a
        part of first order in the step. Potential energy is that of gravity (zero at z = 0) and of springs.
        """
        state = self._snapshot()
        return energy(self.models, state, self._joint_positions(state), self.gravity)

    def joint_forces(self):
        """Forces and torques that joints apply to their children, see Solver.joint_forces.

        They include limits, friction, motors and springs of a joint, but not gears. They are exact for the poses of the
        last substep's start, and of first order in the step for those of now.
        """
        numbers = read(self.data.rows.numbers).astype(float)
        forces = joint_forces(self.models, self._snapshot(), numbers, self._row_efforts(numbers), self._rows_of_joints)
        return self._by_world(forces)

    def _by_world(self, arrays):
        """{name: array}, without the axis of worlds if there is one world."""
        return {name: found[0] if self.worlds == 1 else found for name, found in arrays.items()}

    def contact_forces(self, world=0):
        """Contact points of the last substep and the forces in them, see Solver.contact_forces."""
        count, first = int(self._report[world, REPORT.contacts]), self.first_contact_row
        rows = read(self.data.rows.numbers)[world, first : first + self._contact_rows * count]
        rows = rows.reshape(count, self._contact_rows, rows.shape[-1])
        points = [read(array)[world, :count] for array in (self.data.points.integers, self.data.points.numbers)]
        return contact_forces(points, rows, self._row_efforts(rows))

    def _reported(self, *columns):
        """Columns of the report: numbers, or arrays (worlds,) for several worlds."""
        found = [self._report[:, column] for column in columns]
        return [column[0] if self.worlds == 1 else column.copy() for column in found]
