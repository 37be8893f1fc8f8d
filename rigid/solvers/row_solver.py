"""What the solvers on rows share: arrays of bodies, joints and contacts; time, motors, grabs, snapshots and readings."""

from functools import cached_property

import numpy as np

from pbd.core.arrays import read, write
from pbd.core.results import Diverged
from pbd.core.runtime import real_type
from pbd.core.validate import finite_vector, not_negative, one_grab, positive, spread, whole
from rigid.collision.data import array
from rigid.collision.setup import collision_arrays, default_capacity, pair_types, refuse_mesh_colliders
from rigid.constraints.contact_forces import contact_forces
from rigid.constraints.contact_rows import size
from rigid.constraints.joints.drive import COORDINATE, DRIVE_KIND, MOTOR, POSITION, SERVO, SPEED
from rigid.constraints.joints.place import ANCHOR_I, TRIAD_I, VALUE
from rigid.constraints.joints.table import BODY_J as BODY
from rigid.constraints.joints.table import JointTable
from rigid.constraints.rows import BODY_J, DAMPING, IDLE, KIND, LOCK, STIFFNESS, RowTable
from rigid.energy import energy
from rigid.joint import Hinge, Universal
from rigid.kernels.motion import PSEUDO, motion
from rigid.motor import motor_target
from rigid.names import look_up
from rigid.solvers.base import Solver
from rigid.solvers.report import CROWDED, DIVERGED_STEP, REPORTS, TOUCHING
from rigid.state import State


class RowSolver(Solver):
    """A Solver that moves bodies by rows of joints and contacts (rigid/constraints/rows.py).

    Args: model, worlds, options: see Solver; columns: of a row, the solver's own included; held: joints that coordinates
    keep closed, which have no rows for that.

    Attributes: motion, joints, rows, points: Taichi arrays; `_meetings`: what can meet, None where nothing does;
    `_capacity`: room for points of contact, one where nothing meets.

    Subclasses make `_surroundings`, a Taichi array (3 or more, worlds) whose first rows are gravity, and have

        _launch(count)       make so many substeps
        _remembered()        Taichi arrays, besides poses and velocities, that a later step reads
        _forget()            make these what they are at the start
        _efforts(rows)       the effort of each of some rows [N]
    """

    def __init__(self, model, worlds, options, columns, held=()):
        super().__init__(model, worlds, **options)
        self._origin, self._substep, self._steps = 0.0, 0, 0
        models, worlds = self.models, self.worlds
        self._gravity = np.array(np.broadcast_to([each.gravity for each in models], (worlds, 3)))
        meetings = pair_types(models)
        self._meetings, self._capacity = None, 1
        if self.options.contacts and meetings.any_pair:
            self._meetings, self._capacity = meetings, max(default_capacity(self.model), 1)
            if self.options.contact_capacity is not None:
                self._capacity = self.options.contact_capacity
        else:
            for each in models:
                refuse_mesh_colliders(each)
        self.motion = motion(models, worlds)
        table = RowTable(columns, worlds)
        joints = JointTable(models, table, held, self.options.grabs)
        self.joints, self.first_coordinates = joints.upload(), joints.first_coordinates
        self._grabs, self._holding = joints.grabs, {}
        self._first_row, self._first_group = len(table.rows), len(table.groups)
        self._rows_of_contact, groups = size(meetings)
        self.rows = table.upload(self._rows_of_contact * self._capacity, groups * self._capacity)
        self._contacts = collision_arrays(models, worlds, self._capacity)
        self.points = self._contacts[1]
        self._reach = array(np.zeros((len(self.model.bodies), worlds)))
        self._report = np.zeros((worlds, REPORTS), real_type())

    # Time -------------------------------------------------------------------------------------------------------------

    @property
    def time(self):
        """Time since the start [s]."""
        return self._origin + self._substep * self._h

    @property
    def _h(self):
        return self.dt / self.substeps

    def _set_options(self, options):
        if (options.dt, options.substeps) != (self.dt, self.substeps):
            self._origin, self._substep = self.time, 0
        super()._set_options(options)

    def step(self, count=1):
        """Make steps of dt. Args: count. Raises: pbd.Diverged if a state stops being finite."""
        count = whole("count", count)
        self._launch(count * self.substeps)
        self._substep += count * self.substeps
        self._steps += count

    def _refuse_failure(self):
        """Raise where the last launch had too many points of contact, or stopped being finite."""
        found = int(self._report[:, CROWDED].max())
        if found >= 0:
            raise RuntimeError(f"contact buffer full ({found} of {self._capacity}): increase contact_capacity")
        self._refuse_divergence(self._report[:, DIVERGED_STEP])

    def _refuse_divergence(self, substeps):
        """Raise where a world stopped being finite. Arguments: in which substep of the launch (worlds,), -1 for none.

        Called before the launch is counted.
        """
        for world in np.flatnonzero(np.asarray(substeps) >= 0):
            substep = int(substeps[world])
            with np.errstate(over="ignore", invalid="ignore"):
                finite = np.isfinite(read(self.motion.poses)[world, :-1]).all(axis=1)
            step, time = self._steps + substep // self.substeps + 1, self.time + (substep + 1) * self._h
            raise Diverged(int(world), step, int(np.argmin(finite)), time, "body")

    # Gravity, motors and grabs ----------------------------------------------------------------------------------------

    @property
    def gravity(self):
        """Gravity (3,), or (worlds, 3) for several worlds [m/s²]. It can be set, for all worlds or for each."""
        return self._gravity[0] if self.worlds == 1 else self._gravity

    @gravity.setter
    def gravity(self, gravity):
        self._gravity = spread("gravity", gravity, (self.worlds, 3))
        surroundings = read(self._surroundings)
        surroundings[:3] = self._gravity.T
        write(self._surroundings, surroundings)
        self._wake(range(len(self.model.bodies)))

    def set_motor(self, joint, *, speed=None, position=None):
        """Change the target of a motor, see Solver.set_motor."""
        index, name, target = motor_target(self.model, joint, speed, position, self.worlds)
        kind, column = (MOTOR, SPEED) if name == "speed" else (SERVO, POSITION)
        own = (self._drives[:, DRIVE_KIND] == kind) & (self._drives[:, COORDINATE] == self.first_coordinates[index])
        if (self._drive_numbers[:, own, column] != target[:, None]).any():
            self._drive_numbers[:, own, column] = target[:, None]
            write(self.joints.drive_numbers, self._drive_numbers)
            self._wake([self.model.joints[index].parent, self.model.joints[index].child])

    def _wake(self, bodies):
        """Wake bodies that something new acts on, in a solver whose bodies sleep. Args: bodies: indices."""

    # What the arrays of these names hold: steps read them only.

    @cached_property
    def _drives(self):
        return read(self.joints.drives)

    @cached_property
    def _drive_numbers(self):
        return read(self.joints.drive_numbers)

    @cached_property
    def _targets(self):
        """Which of the drives' numbers are targets of motors, (drives, 4)."""
        wanted = np.zeros(self._drive_numbers.shape[1:], bool)
        for kind, column in ((MOTOR, SPEED), (SERVO, POSITION)):
            wanted[:, column] = self._drives[:, DRIVE_KIND] == kind
        return wanted

    def grab(self, grab, body, point, target, stiffness, damping=0.0):
        """Pull a point of a body to a target by a spring, see Solver.grab."""
        grab = self._grabs[one_grab(grab, len(self._grabs))]
        body = look_up("held body", body, self.model.bodies, "body")
        target, point = finite_vector("target of a grab", target), finite_vector("held point", point)
        spring = positive("stiffness of a grab", stiffness), not_negative("damping of a grab", damping)
        if self._holding.get(grab) != (body, *spring):
            self._holding[grab] = (body, *spring)
            self._put_grab(grab)
        numbers = read(self.joints.numbers)
        numbers[:, grab.joint, ANCHOR_I:TRIAD_I] = [*target, *point]  # the ground's frame is the world's
        write(self.joints.numbers, numbers)
        self._wake([body])

    def release(self, grab):
        """Release what a grab spring pulls. Args: grab: which."""
        grab = self._grabs[one_grab(grab, len(self._grabs))]
        if self._holding.pop(grab, None):
            self._put_grab(grab)

    def _put_grab(self, grab):
        """Tie the rows of a grab to what it holds."""
        body, *spring = self._holding.get(grab, (0, 0.0, 0.0))
        kind = LOCK if grab in self._holding else IDLE
        for table, at, given in (
            (self.joints.integers, (grab.joint, BODY), body),
            (self.rows.groups, (slice(None), grab.group, [KIND, BODY_J]), [kind, body]),
            (self.rows.numbers, (slice(None), slice(grab.row, grab.row + 3), [STIFFNESS, DAMPING]), spring),
        ):
            values = read(table)
            values[at] = given
            write(table, values)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def state(self):
        """Poses and velocities at the end of the last step: a rigid.State.

        The velocities are those that made the last step, half a step behind the poses. `warm_start` is what it takes to go
        on bit for bit.
        """
        return self._snapshot(np.concatenate([np.ravel(array).astype(float) for array in self._everything()]))

    def _snapshot(self, memory=()):
        """Poses and velocities as they are: a State."""
        poses, velocities = read(self.motion.poses), read(self.motion.velocities)
        return State(*self._split(poses, velocities), self.time, memory)

    def _split(self, poses, velocities):
        """Position, rotation, velocity and angular velocity from arrays of rigid/kernels/motion.py."""
        table = np.concatenate([poses[:, :-1], velocities[:, :-1, :PSEUDO]], axis=2).astype(float)
        return np.split(table[0] if self.worlds == 1 else table, (3, 7, 10), axis=-1)

    def _arrays(self):
        """Taichi arrays of what changes from step to step, as far as a later step reads it."""
        return [self.motion.poses, self.motion.velocities, self.joints.coordinates, *self._remembered()]

    def _everything(self):
        """All that a later step reads and that may have changed since the start, as numpy arrays: `_arrays`, and the
        targets of motors."""
        return [*(read(array) for array in self._arrays()), self._drive_numbers[:, self._targets]]

    def set_state(self, state):
        """Set poses and velocities, see Solver.set_state."""
        if not isinstance(state, State):
            raise TypeError(f"state is {type(state).__name__}: expected a rigid.State")
        self._report[:] = 0.0
        poses, velocities = read(self.motion.poses), read(self.motion.velocities)
        shape = self._split(poses, velocities)[0].shape
        if state.position.shape != shape:
            raise ValueError(f"state's position has shape {state.position.shape}: expected {shape}")
        if self._recall(state):
            return
        given = np.concatenate([state.position, state.rotation, state.velocity, state.angular_velocity], axis=-1)
        given = given.reshape(self.worlds, -1, 13)
        poses[:, :-1], velocities[:, :-1, :PSEUDO] = given[..., :7], given[..., 7:]
        poses[..., 3:] /= np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
        write(self.motion.poses, poses)
        write(self.motion.velocities, velocities)
        self.joints.coordinates.fill(0)
        self.joint_reader.forget()
        self._forget()

    def _recall(self, state):
        """Take a state with its memory, if that is of this solver and belongs to the poses; whether it was so."""
        now = self._everything()
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
        for table, part in zip(self._arrays(), parts):
            write(table, part)
        self._drive_numbers[:, self._targets] = parts[-1]
        write(self.joints.drive_numbers, self._drive_numbers)
        self._origin, self._substep = state.time, 0
        for grab in self._holding:
            self._put_grab(grab)  # among what is remembered are all numbers of rows
        return True

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the poses or velocities."""
        return self._snapshot().digest()

    # Readings ---------------------------------------------------------------------------------------------------------

    def joint_positions(self):
        """Positions of all joints, see Solver.joint_positions."""
        return self._joint_positions(self._snapshot())

    def _joint_positions(self, state):
        """The same; angles count on from those of the last step's start."""
        self.joint_reader.count_from(self._angles())
        return self.joint_reader.positions(state)

    def _angles(self):
        """{name: angle} of hinges and universal joints at the last step's start, as the solver counts them."""
        values = read(self.joints.coordinates)[:, :, VALUE].astype(float)
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
        """Kinetic, potential and total energy at the end of the last step: a pbd.Energy.

        Of the velocities of state(), which are half a step behind the poses: the total of what swings freely swings by
        a part of the order of the step. Potential is that of gravity (zero at z = 0) and of springs.
        """
        state = self._snapshot()
        return energy(self.models, state, self._joint_positions(state), self.gravity)

    def contact_forces(self, world=0):
        """Points of contact of the last substep, and the forces in them: a Contacts. Arguments: world: which."""
        count, first = int(self._report[world, TOUCHING]), self._first_row
        rows = read(self.rows.numbers)[world, first : first + self._rows_of_contact * count]
        rows = rows.reshape(count, self._rows_of_contact, rows.shape[-1])
        points = [read(array)[world, :count] for array in self.points[:2]]
        return contact_forces(points, rows, self._efforts(rows))

    def _contact_arrays(self):
        """Taichi arrays of contacts: shapes, points, broad phase."""
        return [each for group in self._contacts for each in group]

    def _clear_rows(self, columns):
        """Forget what rows have in these columns."""
        numbers = read(self.rows.numbers)
        numbers[:, :, columns] = 0.0
        write(self.rows.numbers, numbers)

    def _reported(self, *columns):
        """Columns of the report: numbers, or arrays (worlds,) where there are several worlds."""
        found = [self._report[:, column] for column in columns]
        return [column[0] if self.worlds == 1 else column.copy() for column in found]
