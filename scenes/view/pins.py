"""Pins: particles that the user fixes and releases. They do not depend on a browser."""

import math

import numpy as np

from scenes.view.grabs import driven_particles
from scenes.view.picking import pick


def first_point_on_ray(positions, origin, direction):
    """Find the point that a ray passes most closely; the first along the ray if several are about as close.

    Args: positions (n, 3) [m]; origin (3,) [m]; direction (3,).

    Returns: position (3,) [m].
    """
    direction = np.asarray(direction) / np.linalg.norm(direction)
    offsets = positions - origin
    depths = offsets @ direction
    distances = np.linalg.norm(offsets - depths[:, None] * direction, axis=1)
    near = (depths > 0) & (distances <= 1.5 * distances[depths > 0].min(initial=np.inf))
    return positions[np.flatnonzero(near)[np.argmin(depths[near])]]


class Pins:
    """The pins of a session. All methods run on the session's thread.

    Args: session. Attributes: masses: {index: mass before it was pinned [kg]} of the particles that the user pinned.
    """

    def __init__(self, session):
        self.session, self.masses, self.run = session, {}, session.run

    def pin(self, visual, number, instance, point):
        """Pin the particle nearest to a point of a visual.

        Args: as for `pick`. Raises: ValueError if there are no particles.
        """
        particle = self.nearest_particle(visual, number, instance, point)
        system = self.run.particles
        inverse_mass = system.inverse_masses()[particle]
        if inverse_mass > 0:
            system.set_masses([particle], math.inf)
            self.masses[particle] = 1 / inverse_mass

    def unpin(self, visual, number, instance, point):
        """Release the pinned particle nearest to a point of a visual.

        Args: as for `pick`. Raises: ValueError if no particle is pinned.
        """
        self.nearest_particle(visual, number, instance, point)
        system, description = self.run.particles, self.run.scene.particles
        pins = np.flatnonzero(system.inverse_masses()[: len(description)] == 0)
        pins = np.setdiff1d(pins[description.radii()[pins] >= 0], driven_particles(self.run))  # none beside rods
        if not len(pins):
            raise ValueError("no pinned particle: expected one to release")
        particle = int(pins[np.argmin(np.linalg.norm(system.positions()[pins] - point, axis=1))])
        # A particle that the scene pins has no finite mass. It gets the mean mass of the others.
        finite = description.masses()[np.isfinite(description.masses())]
        system.set_masses([particle], self.masses.pop(particle, finite.mean() if len(finite) else 1.0))

    def nearest_particle(self, visual, number, instance, point):
        """Index of the particle nearest to a point of a visual. Args: as for `pick`."""
        self.clear_if_restarted()
        picked = pick(self.run, visual, number, instance, point)
        if picked is None or picked.body is not None:
            raise ValueError("no particles here: expected cloth, a rope or a soft body")
        return picked.nearest

    def clear_if_restarted(self):
        """Forget all pins if the session started another run."""
        if self.run is not self.session.run:
            self.run, self.masses = self.session.run, {}
