"""A scene that runs in real time, kept by a clock, whoever looks on. It knows no browser.

One thread calls `loop`, which calls `turn` again and again; only there are solvers touched. Whatever others want, they
`ask` for, and it is done between two steps. What is shown, is shown by functions that a Session is given.
"""

import math
import threading
import time
from collections import deque

import numpy as np

from scenes.simulate.run import Run

# A frame is shown, at most, so often [1/s]; steps are made in pieces no longer than that.
FRAMES = 60
# How far the scene may lag behind the clock and catch up with it [s]; what is more is forgotten, and time slows.
PATIENCE = 0.25
# Where a frame is less than this part of a step, in slow motion, frames between steps are shown.
SLOW = 0.6
# The part of the time that showing may take while the scene lags: frames are dropped before time is slowed. But a
# picture comes so soon after another [s], however long that one took: it may have waited for a kernel to be compiled.
SHOWING, LONGEST = 0.1, 0.5
# Rates are those of the last second.
WINDOW = 1.0
# With how many things the solvers can be held at once.
GRABS = 4
# What can be changed while it runs, where the solver has it.
STEPPING, SURROUNDING = ("dt", "substeps", "iterations"), ("gravity", "wind")


class Session:
    """A scene that runs in real time.

    Arguments:
        scene: a Scene; solver, dt, options: as of a scenes.Run.
        show: called with the session after steps, FRAMES times a second at most, and when anything was asked for.
        before: called with the session and a time span [s] before that is stepped through: grabs move there.
        clock: a function that tells the time [s]; wait: one that waits for so long [s], or until `ask` wakes it.

    Attributes:
        running: the Run; ghost: a Run of another solver that keeps up with it, or None.
        playing; speed: seconds of the scene in a second, 1 for real time.
        watched: whether anybody looks on; where nobody does, nothing moves and nothing is shown.
        part: how far the clock is from the last step but one to the last, in slow motion; else 1: at the last.
        trouble: what went wrong last, for a person to read; "" for nothing.
        stopped: whether `loop` is to end.
    """

    def __init__(self, scene, solver=None, dt=None, options=None, show=None, before=None, clock=time.perf_counter):
        self.show, self.before, self.clock = show or (lambda session: None), before or (lambda *span: None), clock
        self.playing, self.watched, self.stopped = True, False, False
        self.speed, self.part, self.trouble = 1.0, 1.0, ""
        self.asked, self.lock, self.wakened = {}, threading.Lock(), threading.Event()
        self.samples = deque()  # of the last second: when, the scene's time, steps, seconds of one
        self.choose(scene, solver, dt, options)

    # What it runs -----------------------------------------------------------------------------------------------------

    def choose(self, scene, solver=None, dt=None, options=None, ghost=None):
        """Run something from its beginning: arguments as of the Session; ghost: a second solver's name, or None.

        Errors: those of a Run; what ran before goes on then.
        """
        self.start((scene, solver, dt, options or {}, ghost), {})

    def reset(self):
        """From the beginning, with what was `set`."""
        self.start(self.chosen, self.settings)

    def start(self, chosen, settings):
        """Run what was chosen, with what was set."""
        scene, solver, dt, options, ghost = chosen
        stepping = {name: value for name, value in settings.items() if name in STEPPING}
        options = {"dt": dt, **options, **stepping}
        running = Run(scene, solver, grabs=GRABS, **options)
        beside = Run(scene, ghost, grabs=GRABS) if ghost else None
        self.chosen, self.settings, self.running, self.ghost = chosen, {}, running, beside
        for name, value in settings.items():
            self.set(name, value)
        self.lag, self.last, self.shown, self.cost = 0.0, None, -math.inf, 0.0
        self.fresh = True  # its first step compiles, which is not time that it is behind
        self.failed, self.trouble = False, ""
        self.samples.clear()

    def can_set(self, name):
        """Whether the solver has it: one of STEPPING or SURROUNDING."""
        return hasattr(self.owner(self.running, name), name)

    def get(self, name):
        """What it is now: one of STEPPING or SURROUNDING."""
        return getattr(self.owner(self.running, name), name)

    def set(self, name, value):
        """Change one of STEPPING or SURROUNDING from the next step on; of the ghost only what surrounds both.

        Errors: ValueError for what cannot be; nothing changes then.
        """
        if value is not None and np.array_equal(self.get(name), value):
            return
        setattr(self.owner(self.running, name), name, value)
        if name in SURROUNDING and self.ghost is not None:
            setattr(self.owner(self.ghost, name), name, value)
        self.settings[name] = value

    @staticmethod
    def owner(running, name):
        """Who has a setting: bodies made of particles have their steps and their wind from those."""
        return running.system if name == "gravity" else getattr(running.system, "system", running.system)

    # What others ask for, from any thread -----------------------------------------------------------------------------

    def ask(self, wanted, key=None):
        """Have something done between two steps. Arguments: wanted: a function; key: what is asked for again under the
        same one replaces what was, so that a slider's last place counts."""
        with self.lock:
            key = object() if key is None else key
            self.asked.pop(key, None)
            self.asked[key] = wanted
        self.wakened.set()

    def stop(self):
        """End `loop`."""
        self.stopped = True
        self.wakened.set()

    # On its own thread ------------------------------------------------------------------------------------------------

    def loop(self):
        """Run until `stop`."""
        while not self.stopped:
            self.wakened.wait(self.turn())
            self.wakened.clear()

    def turn(self):
        """Do what was asked for, and the steps that are due. Returns: how long nothing is due [s]."""
        answered = self.answer()
        moving = self.playing and self.watched and not self.failed
        now = self.clock()
        if moving and self.last is not None:
            self.lag += (now - self.last) * self.speed
        self.last = now if moving else None
        dt = self.get("dt")
        due = 1 if self.fresh else int(self.lag / dt + 1e-6)
        if moving and due:
            count = min(due, max(1, round(self.speed / FRAMES / dt)))
            self.lag = max(self.lag - count * dt, 0.0)
            self.advance(count)
        slow = moving and self.speed / FRAMES < SLOW * dt
        self.part = min(self.lag / dt, 1.0) if slow else 1.0
        if self.watched and (answered or (moving and (due or slow) and self.in_time())):
            self.present()
        if not moving:
            return 1.0
        pause = (dt - self.lag) / self.speed - (self.clock() - now)
        return max(0.0, min(pause, 1 / FRAMES) if slow else pause)

    def answer(self):
        """Do what was asked for; whether anything was."""
        with self.lock:
            asked, self.asked = self.asked, {}
        for wanted in asked.values():
            self.trying(wanted)
        return bool(asked)

    def forgive(self):
        """Say no more of what went wrong, unless the scene stands for it."""
        self.trouble = self.trouble if self.failed else ""

    def trying(self, wanted):
        """Do something; where that fails, say so and live on. Returns: whether it did not."""
        try:
            wanted()
        except Exception as error:
            self.trouble = " ".join(str(error).split()) or type(error).__name__
            return False
        return True

    def advance(self, count=1):
        """Make steps, and the ghost's as far as that. Arguments: count, of the scene's solver."""
        dt, start = self.get("dt"), self.clock()
        self.before(self, count * dt)
        self.failed = not self.trying(lambda: self.running.step(count))
        if self.failed:
            return
        if self.ghost is not None and not self.trying(self.follow):
            self.trouble, self.ghost = f"{self.ghost.solver}: {self.trouble}", None
        now = self.clock()
        if self.fresh:
            self.fresh, self.lag, self.last = False, 0.0, now
            return
        behind = max(PATIENCE * self.speed, 2 * dt)
        self.lag = min(self.lag, behind)
        self.samples.append((now, self.running.system.time, count, (now - start) / count))
        while now - self.samples[0][0] > WINDOW and len(self.samples) > 2:
            self.samples.popleft()

    def follow(self):
        """Step the ghost as far as the scene is."""
        late = self.running.system.time - self.ghost.system.time
        count = round(late / self.owner(self.ghost, "dt").dt)
        if count > 0:
            self.ghost.step(count)

    def in_time(self):
        """Whether a frame is due: not sooner than one in FRAMES; nor than what showing may take, where steps lag."""
        pause = 1 / FRAMES
        if self.lag >= 1.5 * max(self.get("dt"), self.speed / FRAMES):
            pause = max(pause, min(self.cost / SHOWING, LONGEST))
        return self.clock() - self.shown > 0.9 * pause

    def present(self):
        """Show the scene as it is."""
        self.shown = self.clock()
        if not self.trying(lambda: self.show(self)):
            self.failed = True
        self.cost = self.clock() - self.shown

    # How it goes ------------------------------------------------------------------------------------------------------

    @property
    def rate(self):
        """Seconds of the scene in a second, as measured; zero where it stands."""
        return self.over_window(1)

    @property
    def steps_per_second(self):
        """Steps in a second, as measured; zero where it stands."""
        return self.over_window(None)

    def over_window(self, column):
        """What samples gain in a second: a column of theirs, or the count of steps."""
        samples = list(self.samples)
        if not self.playing or len(samples) < 2:
            return 0.0
        first, last = samples[0], samples[-1]
        gained = sum(sample[2] for sample in samples[1:]) if column is None else last[column] - first[column]
        return gained / max(last[0] - first[0], 1e-9)

    @property
    def step_seconds(self):
        """How long a step took of late, the ghost's included [s]; zero before the first."""
        return sum(sample[3] for sample in self.samples) / max(len(self.samples), 1)
