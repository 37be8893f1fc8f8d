"""The interface that all solvers of rigid bodies share."""

from dataclasses import replace

import numpy as np

from pbd.core.kernels import UsesTaichi
from pbd.core.validate import refuse_gigabytes, whole
from rigid.constraints.joints.positions import JointPositions
from rigid.external_forces import external_force
from rigid.motor import motor_target
from rigid.solvers.options import SolverOptions
from rigid.worlds import models_of_worlds

BYTES_OF_BODY = 1000  # about, in the arrays of a solver, with its shapes and joints


class Solver(UsesTaichi):
    """Base of all solvers: moves the bodies of a Model.

    Args:
        model: a rigid.Model, or a list of models of one structure, one for each world.
        worlds: how many copies of one model run side by side.
        options: fields of the solver's options.

    Attributes:
        name: as `rigid.solver` knows it, such as "impulse".
        models: one for all worlds, or one for each; model: the first one.
        worlds: how many.
        options: a frozen dataclass, an instance of `Options`. Setting `dt`, `substeps` or `iterations` replaces it.
        particle_system: the pbd.ParticleSystem that moves the bodies; None for a solver without particles.
        events: what tore or broke in the steps so far: a list of pbd.Event.

    A subclass sets the class attributes `name` and `Options`, a frozen dataclass and subclass of SolverOptions
    (rigid/solvers/options.py). It defines

        time                                    property [s]
        step(count), state(), set_state(state)
        gravity                                 property with a setter
        grab, release, _set_target
        energy(), statistics()
        joint_forces(), contact_forces(world)

    It sets `_external_forces`, an object with the method `set` of rigid.solvers.inputs.ExternalForces. It overrides
    `_set_options` if a change of options has to reach its arrays, `_wake` if its bodies can sleep, and `digest` if a
    State does not hold all that moves.

    Raises: ValueError for an unknown option or an invalid value; RuntimeError before ti.init.
    """

    name = ""
    Options = SolverOptions
    particle_system = None

    def __init__(self, model, worlds=1, **options):
        self.options = self.Options.of(f'solver "{self.name}"', options)
        self.models = models_of_worlds(model)
        self.model = self.models[0]
        worlds = whole("worlds", worlds)
        self.worlds = len(self.models) if worlds == 1 else worlds
        refuse_gigabytes("worlds", self.worlds, self.worlds * BYTES_OF_BODY * (1 + len(self.model.bodies)))
        if len(self.models) not in (1, self.worlds):
            raise ValueError(f"{len(self.models)} models for {worlds} worlds: expected one, or one for each world")
        self.joint_reader = JointPositions(*self.models)
        self.events = []

    # Time and options -------------------------------------------------------------------------------------------------

    def _set_options(self, options):
        """Use other values of `dt`, `substeps` or `iterations` from the next step on. Args: options: all of them."""
        self.options = options

    @property
    def time(self):
        """Time since the start [s]."""
        raise NotImplementedError

    @property
    def dt(self):
        """Time step [s]."""
        return self.options.dt

    @dt.setter
    def dt(self, dt):
        self._set_options(replace(self.options, dt=dt))

    @property
    def substeps(self):
        """Number of equal parts of a step."""
        return self.options.substeps

    @substeps.setter
    def substeps(self, substeps):
        self._set_options(replace(self.options, substeps=substeps))

    @property
    def iterations(self):
        """Most iterations of a substep; None for a solver that does not iterate."""
        return None

    def step(self, count=1):
        """Make steps of dt. Args: count. Raises: pbd.Diverged if a state stops being finite."""
        raise NotImplementedError

    # State ------------------------------------------------------------------------------------------------------------

    def state(self, warm_start=True):
        """Poses and velocities at the end of the last step.

        Args: warm_start: whether the state has a `warm_start`, by which the solver continues bit for bit. To read it
        takes most of the time.

        Returns: a rigid.State.
        """
        raise NotImplementedError

    def set_state(self, state):
        """Set poses and velocities.

        Args: state: a rigid.State. If this solver returned it and it is unchanged, the run continues bit for bit, with
        its dt and substeps. Otherwise its poses, velocities and time are used, and caches of earlier steps are cleared.

        Raises: TypeError if it is not a State; ValueError if it has another shape.
        """
        raise NotImplementedError

    def _angles_of(self, state):
        """The joint angles of a State (worlds, angles) [rad]; zeros if it has none. Raises: ValueError."""
        expected = (self.worlds, self.joint_reader.count)
        if not state.joint_angles.size:
            return np.zeros(expected)
        if state.joint_angles.size != self.worlds * self.joint_reader.count:
            expected = expected[1:] if self.worlds == 1 else expected
            raise ValueError(f"state's joint_angles has shape {state.joint_angles.shape}: expected {expected}")
        return state.joint_angles.reshape(expected)

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the poses or velocities."""
        return self.state().digest()

    # Inputs -----------------------------------------------------------------------------------------------------------

    @property
    def gravity(self):
        """Gravity (3,), or (worlds, 3) for several worlds [m/s²]. It can be set, for all worlds or for each."""
        raise NotImplementedError

    def set_forces(self, body, *, force=None, torque=None, point=None):
        """Set the external force and torque on a body, from the next step on, until they are set again.

        They replace those that the body has. A State contains them in `warm_start`.

        Args:
            body: index or name.
            force: in the world (3,), or one for each world (worlds, 3) [N]; None for zero.
            torque: about the centre of mass, in the world, likewise [N m]; None for zero.
            point: where the force acts, in the body's frame, likewise [m]; None for the centre of mass. It moves with
                the body, and the force keeps its direction in the world.

        Raises: ValueError or IndexError for an unknown body; ValueError for another shape, numbers that are not
            finite, or a point without a force.
        """
        index, values = external_force(self.model, body, force, torque, point, self.worlds)
        if self._external_forces.set(index, values):
            self._wake([index])

    def clear_forces(self):
        """Remove the external forces and torques of all bodies, from the next step on."""
        if self._external_forces.set(slice(None), 0.0):
            self._wake(range(len(self.model.bodies)))

    def _wake(self, bodies, world=slice(None)):
        """Wake bodies that something new acts on. Args: bodies: indices; world: one, or all."""

    def set_motor(self, joint, *, speed=None, position=None, torque=None):
        """Change the target of a motor from the next step on. Its `max_effort` and `position_gain` stay.

        Args:
            joint: index or name.
            speed: [rad/s or m/s], if its Motor has a speed; a number, or one for each world (worlds,).
            position: [rad or m], if its Motor has a position; likewise.
            torque: [N m or N], if its Motor has a torque; likewise.

        Raises: ValueError for an unknown joint, a joint without a motor, or a target of another type.
        """
        targets = {"speed": speed, "position": position, "torque": torque}
        self._set_target(*motor_target(self.model, joint, targets, self.worlds))

    def _set_target(self, joint, name, target):
        """Change the target of a motor. Args: joint: index; name: of rigid.motor.TARGETS; target: (worlds,)."""
        raise NotImplementedError

    def grab(self, grab, body, point, target, stiffness, damping=0.0):
        """Pull a point of a body to a target by a spring, from the next step on and in all worlds.

        Call it again to move the target. A State does not contain what is grabbed.

        Args:
            grab: which grab spring, below the option `grabs`.
            body: index or name.
            point: in the body's frame (3,) [m].
            target: in the world (3,) [m].
            stiffness: [N/m].
            damping: [N s/m].

        Raises: ValueError or IndexError for an unknown grab or body, or for invalid numbers.
        """
        raise NotImplementedError

    def release(self, grab):
        """Release what a grab spring pulls. Args: grab: which."""
        raise NotImplementedError

    # Readings ---------------------------------------------------------------------------------------------------------

    def energy(self):
        """Kinetic, potential and total energy at the end of the last step: a pbd.Energy [J]."""
        raise NotImplementedError

    def statistics(self):
        """Iterations, residual and contacts of the last substep: a pbd.Statistics."""
        raise NotImplementedError

    def joint_positions(self):
        """Positions of all joints: {name: number or array}, with a leading axis for several worlds.

        A hinge has an angle [rad], a slider a shift [m], a universal joint two angles, a ball swing and twist. See
        rigid/constraints/joints/positions.py.
        """
        return self.joint_reader.positions(self.state(warm_start=False))

    def joint_velocities(self):
        """Velocities of all joints: {name: number or array} [rad/s or m/s], shaped like `joint_positions`."""
        return self.joint_reader.velocities(self.state(warm_start=False))

    def joint_forces(self):
        """Forces and torques that joints apply to their children, mean over the last substep.

        Returns: {name: array (2, 3), or (worlds, 2, 3)}: the force [N], and the torque about the child's joint point
        [N m], in the world frame.

        Raises: NotImplementedError if the solver cannot compute them for this model.
        """
        raise NotImplementedError

    def contact_forces(self, world=0):
        """Contact points of the last substep and the forces in them.

        Args: world: index. Returns: a rigid.constraints.contact_forces.Contacts.
        """
        raise NotImplementedError
