"""A scene that runs in real time. It does not depend on a browser.

One thread calls `loop`, which calls `update` again and again. Only this thread touches solvers. Other threads call
`request`, and the session executes their requests between two steps. It shows a scene by a callback.
"""

import math
import threading
import time
from collections import deque

import numpy as np

from scenes.simulate.run import Run

# Largest number of frames that are shown in a second [1/s]. One update makes the steps of at most one frame.
FRAME_RATE = 60
# Largest lag behind the clock that the scene catches up with [s]. A larger lag is dropped: the scene runs slower.
LARGEST_LAG = 0.25
# In slow motion, interpolated frames are shown if a frame is shorter than this part of a step.
INTERPOLATION_LIMIT = 0.6
# Part of the time that showing may take while the scene lags: frames are dropped before the scene runs slower. The
# pause between two frames has an upper bound [s], because one frame may have waited for the compilation of a kernel.
SHOWING_SHARE, LONGEST_PAUSE = 0.1, 0.5
# Length of the window in which rates are measured [s].
RATE_WINDOW = 1.0
# Grab springs that each solver allocates, one for each pointer that grabs.
GRABS = 4
# What can change during a run: settings of the time step, and the environment.
STEP_SETTINGS, ENVIRONMENT = ("dt", "substeps", "iterations"), ("gravity", "wind")


class Session:
    """A scene that runs in real time.

    Args:
        scene, solver, dt, options: as for scenes.Run.
        show: called with the session after steps, at most FRAME_RATE times a second, and after requests.
        before_step: called with the session and a time span [s] before steps of that span. Grabs move there.
        clock: function that returns the time [s].

    Attributes:
        run: the scenes.Run. ghost: a second Run with another solver that keeps up with it, or None.
        playing: whether the scene moves.
        speed: simulated seconds in a second; 1 is real time.
        watched: whether anybody sees the scene. If not, it pauses and nothing is shown.
        fraction: position of the shown instant between the last two steps, in slow motion; otherwise 1, the last step.
        failed: whether the run stopped because of an error.
        error: message of the last error; "" for none.
        compiling: whether the next step is the first, which compiles kernels.
        stopped: whether `loop` ends.
    """

    def __init__(self, scene, solver=None, dt=None, options=None, show=None, before_step=None,
                 clock=time.perf_counter):  # fmt: skip
        self.show, self.clock = show or (lambda session: None), clock
        self.before_step = before_step or (lambda session, span: None)
        self.playing, self.watched, self.stopped = True, False, False
        self.speed, self.fraction, self.error = 1.0, 1.0, ""
        self.requests, self.lock, self.has_requests = {}, threading.Lock(), threading.Event()
        self.samples = deque()  # of the last second: clock time, scene time, steps, seconds per step
        self.choose(scene, solver, dt, options)

    # Scene, solvers, settings -----------------------------------------------------------------------------------------

    def choose(self, scene, solver=None, dt=None, options=None, ghost=None):
        """Start a new run.

        Args: scene, solver, dt, options: as for Session; ghost: name of a second solver, or None.

        Raises: the errors of scenes.Run. The old run then continues.
        """
        self.start((scene, solver, dt, options or {}, ghost), {})

    def reset(self):
        """Start the run again, with all changes made by `set`."""
        self.start(self.choice, self.settings)

    def start(self, choice, settings):
        """Start a run.

        Args: choice: (scene, solver, dt, options, ghost); settings: values of STEP_SETTINGS and ENVIRONMENT.
        """
        scene, solver, dt, options, ghost = choice
        step_settings = {name: value for name, value in settings.items() if name in STEP_SETTINGS}
        options = {"dt": dt, **options, **step_settings}
        run = Run(scene, solver, grabs=GRABS, **options)
        ghost_run = Run(scene, ghost, grabs=GRABS) if ghost else None
        self.choice, self.settings, self.run, self.ghost = choice, {}, run, ghost_run
        for name, value in settings.items():
            self.set(name, value)
        self.lag, self.last_time, self.shown_at, self.show_cost = 0.0, None, -math.inf, 0.0
        self.compiling = True
        self.failed, self.error = False, ""
        self.samples.clear()

    def get(self, name):
        """Current value of one of STEP_SETTINGS or ENVIRONMENT; None if the solver does not have it."""
        return getattr(owner(self.run, name), name)

    def set(self, name, value):
        """Change one of STEP_SETTINGS or ENVIRONMENT from the next step on; the environment of the ghost, too.

        Raises: ValueError for an invalid value. Nothing changes then.
        """
        if value is not None and np.array_equal(self.get(name), value):
            return
        setattr(owner(self.run, name), name, value)
        if name in ENVIRONMENT and self.ghost is not None:
            setattr(owner(self.ghost, name), name, value)
        self.settings[name] = value

    # For other threads ------------------------------------------------------------------------------------------------

    def request(self, action, key=None):
        """Ask the session's thread to do something between two steps.

        Args: action: a function without arguments; key: a later request with the same key replaces this one, so that
        only the last position of a slider counts.
        """
        with self.lock:
            key = object() if key is None else key
            self.requests.pop(key, None)
            self.requests[key] = action
        self.has_requests.set()

    def stop(self):
        """End `loop`."""
        self.stopped = True
        self.has_requests.set()

    # On the session's thread ------------------------------------------------------------------------------------------

    def loop(self):
        """Run until `stop`."""
        while not self.stopped:
            self.has_requests.wait(self.update())
            self.has_requests.clear()

    def update(self):
        """Execute requests, make the steps that are due, show a frame that is due.

        Returns: time until something is due [s].
        """
        requested = self.execute_requests()
        moving = self.moving
        now = self.clock()
        if moving and self.last_time is not None:
            self.lag += (now - self.last_time) * self.speed
        self.last_time = now if moving else None
        dt = self.get("dt")
        due = 1 if self.compiling else int(self.lag / dt + 1e-6)
        if moving and due:
            count = min(due, max(1, round(self.speed / FRAME_RATE / dt)))
            self.lag = max(self.lag - count * dt, 0.0)
            self.step(count)
        interpolated = moving and self.speed / FRAME_RATE < INTERPOLATION_LIMIT * dt
        self.fraction = min(self.lag / dt, 1.0) if interpolated else 1.0
        stops = moving and self.failed
        if self.watched and (requested or stops or (moving and (due or interpolated) and self.frame_is_due())):
            self.show_frame()
        if not moving:
            return 1.0
        pause = (dt - self.lag) / self.speed - (self.clock() - now)
        return max(0.0, min(pause, 1 / FRAME_RATE) if interpolated else pause)

    @property
    def moving(self):
        """Whether the scene moves: it plays, somebody sees it, and it has not failed."""
        return self.playing and self.watched and not self.failed

    def execute_requests(self):
        """Execute all requests. Returns: whether there were any."""
        with self.lock:
            requests, self.requests = self.requests, {}
        for action in requests.values():
            self.attempt(action)
        return bool(requests)

    def clear_error(self):
        """Clear the message of an error, unless the run stopped because of it."""
        self.error = self.error if self.failed else ""

    def attempt(self, action):
        """Do something, and store the message of an error. Returns: whether it succeeded."""
        try:
            action()
        except Exception as error:
            self.error = " ".join(str(error).split()) or type(error).__name__
            return False
        return True

    def step(self, count=1):
        """Make steps, and let the ghost catch up. Args: count: steps of the main solver."""
        dt, start = self.get("dt"), self.clock()
        self.before_step(self, count * dt)
        self.failed = not self.attempt(lambda: self.run.step(count))
        if self.failed:
            return
        if self.ghost is not None and not self.attempt(self.step_ghost):
            self.error, self.ghost = f"{self.ghost.solver}: {self.error}", None
        now = self.clock()
        if self.compiling:
            # The time of compilation is no lag.
            self.compiling, self.lag, self.last_time = False, 0.0, now
            return
        self.lag = min(self.lag, max(LARGEST_LAG * self.speed, 2 * dt))
        self.samples.append((now, self.run.system.time, count, (now - start) / count))
        while now - self.samples[0][0] > RATE_WINDOW and len(self.samples) > 2:
            self.samples.popleft()

    def step_ghost(self):
        """Step the ghost to the time of the scene."""
        behind = self.run.system.time - self.ghost.system.time
        count = round(behind / owner(self.ghost, "dt").dt)
        if count > 0:
            self.ghost.step(count)

    def frame_is_due(self):
        """Whether to show a frame: at most FRAME_RATE in a second, and less often if steps lag."""
        pause = 1 / FRAME_RATE
        if self.lag >= 1.5 * max(self.get("dt"), self.speed / FRAME_RATE):
            pause = max(pause, min(self.show_cost / SHOWING_SHARE, LONGEST_PAUSE))
        return self.clock() - self.shown_at > 0.9 * pause

    def show_frame(self):
        """Show the scene as it is now."""
        self.shown_at = self.clock()
        if not self.attempt(lambda: self.show(self)):
            self.failed = True
        self.show_cost = self.clock() - self.shown_at

    # Measured rates ---------------------------------------------------------------------------------------------------

    @property
    def rate(self):
        """Simulated seconds in a second, measured; zero while paused."""
        return self._rate_of(lambda samples: samples[-1][1] - samples[0][1])

    @property
    def steps_per_second(self):
        """Steps in a second, measured; zero while paused."""
        return self._rate_of(lambda samples: sum(sample[2] for sample in samples[1:]))

    def _rate_of(self, gain):
        """What the samples gain in a second. Args: gain: a function of the list of samples."""
        samples = list(self.samples)
        if not self.playing or len(samples) < 2:
            return 0.0
        return gain(samples) / max(samples[-1][0] - samples[0][0], 1e-9)

    @property
    def step_seconds(self):
        """Mean time of a step in the last second, with the ghost [s]; zero before the first."""
        return sum(sample[3] for sample in self.samples) / max(len(self.samples), 1)


def owner(run, name):
    """The object that has a setting. Args: a Run; name: one of STEP_SETTINGS or ENVIRONMENT."""
    return run.particles if name == "wind" else run.system
