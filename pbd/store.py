"""What a system holds, as a person reads and writes it: positions, velocities, forces, masses, whole states, what
surrounds it, what is held and what is cut."""

from functools import cached_property

import numpy as np

from pbd.core import launch
from pbd.core.validate import finite_array, finite_number, finite_vector, indices, one_grab, positive, spread, whole
from pbd.grabs import grip
from pbd.particles import inverse
from pbd.state import State

# Compliance of what was cut: in the unit of any constraint there is none.
LOOSE = 1e30


class Store:
    """The arrays of a ParticleSystem from outside. Arrays of one world are shaped (particles, ...), of several (worlds,
    particles, ...); numbers for one may be given for all."""

    def _read(self, name):
        """An array as numpy, (particles, worlds, ...)."""
        return launch.read(self._array(name))

    def _write(self, name, values):
        launch.write(self._array(name), values)

    def _array(self, name):
        group, field = name.split(".")
        return getattr(getattr(self._arrays, group), field)

    def _outward(self, values):
        """(particles, worlds, ...) as a person sees it: worlds first, or none where there is one."""
        return values[:, 0] if self.worlds == 1 else np.moveaxis(values, 1, 0)

    def _inward(self, name, values, width=3):
        """Numbers for all worlds or for each, as (particles, worlds, width)."""
        values = np.asarray(values, float)
        if values.ndim == 3:
            return np.moveaxis(finite_array(name, values, (self.worlds, self.count, width)), 0, 1)
        values = finite_array(name, values, (self.count, width))
        return np.repeat(values[:, None], self.worlds, axis=1)

    def positions(self):
        """Positions, (particles, 3) or (worlds, particles, 3) [m]."""
        return self._outward(self._read("particles.position")[..., :3])

    def velocities(self):
        """Velocities over the last substep, (x - x*)/h, shaped like positions [m/s].

        This backward difference belongs to the middle of the substep: the next position is not known, since constraints
        will have their say in it. Before the first step it is v - a h/2.
        """
        q, previous = self._read("particles.position"), self._read("particles.previous_position")
        return self._outward((q[..., :3] - previous) / self._h)

    def inverse_masses(self):
        """Inverse masses, (particles,) or (worlds, particles) [1/kg]; zero where pinned."""
        return self._outward(self._read("particles.position")[..., 3])

    def set_positions(self, positions):
        """Put particles elsewhere, with the velocities they have. Arguments: positions, shaped as they are read."""
        new, q = self._inward("positions", positions), self._read("particles.position")
        self._write("particles.previous_position", self._read("particles.previous_position") + new - q[..., :3])
        q[..., :3] = new
        self._write("particles.position", q)

    def set_velocities(self, velocities):
        """Give particles velocities, by an exact start: x* = x - v h + a h²/2. Arguments: shaped like positions.

        The acceleration is that of gravity and of `set_forces`; wind is not in it, and joins in with the first step.
        """
        velocities, q = self._inward("velocities", velocities), self._read("particles.position")
        step = (q[..., 3:] > 0) * velocities * self._h - self._acceleration() * (self._h**2 / 2)
        self._write("particles.previous_position", q[..., :3] - step)

    def _acceleration(self):
        """Acceleration by gravity and by forces that were set (particles, worlds, 3) [m/s²]; zero where pinned."""
        w = self._read("particles.position")[..., 3:]
        return (w > 0) * (self.particles.gravity + w * self._read("particles.force"))

    def set_forces(self, forces):
        """Forces of one's own, which act until others are set. Arguments: shaped like positions [N]."""
        new = self._inward("forces", forces)
        if self._substep == 0 and self._origin == 0.0:  # the exact start counts them in
            change = self._read("particles.position")[..., 3:] * (new - self._read("particles.force"))
            previous = self._read("particles.previous_position")
            self._write("particles.previous_position", previous + change * (self._h**2 / 2))
        self._write("particles.force", new)

    def set_masses(self, particles, masses):
        """Change masses, in all worlds; `math.inf` pins. Arguments: indices (n,); masses [kg], for all or one each."""
        particles = indices("particles", particles, self.count)
        masses = spread("mass", masses, particles.shape, infinite=True)
        if not (masses > 0).all():
            raise ValueError(f"mass is {masses[~(masses > 0)][0]:g}: expected a number above zero, or math.inf to pin")
        led = np.isin(particles, [i for driven, _ in self.particles.drives for i in driven])
        if led.any():
            raise ValueError(f"particle {particles[led][0]} is led along a path: expected one that is not")
        q, previous = self._read("particles.position"), self._read("particles.previous_position")
        freed = np.zeros(q.shape[:2], bool)
        freed[particles] = (q[particles, :, 3] == 0) & np.isfinite(masses)[:, None]
        q[particles, :, 3] = inverse(masses)[:, None]
        self._write("particles.position", q)
        # What was pinned starts from rest, exactly: x* = x + a h²/2.
        at_rest = q[..., :3] + self._acceleration() * (self._h**2 / 2)
        self._write("particles.previous_position", np.where(freed[..., None], at_rest, previous))

    def collider_poses(self):
        """Position and rotation of each collider now, (colliders, 7) [m, (w, x, y, z)]."""
        poses = [collider.pose(self.time) for collider in self.particles.colliders]
        return np.reshape(poses, (-1, 7))

    def state(self):
        """A snapshot from which `set_state` goes on bit for bit: a State."""
        previous, force = self._read("particles.previous_position"), self._read("particles.force")
        names = (self.positions(), self._outward(previous), self._outward(force))
        return State(*names, self.inverse_masses(), self._dt, self.substeps, self._origin, self._substep)

    def set_state(self, state):
        """Go back, or on, to a snapshot of a system with as many particles and worlds. Arguments: a State."""
        if not isinstance(state, State):
            raise TypeError(f"state is {type(state).__name__}: expected a pbd.State")
        # All of it is checked before any of it is taken.
        shape = self.positions().shape
        vectors = [
            self._inward(name, finite_array(f"state's {name}", getattr(state, name), shape))
            for name in ("positions", "previous", "forces")
        ]
        weights = finite_array("state's inverse masses", state.inverse_masses, shape[:-1])
        if (weights < 0).any():
            raise ValueError(f"state's inverse masses hold {weights.min():g}: expected zero or more")
        dt, substeps = positive("state's dt", state.dt), whole("state's substeps", state.substeps)
        origin = finite_number("state's origin", state.origin)
        substep = whole("state's substep", state.substep, least=0)
        weights = weights[:, None] if self.worlds == 1 else weights.T
        self._write("particles.position", np.concatenate([vectors[0], weights[..., None]], axis=2))
        self._write("particles.previous_position", vectors[1])
        self._write("particles.force", vectors[2])
        self._dt, self._substeps, self._origin, self._substep = dt, substeps, origin, substep

    def memory(self):
        """What kinds of constraint count from step to step (numbers, worlds), see Kind.memory; `state` is without."""
        return self.numbers(self._counted)

    def set_memory(self, values):
        """Go on from what `memory` gave. Arguments: values, shaped as they are read; zeros to count anew."""
        if self._counted.size:
            self.set_numbers(self._counted, finite_array("memory", values, (self._counted.size, self.worlds)))

    def row_of(self, kind, number, name):
        """Where a number of one constraint is kept, for `numbers` and `set_numbers`.

        Arguments: kind: a Kind; number: of the constraint among those of its kind, as they were added; name: one of
        `kind.parameters`.
        """
        index = self._kinds.index(kind)
        first, width = self._read("constraints.ranges")[index, 1], len(kind.parameters) + kind.compliance
        place = int(np.flatnonzero(self.schedule.orders[index] == number)[0])
        return int(first) + width * place + kind.parameters.index(name)

    def numbers(self, rows):
        """Numbers of constraints (rows, worlds). Arguments: rows: as `row_of` finds them."""
        return self._read("constraints.parameters")[rows]

    def set_numbers(self, rows, values):
        """Change numbers of constraints, from the next step on. Arguments: rows, as of `numbers`; values, as read."""
        parameters = self._read("constraints.parameters")
        parameters[rows] = values
        self._write("constraints.parameters", parameters)

    # Surroundings that can be changed ---------------------------------------------------------------------------------

    @property
    def gravity(self):
        """Gravity of all worlds (3,) [m/s²]."""
        return self.particles.gravity

    @gravity.setter
    def gravity(self, gravity):
        self.particles.gravity = finite_vector("gravity", gravity)

    @property
    def wind(self):
        """Velocity of the air (3,) [m/s], or a function of time [s] that gives it; None for no air."""
        return self.particles.wind

    @wind.setter
    def wind(self, wind):
        before = self.particles.wind
        self.particles.wind = wind if wind is None or callable(wind) else finite_vector("wind", wind)
        if (before is None) != (wind is None):
            self._bind()  # kernels with wind are others than those without

    # Hands ----------------------------------------------------------------------------------------------------------

    def grab(self, grab, particles, target, stiffness, damping=0.0, weights=None):
        """Pull a particle towards a place by a spring, from the next step on and in all worlds; again, to move on.

        Arguments: grab: which, of as many as the system has; particles: an index, or up to four, whose mean is pulled;
        target (3,) [m]; stiffness [N/m]; damping [N s/m]; weights: of the particles in place of the mean's.
        """
        grab = one_grab(grab, len(self._grabs))
        self._grabs[grab] = grip(particles, self.count, target, stiffness, damping, weights)
        self._row = None

    def release(self, grab):
        """Hold nothing any more. Arguments: grab: which."""
        self._grabs[one_grab(grab, len(self._grabs))] = 0.0
        self._row = None

    # Tearing ----------------------------------------------------------------------------------------------------------

    def sticks(self):
        """All sticks, kind after kind in the schedule's order: their particles (n, 2), and lengths in the first world
        (n,) [m]. One that was cut has one particle twice, and length zero."""
        members, lengths = self._read("constraints.members"), self._read("constraints.parameters")[:, 0]
        return members[self._stick_places[:, :1] + np.arange(2)], lengths[self._stick_places[:, 1]]

    def cut(self, sticks):
        """Cut sticks, in all worlds and for good, and what bends or blows across them. Arguments: sticks: indices (n,)
        into those of `sticks()`."""
        places = self._stick_places[indices("sticks", sticks, len(self._stick_places), of="sticks")]
        members, parameters = self._read("constraints.members"), self._read("constraints.parameters")
        ends = members[places[:, :1] + np.arange(2)]
        members[places[:, 0] + 1] = members[places[:, 0]]
        parameters[places[:, 1]] = 0.0
        for kind, (first, numbers, _, count) in zip(self._kinds, self._read("constraints.ranges")):
            if kind.arity > 2 and kind.compliance:
                width = len(kind.parameters) + 1
                crossing = self._across(members[first : first + kind.arity * count].reshape(count, kind.arity), ends)
                parameters[numbers + width * np.flatnonzero(crossing) + width - 1] = LOOSE
        self._write("constraints.members", members)
        self._write("constraints.parameters", parameters)
        if len(self.particles.triangles):
            drag = self._read("wind.drag_coefficient")
            self._write("wind.drag_coefficient", np.where(self._across(self.particles.triangles, ends), 0.0, drag))

    def _across(self, members, pairs):
        """Which rows of members (n, k) have both particles of any of some pairs (m, 2): a mask (n,)."""
        count = members.shape[1]
        both = np.stack([members[:, [a, b]] for a in range(count) for b in range(a + 1, count)])
        numbers = [each.min(axis=-1).astype(np.int64) * self.count + each.max(axis=-1) for each in (both, pairs)]
        return np.isin(*numbers).any(axis=0)

    @cached_property
    def _stick_places(self):
        """Where each stick has its members and its length in these arrays, (n, 2)."""
        places = [np.zeros((0, 2), int)]
        for kind, (first, numbers, _, count) in zip(self._kinds, self._read("constraints.ranges")):
            if kind.name.startswith("stick"):
                step = np.arange(count)[:, None]
                places.append([first, numbers] + step * [2, len(kind.parameters) + kind.compliance])
        return np.concatenate(places)

    @cached_property
    def _counted(self):
        """Rows of the parameters in which kinds of constraint keep what they count."""
        rows = [np.zeros(0, int)]
        for kind, (_, first, _, count) in zip(self._kinds, self._read("constraints.ranges")):
            numbers = len(kind.parameters)
            last = np.arange(numbers - kind.memory, numbers)
            rows.append((first + (numbers + kind.compliance) * np.arange(count)[:, None] + last).ravel())
        return np.concatenate(rows)

    def digest(self):
        """Sixteen hexadecimal digits that differ when any bit of the positions or of the previous ones does."""
        return self.state().digest()
