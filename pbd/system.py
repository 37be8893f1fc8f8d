"""The particle system: the arrays, and step(). The file to open first; the time step itself is in pbd/step.py."""

import numpy as np

from pbd import launch
from pbd.arrays import (
    DIVERGED_STEP,
    ELASTIC,
    OVERFLOW,
    REPORTS,
    SPREAD,
    SWEEPS,
    TOUCHING,
    VIOLATION,
    Features,
)
from pbd.collide.particles import MOST
from pbd.launch import Launch
from pbd.particles import Particles, inverse
from pbd.results import Diverged, Energy, Statistics
from pbd.schedule import SCHEDULES, make_schedule
from pbd.state import State
from pbd.step import step_kernels
from pbd.surroundings import surroundings
from pbd.upload import kinds_and_batches, refuse_differences, upload
from pbd.validate import finite_array, finite_number, indices, one_of, positive, spread, whole

# Steps in one launch: few enough for a timeline to stay small, and for a person to interrupt, which is possible only
# between launches: so many at most, and no more than make this many projections, a tenth of a second's worth.
STEPS_PER_LAUNCH = 1_000
PROJECTIONS_PER_LAUNCH = 20_000_000


class ParticleSystem:
    """Particles that move: Verlet and relaxation on a description.

    Arguments:
        particles: a `Particles`, or a list of several of one structure (same constraints, other numbers), each a world;
            what surrounds them (gravity, wind, colliders, boxes, paths) is the first one's.
        dt: time step [s]; substeps: equal parts in which each step is made.
        iterations: sweeps over all constraints in each substep.
        damping: the part of the velocity that is lost per step, in [0, 1).
        direction: along which constraints are projected: "current", as they lie now (Jakobsen; robust, damps at first
            order in dt), or "start", as they lay at the start of the step (SHAKE; second order, keeps energy and
            angular momentum, and wants sweeps enough to converge: ten and more).
        worlds: how many copies run side by side.
        schedule: "auto", "serial", "clusters" or "coloured": see pbd/schedule.py; clusters: how many slabs "clusters"
        cuts
            the particles into, by size where None (never by the number of threads: the bits would depend on it).
        tolerance: stop sweeping once no violation met in a sweep, of constraints and of surfaces, was above it [the
            constraint's own unit]; None for always `iterations` sweeps. With "coloured" and several worlds all of them
            are swept until the last is done.
        sticks: "exact", or "root_free" for Jakobsen's approximation without a square root.

    Limitations: sticks are as stiff as sweeps make them: a correction travels a link a sweep at worst, so that a long
    chain wants about as many sweeps as it has links, or shorter steps. What passes a thin collider within one step is
    not noticed. `direction="current"` damps motion with the step; "start" with too few sweeps gains energy. Contacts
    between particles are those of spheres: thin things slip through the gaps of a coarse cloth.

    Source: Jakobsen, Advanced Character Physics, Game Developers Conference 2001.
    """

    def __init__(
        self,
        particles,
        *,
        dt=1 / 60,
        iterations=10,
        substeps=1,
        damping=0.0,
        direction="current",
        worlds=1,
        schedule="auto",
        clusters=None,
        tolerance=None,
        sticks="exact",
    ):
        launch.require_taichi()
        descriptions = list(particles) if isinstance(particles, (list, tuple)) else [particles]
        if not descriptions or not all(isinstance(p, Particles) for p in descriptions):
            raise TypeError(f"particles is {particles!r}: expected a pbd.Particles, or a list of them")
        if not len(descriptions[0]):
            raise ValueError("a system of no particles: add some to the description first")
        self.worlds = whole("worlds", worlds) if len(descriptions) == 1 else len(descriptions)
        if worlds not in (1, self.worlds):
            raise ValueError(f"worlds is {worlds}, with a list of {len(descriptions)}: expected as many, or none given")
        refuse_differences(descriptions)
        self.particles = descriptions[0].frozen()
        self.count = len(self.particles)
        self.iterations, self.damping = iterations, damping
        self._tolerance = None if tolerance is None else positive("tolerance", tolerance)
        self._dt, self._substeps = positive("dt", dt), whole("substeps", substeps)
        self._origin, self._substep, self._steps_before = 0.0, 0, 0

        one_of("schedule", schedule, SCHEDULES)
        one_of("sticks", sticks, ("exact", "root_free"))
        one_of("direction", direction, ("current", "start"))
        if sticks == "root_free" and direction == "start":
            raise ValueError('sticks="root_free" with direction="start": expected one of them, not both')
        self._kinds, batches = kinds_and_batches(descriptions, sticks)
        self._from_start = direction == "start"
        self.schedule = make_schedule(
            schedule,
            [members for members, _ in batches],
            self.particles.positions,
            on_cpu=launch.on_cpu(),
            worlds=self.worlds,
            clusters=None if clusters is None else whole("clusters", clusters),
        )
        self._constraints = sum(len(order) for order in self.schedule.orders)
        self._arrays = upload(descriptions, self.worlds, batches, self._kinds, self.schedule)
        self._report = np.zeros((self.worlds, REPORTS), launch.real())
        self._row = None
        # Contacts are sought as far as the largest contact distance and half as much again, for what moves in a step.
        self._reach = 3.0 * max(p.radii.max() for p in descriptions) or 1.0
        self._bind()
        velocities = np.stack([p.velocities for p in descriptions])
        self.set_velocities(velocities if len(descriptions) > 1 else velocities[0])

    def _bind(self):
        """Choose kernels and bind the arrays to them; each is compiled when first launched."""
        described = self.particles
        restitutions = [c.restitution for c in described.colliders] + [box[7] for box in described.boxes]
        features = Features(
            kinds=self._kinds,
            from_start=self._from_start,
            watch=self._tolerance is not None,
            colours=len(self.schedule.colours),
            one_world=self.worlds == 1,
            spread=SPREAD if launch.on_cpu() and self.worlds < 2 * SPREAD else 1,
            wind=described.wind is not None and len(described.triangles) > 0,
            surfaces=len(restitutions) > 0,
            rebounds=any(restitutions),
            contacts=described.particle_contacts is not None,
        )
        kernels = step_kernels(features)
        self._in_one_launch = self.schedule.name != "coloured" and len(self.schedule.runs) == 1
        arrays = self._arrays.values()
        self._advance = Launch(kernels.advance, *arrays)
        self._foresee = Launch(kernels.foresee, *arrays)
        self._relax = Launch(kernels.relax, *arrays)
        self._relax_kinds = [Launch(kernel, *arrays) for kernel in kernels.relax_kinds]
        self._relax_surroundings = Launch(kernels.relax_surroundings, *arrays)
        self._finish = Launch(kernels.finish, *arrays)
        self._measure = Launch(kernels.measure, *arrays)

    # Stepping -------------------------------------------------------------------------------------------------------

    def step(self, count=1):
        """Make steps of dt. Arguments: count, how many. Errors: Diverged, where a position stops being finite."""
        left = whole("count", count) * self.substeps
        work = self.worlds * (self.count + self.iterations * self._constraints)
        most = min(max(PROJECTIONS_PER_LAUNCH // work, 1), STEPS_PER_LAUNCH)
        while left > 0:
            substeps = min(left, most)
            timeline = self._timeline(substeps)
            self._report[:, DIVERGED_STEP:] = -1
            if self._in_one_launch:
                self._launch(self._advance, timeline, substeps, self.iterations)
            else:
                self._step_in_parallel(timeline, substeps)
            self._refuse_what_went_wrong()
            self._substep += substeps
            left -= substeps

    def _step_in_parallel(self, timeline, substeps):
        """The step of pbd/step.py phase by phase, each spread over threads."""
        for step in range(substeps):
            self._launch(self._foresee, timeline, step)
            sweep = 0
            while sweep < self.iterations:
                self._report[:, VIOLATION] = 0
                if self.schedule.name == "coloured":
                    for kind, begin, end in self.schedule.runs:
                        self._launch(self._relax_kinds[kind], timeline, int(begin), int(end))
                    self._launch(self._relax_surroundings, timeline, step)
                else:
                    self._launch(self._relax, timeline, step)
                sweep += 1
                if self.tolerance is not None and self._report[:, VIOLATION].max() <= self.tolerance:
                    break
            self._report[:, SWEEPS] = sweep
            self._launch(self._finish, timeline, step)
            if self._report[:, DIVERGED_STEP].max() >= 0:
                return

    def _launch(self, bound, timeline, a=0, b=0):
        drag = (1.0 - self._damping) ** (1 / self.substeps)
        tolerance = -1.0 if self.tolerance is None else self.tolerance
        friction = float(self.particles.particle_contacts or 0.0)
        bound(timeline, self._report, self._h, drag, tolerance, float(self._reach), friction, a, b)

    def _refuse_what_went_wrong(self):
        if self._report[:, DIVERGED_STEP:].max() < 0:
            return
        if self._report[:, OVERFLOW].max() > MOST:
            raise RuntimeError(
                f"a particle has {int(self._report[:, OVERFLOW].max())} others within reach of contact, and {MOST} are "
                "kept: expected radii of about half the distance between particles, or less"
            )
        for world in np.flatnonzero(self._report[:, DIVERGED_STEP] >= 0):
            substep = self._substep + int(self._report[world, DIVERGED_STEP])  # from zero, while steps count from one
            with np.errstate(over="ignore"):
                finite = np.isfinite(self._read("position")[:, world, :3].astype(np.float32)).all(axis=1)
            particle = int(np.argmin(finite))
            step = self._steps_before + substep // self.substeps + 1
            raise Diverged(int(world), step, particle, self._origin + (substep + 1) * self._h)

    def _timeline(self, substeps):
        """Surroundings at the ends of the substeps to come, a row each; or one row, kept, where nothing moves."""
        if self.particles.still:
            given = self.particles.gravity, self.particles.wind
            if self._row is None or self._row[0] is not given[0] or self._row[1] is not given[1]:
                self._row = *given, np.array([surroundings(self.particles, self.time)], launch.real())
            return self._row[2]
        times = [self._origin + (self._substep + k) * self._h for k in range(substeps + 1)]
        return np.array([surroundings(self.particles, time) for time in times], launch.real())

    # Time -----------------------------------------------------------------------------------------------------------

    @property
    def time(self):
        """Time since the start [s]."""
        return self._origin + self._substep * self._h

    @property
    def _h(self):
        return self._dt / self.substeps

    @property
    def dt(self):
        """Time step [s]. A new one keeps the velocities: x - x* is scaled by h_new/h_old."""
        return self._dt

    @dt.setter
    def dt(self, dt):
        self._change_step(positive("dt", dt), self.substeps)

    @property
    def substeps(self):
        """Equal parts in which each step is made. A new number keeps the velocities."""
        return self._substeps

    @substeps.setter
    def substeps(self, substeps):
        self._change_step(self._dt, whole("substeps", substeps))

    def _change_step(self, dt, substeps):
        before = self._h
        self._steps_before += self._substep // self._substeps
        self._origin, self._substep = self.time, 0
        self._dt, self._substeps = dt, substeps
        # What x - x* holds besides the velocity at the start, -a h²/2 of an exact start, goes with the square.
        x, half = self._read("position")[..., :3], 0.5 * self._acceleration()
        fresh = self._origin == 0.0
        velocity = (x - self._read("previous")) / before + fresh * half * before
        self._write("previous", x - velocity * self._h + fresh * half * self._h**2)

    @property
    def iterations(self):
        """Sweeps over all constraints in each substep."""
        return self._iterations

    @iterations.setter
    def iterations(self, iterations):
        self._iterations = whole("iterations", iterations, least=0)

    @property
    def tolerance(self):
        """Violation below which sweeping stops; None for never."""
        return self._tolerance

    @tolerance.setter
    def tolerance(self, tolerance):
        self._tolerance = None if tolerance is None else positive("tolerance", tolerance)
        self._bind()  # kernels that watch are others than those that do not

    @property
    def damping(self):
        """The part of the velocity that is lost per step, in [0, 1)."""
        return self._damping

    @damping.setter
    def damping(self, damping):
        self._damping = finite_number("damping", damping)
        if not 0 <= self._damping < 1:
            raise ValueError(f"damping is {self._damping:g}: expected 0 <= damping < 1")

    # Reading and writing --------------------------------------------------------------------------------------------

    def _read(self, name):
        """An array as numpy, (particles, worlds, ...)."""
        return self._arrays[name].to_numpy()

    def _write(self, name, values):
        self._arrays[name].from_numpy(np.ascontiguousarray(values, launch.real()))

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
        return self._outward(self._read("position")[..., :3])

    def velocities(self):
        """Velocities over the last substep, (x - x*)/h, shaped like positions [m/s].

        This backward difference belongs to the middle of the substep: the next position is not known, since constraints
        will have their say in it. Before the first step it is v - a h/2.
        """
        return self._outward((self._read("position")[..., :3] - self._read("previous")) / self._h)

    def inverse_masses(self):
        """Inverse masses, (particles,) or (worlds, particles) [1/kg]; zero where pinned."""
        return self._outward(self._read("position")[..., 3])

    def set_positions(self, positions):
        """Put particles elsewhere, with the velocities they have. Arguments: positions, shaped as they are read."""
        new, q = self._inward("positions", positions), self._read("position")
        self._write("previous", self._read("previous") + new - q[..., :3])
        q[..., :3] = new
        self._write("position", q)

    def set_velocities(self, velocities):
        """Give particles velocities, by an exact start: x* = x - v h + a h²/2. Arguments: shaped like positions.

        The acceleration is that of gravity and of `set_forces`; wind is not in it, and joins in with the first step.
        """
        velocities, q = self._inward("velocities", velocities), self._read("position")
        step = (q[..., 3:] > 0) * velocities * self._h - self._acceleration() * (self._h**2 / 2)
        self._write("previous", q[..., :3] - step)

    def _acceleration(self):
        """Acceleration by gravity and by forces that were set (particles, worlds, 3) [m/s²]; zero where pinned."""
        w = self._read("position")[..., 3:]
        return (w > 0) * (self.particles.gravity + w * self._read("force"))

    def set_forces(self, forces):
        """Forces of one's own, which act until others are set. Arguments: shaped like positions [N]."""
        new = self._inward("forces", forces)
        if self._substep == 0 and self._origin == 0.0:  # the exact start counts them in
            change = self._read("position")[..., 3:] * (new - self._read("force"))
            self._write("previous", self._read("previous") + change * (self._h**2 / 2))
        self._write("force", new)

    def set_masses(self, particles, masses):
        """Change masses, in all worlds; `math.inf` pins. Arguments: indices (n,); masses [kg], for all or one each."""
        particles = indices("particles", particles, self.count)
        masses = spread("mass", masses, particles.shape, infinite=True)
        if not (masses > 0).all():
            raise ValueError(f"mass is {masses[~(masses > 0)][0]:g}: expected a number above zero, or math.inf to pin")
        led = np.isin(particles, [i for driven, _ in self.particles.drives for i in driven])
        if led.any():
            raise ValueError(f"particle {particles[led][0]} is led along a path: expected one that is not")
        q, previous = self._read("position"), self._read("previous")
        freed = np.zeros(q.shape[:2], bool)
        freed[particles] = (q[particles, :, 3] == 0) & np.isfinite(masses)[:, None]
        q[particles, :, 3] = inverse(masses)[:, None]
        self._write("position", q)
        # What was pinned starts from rest, exactly: x* = x + a h²/2.
        at_rest = q[..., :3] + self._acceleration() * (self._h**2 / 2)
        self._write("previous", np.where(freed[..., None], at_rest, previous))

    def collider_poses(self):
        """Position and rotation of each collider now, (colliders, 7) [m, (w, x, y, z)]."""
        poses = [collider.pose(self.time) for collider in self.particles.colliders]
        return np.reshape(poses, (-1, 7))

    # Measuring ------------------------------------------------------------------------------------------------------

    def _per_world(self, values):
        return values[0] if self.worlds == 1 else values

    def statistics(self):
        """Sweeps, residual and contacts of the last step: a Statistics."""
        self._launch(self._measure, self._timeline(0))
        sweeps, residual, touching = (self._report[:, k].copy() for k in (SWEEPS, VIOLATION, TOUCHING))
        return Statistics(*map(self._per_world, (sweeps.astype(int), residual, touching.astype(int))))

    def energy(self):
        """Kinetic, potential and total energy at the middle of the last substep: an Energy."""
        self._launch(self._measure, self._timeline(0))
        q, before = self._read("position").astype(float), self._read("previous").astype(float)
        x, w = q[..., :3], q[..., 3]
        mass = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0)
        kinetic = 0.5 * (mass * ((x - before) ** 2).sum(axis=2)).sum(axis=0) / self._h**2
        potential = -(mass * ((x + before) / 2 @ self.particles.gravity)).sum(axis=0)
        potential = potential + self._report[:, ELASTIC]
        return Energy(*map(self._per_world, (kinetic, potential, kinetic + potential)))

    # Snapshots ------------------------------------------------------------------------------------------------------

    def state(self):
        """A snapshot from which `set_state` goes on bit for bit: a State."""
        names = (self.positions(), self._outward(self._read("previous")), self._outward(self._read("force")))
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
        self._write("position", np.concatenate([vectors[0], weights[..., None]], axis=2))
        self._write("previous", vectors[1])
        self._write("force", vectors[2])
        self._dt, self._substeps, self._origin, self._substep = dt, substeps, origin, substep

    def digest(self):
        """Sixteen hexadecimal digits that differ when any bit of the positions or of the previous ones does."""
        return self.state().digest()
