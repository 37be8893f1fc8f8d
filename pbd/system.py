"""The particle system. Read this file first, then pbd/step.py, which is the algorithm."""

import time
from dataclasses import replace

import numpy as np

from pbd import readings
from pbd.collision.surfaces.crossings import refuse_crossed
from pbd.collision.surfaces.tables import room_of, with_room
from pbd.collision.surfaces.torn import leave_out_torn
from pbd.collision.surfaces.untangle import untangled
from pbd.core.clock import Clock
from pbd.core.kernels import LaunchLength, UsesTaichi, arrays_of, read, refuse_ended_loops, with_lanes, write
from pbd.core.messages import shown
from pbd.core.validate import finite_vector, indices, spread, unchanging, whole
from pbd.creasing import Creasing
from pbd.data import REPORT, Settings
from pbd.description.deforming_mesh import warn_of_what_passes_through
from pbd.direct.tables import direct_arrays
from pbd.direct.touch_tables import touch_arrays, touching_particles
from pbd.execution.lanes import counts_in_lanes, lanes_of
from pbd.execution.strands import find_strands
from pbd.features import features_of
from pbd.flow import MembraneFlow, SolidFlow
from pbd.host import snapshots
from pbd.host.constraint_values import ConstraintValues
from pbd.host.energy_watch import EnergyWatch
from pbd.host.environment import Environment
from pbd.host.errors import raise_errors, refuse_too_many_pairs, warn_of_contacts, warn_of_softness
from pbd.host.launches import Launches
from pbd.host.particle_values import ParticleValues
from pbd.host.report import Report
from pbd.host.upload import checked_descriptions, collect_constraints, order_constraints, upload
from pbd.options import ParticleOptions
from pbd.particles import checked_wind, inverse
from pbd.plate_flow import PlateFlow
from pbd.step_hooks import StepHooks
from pbd.tearing import Tearing, refuse_torn_surfaces
from pbd.yielding import Yielding

# A launch makes at most so many substeps, which keeps the inputs small, and at most so many projections, which take a
# tenth of a second: the user can interrupt only between launches.
SUBSTEPS_PER_LAUNCH = 1_000
PROJECTIONS_PER_LAUNCH = 20_000_000


class ParticleSystem(UsesTaichi):
    """Particles that move: Verlet integration and relaxation of constraints.

    Args:
        particles: a Particles, or a list of Particles with the same constraints and other numbers, each a world. The
            environment (gravity, wind, colliders, boxes, paths) is that of the first.
        worlds: number of copies that run side by side.
        options: fields of pbd.options.ParticleOptions: dt, substeps, iterations, damping, direction, tolerance, solve,
            schedule and more.

    Attributes:
        options: a ParticleOptions. Setting dt, substeps, iterations, tolerance or damping replaces it.
        clock: a pbd.core.clock.Clock, the time to the last bit.
        direct: what is solved directly, a pbd.direct.rows.Plan.
        events: what happened in the steps so far: a list of pbd.Event, one for each stick that tore.
        lanes, has_bands: how many worlds one thread moves at a time, or how many bands or strands of a world.
        pieces: what kernels see in place of this world: "bands", "strands", or "" for worlds (pbd/execution).

    Limitations:
        Sticks are as stiff as iterations make them. A correction travels one link per iteration at worst, so a long
        chain needs about as many iterations as it has links, or shorter steps. A particle can pass through a thin
        collider within one step. `direction="current"` damps motion with the step; "start" with too few iterations
        gains energy. Contacts between particles are those of spheres, so thin things slip through a coarse cloth;
        surfaces and segments do not pass through one another, but their contacts are not part of the direct solve.

    Source: Jakobsen, Advanced Character Physics, Game Developers Conference 2001.
    """

    def __init__(self, particles, worlds=1, **options):
        self.options = given = ParticleOptions.of("a ParticleSystem", options)
        descriptions, self.worlds = checked_descriptions(particles, worlds)
        if given.untangle:
            descriptions = [untangled(each) for each in descriptions]
        self.particles = descriptions[0].frozen()
        self._gases = [list(each.gases) for each in descriptions]
        self.count = len(self.particles)
        refuse_crossed(descriptions)
        warn_of_what_passes_through(self.particles)
        self.clock = Clock(given.dt, given.substeps)
        self.environment = Environment(self.particles, given.grabs)
        self._types, constraints = collect_constraints(descriptions, given.solve != "iterative")
        self._radii = np.stack([p.radii() for p in descriptions])
        ordered = order_constraints(given, descriptions, self.worlds, self._types, constraints)
        self.direct, self._implicit, self.schedule = ordered
        warn_of_softness(self._implicit)
        alone = self.worlds == 1 and not given.grabs
        described = self.particles, self._types, constraints, self._implicit, self.schedule
        strands = find_strands(*described) if alone else None
        count = strands.count if strands else self.worlds
        self.lanes, bands = lanes_of(given.lanes, count, self.particles, self.schedule, len(self._implicit) > 0)
        self.pieces = "bands" if bands else "strands" if strands else ""
        self._constraint_count = sum(len(order) for order in self.schedule.orders)
        described = descriptions, self.worlds, constraints, self._types, self.schedule, self.direct, self._implicit
        uploaded = upload(*described, self.environment, self.lanes, bands, strands)
        self.arrays, self._counts_without_lanes, scales = uploaded
        self._counts = counts_in_lanes(self._counts_without_lanes, self.lanes, bands, strands, self.arrays)
        self._values = ParticleValues(self.arrays.particles, self.worlds, self.count, scales)
        self.constraints = ConstraintValues(
            self.arrays, self._types, self.schedule.orders, self.particles.triangles()
        )
        self._tearing, self.events = Tearing(self.constraints, self._values), []
        refuse_torn_surfaces(self.particles.surfaces, self._tearing.pairs, self.worlds)
        values = self.constraints, self._values
        self._plastic = {  # what flows at the end of a step, by its name in a State
            "creased": Creasing(*values),
            "bent": Yielding(*values),
            "flowed_solids": SolidFlow(*values, descriptions, self.arrays.implicit),
            "flowed_membranes": MembraneFlow(*values, descriptions),
            "flowed_plates": PlateFlow(*values, descriptions),
        }
        # Contacts are sought as far as the largest contact distance and half as much again, to allow for motion.
        self._search_radius = 3.0 * max(0.0, self._radii.max()) or 1.0
        self.energy_watch = EnergyWatch(
            self._values, self.environment, self.constraints, self._types, self._elastic_energy_at
        )
        of_a_world = self.lanes if bands else count if strands else None
        self._reports = Report(self.worlds, self._counts.worlds, self.lanes, of_a_world)
        self._launch_length, self._warned = LaunchLength(), set()
        self._search_due = True  # for pairs on surfaces
        self._hooks, self._hooked, self._contact_capacity, self._keep_predictions = None, (), 0, False
        self._bind()
        velocities = np.stack([p.velocities() for p in descriptions])
        self.set_velocities(velocities if len(descriptions) > 1 else velocities[0])

    def _bind(self):
        """Choose the kernels for the features of this system, and bind its arrays to them."""
        # Iterations end below this violation. If it is below zero, all are made.
        self._violation_kept = self.direct.least_violation() if self.tolerance is None else self.tolerance
        given = features_of(self), self.arrays, self._counts, self._reports, self.schedule
        self._launches = Launches(*given, *self._hooked)

    def _order_direct(self):
        """Order the direct solve anew: it depends on which particles can move."""
        mobile = self._values.mobile()
        self.direct = self.direct.reordered(mobile)
        columns = self.environment.moving_columns
        direct = direct_arrays(self.direct, self._types, self.schedule, mobile, self.worlds, self.lanes, columns)
        self.arrays = self.arrays._replace(direct=direct)
        self._bind()

    @property
    def has_bands(self):
        """Whether bands of a world lie in lanes."""
        return self.pieces == "bands"

    @property
    def _has_layouts(self):
        """Whether arrays are not those of one world after another."""
        return self.lanes > 1 or self.pieces == "strands"

    def _leave_lanes(self):
        """Move one world, and one particle, at a time from now on."""
        self.arrays, self._counts = with_lanes(self.arrays, 1), self._counts_without_lanes
        if self.pieces:
            self._reports.leave_pieces()
        self.lanes, self.pieces = 1, ""
        self._values.arrays, self.constraints.arrays = self.arrays.particles, self.arrays.constraints
        self.constraints.drag_coefficient = self.arrays.wind.drag_coefficient
        self._bind()

    def _launch(self, kernel, *given):
        """Launch a kernel: one world at a time if its text does not fit lanes, as that of a user's constraint type may.

        Args: kernel: "run" or "measure"; given: to that method of Launches.
        """
        try:
            getattr(self._launches, kernel)(*given)
        except Exception:
            if not self._has_layouts or any(array.lanes for data in self._hooked for array in arrays_of(data)):
                raise
            self._leave_lanes()
            getattr(self._launches, kernel)(*given)
        refuse_ended_loops(self._reports.rows, REPORT.last_turns)

    def add_hooks(self, hooks, data, contact_capacity=0):
        """Let something that is made of these particles take part in each substep.

        Args:
            hooks: a pbd.step_hooks.StepHooks.
            data: an instance of `hooks.data`, of Taichi arrays.
            contact_capacity: how many contacts the hooks have memory for, for the error when there are more.
        """
        if not isinstance(hooks, StepHooks):
            raise TypeError(f"hooks are {shown(hooks)}: expected a pbd.step_hooks.StepHooks")
        if not isinstance(data, hooks.data):
            raise TypeError(f"data is {shown(data)}: expected a {hooks.data.__name__}, as the hooks have")
        contact_capacity = whole("contact_capacity", contact_capacity, least=0)
        if not self.schedule.is_one_cluster:
            raise ValueError(f'schedule {self.schedule.name!r} with step hooks: expected "serial", or one cluster')
        if self._has_layouts and not any(array.lanes for array in arrays_of(data)):
            self._leave_lanes()
        self._hooks, self._hooked, self._contact_capacity = hooks, (data,), contact_capacity
        if hooks.fixed_shapes is not None:
            touching = touching_particles(self.direct, self.particles, self._radii, fixed_shapes=True)
            self.arrays = self.arrays._replace(touch=touch_arrays(touching, self.count, self.worlds, self.lanes))
            self._counts_without_lanes = self._counts_without_lanes._replace(touching=len(touching))
            self._counts = self._counts._replace(touching=len(touching))
        self.energy_watch.hooked = True
        self._bind()

    def keep_predictions(self):
        """Keep the positions that particles would have without constraints, for `displacements`."""
        self._keep_predictions = True
        self._bind()

    # Stepping -------------------------------------------------------------------------------------------------------

    def step(self, count=1):
        """Make steps of dt. Args: count: how many. Raises: Diverged if a position stops being finite."""
        left, iterations = whole("count", count) * self.clock.substeps, self.options.iterations
        work = self.worlds * (self.count + iterations * self._constraint_count)
        most = min(max(PROJECTIONS_PER_LAUNCH // work, 1), SUBSTEPS_PER_LAUNCH)
        whole_steps = len(self.direct.rows) or len(self._implicit)  # whose factors are made anew in each step
        interval = self.clock.substeps if whole_steps else self.options.bending_interval
        plastic = [each for each in self._plastic.values() if len(each)]
        each = len(self._tearing) or plastic or self.particles.surfaces
        if each:
            most = interval = self.clock.substeps
        most = max(most // interval, 1) * interval
        self._reports.rows[:, REPORT.substeps_to_search] = 0
        self.energy_watch.begin(self.gravity, self.clock.h)
        while left > 0:
            substeps = self._launch_length.limited(min(left, most), interval)
            start = time.perf_counter()
            if self.particles.surfaces and self._search_due:
                self._search_surfaces()
            self._launch("run", *self._given(substeps), substeps, iterations)
            if self.particles.surfaces:
                refuse_too_many_pairs(self._reports.worlds, room_of(self.arrays.surface))
                pairs = self._reports.worlds[:, REPORT.surface_pairs].max()
                self._search_due = bool(2 * pairs > room_of(self.arrays.surface))
            self._launch_length.adapt(substeps, time.perf_counter() - start)
            raise_errors(self._reports.worlds, self.clock, self._values, self._contact_capacity)
            radii = None if self.pieces else self.particles.radii()  # these count their own particles
            warn_of_contacts(self._reports.worlds, self.clock.time_after(substeps), radii, self._warned)
            self.energy_watch.check(self._reports.worlds, self.clock, substeps)
            self.clock.substep += substeps
            left -= substeps
            if len(self._tearing):
                torn = self._tearing.tear(self.time)
                self.events += torn
                if torn:
                    self._leave_out_torn()
            for each in plastic:
                each.flow()

    def _search_surfaces(self):
        """Find the pairs on surfaces that could touch in the next step, and make room for more than twice as many.

        Later searches are in kernels, when particles have moved far enough. Results do not depend on when.
        """
        while self._search_due:
            self._reports.rows[:, REPORT.surface_pairs] = 0
            self._launch("search_surfaces", *self._given(0))
            pairs = int(self._reports.worlds[:, REPORT.surface_pairs].max())
            self._search_due = 2 * pairs > room_of(self.arrays.surface)
            if self._search_due:
                self.arrays = self.arrays._replace(surface=with_room(self.arrays.surface, 3 * pairs, self.worlds))
                self._bind()

    def _given(self, substeps):
        """Inputs and settings of the next launch."""
        settings = Settings(
            h=self.clock.h,
            velocity_kept=(1.0 - self.options.damping) ** (1 / self.clock.substeps),
            tolerance=self._violation_kept,
            search_radius=float(self._search_radius),
            contact_friction=float(self.particles.particle_contacts or 0.0),
            contact_interval=self.options.contact_interval,
            bending_interval=self.options.bending_interval,
            substeps=self.clock.substeps,
        )
        return self.environment.inputs(self.clock, substeps), settings

    # Settings ---------------------------------------------------------------------------------------------------------

    @property
    def time(self):
        """Time since the start [s]."""
        return self.clock.time

    @property
    def dt(self):
        """Time step [s]. A new one keeps the velocities."""
        return self.options.dt

    @dt.setter
    def dt(self, dt):
        self._change_step(dt=dt)

    @property
    def substeps(self):
        """Equal parts of each step. A new number keeps the velocities."""
        return self.options.substeps

    @substeps.setter
    def substeps(self, substeps):
        self._change_step(substeps=substeps)

    def _change_step(self, **changed):
        before, self.options = self.clock.h, replace(self.options, **changed)
        self.clock.set(self.dt, self.substeps)
        self._values.change_step(before, self.clock.h, self.gravity, self.clock.origin == 0.0)

    @property
    def iterations(self):
        """Iterations over all constraints in each substep."""
        return self.options.iterations

    @iterations.setter
    def iterations(self, iterations):
        self.options = replace(self.options, iterations=iterations)

    @property
    def tolerance(self):
        """Violation below which iterations stop; None for never."""
        return self.options.tolerance

    @tolerance.setter
    def tolerance(self, tolerance):
        self.options = replace(self.options, tolerance=tolerance)
        self._bind()  # without a tolerance, kernels do not compute violations

    @property
    def damping(self):
        """The part of the velocity that is lost per step, in [0, 1)."""
        return self.options.damping

    @damping.setter
    def damping(self, damping):
        self.options = replace(self.options, damping=damping)

    @property
    def gravity(self):
        """Gravity of all worlds (3,) [m/s²]."""
        return self.particles.gravity

    @gravity.setter
    def gravity(self, gravity):
        self.particles.gravity = unchanging(finite_vector("gravity", gravity))

    @property
    def wind(self):
        """Velocity of the air (3,) [m/s], or a function of time [s] that returns it; None for no air."""
        return self.particles.wind

    @wind.setter
    def wind(self, wind):
        before = self.particles.wind
        self.particles.wind = unchanging(checked_wind(wind))
        if (before is None) != (wind is None):
            self._bind()  # kernels without wind do not compute its forces

    # Particles ------------------------------------------------------------------------------------------------------

    def positions(self):
        """Positions, (particles, 3) or (worlds, particles, 3) [m]."""
        return self._values.positions()

    def velocities(self):
        """Velocities over the last substep, (x - x*)/h, shaped like positions [m/s].

        This backward difference belongs to the middle of the substep, because the next position also depends on the
        constraints. Before the first step it is v - a h/2.
        """
        return self._values.velocities(self.clock.h)

    def inverse_masses(self):
        """Inverse masses, (particles,) or (worlds, particles) [1/kg]; zero for pinned particles."""
        return self._values.inverse_masses()

    def set_positions(self, positions):
        """Move particles, which keep their velocities. Args: positions: shaped as `positions` returns them."""
        self._values.move(self._values.from_user("positions", positions))

    def set_velocities(self, velocities):
        """Set velocities by an exact start, x* = x - v h + a h²/2. Args: velocities: shaped like positions [m/s].

        The acceleration is that of gravity and of `set_forces`. Wind begins to act in the next step.
        """
        self._values.start(self._values.from_user("velocities", velocities), self.gravity, self.clock.h)

    def set_forces(self, forces):
        """Set forces, which act until others are set. Args: forces: shaped like positions [N]."""
        new, values = self._values.from_user("forces", forces), self._values
        if self.clock.substep == 0 and self.clock.origin == 0.0:  # they are part of the exact start
            change = values.read("position")[..., 3:] * (new - values.read("force"))
            values.write("previous_position", values.read("previous_position") + change * (self.clock.h**2 / 2))
        values.write("force", new)

    def set_masses(self, particles, masses):
        """Change masses in all worlds. Args: particles: (n,) indices; masses: [kg], for all or one each; inf pins."""
        particles = indices("particles", particles, self.count)
        masses = spread("mass", masses, particles.shape, infinite=True)
        if not (masses > 0).all():
            raise ValueError(f"mass is {masses[~(masses > 0)][0]:g}: expected a number above zero, or math.inf to pin")
        kinematic = np.isin(particles, [i for others, _ in self.particles.paths for i in others])
        if kinematic.any():
            raise ValueError(f"particle {particles[kinematic][0]} follows a path: expected one without")
        before = self._values.mobile()
        self._search_due = True  # there are no pairs of what does not move
        self._values.set_inverse_masses(particles, inverse(masses), self.gravity, self.clock.h)
        if len(self.direct.rows) and (self._values.mobile() != before).any():
            self._order_direct()

    # Grabs, cuts and colliders ----------------------------------------------------------------------------------------

    def grab(self, grab, particles, target, stiffness, damping=0.0, weights=None):
        """Pull particles to a target by a spring in all worlds, from the next step on. Again, it moves the target.

        Args:
            grab: index of one of the system's grab springs.
            particles: an index, or up to four, whose mean is pulled.
            target: (3,) [m].
            stiffness: [N/m]; damping: [N s/m].
            weights: of the particles, instead of those of the mean. They sum to one.
        """
        self.environment.grab(grab, particles, target, stiffness, damping, weights)

    def release(self, grab):
        """Switch a grab spring off. Args: grab: index."""
        self.environment.release(grab)

    def sticks(self):
        """All sticks: particles (n, 2), and lengths in the first world (n,) [m]: see ConstraintValues.sticks."""
        return self.constraints.sticks()

    def cut(self, sticks):
        """Cut sticks in all worlds for good, with bending and wind across them. Args: (n,) indices into `sticks()`."""
        pairs, _ = self.sticks()
        chosen = indices("sticks", sticks, len(pairs), of="sticks")
        ends = pairs[chosen]
        refuse_torn_surfaces(self.particles.surfaces, ends, self.worlds)
        if self.pieces:
            self._leave_lanes()  # pieces are no longer alike
        self.constraints.cut(sticks)
        self._tearing.leave_out(ends[ends[:, 0] != ends[:, 1]])  # a stick that was cut before has one particle twice
        self._leave_out_torn()

    def _leave_out_torn(self):
        """Let what is torn or cut of surfaces touch nothing."""
        if self.particles.surfaces:
            leave_out_torn(self.arrays, self._tearing.gone())
            self._search_due = True

    def present_surfaces(self):
        """Surfaces without what has torn: a list of pbd.description.surfaces.Surface."""
        gone = self._tearing.gone()
        return [each.without(gone) for each in self.particles.surfaces]

    def collider_poses(self):
        """Position and rotation of each collider now, (colliders, 7) [m, (w, x, y, z)]."""
        return self.environment.collider_poses(self.time)

    # States: pbd/host/snapshots.py ----------------------------------------------------------------------------------

    state = snapshots.state
    set_state = snapshots.set_state

    def digest(self):
        """Sixteen hexadecimal digits that change if any bit of the positions or previous positions changes."""
        return self.state().digest()

    # Readings: pbd/readings.py --------------------------------------------------------------------------------------

    rotations = readings.rotations
    strain = readings.strain
    stress = readings.stress
    pressures = readings.pressures
    position_array = readings.position_array
    crossings = readings.crossings
    displacements = readings.displacements
    grab_forces = readings.grab_forces
    statistics = readings.statistics
    energy = readings.energy

    def _elastic_energy_at(self, position):
        """Energy that constraints would store at other positions (worlds,) [J], and their largest violation.

        Args: position, with inverse masses.
        """
        array = self.arrays.particles.position
        now = read(array)
        write(array, position)
        self._launch("measure", *self._given(0))
        write(array, now)
        found = self._reports.worlds
        return found[:, REPORT.elastic_energy].astype(float), float(found[:, REPORT.violation].max())
