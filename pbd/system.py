"""The particle system: the arrays, and step(). The file to open first; the time step itself is in pbd/step.py."""

import numpy as np

from pbd.core import launch
from pbd.core.results import Diverged, Energy, Statistics
from pbd.core.validate import finite_number, one_of, positive, whole
from pbd.data import MOST_NEIGHBOURS, REPORT, SPREAD, Features, Settings
from pbd.environment import surroundings
from pbd.grabs import GRAB
from pbd.launches import Launches
from pbd.particles import Particles
from pbd.schedule import SCHEDULES, make_schedule
from pbd.store import Store
from pbd.upload import kinds_and_batches, refuse_differences, upload

# Steps in one launch: few enough for a timeline to stay small, and for a person to interrupt, which is possible only
# between launches: so many at most, and no more than make this many projections, a tenth of a second's worth.
STEPS_PER_LAUNCH = 1_000
PROJECTIONS_PER_LAUNCH = 20_000_000


class ParticleSystem(Store):
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
        schedule: "auto", "serial", "clusters" or "coloured": see pbd/schedule.py.
        clusters: how many slabs "clusters" cuts the particles into; by size where None, never by the number of threads:
            the bits would depend on it.
        tolerance: stop sweeping once no violation met in a sweep, of constraints and of surfaces, was above it [the
            constraint's own unit]; None for always `iterations` sweeps. With "coloured" and several worlds all of them
            are swept until the last is done.
        sticks: "exact", or "root_free" for Jakobsen's approximation without a square root.
        contact_interval: substeps from one search for contacts between particles to the next, a divisor of `substeps`:
            more are faster, and notice for certain what moves by less than the contact distance in so many.
        grabs: with how many things can be held while they move, see `grab`.

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
        contact_interval=1,
        grabs=0,
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
        self._dt, self._contact_interval = positive("dt", dt), whole("contact_interval", contact_interval)
        self._substeps = self._searched(whole("substeps", substeps))
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
        self._grabs = np.zeros((whole("grabs", grabs, least=0), GRAB.total))
        self._arrays, self._counts = upload(descriptions, self.worlds, batches, self._kinds, self.schedule, grabs)
        self._report = np.zeros((self.worlds, REPORT.total), launch.real())
        self._row = None
        self._hooks, self._hooked = None, ()
        # Contacts are sought as far as the largest contact distance and half as much again, for what moves in a step.
        self._reach = 3.0 * max(0.0, *(p.radii.max() for p in descriptions)) or 1.0
        self._bind()
        velocities = np.stack([p.velocities for p in descriptions])
        self.set_velocities(velocities if len(descriptions) > 1 else velocities[0])

    def _bind(self):
        """Choose kernels and bind the arrays to them; each is compiled when first launched."""
        self._in_one_launch = self.schedule.name != "coloured" and len(self.schedule.runs) == 1
        described = self.particles
        restitutions = [c.restitution for c in described.colliders] + [box[7] for box in described.boxes]
        features = Features(
            types=self._kinds,
            from_start=self._from_start,
            watch=self._tolerance is not None,
            colours=len(self.schedule.colours),
            shared=not self._in_one_launch,
            one_world=self.worlds == 1,
            spread=SPREAD if launch.on_cpu() and self.worlds < 2 * SPREAD else 1,
            wind=described.wind is not None and len(described.triangles) > 0,
            surfaces=len(restitutions) > 0,
            shapes=tuple(sorted({c.shape.kind for c in described.colliders})),
            restitution=any(restitutions),
            contacts=described.particle_contacts is not None,
            grabs=len(self._grabs),
            hooks=self._hooks,
        )
        self._launches = Launches(features, self._arrays, *self._hooked)

    def add_hooks(self, hooks, data):
        """Let something that is made of these particles take part in each substep.

        Args:
            hooks: a pbd.step.StepHooks.
            data: an instance of `hooks.data`, of Taichi arrays.
        """
        if not self._in_one_launch:
            raise ValueError(f'schedule {self.schedule.name!r} with step hooks: expected "serial", or one cluster')
        self._hooks, self._hooked = hooks, (data,)
        self._bind()

    # Stepping -------------------------------------------------------------------------------------------------------

    def step(self, count=1):
        """Make steps of dt. Arguments: count, how many. Errors: Diverged, where a position stops being finite."""
        left = whole("count", count) * self.substeps
        work = self.worlds * (self.count + self.iterations * self._constraints)
        self._report[:, REPORT.substeps_to_search] = 0
        most = min(max(PROJECTIONS_PER_LAUNCH // work, 1), STEPS_PER_LAUNCH)
        while left > 0:
            substeps = min(left, most)
            timeline = self._timeline(substeps)
            self._report[:, REPORT.diverged_substep :] = -1
            if self._in_one_launch:
                self._launch(self._launches.advance, timeline, substeps, self.iterations)
            else:
                self._step_in_parallel(timeline, substeps)
            self._refuse_what_went_wrong()
            self._substep += substeps
            left -= substeps

    def _step_in_parallel(self, timeline, substeps):
        """The step of pbd/step.py phase by phase, each spread over threads."""
        for step in range(substeps):
            self._launch(self._launches.begin_substep, timeline, step)
            sweep = 0
            while sweep < self.iterations:
                self._report[:, REPORT.violation] = 0
                if self.schedule.name == "coloured":
                    for kind, begin, end in self.schedule.runs:
                        self._launch(self._launches.project_colour[kind], timeline, int(begin), int(end))
                    self._launch(self._launches.relax_environment, timeline, step)
                else:
                    self._launch(self._launches.relax, timeline, step)
                sweep += 1
                if self.tolerance is not None and self._report[:, REPORT.violation].max() <= self.tolerance:
                    break
            self._report[:, REPORT.iterations] = sweep
            self._launch(self._launches.end_substep, timeline, step)
            if self._report[:, REPORT.diverged_substep].max() >= 0:
                return

    def _launch(self, bound, timeline, *given):
        settings = Settings(
            h=self._h,
            velocity_kept=(1.0 - self._damping) ** (1 / self.substeps),
            tolerance=-1.0 if self.tolerance is None else self.tolerance,
            search_radius=float(self._reach),
            contact_friction=float(self.particles.particle_contacts or 0.0),
            contact_interval=self._contact_interval,
        )
        bound(timeline, self._report, *self._counts, *settings, *given)

    def _refuse_what_went_wrong(self):
        if self._report[:, REPORT.diverged_substep :].max() < 0:
            return
        neighbours = int(self._report[:, REPORT.neighbour_overflow].max())
        if neighbours > MOST_NEIGHBOURS:
            raise RuntimeError(
                f"a particle has {neighbours} others within reach of contact, and {MOST_NEIGHBOURS} are kept: expected "
                "radii of about half the distance between particles, or less"
            )
        if self._report[:, REPORT.contact_overflow].max() >= 0:
            raise RuntimeError(
                f"{int(self._report[:, REPORT.contact_overflow].max())} points of contact at once, more than there is "
                "room for: give the solver contact_capacity= of some more"
            )
        for world in np.flatnonzero(self._report[:, REPORT.diverged_substep] >= 0):
            # Substeps count from zero, steps from one.
            substep = self._substep + int(self._report[world, REPORT.diverged_substep])
            with np.errstate(over="ignore"):
                finite = np.isfinite(self._read("particles.position")[:, world, :3].astype(np.float32)).all(axis=1)
            particle = int(np.argmin(finite))
            step = self._steps_before + substep // self.substeps + 1
            raise Diverged(int(world), step, particle, self._origin + (substep + 1) * self._h)

    def _timeline(self, substeps):
        """Surroundings at the ends of the substeps to come, a row each; or one row, kept, where nothing moves."""
        if self.particles.still:
            given = self.particles.gravity, self.particles.wind
            if self._row is None or self._row[0] is not given[0] or self._row[1] is not given[1]:
                self._row = *given, self._surroundings([self.time])
            return self._row[2]
        return self._surroundings([self._origin + (self._substep + k) * self._h for k in range(substeps + 1)])

    def _surroundings(self, times):
        rows = [np.concatenate([surroundings(self.particles, time), self._grabs.ravel()]) for time in times]
        return np.array(rows, launch.real())

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
        self._change_step(self._dt, self._searched(whole("substeps", substeps)))

    def _searched(self, substeps):
        """The same, if each step begins with a search for contacts. Raises: ValueError."""
        if substeps % self._contact_interval:
            interval = self._contact_interval
            raise ValueError(f"substeps is {substeps}: expected a multiple of contact_interval, {interval}")
        return substeps

    def _change_step(self, dt, substeps):
        before = self._h
        self._steps_before += self._substep // self._substeps
        self._origin, self._substep = self.time, 0
        self._dt, self._substeps = dt, substeps
        # What x - x* holds besides the velocity at the start, -a h²/2 of an exact start, goes with the square.
        x, half = self._read("particles.position")[..., :3], 0.5 * self._acceleration()
        fresh = self._origin == 0.0
        velocity = (x - self._read("particles.previous_position")) / before + fresh * half * before
        self._write("particles.previous_position", x - velocity * self._h + fresh * half * self._h**2)

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

    # Measuring ------------------------------------------------------------------------------------------------------

    def _per_world(self, values):
        return values[0] if self.worlds == 1 else values

    def statistics(self):
        """Sweeps, residual and contacts of the last step: a Statistics."""
        self._launch(self._launches.measure, self._timeline(0), 0)
        columns = (REPORT.iterations, REPORT.violation, REPORT.contacts)
        sweeps, residual, touching = (self._report[:, k].copy() for k in columns)
        return Statistics(*map(self._per_world, (sweeps.astype(int), residual, touching.astype(int))))

    def energy(self):
        """Kinetic, potential and total energy at the middle of the last substep: an Energy."""
        self._launch(self._launches.measure, self._timeline(0), 0)
        q = self._read("particles.position").astype(float)
        before = self._read("particles.previous_position").astype(float)
        x, w = q[..., :3], q[..., 3]
        mass = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0)
        kinetic = 0.5 * (mass * ((x - before) ** 2).sum(axis=2)).sum(axis=0) / self._h**2
        potential = -(mass * ((x + before) / 2 @ self.particles.gravity)).sum(axis=0)
        potential = potential + self._report[:, REPORT.elastic_energy]
        return Energy(*map(self._per_world, (kinetic, potential, kinetic + potential)))
