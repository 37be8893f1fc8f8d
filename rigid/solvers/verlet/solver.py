"""Solver "verlet": bodies are frames of particles, and joints are particles that two frames share.

Two bodies that share one particle have a ball joint; with two particles on a line they have a hinge, with three a weld.
A joint with the ground has pinned particles. A `pbd.ParticleSystem` moves the particles. The whole step is in
rigid/solvers/verlet/step.py. Poses and velocities are read back by a best fit.
"""

import weakref
from dataclasses import replace
from functools import partial

import numpy as np

import pbd
from pbd.build.rod import ENDS
from pbd.core.kernels import arrays_of, read, write
from pbd.core.messages import shown
from pbd.core.results import Energy
from pbd.core.validate import boolean, finite_vector, one_index, whole
from rigid.collision.upload import pair_types, refuse_meshes_beside_particles
from rigid.constraints.joints.rotors import armature_energy
from rigid.kernels.motion import bounding_radii
from rigid.names import GROUND, checked_index
from rigid.paths import refuse_jumps
from rigid.solvers.base import Solver
from rigid.solvers.breaking import Breaking, joints_that_break
from rigid.solvers.energy_bound import extent
from rigid.solvers.energy_warning import OpenJoints, is_driven, place_of_trouble
from rigid.solvers.verlet.body_particles import BodyParticles
from rigid.solvers.verlet.broken_joints import Switches
from rigid.solvers.verlet.builder import build_particles, make_frames, refuse_unsupported
from rigid.solvers.verlet.contact_readings import contacts_of, sum_contact_forces
from rigid.solvers.verlet.crossings import crossing_message, crossing_shapes
from rigid.solvers.verlet.data import allocate_bodies, may_touch, touching_parts
from rigid.solvers.verlet.external_forces import FrameForces, force_hooks
from rigid.solvers.verlet.iterated_motors import IteratedMotors
from rigid.solvers.verlet.joint_constraints import torque_numbers
from rigid.solvers.verlet.joint_forces import (
    accelerations_by_joints,
    forces_by_balance,
    refuse_unknown_forces,
    refuse_unknown_loads,
)
from rigid.solvers.verlet.lanes import lanes_to_ask_for
from rigid.solvers.verlet.options import VerletOptions
from rigid.solvers.verlet.restitution import BOUNDED, KEPT, UNKNOWN
from rigid.solvers.verlet.step import step_hooks
from rigid.state import State, join_arrays, split_arrays


class VerletSolver(Solver):
    """A Model as frames of particles.

    Args: model, worlds, options: see Solver, and rigid.solvers.verlet.options.VerletOptions.

    Attributes:
        particle_system: the pbd.ParticleSystem.
        frames: a Frame for each body of each model.
        members: indices of the particles of each body, the same in all worlds.
        user_particles: how many of the system's particles are the user's; they come first.

    Limitations: bodies are as rigid, and joints as tight, as the iterations make their sticks. Light joint particles
    beside heavy frames need more iterations. A body that moves by more than its thickness within a step may pass
    through another. One thread moves all bodies of a world if any may touch. A flat body has no tetrahedron. Velocities
    are those of the middle of the last step.

    Source: Jakobsen, Advanced Character Physics (2001), sections 5 and 6.
    """

    name, Options = "verlet", VerletOptions

    def __init__(self, model, worlds=1, **options):
        super().__init__(model, worlds, **options)
        given, models = self.options, self.models
        for each in models:
            refuse_unsupported(each)
        if given.particles is not None and not np.array_equal(given.particles.gravity, self.model.gravity):
            raise ValueError(
                f"gravity is {shown(self.model.gravity)} in the model and {shown(given.particles.gravity)} for its "
                "particles: expected the same"
            )
        self.frames = make_frames(models, given.frame)
        buildings = [
            build_particles(
                each, given.particles, given.attachments, models, frames, given.solve != "iterative", given.clamps
            )
            for each, frames in zip(models, self.frames)
        ]
        self.members, self.user_particles = buildings[0].members, buildings[0].user_particles
        self.particle_system = pbd.ParticleSystem(
            [each.particles for each in buildings], self.worlds,
            **{**given.of_particles(), "lanes": lanes_to_ask_for(models, self.worlds, given)},
        )  # fmt: skip
        self.events = self.particle_system.events
        constraints = self.particle_system.constraints
        self._motors = {
            name: {target: constraints.row_of(*constraint, target) for target in ("speed", "position", "effort")}
            for name, constraint in buildings[0].motors.items()
        }
        self._rotors = {
            name: constraints.row_of(*constraint, "next_speed") for name, constraint in buildings[0].rotors.items()
        }
        self._counters = [
            [constraints.row_of(*counter) for counter in counters] for of_joint in buildings[0].angles
            for counters in of_joint.values()
        ]  # fmt: skip
        self._springs = buildings[0].springs
        of_joints = [buildings[0].of_joints[index] for index in joints_that_break(self.model)]
        self._switches = Switches(constraints, of_joints, given.solve != "iterative")
        self._breaking = Breaking(models, self.worlds, self._switches.write)
        if len(self._breaking):
            refuse_unknown_loads(self.model, (*given.attachments, *given.clamps))
        self._body_particles = BodyParticles(models, self.frames, self.members)
        self._other_gravity = np.stack([  # of particles that bodies of other scales share, beyond that of each body
            each.particles.gravity_scales()[self._body_particles.index] - model.gravity_scales[:, None]
            for each, model in zip(buildings, models)
        ])  # fmt: skip
        self._radii = bounding_radii(self.model)
        self._bodies, self._time_of_change = None, 0.0
        self.particle_system.keep_predictions()
        watch = self.particle_system.energy_watch
        watch.owner, watch.place = 'solver "verlet"', partial(place_of_trouble, weakref.proxy(self))
        watch.knows_drives = True
        if given.particles is None and self.model.joints:  # the frame of the ground is larger than small chains
            watch.length = max(map(extent, models)) + (np.sum(self._radii) if given.contacts else 0.0)
        self._driven = any(map(is_driven, models))
        self._open_joints, self._slow_motors = OpenJoints(self), IteratedMotors(self, buildings[0].motors)
        self._follows_paths = any(body.path is not None for body in self.model.bodies)
        self._external_forces = FrameForces(self.particle_system, self.frames, self.members, self._add_force_hooks)
        if given.contacts and may_touch(self.model, given.particles):
            external = self._external_forces.arrays.external
            lanes = self.particle_system.lanes
            of_particles, bodies = self._of_particles(), {each.body for each in self.model.shapes}
            radii, surfaces = touching_parts(given.particles)
            if radii or surfaces:
                refuse_meshes_beside_particles(self.model)
            loaded = radii and of_particles["solved_directly"].any() and any(map(self._moves, bodies))
            self._bodies = allocate_bodies(
                models, buildings, self.worlds, external, of_particles, given.contact_capacity, lanes,
                self.particle_system if loaded else None,
            )  # fmt: skip
            joined = self.model.joints or self.model.springs or given.attachments or given.clamps
            motors = any(joint.motor is not None for each in models for joint in each.joints)
            energy = UNKNOWN if motors else BOUNDED if joined else KEPT
            joints = bool(self.model.joints)
            fixed = not all(map(self._moves, bodies))
            hooks = step_hooks(pair_types(self.models), joints, radii, surfaces, type(self._bodies), energy, fixed)
            self.particle_system.add_hooks(hooks, self._bodies, self._bodies.contacts.shape[1])
            if surfaces:
                self._refuse_crossing_shapes()
        if self._rotors:
            watch.other_kinetic = partial(VerletSolver._rotor_energy, weakref.proxy(self))
            states = [each.initial_state() for each in models]
            arrays = ("position", "rotation", "velocity", "angular_velocity")
            self._start_rotors(State(*(np.stack([getattr(each, name) for each in states]) for name in arrays)))

    def _refuse_crossing_shapes(self):
        """Raise ValueError if shapes cross surfaces at the start."""
        for found in self._crossing_shapes():
            if len(found):
                raise ValueError(crossing_message(self.model, *found[0]))

    def _crossing_shapes(self):
        """For each world the shapes that cross surfaces, see `crossing_shapes`."""
        system, of_particles = self.particle_system, self._of_particles()
        may_touch = np.arange(len(self.members) + 1)[:, None] != of_particles["attached_to"]
        may_touch &= of_particles["solved_directly"] == 0
        pinned, surfaces = np.isinf(system.particles.masses()[: self.user_particles]), system.present_surfaces()
        poses = self._poses_and_velocities(system.positions(), system.positions())[:2]
        arrays = [each.reshape(self.worlds, *each.shape[-2:]) for each in (*poses, self.particle_positions())]
        models = [self.models[world % len(self.models)] for world in range(self.worlds)]
        return [crossing_shapes(*each, pinned, surfaces, may_touch) for each in zip(models, *arrays)]

    def _of_particles(self):
        """Arrays of the user's particles in BodyArrays: {name: values (user particles,)}."""
        attached_to = np.full(self.user_particles, -1)
        for attached, body in self.options.attachments:
            attached_to[attached] = self.model._body_index("body of an attachment", body)
        for rod, end, body in self.options.clamps:
            attached_to[rod.particles[ENDS[end]]] = self.model._body_index("body of a clamp", body)
        direct = np.isin(np.arange(self.user_particles), self.particle_system.direct.rows.particles)
        return {"solved_directly": direct, "attached_to": attached_to}

    def _moves(self, body):
        """Whether impulses move a body: it is not the ground, and follows no path."""
        return body != GROUND and self.model.body(body).path is None

    def _add_force_hooks(self):
        """Let external forces act. If bodies can touch, the step has hooks for both."""
        if self._bodies is None:
            self.particle_system.add_hooks(force_hooks(), self._external_forces.arrays)

    def _start_rotors(self, state):
        """Let rotors have the speeds of their joints. Args: state: a State whose velocities are those at its time."""
        velocities = self.joint_reader.velocities(state) if self._rotors else {}
        for name, row in self._rotors.items():
            self.particle_system.constraints.write([row], velocities[name])

    def _rotor_energy(self):
        """Kinetic energy of armatures in the last substep (worlds,) [J]."""
        speeds = self.particle_system.constraints.read(list(self._rotors.values())).astype(float)
        armatures = [[model.joint(name).armature for model in self.models] for name in self._rotors]
        return 0.5 * (armatures * speeds**2).sum(axis=0)

    # Time and options -------------------------------------------------------------------------------------------------

    def _set_options(self, options):
        for name in ("dt", "substeps", "iterations"):
            # Setting a value anew would convert velocities, which rounds.
            if getattr(options, name) != getattr(self.particle_system, name):
                setattr(self.particle_system, name, getattr(options, name))  # refuses some substeps
                self._time_of_change = self.time
        super()._set_options(options)

    @property
    def time(self):
        """Time since the start [s]."""
        return self.particle_system.time

    @property
    def iterations(self):
        """Iterations of a substep."""
        return self.options.iterations

    @iterations.setter
    def iterations(self, iterations):
        self._set_options(replace(self.options, iterations=iterations))

    def step(self, count=1):
        """Make steps of dt. Args: count. Raises: pbd.Diverged if a state stops being finite."""
        if self._follows_paths:
            substeps = whole("count", count) * self.substeps
            refuse_jumps(self.model, self._radii, self.time, self.dt / self.substeps, substeps)
        self._external_forces.applied = self._external_forces.numbers
        self.particle_system.energy_watch.driven = self._driven or self._external_forces.act
        if not len(self._breaking):
            self.particle_system.step(count)
        else:
            for _ in range(whole("count", count)):
                self.particle_system.step()
                self.events += self._breaking.break_overloaded(self.joint_forces(), self.state)[0]
        self._open_joints.look(self)
        self._slow_motors.look(self)

    # Inputs -----------------------------------------------------------------------------------------------------------

    @property
    def gravity(self):
        """Gravity of all worlds (3,) [m/s²]. It can be set."""
        return self.particle_system.gravity

    @gravity.setter
    def gravity(self, gravity):
        self.particle_system.gravity = gravity

    def _set_target(self, joint, name, target):
        rows = self._motors[self.model.joints[joint].name]
        numbers = torque_numbers(target) if name == "torque" else {name: target}
        for number in rows.keys() & numbers.keys():
            self.particle_system.constraints.write([rows[number]], numbers[number])
        self._switches.write(self._breaking.broken)

    def grab(self, grab, body, point, target, stiffness, damping=0.0):
        """Pull a point of a body to a target by a spring, see Solver.grab."""
        body = checked_index("grabbed body", body, self.model.bodies, "body")
        weights = self.frames[0][body].weights(finite_vector("grabbed point", point))
        self.particle_system.grab(grab, self.members[body][:4], target, stiffness, damping, weights)

    def release(self, grab):
        """Release what a grab spring pulls. Args: grab: which."""
        self.particle_system.release(grab)

    # State ------------------------------------------------------------------------------------------------------------

    def state(self, warm_start=True):
        """Poses at the end of the last step, and velocities over it, see Solver.state.

        The velocities have the momentum of the particles, which constraints and contacts conserve: Σ m (x - x*)/Mh, and
        I⁻¹ Σ m r × (x - x*)/h.
        """
        snapshot = self.particle_system.state()
        found = self._poses_and_velocities(snapshot.position, snapshot.previous_position)
        kept = join_arrays(self._kept(snapshot)) if boolean("warm_start", warm_start) else ()
        angles = self.particle_system.constraints.read([rows[0] for rows in self._counters]).T.astype(float)
        angles = angles[0] if self.worlds == 1 else angles
        return State(*found, self.time, kept, **self.particle_system.clock.state(), joint_angles=angles)

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the particles."""
        return self.particle_system.digest()

    def set_state(self, state):
        """Set poses and velocities, see Solver.set_state.

        If the run does not continue, a shared particle goes to the mean of its places on both bodies. The user's own
        particles stay where they are.
        """
        if not isinstance(state, State):
            raise TypeError(f"state is {type(state).__name__}: expected a rigid.State")
        shape = (*self.particle_system.positions().shape[:-2], len(self.members), 3)
        if state.position.shape != shape:
            raise ValueError(f"state's position has shape {state.position.shape}: expected {shape}")
        angles = self._angles_of(state)
        if self._bodies is not None:
            self._bodies.points.count.fill(0)
            for array in arrays_of(self._bodies.in_lanes):
                array.fill(0)
        if not self._continue_from(state):
            self._place(state, angles)
        self._time_of_change = self.time

    def _poses_and_velocities(self, positions, previous):
        """Positions, rotations, velocities and angular velocities of all bodies from their particles."""
        return self._body_particles.poses_and_velocities(positions, previous, self.dt / self.substeps)

    def _kept(self, snapshot):
        """All that a later step reads: a list of arrays and numbers. Args: snapshot: of the particle system.

        Only the arrays of contacts and forces are found by kept=True. The particle system checks its own State, with
        its clock, before anything changes. Of the numbers of constraints only a few change; the others belong to the
        model.
        """
        constraints = self.particle_system.constraints
        targets = constraints.read(self._targets())
        broken = self._breaking.broken.astype(float)
        contacts = map(read, self._kept_arrays())
        return [*vars(snapshot).values(), constraints.read_state(), targets, broken, *contacts]

    def _kept_arrays(self):
        """Taichi arrays of contacts and external forces that a later step reads."""
        return arrays_of(self._external_forces.arrays if self._bodies is None else self._bodies, kept=True)

    def _targets(self):
        """Rows of the system's numbers of constraints in which motors have their targets."""
        return np.array([row for rows in self._motors.values() for row in rows.values()], int)

    def _continue_from(self, state):
        """Restore all that a later step reads, if the state is one of this solver. Returns: whether it is."""
        before = self.particle_system.state()
        parts = split_arrays(state.warm_start, self._kept(before))
        if not parts:
            return False
        fields = vars(before)
        snapshot = pbd.State(**dict(zip(fields, parts)))
        memory, targets, broken, *contacts = parts[len(fields) :]
        options = self.options
        self.particle_system.set_state(snapshot)
        self.options = replace(options, dt=snapshot.dt, substeps=snapshot.substeps)
        given = (state.position, state.rotation, state.velocity, state.angular_velocity)
        found = self._poses_and_velocities(snapshot.position, snapshot.previous_position)
        if not all(map(np.array_equal, found, given)):
            self.particle_system.set_state(before)
            self.options = options
            return False
        self._breaking.restore(broken)
        self.particle_system.constraints.write_state(memory)
        self.particle_system.constraints.write(self._targets(), targets)
        for array, part in zip(self._kept_arrays(), contacts):
            write(array, part)
        self._external_forces.reload()
        return True

    def _place(self, state, angles):
        """Set the particles to poses and velocities, and clear what earlier steps left.

        Args: state; angles: from which full turns are counted (worlds, angles) [rad].
        """
        system = self.particle_system
        system.clock.continue_at(state.time, **state.clock())
        positions, velocities, weights = self._body_particles.sums_over_bodies(state, system.positions().shape)
        free = (weights > 0) & (system.inverse_masses() > 0)
        share = np.where(free, weights, 1.0)[..., None]
        system.set_positions(np.where(free[..., None], positions / share, system.positions()))
        unchanged = system.velocities()
        system.set_velocities(np.where(free[..., None], velocities / share, unchanged))
        self._external_forces.start()
        if self._bodies is not None:
            self._bodies.cache.first.fill(0)
        system.constraints.write_state(np.zeros_like(system.constraints.read_state()))
        for rows, values in zip(self._counters, angles.T):
            system.constraints.write(rows, values)
        self._start_rotors(state)

    # Readings ---------------------------------------------------------------------------------------------------------

    def particle_positions(self):
        """Positions of the user's own particles (particles, 3), or (worlds, particles, 3) [m]."""
        return self.particle_system.positions()[..., : self.user_particles, :]

    def crossings(self):
        """Count the pairs of surfaces, and of shapes of bodies and surfaces, that cross: 0, or (worlds,).

        See pbd.ParticleSystem.crossings, and rigid/solvers/verlet/crossings.py for what counts of a shape.
        """
        found = self.particle_system.crossings()
        if self._bodies is None or not self.particle_system.particles.surfaces:
            return found
        shapes = [len(each) for each in self._crossing_shapes()]
        return found + (shapes[0] if self.worlds == 1 else np.array(shapes))

    def energy(self):
        """Kinetic, potential and total energy at the middle of the last substep: a pbd.Energy [J].

        It is the energy of the particles, which is that of the bodies as far as the frames are rigid. Particles that
        joints pin to the ground do not count. So the potential energy differs from that of other solvers by a constant.
        Before the first step it is that of free fall half a substep h away: a body at rest has kinetic energy
        m (g h)²/8.
        """
        found = self.particle_system.energy()
        if not self._rotors:
            return found
        rotors = armature_energy(self.models, self.joint_velocities())
        return Energy(found.kinetic + rotors, found.potential, found.total + rotors)

    def statistics(self):
        """Iterations, residual [m] and contacts of the last substep: a pbd.Statistics."""
        return self.particle_system.statistics()

    def contact_forces(self, world=0):
        """Contact points of the last substep and the mean forces in them, see Solver.contact_forces.

        An impulse on positions λ [kg m] is a force λ/h² over the substep h. Contacts of the user's particles are there,
        too: the side of particle i is -2 - i. From the number of particles on, i counts the triangles and segments of
        surfaces, along a curve through space.
        """
        world = one_index("world", world, self.worlds, "worlds")
        return contacts_of(self._bodies, self.dt / self.substeps, world)

    def joint_forces(self):
        """Forces and torques that joints apply to their children, see Solver.joint_forces.

        They include limits, friction, motors and springs of a joint. They balance the momenta of the discrete step to
        round-off, converged or not. For the poses of the last substep's start they are of second order in the step;
        torques are of first order with direction="current", and in a substep with restitution. They are zero before the
        first step, and after `set_state` or a change of the step until the next one.

        Raises: NotImplementedError if joints form a loop, for gears, paths, and attachments of particles.
        """
        refuse_unknown_forces(self.model, (*self.options.attachments, *self.options.clamps))
        if self.time == self._time_of_change:
            zero = np.zeros((2, 3) if self.worlds == 1 else (self.worlds, 2, 3))
            return {joint.name: zero.copy() for joint in self.model.joints}
        contact_sums = sum_contact_forces(self._bodies, self.dt / self.substeps, self.worlds, len(self.members))
        found = forces_by_balance(
            self.models, self._body_particles,
            accelerations_by_joints(self.particle_system, self._springs, self.options.direction == "start"),
            self._other_gravity[..., None] * self.gravity,
            np.add(contact_sums, self._external_forces.of_last_substep()),
        )  # fmt: skip
        for number, index in enumerate(self._breaking.joints):
            found[self.model.joints[index].name][self._breaking.broken[:, number]] = 0.0
        return {name: each[0] if self.worlds == 1 else each for name, each in found.items()}
