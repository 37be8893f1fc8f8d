"""External forces on frames: the user's forces and torques move a body's particles as they move the body.

A body of mass M with inertia I about its centre c, with a force F at p and a torque T, has the accelerations

    a_i = F/M + α × (x_i - c),   α = I⁻¹ (T + (p - c) × F)

at its particles x_i. M, I and c are those of all its particles at the start of the substep, with the whole mass of the
particles that it shares. So the momenta change by exactly h F and h (T + p × F). After `predict` the positions get
h² a_i. Before the first step x* gets h² a_i/2, an exact start as for gravity.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import taichi as ti

from pbd.core.kernels import Integer, Real, allocate, count, load_quaternion, load_vector, read, store_vector, write
from pbd.step_hooks import StepHooks
from rigid.external_forces import EXTERNAL
from rigid.solvers.verlet.data import FORCE, MOTION, SIZE, External
from rigid.solvers.verlet.frame_motion import move_particles, read_inertia, rotation_by, weighted_point


class ForcedFrames(NamedTuple):
    """Arrays of the step hooks if no body can touch another; named as in BodyArrays."""

    sizes: Integer(SIZE)
    first_member: Integer(count.body_ends)
    members: Integer(count.members)
    motion: Real(count.worlds, count.bodies, MOTION)
    external: External


@ti.func
def apply_external_forces(s: ti.template(), world):
    """Move the particles of all bodies by h² times their accelerations by external forces."""
    for body in range(s.hooked.sizes[SIZE.bodies]):
        numbers, motion = ti.static(s.hooked.external.numbers, s.hooked.motion)
        force = load_vector(numbers, body, FORCE.force, world)
        torque = load_vector(numbers, body, FORCE.torque, world)
        if force.norm_sqr() + torque.norm_sqr() > 0.0:
            read_inertia(s, s.particles.previous_position, body, world)
            weights = load_quaternion(numbers, body, FORCE.weights, world)
            arm = weighted_point(s, s.particles.previous_position, body, weights, world)
            arm -= load_vector(motion, body, MOTION.centre, world)
            h2 = s.settings.h * s.settings.h
            linear = h2 * motion[world, body, MOTION.inverse_mass] * force
            store_vector(motion, body, MOTION.linear, linear, world)
            angular = rotation_by(s, body, h2 * (torque + arm.cross(force)), world)
            store_vector(motion, body, MOTION.angular, angular, world)
            move_particles(s, s.particles.position, s.particles.previous_position, body, 1.0, world)


@cache
def force_hooks():
    """The StepHooks of bodies with external forces that cannot touch one another."""

    @ti.func
    def in_iteration(s: ti.template(), iteration, world):
        """Nothing to project. Returns: zero."""
        return 0.0

    @ti.func
    def after_iterations(s: ti.template(), world):
        """Nothing to store."""
        pass

    @ti.func
    def take_back_impulses(s: ti.template(), world):
        """There are none."""
        return False

    @ti.func
    def scale_impulses(s: ti.template(), factor, world):
        """Nothing to scale."""
        pass

    @ti.func
    def count_contacts(s: ti.template(), world):
        """There are none."""
        return 0

    @ti.func
    def store_contacts(s: ti.template(), world):
        """There are none."""
        pass

    return StepHooks(
        ForcedFrames, apply_external_forces, in_iteration, after_iterations, take_back_impulses, scale_impulses,
        count_contacts, store_contacts,
    )  # fmt: skip


class FrameForces:
    """External forces of a solver "verlet".

    Args:
        system: the pbd.ParticleSystem.
        frames: a Frame for each body of each model.
        members: indices of the particles of each body.
        use: a function () that is called when a first force is set: without contacts the step gets hooks only then.

    Attributes: arrays: a ForcedFrames; numbers (worlds, bodies, FORCE): as they are set; applied: those of the last
    step.
    """

    def __init__(self, system, frames, members, use):
        self.system, self.frames, self.members, self.use = system, frames, members, use
        self.in_use, bodies = False, len(members)
        values = {
            "sizes": np.array([0, bodies]),
            "first_member": np.cumsum([0, *map(len, members)]),
            "members": np.concatenate([np.zeros(0, int), *members]),
        }
        self.arrays = allocate(
            ForcedFrames, values, worlds=system.worlds, lanes=system.lanes, bodies=bodies, body_ends=bodies + 1,
            members=len(values["members"]),
        )  # fmt: skip
        self.reload()
        self.applied = self.numbers

    @property
    def act(self):
        """Whether a force or a torque is set."""
        return self.in_use and bool(self.numbers[..., : FORCE.weights].any())

    def reload(self):
        """Read the array again, after a state was restored."""
        self.numbers = read(self.arrays.external.numbers)
        if self.numbers[..., : FORCE.weights].any() and not self.in_use:
            self.in_use = True
            self.use()

    def set(self, body, values):
        """Set the force on bodies. Args: body: index, or a slice; values: EXTERNAL (worlds, 9), or zero.

        Returns: whether it was another force before.
        """
        new = self.numbers.copy()
        new[:, body] = 0.0
        if np.any(values):
            new[:, body, : FORCE.weights] = values[:, : EXTERNAL.point]
            for world, frames in enumerate(self.frames * (self.system.worlds // len(self.frames))):
                new[world, body, FORCE["weights"]] = frames[body].weights(values[world, EXTERNAL["point"]])
        changed = not np.array_equal(new, self.numbers)
        if changed:
            before = self.numbers
            write(self.arrays.external.numbers, new)
            self.reload()
            if self.system.time == 0.0:
                self.start(before)
        return changed

    def start(self, before=None):
        """Make the start of the motion exact: x* += h² a/2. Args: before: numbers whose a is subtracted, or None."""
        change = self._accelerations(self.numbers)
        if before is not None:
            change -= self._accelerations(before)
        if change.any():
            snapshot = self.system.state()
            h = snapshot.dt / snapshot.substeps
            snapshot.previous_position += 0.5 * h * h * change.reshape(snapshot.previous_position.shape)
            self.system.set_state(snapshot)

    def _accelerations(self, numbers):
        """a_i of all particles (worlds, particles, 3) [m/s²] at the present positions. Args: numbers: FORCE."""
        shape = self.system.worlds, self.system.count, 3
        positions = np.reshape(self.system.positions(), shape).astype(float)
        w = np.reshape(self.system.inverse_masses(), shape[:2]).astype(float)
        found = np.zeros(shape)
        for world, body in np.argwhere(numbers[..., : FORCE.weights].any(axis=2)):
            free = self.members[body][w[world, self.members[body]] > 0]
            row, mass, x = numbers[world, body].astype(float), 1 / w[world, free], positions[world, free]
            centre = mass @ x / mass.sum()
            force, arms = row[FORCE["force"]], x - centre
            inertia = np.einsum("k,kij->ij", mass, (arms**2).sum(axis=1)[:, None, None] * np.eye(3)
                                - arms[:, :, None] * arms[:, None])  # fmt: skip
            point = row[FORCE["weights"]] @ positions[world, self.members[body][:4]]
            angular = np.linalg.solve(inertia, row[FORCE["torque"]] + np.cross(point - centre, force))
            found[world, free] += force / mass.sum() + np.cross(angular, arms)
        return found

    def of_last_substep(self):
        """Forces [N] and torques about the origin [N m] on bodies, (worlds, bodies, 3) each, in the last substep."""
        shape = self.system.worlds, self.system.count, 3
        starts = np.reshape(self.system.state().previous_position, shape).astype(float)
        corners = np.array([members[:4] for members in self.members], int).reshape(-1, 4)
        force, torque, weights = np.split(self.applied.astype(float), (FORCE.torque, FORCE.weights), axis=2)
        points = np.einsum("wbk,wbki->wbi", weights, starts[:, corners])
        return force, torque + np.cross(points, force)
