"""Solver "verlet": bodies as frames of particles, joints as particles that two frames share, on pbd.

Two bodies that share one particle have a ball joint; two particles on a line, a hinge; three, a weld. A joint with the
ground shares pinned particles. What moves them is `pbd.ParticleSystem`, whose step (pbd/step.py) is the algorithm; what
bodies do in it, when they touch, is in rigid/solvers/verlet/step.py. Poses and velocities are read back by best fit.
"""

import numpy as np

import pbd
from pbd.core.arrays import arrays_of, read, write
from pbd.core.validate import finite_vector, one_of
from rigid.collision.data import POINT
from rigid.collision.setup import pair_types
from rigid.constraints.joints.positions import JointPositions
from rigid.joint import motor_target
from rigid.model import models_of_worlds
from rigid.names import look_up
from rigid.rotation import from_matrix, rotate
from rigid.solvers.verlet.description import describe, frames_of, refuse_what_is_missing
from rigid.solvers.verlet.frame import fit_pose, fit_velocity
from rigid.solvers.verlet.options import VerletOptions
from rigid.solvers.verlet.step import step_hooks
from rigid.solvers.verlet.upload import body_arrays, may_touch
from rigid.state import State


class FrameSolver:
    """A Model as frames of particles.

    Arguments:
        model: a Model, or a list of several of one structure, each a world.
        dt, worlds, options: of pbd.ParticleSystem. `direction` is "start" here unless given: second order, and it keeps
            angular momentum.
        contacts: whether bodies touch one another, the ground and a person's own particles.
        particles: a pbd.Particles that live in the same world and are moved by the same system, such as a cloth; they
            meet the model's shapes where they have a radius. Their gravity must be the model's.
        attachments: pairs (indices of such particles, body) that stay where they are on the body.
        contact_capacity: most points of contact at once in a world; None for a good deal.
        frame: "tetrahedron", four particles and six sticks; or "axes", the source's other one, along axes of the body,
            with three sticks and three right angles (rigid/solvers/verlet/axes.py): a fifth particle where four are not exact,
            and then no joints but balls, hinges, welds and distances, without limits, friction, motors or springs.

    Limitations: bodies are as rigid, and joints as tight, as sweeps make their sticks; light joint particles beside
    heavy frames want more of them. What overlaps by more than a body's thickness within a step passes through. Bodies
    that touch are moved by one thread a world. A flat body has no tetrahedron. Velocities are those of the middle of
    the last step.

    Source: Jakobsen, Advanced Character Physics (2001), sections 5 and 6.
    """

    name, Options = "verlet", VerletOptions

    def __init__(self, model, worlds=1, **options):
        for option in options:
            one_of(f'option of solver "{self.name}"', option, tuple(VerletOptions.defaults()))
        self.options = given = VerletOptions(**options)
        contacts, particles, attachments = given.contacts, given.particles, given.attachments
        contact_capacity, frame = given.contact_capacity, given.frame
        models = models_of_worlds(model)
        for each in models:
            refuse_what_is_missing(each)
        if particles is not None and not np.array_equal(particles.gravity, models[0].gravity):
            raise ValueError(
                f"gravity is {models[0].gravity.tolist()} in the model and {particles.gravity.tolist()} for its "
                "particles: expected the same"
            )
        self.model = models[0]
        self._joints = JointPositions(*models)
        self.frames = frames_of(models, frame)
        descriptions = [describe(m, particles, attachments, models, of) for m, of in zip(models, self.frames)]
        self.members = descriptions[0].members  # of each body; the same in all worlds, unlike the frames
        self.own = descriptions[0].own
        options = {name: getattr(given, name) for name in given.OF_PARTICLES}
        self.system = pbd.ParticleSystem(
            [each.particles for each in descriptions], dt=given.dt, worlds=worlds, **options
        )
        self._motors = {
            name: {target: self.system.row_of(*which, target) for target in ("speed", "position")}
            for name, which in descriptions[0].motors.items()
        }
        # Particles of all bodies in one table, filled up with ones that weigh nothing.
        most = max(map(len, self.members), default=4)
        self._index = np.array([np.pad(m, (0, most - len(m)), "edge") for m in self.members], int).reshape(-1, most)
        shape = len(models), len(self.members), most
        self._points, self._masses = np.zeros((*shape, 3)), np.zeros(shape)
        for place in np.ndindex(shape[:2]):
            frame = self.frames[place[0]][place[1]]
            count = len(frame.masses)
            self._points[place][:count], self._masses[place][:count] = frame.points, frame.masses
        self._inertias = np.array([each.inertias for each in models])
        self._bodies = None
        if contacts and may_touch(self.model, particles):
            self._bodies = body_arrays(models, descriptions, self.system.worlds, contact_capacity)
            self.system.add_hooks(step_hooks(pair_types(models)), self._bodies)

    @property
    def time(self):
        """Time since the start [s]."""
        return self.system.time

    def step(self, count=1):
        """Make steps of dt. Arguments: count. Errors: pbd.Diverged."""
        self.system.step(count)

    def set_motor(self, joint, *, speed=None, position=None):
        """Give a motor another target, from the next step on; its `max_effort` stays.

        Arguments: joint: index or name; speed [rad/s or m/s] or position [rad or m], whichever its Motor was given: a
        number, or one for each world (worlds,).

        Errors: ValueError for an unknown joint, one without a motor, or a target that is not of its kind.
        """
        index, name, target = motor_target(self.model, joint, speed, position, self.system.worlds)
        self.system.set_numbers([self._motors[self.model.joints[index].name][name]], target)

    def grab(self, grab, body, point, target, stiffness, damping=0.0):
        """Pull a point of a body to a place by a spring, from the next step on and in all worlds; again, to move on.

        Arguments: grab: which, of as many as the solver has; body: index or name; point: in the body's frame (3,) [m];
        target: in the world (3,) [m]; stiffness [N/m]; damping [N s/m]. A state does not remember what is held.
        """
        body = look_up("held body", body, self.model.bodies, "body")
        weights = self.frames[0][body].weights(finite_vector("held point", point))
        self.system.grab(grab, self.members[body][:4], target, stiffness, damping, weights)

    def release(self, grab):
        """Hold nothing any more. Arguments: grab: which."""
        self.system.release(grab)

    @property
    def gravity(self):
        """Gravity of all worlds (3,) [m/s²]."""
        return self.system.gravity

    @gravity.setter
    def gravity(self, gravity):
        self.system.gravity = gravity

    def _targets(self):
        """Rows of the system's numbers of constraints in which motors have their targets."""
        return np.array([row for rows in self._motors.values() for row in rows.values()], int)

    def statistics(self):
        """Sweeps, residual [m] and contacts of the last step: a pbd.Statistics."""
        return self.system.statistics()

    def energy(self):
        """Kinetic, potential and total energy at the middle of the last step: a pbd.Energy.

        Of the particles, which is that of the bodies to the extent that the frames are rigid.
        """
        return self.system.energy()

    def contact_points(self, world=0):
        """Where bodies were near one another in the last substep: points (n, 3) [m], normals (n, 3), gaps (n,) [m], as
        of rigid.constraints.contact_forces.Contacts. Arguments: world: which."""
        if self._bodies is None:
            return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
        count = int(read(self._bodies.points.count)[world])
        numbers = read(self._bodies.points.numbers)[world, :count].astype(float)
        return numbers[:, POINT["position"]], numbers[:, POINT["normal"]], numbers[:, POINT.gap]

    def particle_positions(self):
        """Positions of a person's own particles, (particles, 3) or (worlds, particles, 3) [m]."""
        return self.system.positions()[..., : self.own, :]

    def digest(self):
        """Sixteen hexadecimal digits that differ when any bit of the particles does."""
        return self.system.digest()

    def state(self):
        """Poses at the end of the last step, and velocities over it: a rigid.State.

        Velocities are those that have the momentum of the particles, which is what constraints and contacts keep:
        Σ m (x - x*)/Mh, and I⁻¹ Σ m r × (x - x*)/h. `warm_start` is what it takes to go on bit for bit.
        """
        snapshot = self.system.state()
        found = self._read(snapshot.position, snapshot.previous_position)
        return State(*found, self.time, self._memory(snapshot))

    def _read(self, positions, previous):
        """Positions, rotations, velocities and angular velocities of all bodies from their particles."""
        points, masses, inertias = self._points, self._masses, self._inertias
        if positions.ndim == 2:
            points, masses, inertias = points[0], masses[0], inertias[0]
        now = positions[..., self._index, :]
        place, turn = fit_pose(points, masses, now)
        step = (now - previous[..., self._index, :]) / (self.system.dt / self.system.substeps)
        velocity, spin = fit_velocity(masses, inertias, now - place[..., None, :], turn, step)
        return place, from_matrix(turn), velocity, spin

    def _memory(self, snapshot):
        """All numbers of the particles and of contacts, in a row."""
        arrays = [snapshot.position, snapshot.previous_position, snapshot.force, snapshot.inverse_mass]
        arrays += [[snapshot.dt, snapshot.substeps, snapshot.origin, snapshot.substep]]
        arrays += [self.system.memory(), self.system.numbers(self._targets())]
        arrays += [read(array) for array in self._remembered()]
        return np.concatenate([np.ravel(array).astype(float) for array in arrays])

    def _remembered(self):
        """Taichi arrays of contacts whose contents a later step reads."""
        return [] if self._bodies is None else arrays_of(self._bodies, kept=True)

    def set_state(self, state):
        """Put bodies elsewhere. Arguments: a rigid.State.

        One that state() gave, as it is, goes on bit for bit. From others, the poses and velocities are taken: shared
        particles go to the mean of where their bodies have them, and a person's own particles stay.
        """
        if not isinstance(state, State):
            raise TypeError(f"state is {type(state).__name__}: expected a rigid.State")
        shape = (*self.system.positions().shape[:-2], len(self.members), 3)
        if state.position.shape != shape:
            raise ValueError(f"state's position has shape {state.position.shape}: expected {shape}")
        if not self._recall(state):
            self._place(state)

    def _recall(self, state):
        """Take a state with its memory, if that is of this system and belongs to the poses; whether it was so."""
        now = self.system.state()
        shapes = [now.position.shape, now.previous_position.shape, now.force.shape, now.inverse_mass.shape, (4,)]
        counted, targets = self.system.memory().shape, (len(self._targets()), self.system.worlds)
        shapes += [counted, targets, *(read(array).shape for array in self._remembered())]
        ends = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])
        if len(state.warm_start) != ends[-1]:
            return False
        parts = [part.reshape(shape) for part, shape in zip(np.split(state.warm_start, ends[:-1]), shapes)]
        positions, previous, forces, weights, (dt, substeps, origin, substep), remembered, targets = parts[:7]
        now = pbd.State(positions, previous, forces, weights, float(dt), int(substeps), float(origin), int(substep))
        given = (state.position, state.rotation, state.velocity, state.angular_velocity)
        before = self.system.state()
        self.system.set_state(now)
        if not all(map(np.array_equal, self._read(positions, previous), given)):
            self.system.set_state(before)
            return False
        self.system.set_memory(remembered)
        self.system.set_numbers(self._targets(), targets)
        for array, part in zip(self._remembered(), parts[7:]):
            write(array, part)
        return True

    def _place(self, state):
        """Take poses and velocities."""
        shape = self.system.positions().shape
        positions, velocities, weights = np.zeros(shape), np.zeros(shape), np.zeros(shape[:-1])
        masses, points = (self._masses, self._points) if len(shape) == 3 else (self._masses[0], self._points[0])
        arms = rotate(state.rotation[..., None, :], points)
        places = state.position[..., None, :] + arms
        moving = state.velocity[..., None, :] + np.cross(state.angular_velocity[..., None, :], arms)
        masses = np.broadcast_to(masses, places.shape[:-1])
        at = (self._index,) if len(shape) == 2 else (np.arange(shape[0])[:, None, None], self._index)
        np.add.at(weights, at, masses)
        np.add.at(positions, at, masses[..., None] * places)
        np.add.at(velocities, at, masses[..., None] * moving)
        free = (weights > 0) & (self.system.inverse_masses() > 0)
        share = np.where(free, weights, 1.0)[..., None]
        # A person's own particles keep what they have.
        self.system.set_positions(np.where(free[..., None], positions / share, self.system.positions()))
        kept = self.system.velocities()
        self.system.set_velocities(np.where(free[..., None], velocities / share, kept))
        if self._bodies is not None:
            self._bodies.heads.fill(-1)
        self.system.set_memory(np.zeros_like(self.system.memory()))
        self._joints.forget()

    def joint_positions(self):
        """Positions of all joints, {name: number, or (worlds, ...)}: see rigid/constraints/joints/positions.py."""
        return self._joints.positions(self.state())

    def joint_velocities(self):
        """Their velocities, likewise, over the last step."""
        return self._joints.velocities(self.state())
