"""ParticleColumns: positions, velocities, masses and radii of a description of particles."""

import math

import numpy as np

from pbd.core.transaction import Description
from pbd.core.validate import LARGEST, finite_array, finite_vector, indices, spread


class ParticleColumns(Description):
    """Base of Particles: numpy arrays with a row for each particle, or for each triangle in the wind.

    Attributes: count: number of particles.
    """

    title = "pbd.Particles"

    def __init__(self):
        self._columns = {
            "position": [np.zeros((0, 3))],
            "velocity": [np.zeros((0, 3))],
            "mass": [np.zeros(0)],
            "radius": [np.zeros(0)],
            "gravity_scale": [np.zeros(0)],
            "triangle": [np.zeros((0, 3), np.int64)],
            "drag": [np.zeros(0)],
        }
        self.count = 0
        self.built = []

    def __len__(self):
        return self.count

    def _column(self, name):
        if len(self._columns[name]) > 1:
            self._columns[name] = [np.concatenate(self._columns[name])]  # a new list: a transaction keeps the old one
        return self._columns[name][0]

    # The arrays themselves are returned, so changes to their elements change the description.

    def positions(self):
        """Positions at time zero, (particles, 3) [m]."""
        return self._column("position")

    def velocities(self):
        """Velocities at time zero, (particles, 3) [m/s]."""
        return self._column("velocity")

    def masses(self):
        """Masses, (particles,) [kg]; infinite for a pinned particle."""
        return self._column("mass")

    def radii(self):
        """Radii, (particles,) [m]: the distance of a particle from colliders, boxes and other particles."""
        return self._column("radius")

    def gravity_scales(self):
        """What part of gravity acts on each particle, (particles,)."""
        return self._column("gravity_scale")

    def triangles(self):
        """Triangles on which the wind acts, (triangles, 3) indices."""
        return self._column("triangle")

    def drag_coefficients(self):
        """Drag coefficient of each triangle, (triangles,)."""
        return self._column("drag")

    def add_particle(self, position, mass=1.0, velocity=(0.0, 0.0, 0.0), radius=0.0, *, gravity_scale=1.0):
        """Add one particle.

        Args: position: (3,) [m]; mass: [kg], `math.inf` pins it; velocity: (3,) [m/s]; radius: [m]; gravity_scale: what
        part of gravity acts on it.

        Returns: its index.
        """
        position = finite_vector("position", position)
        return int(self.add_particles(position[None], mass, velocity, radius, gravity_scale=gravity_scale)[0])

    def add_particles(self, positions, mass=1.0, velocity=(0.0, 0.0, 0.0), radius=0.0, *, gravity_scale=1.0):
        """Add many particles.

        Args: positions: (n, 3) [m]; mass: [kg], velocity: (3,) [m/s], radius: [m] and gravity_scale, for all or one
        each.

        Returns: their indices, (n,).
        """
        positions = finite_array("positions", positions, (None, 3))
        count = len(positions)
        expected = "a number above zero, or math.inf to pin"
        mass = spread("mass", mass, (count,), infinite=True, allowed=lambda kg: kg > 0, expected=expected)
        if (mass < 1 / LARGEST).any():
            least = f"a number above zero and at least {1 / LARGEST:g}"
            raise ValueError(f"mass is {mass.min():g}: expected {least}, or math.inf to pin")
        velocity = spread("velocity", velocity, (count, 3), most=math.inf)
        radius = spread("radius", radius, (count,), signed=False)
        scale = spread("gravity_scale", gravity_scale, (count,))
        moving = np.isinf(mass) & velocity.any(axis=1)
        if moving.any():
            raise ValueError(
                f"particle {self.count + int(np.argmax(moving))} is pinned (infinite mass) and has a velocity: "
                "expected none, or a path given to add_path()"
            )
        columns = {"position": positions, "velocity": velocity, "mass": mass, "radius": radius, "gravity_scale": scale}
        for name, values in columns.items():
            self._columns[name].append(values)
        first, self.count = self.count, self.count + count
        return np.arange(first, self.count)

    def pin(self, particles):
        """Give particles infinite mass and no velocity. Args: particles: indices."""
        particles = indices("particles", particles, self.count)
        for name, value in (("mass", math.inf), ("velocity", 0.0)):
            column = self._column(name).copy()  # a transaction keeps the old one
            column[particles] = value
            self._columns[name] = [column]
