"""SystemSettings: settings of a particle system that may change between steps."""

import math

from pbd.core.kernels import UsesTaichi
from pbd.core.validate import finite_number, finite_vector, not_negative, positive, whole
from pbd.particles import checked_wind


class SystemSettings(UsesTaichi):
    """Base of ParticleSystem: its time, step, iterations, tolerance, damping, gravity and wind.

    It uses the attributes of ParticleSystem: `particles`, `_clock`, `_values`, and `_bind`, which chooses the kernels.
    """

    @property
    def time(self):
        """Time since the start [s]."""
        return self._clock.time

    def clock_state(self):
        """The time to the last bit: fields of a State, which `continue_at` takes."""
        return self._clock.state()

    def continue_at(self, time, dt, substeps, origin, substep):
        """Continue at a time [s]. Args: dt, substeps, origin, substep: of `clock_state`; they count if steps agree."""
        self._clock.continue_at(
            finite_number("time", time), not_negative("dt", dt), whole("substeps", substeps, least=0),
            finite_number("origin", origin), whole("substep", substep, least=0),
        )  # fmt: skip

    @property
    def dt(self):
        """Time step [s]. A new one keeps the velocities."""
        return self._clock.dt

    @dt.setter
    def dt(self, dt):
        self._change_step(dt, self.substeps)

    @property
    def substeps(self):
        """Equal parts of each step. A new number keeps the velocities."""
        return self._clock.substeps

    @substeps.setter
    def substeps(self, substeps):
        self._change_step(self.dt, substeps)

    def _change_step(self, dt, substeps):
        before = self._clock.h
        self._clock.set(dt, substeps)
        self._values.change_step(before, self._clock.h, self.gravity, self._clock.origin == 0.0)

    @property
    def iterations(self):
        """Iterations over all constraints in each substep."""
        return self._iterations

    @iterations.setter
    def iterations(self, iterations):
        self._iterations = whole("iterations", iterations, least=0)

    @property
    def tolerance(self):
        """Violation below which iterations stop; None for never."""
        return self._tolerance

    @tolerance.setter
    def tolerance(self, tolerance):
        self._tolerance = None if tolerance is None else positive("tolerance", tolerance, math.inf)
        self._bind()  # without a tolerance, kernels do not compute violations

    @property
    def damping(self):
        """The part of the velocity that is lost per step, in [0, 1)."""
        return self._damping

    @damping.setter
    def damping(self, damping):
        self._damping = finite_number("damping", damping)
        if not 0 <= self._damping < 1:
            raise ValueError(f"damping is {self._damping:g}: expected 0 <= damping < 1")

    @property
    def gravity(self):
        """Gravity of all worlds (3,) [m/s²]."""
        return self.particles.gravity

    @gravity.setter
    def gravity(self, gravity):
        self.particles.gravity = finite_vector("gravity", gravity)

    @property
    def wind(self):
        """Velocity of the air (3,) [m/s], or a function of time [s] that returns it; None for no air."""
        return self.particles.wind

    @wind.setter
    def wind(self, wind):
        before = self.particles.wind
        self.particles.wind = checked_wind(wind)
        if (before is None) != (wind is None):
            self._bind()  # kernels without wind do not compute its forces
