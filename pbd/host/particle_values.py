"""Arrays of particles as the user reads and writes them."""

import math

import numpy as np

from pbd.core.kernels import read, write
from pbd.core.validate import finite_array, real_array


class ParticleValues:
    """Values of the particles of all worlds.

    In arrays, the axes are (particles, worlds, ...). The user sees (particles, ...) if there is one world, otherwise
    (worlds, particles, ...), and may give values of one world for all.

    Args: arrays: a pbd.data.ParticleArrays; worlds, count: numbers of worlds and of particles; gravity_scales:
    (particles, worlds).

    Attributes: gravity_scales: as given; changes: how often values were written.
    """

    def __init__(self, arrays, worlds, count, gravity_scales):
        self.arrays, self.worlds, self.count, self.changes = arrays, worlds, count, 0
        self.gravity_scales = gravity_scales

    def read(self, name):
        """Copy an array. Args: name: of the array. Returns: numpy array (particles, worlds, ...)."""
        return read(getattr(self.arrays, name))

    def write(self, name, values):
        """Fill an array. Args: name: of the array; values: (particles, worlds, ...)."""
        self.changes += 1
        write(getattr(self.arrays, name), values)

    def to_user(self, values):
        """Rearrange (particles, worlds, ...) for the user."""
        return values[:, 0] if self.worlds == 1 else np.moveaxis(values, 1, 0)

    def from_user(self, name, values):
        """Check vectors of the user, and rearrange them as (particles, worlds, 3). Args: name: for messages; values."""
        values = real_array(name, values)
        if values.ndim == 3:
            return np.moveaxis(finite_array(name, values, (self.worlds, self.count, 3), math.inf), 0, 1)
        values = finite_array(name, values, (self.count, 3), math.inf)
        return np.repeat(values[:, None], self.worlds, axis=1)

    def positions(self):
        """Positions, for the user [m]."""
        return self.to_user(self.read("position")[..., :3])

    def velocities(self, h):
        """Backward differences over a substep of length h, for the user [m/s]."""
        return self.to_user((self.read("position")[..., :3] - self.read("previous_position")) / h)

    def mobile(self):
        """Mask of the particles that can move in any world (particles,)."""
        return (self.read("position")[..., 3] > 0).any(axis=1)

    def inverse_masses(self):
        """Inverse masses, for the user [1/kg]."""
        return self.to_user(self.read("position")[..., 3])

    def state(self):
        """Fields of a pbd.State, for the user."""
        previous, force = (self.to_user(self.read(name)) for name in ("previous_position", "force"))
        return {
            "position": self.positions(),
            "previous_position": previous,
            "force": force,
            "inverse_mass": self.inverse_masses(),
        }

    def checked(self, state):
        """Check these fields of a pbd.State.

        Returns: {array: values}.

        Raises: ValueError for another shape, numbers that are not finite or negative inverse masses.
        """
        shape = self.positions().shape
        position, previous, force = (
            self.from_user(name, finite_array(f"state's {name}", getattr(state, name), shape, math.inf))
            for name in ("position", "previous_position", "force")
        )
        w = finite_array("state's inverse_mass", state.inverse_mass, shape[:-1], math.inf)
        if (w < 0).any():
            raise ValueError(f"state's inverse_mass is {w.min():g}: expected zero or more")
        w = w[:, None] if self.worlds == 1 else w.T
        with_masses = np.concatenate([position, w[..., None]], axis=2)
        return {"position": with_masses, "previous_position": previous, "force": force}

    def energies(self, gravity, h):
        """Kinetic and gravitational energy at the middle of the last substep, (worlds,) [J] each."""
        q, before = (self.read(name).astype(float) for name in ("position", "previous_position"))
        x, w = q[..., :3], q[..., 3]
        mass = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0)
        kinetic = 0.5 * (mass * ((x - before) ** 2).sum(axis=2)).sum(axis=0) / h**2
        return kinetic, -(self.gravity_scales * mass * ((x + before) / 2 @ gravity)).sum(axis=0)

    def acceleration(self, gravity):
        """Acceleration by gravity and by forces that the user set, (particles, worlds, 3) [m/s²]; zero if pinned."""
        w = self.read("position")[..., 3:]
        return (w > 0) * (self.gravity_scales[..., None] * gravity + w * self.read("force"))

    def move(self, positions):
        """Move particles, with their velocities. Args: positions: (particles, worlds, 3) [m]."""
        q = self.read("position")
        self.write("previous_position", self.read("previous_position") + positions - q[..., :3])
        q[..., :3] = positions
        self.write("position", q)

    def start(self, velocities, gravity, h):
        """Set velocities by an exact start, x* = x - v h + a h²/2. Args: (particles, worlds, 3) [m/s]; gravity; h."""
        q = self.read("position")
        step = (q[..., 3:] > 0) * velocities * h - self.acceleration(gravity) * (h**2 / 2)
        self.write("previous_position", q[..., :3] - step)

    def change_step(self, before, after, gravity, at_start):
        """Keep the velocities when the length of substeps changes.

        At the start, x - x* contains -a h²/2 besides the velocity: that part scales with the square.

        Args: before, after: lengths of a substep [s]; gravity; at_start: whether no step was made yet.
        """
        x, half = self.read("position")[..., :3], 0.5 * self.acceleration(gravity)
        velocity = (x - self.read("previous_position")) / before + at_start * half * before
        self.write("previous_position", x - velocity * after + at_start * half * after**2)

    def set_inverse_masses(self, particles, inverse_masses, gravity, h):
        """Change inverse masses in all worlds. Particles that were pinned start from rest: x* = x + a h²/2.

        Args: particles: (n,) indices; inverse_masses: (n,) [1/kg]; gravity; h: length of a substep [s].
        """
        q, previous = self.read("position"), self.read("previous_position")
        freed = np.zeros(q.shape[:2], bool)
        freed[particles] = (q[particles, :, 3] == 0) & (inverse_masses > 0)[:, None]
        q[particles, :, 3] = inverse_masses[:, None]
        self.write("position", q)
        at_rest = q[..., :3] + self.acceleration(gravity) * (h**2 / 2)
        self.write("previous_position", np.where(freed[..., None], at_rest, previous))
