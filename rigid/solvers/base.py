"""What solvers that keep bodies' poses and velocities have in common: worlds, time, snapshots, readings.

A solver's own folder has its arrays and its step; here is the door to them that all have alike.
"""

from functools import cached_property

import numpy as np

from pbd.core.launch import read, write
from pbd.core.results import Diverged
from pbd.core.validate import positive, spread, whole
from rigid.constraints.joints.drive import COORDINATE, DRIVE_KIND, MOTOR, POSITION, SERVO, SPEED
from rigid.constraints.joints.place import VALUE
from rigid.constraints.joints.positions import JointPositions
from rigid.energy import energy
from rigid.joint import Hinge, Universal, motor_target
from rigid.kernels.motion import PSEUDO
from rigid.model import models_of_worlds
from rigid.state import State


class BodySolver:
    """A Model that is run by its bodies' poses and velocities.

    Arguments: model: a Model, or a list of several of one structure, each a world; dt [s]; worlds: how many copies;
    substeps: equal parts in which each step is made.

    Subclasses make `motion` and `joints` (rigid/kernels/motion.py, rigid/constraints/joints/table.py) and `_surroundings`, a Taichi array
    (3 or more, worlds) whose first rows are gravity, and have

        _launch(count)       make so many substeps
        _remembered()        Taichi arrays, besides poses and velocities, that a later step reads
        _forget()            make these what they are at the start
    """

    def __init__(self, model, dt, worlds, substeps):
        models = models_of_worlds(model)
        worlds = whole("worlds", worlds)
        if worlds == 1:
            worlds = len(models)
        if len(models) not in (1, worlds):
            raise ValueError(f"{len(models)} models for {worlds} worlds: expected one, or one for each world")
        self.models, self.model, self.worlds = models, models[0], worlds
        self._dt, self._substeps = positive("dt", dt), whole("substeps", substeps)
        self._origin, self._substep, self._steps = 0.0, 0, 0
        self._gravity = np.array(np.broadcast_to([each.gravity for each in models], (worlds, 3)))
        self._reader = JointPositions(*models)

    # Time -----------------------------------------------------------------------------------------------------------

    @property
    def time(self):
        """Time since the start [s]."""
        return self._origin + self._substep * self._h

    @property
    def _h(self):
        return self._dt / self._substeps

    @property
    def dt(self):
        """Time step [s]."""
        return self._dt

    @dt.setter
    def dt(self, dt):
        self._change_step(positive("dt", dt), self._substeps)

    @property
    def substeps(self):
        """Equal parts in which each step is made."""
        return self._substeps

    @substeps.setter
    def substeps(self, substeps):
        self._change_step(self._dt, whole("substeps", substeps))

    def _change_step(self, dt, substeps):
        self._origin, self._substep = self.time, 0
        self._dt, self._substeps = dt, substeps

    def step(self, count=1):
        """Make steps of dt. Arguments: count. Errors: pbd.Diverged."""
        count = whole("count", count)
        self._launch(count * self._substeps)
        self._substep += count * self._substeps
        self._steps += count

    def _refuse_divergence(self, substeps):
        """Raise where a world stopped being finite. Arguments: in which substep of the launch (worlds,), -1 for none.

        Called before the launch is counted.
        """
        for world in np.flatnonzero(np.asarray(substeps) >= 0):
            substep = int(substeps[world])
            with np.errstate(over="ignore", invalid="ignore"):
                finite = np.isfinite(read(self.motion.poses)[world, :-1]).all(axis=1)
            step, time = self._steps + substep // self._substeps + 1, self.time + (substep + 1) * self._h
            raise Diverged(int(world), step, int(np.argmin(finite)), time, "body")

    # Gravity ----------------------------------------------------------------------------------------------------------

    @property
    def gravity(self):
        """Gravity (3,), or (worlds, 3) where there are several worlds [m/s²]; for all, or one each, where it is set."""
        return self._gravity[0] if self.worlds == 1 else self._gravity

    @gravity.setter
    def gravity(self, gravity):
        self._gravity = spread("gravity", gravity, (self.worlds, 3))
        surroundings = read(self._surroundings)
        surroundings[:3] = self._gravity.T
        write(self._surroundings, surroundings)
        self._wake(range(len(self.model.bodies)))

    # Motors -----------------------------------------------------------------------------------------------------------

    def set_motor(self, joint, *, speed=None, position=None):
        """Give a motor another target, from the next step on; its `max_effort` and `position_gain` stay.

        Arguments: joint: index or name; speed [rad/s or m/s] or position [rad or m], whichever its Motor was given: a
        number, or one for each world (worlds,).

        Errors: ValueError for an unknown joint, one without a motor, or a target that is not of its kind.
        """
        index, name, target = motor_target(self.model, joint, speed, position, self.worlds)
        kind, column = (MOTOR, SPEED) if name == "speed" else (SERVO, POSITION)
        own = (self._drives[:, DRIVE_KIND] == kind) & (self._drives[:, COORDINATE] == self.first_coordinates[index])
        if (self._drive_numbers[:, own, column] != target[:, None]).any():
            self._drive_numbers[:, own, column] = target[:, None]
            write(self.joints.drive_numbers, self._drive_numbers)
            self._wake([self.model.joints[index].parent, self.model.joints[index].child])

    def _wake(self, bodies):
        """Called where something new acts on bodies, for solvers whose bodies may sleep. Arguments: a list."""

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
        """Put bodies elsewhere. Arguments: a rigid.State.

        One that state() gave, as it is, goes on bit for bit; from others, poses and velocities are taken, and what the
        solver remembers of steps before is forgotten.
        """
        if not isinstance(state, State):
            raise TypeError(f"state is {type(state).__name__}: expected a rigid.State")
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
        self._reader.forget()
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
        for array, part in zip(self._arrays(), parts):
            write(array, part)
        self._drive_numbers[:, self._targets] = parts[-1]
        write(self.joints.drive_numbers, self._drive_numbers)
        self._origin, self._substep = state.time, 0
        return True

    def digest(self):
        """Sixteen hexadecimal digits that differ when any bit of poses or velocities does."""
        return self._snapshot().digest()

    # Readings ---------------------------------------------------------------------------------------------------------

    def joint_positions(self):
        """Positions of all joints, {name: number, or (worlds, ...)}: see rigid/constraints/joints/positions.py."""
        return self._joint_positions(self._snapshot())

    def _joint_positions(self, state):
        """The same; angles count on from those of the last step's start."""
        self._reader.count_from(self._angles())
        return self._reader.positions(state)

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
        """Their velocities, likewise."""
        return self._reader.velocities(self._snapshot())

    def energy(self):
        """Kinetic, potential and total energy at the end of the last step: a pbd.Energy.

        Of the velocities of state(), which are half a step behind the poses: the total of what swings freely swings by
        a part of the order of the step. Potential is that of gravity (zero at z = 0) and of springs.
        """
        state = self._snapshot()
        return energy(self.models, state, self._joint_positions(state), self.gravity)
