"""Particles: what a scene is made of, described in plain numpy. It knows no solver and needs no Taichi."""

import math
from copy import copy

import numpy as np

from pbd.batches import Batches
from pbd.collision.collider import Collider
from pbd.core.shapes.shape import Shape
from pbd.core.validate import finite_array, finite_vector, fraction, indices, not_negative, spread


class Particles(Batches):
    """A description of particles, what ties them together and what they meet.

    Arguments:
        gravity: (3,) [m/s²].
        wind: velocity of the air (3,) [m/s], or a function of time [s] that gives it; None for no air at all. It acts
            on the triangles given to `add_triangles`.
        air_density: [kg/m³].
    """

    def __init__(self, *, gravity=(0.0, 0.0, -9.81), wind=None, air_density=1.2):
        self.gravity = finite_vector("gravity", gravity)
        self.wind = wind if wind is None or callable(wind) else finite_vector("wind", wind)
        self.air_density = not_negative("air density", air_density)
        self.batches = {}
        self.colliders = []
        self.boxes = []
        self.drives = []
        self.particle_contacts = None
        self._triangles = [np.zeros((0, 3), np.int64)]
        self._drag = [np.zeros(0)]
        self._columns = {
            "position": [np.zeros((0, 3))],
            "velocity": [np.zeros((0, 3))],
            "mass": [np.zeros(0)],
            "radius": [np.zeros(0)],
        }
        self.count = 0

    def __len__(self):
        return self.count

    def _column(self, name):
        pieces = self._columns[name]
        if len(pieces) > 1:
            pieces[:] = [np.concatenate(pieces)]
        return pieces[0]

    @property
    def positions(self):
        """Positions at time zero, (particles, 3) [m]."""
        return self._column("position")

    @property
    def velocities(self):
        """Velocities at time zero, (particles, 3) [m/s]."""
        return self._column("velocity")

    @property
    def masses(self):
        """Masses, (particles,) [kg]; infinite for a pinned particle."""
        return self._column("mass")

    @property
    def radii(self):
        """Radii, (particles,) [m]: how far a particle keeps from colliders, boxes and other particles."""
        return self._column("radius")

    @property
    def triangles(self):
        """Triangles of surfaces that the air acts on, (triangles, 3) indices."""
        self._triangles = [np.concatenate(self._triangles)]
        return self._triangles[0]

    @property
    def drag(self):
        """Drag coefficient of each triangle, (triangles,)."""
        self._drag = [np.concatenate(self._drag)]
        return self._drag[0]

    @property
    def still(self):
        """Whether the surroundings are the same at all times: no changing wind, no path, no moving collider."""
        moving = callable(self.wind) or self.drives or any(c.motion is not None for c in self.colliders)
        return not moving

    def frozen(self):
        """A copy whose surroundings stay as they are, whatever is added to this description afterwards."""
        other = copy(self)
        for name in ("colliders", "boxes", "drives", "_triangles", "_drag"):
            setattr(other, name, list(getattr(self, name)))
        return other

    # Particles ------------------------------------------------------------------------------------------------------

    def add_particle(self, position, mass=1.0, velocity=(0.0, 0.0, 0.0), radius=0.0):
        """Add one particle.

        Arguments: position (3,) [m]; mass [kg], `math.inf` pins it; velocity (3,) [m/s]; radius [m].

        Returns: its index.
        """
        return int(self.add_particles(finite_vector("position", position)[None], mass, velocity, radius)[0])

    def add_particles(self, positions, mass=1.0, velocity=(0.0, 0.0, 0.0), radius=0.0):
        """Add many particles.

        Arguments: positions (n, 3) [m]; mass [kg], velocity (3,) [m/s] and radius [m] for all, or one each.

        Returns: their indices, (n,).
        """
        positions = finite_array("positions", positions, (None, 3))
        count = len(positions)
        mass = spread("mass", mass, (count,), infinite=True)
        if (mass <= 0).any():
            raise ValueError(f"mass is {mass[mass <= 0][0]:g}: expected a number above zero, or math.inf to pin")
        velocity = spread("velocity", velocity, (count, 3))
        radius = spread("radius", radius, (count,))
        if (radius < 0).any():
            raise ValueError(f"radius is {radius[radius < 0][0]:g}: expected zero or more")
        moving = np.isinf(mass) & velocity.any(axis=1)
        if moving.any():
            raise ValueError(
                f"particle {self.count + int(np.argmax(moving))} is pinned (infinite mass) and has a velocity: "
                "expected none, or a path given to drive()"
            )
        for name, values in (("position", positions), ("velocity", velocity), ("mass", mass), ("radius", radius)):
            self._columns[name].append(values)
        first, self.count = self.count, self.count + count
        return np.arange(first, self.count)

    def pin(self, particles):
        """Give particles infinite mass (and no velocity). Arguments: indices."""
        particles = indices("particles", particles, self.count)
        self.masses[particles] = math.inf
        self.velocities[particles] = 0.0

    def drive(self, particles, path):
        """Pin particles and lead them along a path.

        Arguments: indices (n,); path, a function of time [s] that gives their positions (n, 3), or (3,) for one [m].
        """
        particles = indices("particles", particles, self.count)
        if not callable(path):
            raise TypeError(f"path is {path!r}: expected a function of time that gives positions")
        start = finite_array("positions given by a path", np.atleast_2d(path(0.0)), (len(particles), 3))
        away = np.linalg.norm(start - self.positions[particles], axis=1)
        if (away > 1e-6).any():
            worst = int(np.argmax(away))
            raise ValueError(
                f"path of particle {particles[worst]} begins {away[worst]:g} m away, at {start[worst].tolist()}: "
                f"expected its position {self.positions[particles[worst]].tolist()}"
            )
        led = np.concatenate([particles, *(others for others, _ in self.drives)])
        twice = np.bincount(led) > 1
        if twice.any():
            raise ValueError(f"particle {np.argmax(twice)} is led along two paths: expected one")
        self.pin(particles)
        self.drives.append((particles, path))

    # Surroundings ---------------------------------------------------------------------------------------------------

    def add_triangles(self, triangles, drag=1.0):
        """Give triangles to the wind. Arguments: triangles (n, 3) of indices; drag coefficient, for all or one each."""
        triangles = indices("triangles", triangles, self.count, 3)
        self._triangles.append(triangles)
        self._drag.append(spread("drag", drag, (len(triangles),)))

    def add_box(self, lower, upper, *, restitution=0.0, friction=0.0):
        """Keep every particle inside a box. Arguments: lower, upper (3,) [m]; restitution in [0, 1]; friction μ."""
        lower, upper = finite_vector("box lower", lower), finite_vector("box upper", upper)
        if not (lower < upper).all():
            raise ValueError(f"box from {lower.tolist()} to {upper.tolist()}: expected lower below upper on each axis")
        restitution, friction = fraction("restitution", restitution), not_negative("friction", friction)
        self.boxes.append(np.concatenate([lower, upper, [friction, restitution]]))

    def add_collider(self, shape, *, friction=0.0, restitution=0.0, motion=None):
        """Keep every particle out of a shape.

        Arguments:
            shape: pbd.Plane, Sphere, Capsule, Cylinder, Box, ConvexHull or MeshCollider.
            friction: Coulomb's μ; restitution in [0, 1].
            motion: a function of time [s] that gives the position of the shape's frame (3,), or (position, rotation);
                None for one at rest.

        Returns: its index.
        """
        if not isinstance(shape, Shape):
            expected = "a Plane, Sphere, Capsule, Cylinder, Box, ConvexHull or MeshCollider"
            raise TypeError(f"collider {shape!r}: expected {expected}")
        if motion is not None and not callable(motion):
            raise TypeError(f"motion is {motion!r}: expected a function of time")
        friction, restitution = not_negative("friction", friction), fraction("restitution", restitution)
        collider = Collider(shape, friction, restitution, motion)
        collider.pose(0.0)
        self.colliders.append(collider)
        return len(self.colliders) - 1

    def add_particle_contacts(self, friction=0.0):
        """Keep particles apart by the sum of their radii (for cloth: half its thickness each).

        Two particles that are described closer than that keep the distance of their description instead, so that the
        neighbours in a cloth do not push each other. Arguments: friction: Coulomb's μ.
        """
        self.particle_contacts = not_negative("friction", friction)


def inverse(masses):
    """Inverse masses [1/kg], zero where pinned."""
    return np.where(np.isinf(masses), 0.0, 1.0 / masses)

