"""Joint forces: what bodies gain in a substep by their joints, from the displacements of their particles.

In a substep a particle goes to x' = x + (1 - d)(x - x*) + a h², and then all constraints together displace it by Δx:
a force m Δx/h². Body by body, the forces on its particles sum to those of its joints and contacts: sticks within a
frame have equal and opposite ends. Of a particle that bodies share, each has its own part of the mass.

With arms from the start of the substep that is exact, because forces along the gradients there conserve angular
momentum exactly, converged or not. A substep that the direct solve makes in parts (pbd/direct/adaptive.py) has the mean
of their forces, and arms from the start of the last part, as long as the substep: they are off by O(h²).
"""

import numpy as np

from pbd.grabs import GRAB
from rigid.constraints.joint_forces import outward, tree_forces
from rigid.rotation import from_matrix
from rigid.solvers.verlet.frame import fit_pose
from rigid.state import State


def refuse_unknown_forces(model, attachments):
    """Raise NotImplementedError for forces between bodies of unknown size. Args: attachments: what bodies hold."""
    if model.gears:
        raise NotImplementedError(
            'the model has gears, whose forces are not accumulated: use solver "impulse" for joint forces'
        )
    for body in model.bodies:
        if body.path is not None:
            raise NotImplementedError(
                f'body {body.name!r} follows a path, which has no balance of momentum: use solver "impulse" for joint '
                "forces"
            )
    if attachments:
        raise NotImplementedError(
            "particles are attached to bodies, whose forces are not accumulated: joint forces need none"
        )


def refuse_unknown_loads(model, attachments):
    """Raise NotImplementedError if the load of a joint that breaks is not known. Args: see `refuse_unknown_forces`."""
    refuse_unknown_forces(model, attachments)
    outward(model, range(len(model.joints)))


def accelerations_by_joints(system, springs, from_start):
    """Accelerations of particles in the last substep by all but gravity, forces and springs.

    Args: system: a pbd.ParticleSystem; springs (springs, 2): particles at their ends; from_start: whether constraints
    act along the gradients at the start of the substep.

    Returns: positions at the start of the substep [m], and accelerations [m/s²], (worlds, particles, 3) each.
    """
    shape, h, snapshot = (system.worlds, system.count, 3), system.dt / system.substeps, system.state()
    starts, ends, displacements = (
        np.reshape(each, shape).astype(float)
        for each in (snapshot.previous_position, snapshot.position, system.displacements())
    )
    inverse_masses = np.reshape(snapshot.inverse_mass, (*shape[:2], 1))
    multipliers = system.constraints.multipliers_between(springs)
    known = forces_of_springs(springs, multipliers, starts if from_start else ends, h)
    grabs = np.reshape(system.grab_forces(), (system.worlds, -1, 3))
    for columns, force in zip(system.environment.grabs, grabs.swapaxes(0, 1)):
        for i, weight in zip(columns[GRAB["particles"]].astype(int), columns[GRAB["weights"]]):
            known[:, i] += weight * force
    # A pinned particle stays: the joint carries the weight of the body's part of it.
    return starts, np.where(inverse_masses > 0, displacements / h**2 - inverse_masses * known, -system.gravity)


def forces_by_balance(models, of_bodies, particles, falls, contacts):
    """Forces in the joints of all worlds.

    Args:
        models: one for all worlds, or one for each.
        of_bodies: a BodyParticles.
        particles: positions and accelerations, see `accelerations_by_joints`.
        falls (models, bodies, most, 3): accelerations of particles by gravity, beyond those of the bodies [m/s²].
        contacts: forces [N] and torques about the origin [N m] on bodies by their contacts, (worlds, bodies, 3) each.

    Returns: see rigid.constraints.joint_forces.tree_forces.
    """
    starts, accelerations = (array[:, of_bodies.index] for array in particles)
    forces = of_bodies.masses[..., None] * (accelerations + falls)
    torques = np.cross(starts, forces)
    position, rotation = fit_pose(of_bodies.points, of_bodies.masses, starts)
    rest = np.zeros_like(position)
    arrays = position, from_matrix(rotation), rest, rest
    state = State(*(array[0] if len(starts) == 1 else array for array in arrays))
    forces, torques = forces.sum(axis=2) - contacts[0], torques.sum(axis=2) - contacts[1]
    return tree_forces(models, state, range(len(models[0].joints)), forces, torques)


def forces_of_springs(pairs, multipliers, positions, h):
    """Forces of springs on the particles at their ends, (worlds, particles, 3) [N].

    Args: pairs (springs, 2): particles; multipliers (springs, worlds): λ, below zero for a pull [kg m]; positions
    (worlds, particles, 3): along which they act [m]; h [s].
    """
    found = np.zeros(positions.shape)
    for (a, b), multiplier in zip(pairs, multipliers):
        between = positions[:, b] - positions[:, a]
        force = (multiplier / h**2)[:, None] * between / np.linalg.norm(between, axis=1, keepdims=True)
        found[:, b] += force
        found[:, a] -= force
    return found
