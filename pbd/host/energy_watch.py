"""A warning where the energy of particles rises though nothing drives them, and Diverged where it runs away.

The kinetic and gravitational energy E = K + U of each world is compared after each launch with its lowest value, from
before the first launch on. The rise is measured in parts of a scale S, the weight times the extent of the particles,
and the kinetic energy that they had at first or could have gained by falling:

    S = Σ m |g| L + K_0 + U_0 - min U

L is at least what falls in FALLS substeps, because positions at two times have the kinetic energy of a particle at rest
only to the order of what falls in one.

Where constraints store energy V, E may rise by what was stored. It is compared with the sum of K, U and V at first,
above which it can never be. V is C²/2α of all constraints, and evaluated only when E has risen by more than the warning
allows. Constraints that need the time may be motors: systems with them are watched if it is known that none drives.
"""

import warnings

import numpy as np

from pbd.core.results import Diverged
from pbd.data import REPORT

# Rises of the energy over its lowest value, in parts of the scale, of which a warning tells, and at which the run is
# given up.
WARNED_RISE, LARGEST_RISE = 0.05, 10.0

# See above.
FALLS = 4

# At rest, nothing moves by more than so many units of round-off in a substep.
ROUND_OFF = 1000

# A rigid constraint that is violated by more than this part of the extent of all particles is corrected in the first
# steps, which may give particles any energy. Then energies are compared with those after that.
LARGEST_VIOLATION = 1e-4


class EnergyWatch:
    """Watches the energy of all worlds as long as nothing drives the particles, and warns once.

    Args: values: the ParticleValues; environment: the Environment; constraints: the ConstraintValues, of a system;
    types: of its constraints; stored_at: function (positions with inverse masses, (particles, worlds, 4)) -> what
    constraints store there (worlds,) [J], and their largest violation.

    Attributes: owner: what the warning begins with; place: function (world) -> where the trouble is, in words, or None
    for the fastest particle; driven: whether something that is not in the environment does work; knows_drives: whether
    `driven` tells of constraints that need the time, too; length: L, that of all things together [m], None for the
    extent of the particles; other_kinetic: function () -> the kinetic energy of what moves with the particles (worlds,)
    [J], or None; hooked: whether step hooks take part, which may do work.
    """

    def __init__(self, values, environment, constraints, types, stored_at):
        self._values, self._environment, self._constraints = values, environment, constraints
        self._passive = is_passive(environment.particles)
        self._may_drive, self.knows_drives = any(each.needs_time for each in types), False
        self._stores, self._stored_at = any(each.compliance for each in types), stored_at
        self.owner, self.place, self.driven, self.length = "particle system", None, False, None
        self.other_kinetic, self.hooked = None, False
        self._warned, self._changes, self._gravity, self._scale, self._forces_act = False, None, None, None, False
        self._watching, self._extent, self._least_length = False, 0.0, 0.0
        self._at_rest, self._h = 0.0, 1.0

    def begin(self, gravity, h):
        """Read the energies before a launch if anything has changed since the last one.

        Args: gravity (3,) [m/s²]; h: length of a substep [s].
        """
        self._watching = self._watches()
        if self._watching and self._scale is None:
            self._least_length = 0.5 * np.linalg.norm(gravity) * (FALLS * h) ** 2
            self._h = h
            numbers = np.array if self._values.worlds > 1 else only
            kinetic, potential = (numbers(each) for each in self._values.energies(gravity, h))
            self._start_from(kinetic + self._kinetic_of_others(numbers), potential, numbers)

    def check(self, report, clock, substeps):
        """Compare the energies after a launch with those before.

        Args: report: (worlds, REPORT); clock: the Clock at the start of the launch; substeps: of the launch.

        Raises: Diverged if the energy ran away.
        """
        if not self._watching:
            return
        # The numbers of one world are Python's: each operation on an array takes half a microsecond.
        numbers, least = (only, min) if len(report) == 1 else (np.array, np.minimum)
        kinetic, potential = numbers(report[:, REPORT.kinetic_energy]), numbers(report[:, REPORT.potential_energy])
        kinetic = kinetic + self._kinetic_of_others(numbers)
        if not np.all(self._scale > self._at_rest):
            self._restart_at_rest(kinetic, potential, numbers)
        energy = kinetic + potential
        if not self._stores:
            self._lowest = least(self._lowest, energy)
        self._deepest = least(self._deepest, potential)
        scale = self._scale + (self._start - self._deepest)
        beyond = energy - self._lowest - WARNED_RISE * scale
        if not (beyond > 0.0 if len(report) == 1 else (beyond > 0.0).any()):
            return
        if self._unknown_at is not None:
            (stored, violation), self._unknown_at = self._stored_at(self._unknown_at), None
            violated = not self._stores and violation > LARGEST_VIOLATION * self._extent
            if violated or (self.hooked and not self.knows_drives):
                self._start_from(kinetic, potential, numbers)
                self._unknown_at = None
                return
            self._lowest += numbers(stored)
            beyond -= numbers(stored)
        world = int(np.argmax(beyond))
        if np.ravel(beyond)[world] > 0.0:
            rise = np.ravel(energy - self._lowest)[world] / np.ravel(scale)[world]
            self._tell(world, rise, clock, substeps)

    def _start_from(self, kinetic, potential, numbers):
        """Compare later energies with these. At rest without gravity the next ones replace them.

        Then their scale is zero, or the kinetic energy of what round-off moves in a substep.

        Args: kinetic, potential [J]; numbers: function (worlds,) -> numbers.
        """
        first = self._values.read("position")
        self._scale = numbers(self._weight_times_extent(first.astype(float))) + kinetic
        self._lowest, self._start, self._deepest = kinetic + potential, potential, potential
        self._unknown_at = first
        speed = ROUND_OFF * np.finfo(first.dtype).eps * np.abs(first[..., :3]).max(initial=0.0) / self._h
        self._at_rest = numbers(mass_of(first) * speed**2)
        self._extent = np.ptp(first[..., :3], axis=0).max(initial=0.0)

    def _restart_at_rest(self, kinetic, potential, numbers):
        """Start anew in worlds without a scale, and in no other. Args: see `_start_from`."""
        before, unknown_at = (self._scale, self._lowest, self._start, self._deepest), self._unknown_at
        at_rest = np.logical_not(self._scale > self._at_rest)
        self._start_from(kinetic, potential, numbers)
        if np.all(at_rest):
            return
        if unknown_at is None:
            self._lowest = self._lowest + numbers(self._stored_at(self._unknown_at)[0])
        else:
            unknown_at[:, at_rest] = self._unknown_at[:, at_rest]
        now = self._scale, self._lowest, self._start, self._deepest
        found = (np.where(at_rest, new, old) for new, old in zip(now, before))
        self._scale, self._lowest, self._start, self._deepest = found
        self._unknown_at = unknown_at

    def _watches(self):
        """Whether nothing drives the particles now. After a change of anything, the energy is compared anew."""
        environment = self._environment
        still = self._passive and environment.particles.wind is None
        if not still or self.driven or (self._may_drive and not self.knows_drives):
            self._changes = None
            return False
        changes = self._values.changes, self._constraints.changes, environment.changes
        gravity = environment.particles.gravity
        if changes != self._changes or gravity is not self._gravity:
            self._changes, self._gravity, self._scale = changes, gravity, None
            self._forces_act = self._values.read("force").any() or environment.grabs.any()
        return not self._forces_act

    def _kinetic_of_others(self, numbers):
        """Kinetic energy of what moves with the particles [J]. Args: numbers: function (worlds,) -> numbers."""
        return 0.0 if self.other_kinetic is None else numbers(self.other_kinetic())

    def _weight_times_extent(self, position):
        """Weight of the mobile particles times their extent, or `length`, of each world (worlds,) [J]."""
        x, mass = position[..., :3], mass_of(position)
        extent = np.linalg.norm(np.ptp(x, axis=0), axis=1) if len(x) else 0.0
        extent = extent if self.length is None else self.length
        return mass * np.linalg.norm(self._environment.particles.gravity) * np.maximum(extent, self._least_length)

    def _fastest(self, world):
        """Index of the fastest particle."""
        moved = self._values.read("position")[:, world, :3] - self._values.read("previous_position")[:, world]
        return int(np.linalg.norm(moved, axis=1).argmax())

    def _tell(self, world, rise, clock, substeps):
        """Warn of a rise, once, or raise Diverged. Args: rise: in parts of the scale; others: see `check`."""
        time = clock.time_after(substeps)
        if rise > LARGEST_RISE:
            step = clock.step_of(clock.substep + substeps - 1)
            raise Diverged(world, step, self._fastest(world), time, did="gained energy")
        if not self._warned:
            self._warned = True
            place = self.place(world) if self.place else f"particle {self._fastest(world)}"
            said = f"energy has risen by {rise:.2g} of its scale without a drive, mostly {place}"
            said = f"{self.owner}, world {world}, {time:.6g} s: {said}: expected a shorter step or more iterations"
            warnings.warn(said, UserWarning, stacklevel=5)


def only(values):
    """The number in an array of one."""
    return values.item()


def mass_of(position):
    """Mass of the particles that can move, of each world (worlds,) [kg]. Args: position: with inverse masses."""
    w = position[..., 3].astype(float)
    return np.divide(1.0, w, out=np.zeros_like(w), where=w > 0).sum(axis=0)


def is_passive(particles):
    """Whether no path, collider or gas ever does work; a gas may give more than was stored at first.

    Args: particles: a Particles. Its wind may be replaced later.
    """
    return not (particles.has_motion() or particles.gases)
