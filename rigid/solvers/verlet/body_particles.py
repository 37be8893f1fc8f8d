"""Particles of all bodies in one table: from particles to poses and velocities of bodies, and back."""

import numpy as np

from rigid.rotation import from_matrix, rotate
from rigid.solvers.verlet.frame import fit_pose, fit_velocity


class BodyParticles:
    """Particles of all bodies in one table, padded with massless ones.

    Args:
        models: list of Model.
        frames: a Frame for each body of each model.
        members: indices of the particles of each body, the same in all models.

    Attributes:
        index: of particles (bodies, most).
        points: in the body's frame (models, bodies, most, 3) [m].
        masses: (models, bodies, most) [kg].
        inertias: of bodies (models, bodies, 3, 3) [kg m²].
    """

    def __init__(self, models, frames, members):
        most = max(map(len, members), default=4)
        self.index = np.array([np.pad(m, (0, most - len(m)), "edge") for m in members], int).reshape(-1, most)
        shape = len(models), len(members), most
        self.points, self.masses = np.zeros((*shape, 3)), np.zeros(shape)
        for place in np.ndindex(shape[:2]):
            frame = frames[place[0]][place[1]]
            count = len(frame.masses)
            self.points[place][:count], self.masses[place][:count] = frame.points, frame.masses
        inertias = [[body.inertia for body in each.bodies] for each in models]
        self.inertias = np.reshape(inertias, (len(models), -1, 3, 3))

    def poses_and_velocities(self, positions, previous, h):
        """Positions, rotations, velocities and angular velocities of all bodies.

        Args: positions, previous: of particles, now and a substep ago (..., particles, 3) [m]; h: the substep [s].
        """
        points, masses, inertias = self.points, self.masses, self.inertias
        if positions.ndim == 2:
            points, masses, inertias = points[0], masses[0], inertias[0]
        now = positions[..., self.index, :]
        position, rotation = fit_pose(points, masses, now)
        velocities = (now - previous[..., self.index, :]) / h
        arms = now - position[..., None, :]
        return position, from_matrix(rotation), *fit_velocity(masses, inertias, arms, rotation, velocities)

    def sums_over_bodies(self, state, shape):
        """Sums over the bodies that share each particle, if each body has a pose and velocity.

        Args: state: a State; shape: of the particles' positions.

        Returns: Σ m x [kg m] and Σ m v [kg m/s], of that shape, and Σ m (..., particles) [kg].
        """
        positions, velocities, weights = np.zeros(shape), np.zeros(shape), np.zeros(shape[:-1])
        masses, points = (self.masses, self.points) if len(shape) == 3 else (self.masses[0], self.points[0])
        arms = rotate(state.rotation[..., None, :], points)
        places = state.position[..., None, :] + arms
        moving = state.velocity[..., None, :] + np.cross(state.angular_velocity[..., None, :], arms)
        masses = np.broadcast_to(masses, places.shape[:-1])
        at = (self.index,) if len(shape) == 2 else (np.arange(shape[0])[:, None, None], self.index)
        np.add.at(weights, at, masses)
        np.add.at(positions, at, masses[..., None] * places)
        np.add.at(velocities, at, masses[..., None] * moving)
        return positions, velocities, weights
