"""The time of a solver, counted in substeps."""

from pbd.core.validate import finite_number, not_negative, positive, whole


class Clock:
    """Time step, substeps and time of a solver.

    Args:
        dt: time step [s].
        substeps: equal parts of each step.

    Attributes: origin: time of substep 0 [s]; substep: how many substeps were made since; dt, substeps: as given.
    """

    def __init__(self, dt, substeps):
        self.origin, self.substep, self.steps_before = 0.0, 0, 0
        self.set(dt, substeps)

    def set(self, dt, substeps):
        """Change the time step, from this instant on. Args: dt: [s]; substeps. Raises: ValueError, TypeError."""
        dt, substeps = positive("dt", dt), whole("substeps", substeps)
        if self.substep:
            self.steps_before += self.substep // self.substeps
            self.origin, self.substep = self.time, 0
        self.dt, self.substeps = dt, substeps

    @property
    def h(self):
        """Length of a substep [s]."""
        return self.dt / self.substeps

    @property
    def time(self):
        """Time since the start [s]."""
        return self.time_after(0)

    def time_after(self, substeps):
        """Time when so many more substeps are made [s]."""
        return self.origin + (self.substep + substeps) * self.h

    def state(self):
        """Fields of a State: the time to the last bit."""
        return {"dt": self.dt, "substeps": self.substeps, "origin": self.origin, "substep": self.substep}

    def checked(self, state):
        """Check these fields of a State. Returns: {name: value}. Raises: ValueError, TypeError."""
        return {
            "dt": positive("state's dt", state.dt),
            "substeps": whole("state's substeps", state.substeps),
            "origin": finite_number("state's origin", state.origin),
            "substep": whole("state's substep", state.substep, least=0),
        }

    def restore(self, dt, substeps, origin, substep):
        """Continue at another time. Args: see `state`."""
        self.dt, self.substeps, self.origin, self.substep = dt, substeps, origin, substep

    def continue_at(self, time, dt, substeps, origin, substep):
        """Continue at a time [s] with the present steps. Args: dt, substeps, origin, substep: see `state`.

        If those are the steps of now, later times have the same bits as they had then.
        """
        time, dt = finite_number("time", time), not_negative("dt", dt)
        substeps = whole("substeps", substeps, least=0)
        self.origin, self.substep = finite_number("origin", origin), whole("substep", substep, least=0)
        if (dt, substeps) != (self.dt, self.substeps) or self.time != time:
            self.origin, self.substep = time, 0

    def step_of(self, substep):
        """Number of the step that contains a substep, counted from one. Args: substep: counted from `origin`."""
        return self.steps_before + substep // self.substeps + 1
