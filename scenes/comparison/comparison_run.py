"""One of those that are compared: what is run again and again, with this or that setting, on frames that all have."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pbd.core.validate import positive
from scenes.comparison.measure import read
from scenes.comparison.probes import deviations
from scenes.comparison.results import Trace
from scenes.comparison.tuning import (
    WITHIN,
    iteration_rate,
    iterations_for,
    knobs,
    mean_of_frames,
    seconds_per_second,
    tune,
    without_tolerance,
)
from scenes.simulate.recording import Recording
from scenes.simulate.run import Run, record, settings_of

FINER = 100  # how many times smaller the steps of a reference such as "impulse/100" are
SWEEP = (0.25, 0.5, 2.0, 4.0)  # times the substeps, and times the iterations
ROUNDS = 3  # of tuning for equal time

# What ends a run in the middle: a state that stops being finite, too many contacts, a number out of bounds.
FAILURES = (ArithmeticError, RuntimeError, ValueError)


@dataclass
class TimeBase:
    """Frames that all have: how far apart [s], and how many after the one at time zero."""

    interval: float
    frames: int

    @classmethod
    def of(cls, scene, duration, dt, fps):
        """Frames of whole steps of the scene's own solver. Arguments: as of `compare`."""
        duration = positive("duration", scene.duration if duration is None else duration)
        dt = settings_of(scene, scene.solver)["dt"] if dt is None else positive("dt", dt)
        running = min(1 / positive("fps", fps), duration)
        interval = max(1, round(running / dt)) * dt
        return cls(interval, max(1, round(duration / interval)))

    @property
    def duration(self):
        """Of a run [s]."""
        return self.frames * self.interval

    def step(self, dt):
        """The longest step of which whole ones make a frame [s]. Arguments: dt: how long at most."""
        count = max(1, int(np.ceil(self.interval / dt - 1e-9)))
        return dt if abs(count * dt / self.interval - 1) < 1e-9 else self.interval / count


class Contender:
    """A Variant on a TimeBase: what is run again and again, with this or that setting.

    Arguments: the Scene of the comparison; a Variant; a TimeBase; finer: how many times its substeps it makes.
    """

    def __init__(self, scene, variant, base, finer=1):
        self.scene = scene if variant.scene is None else variant.scene
        self.variant, self.base = variant, base
        own = {**settings_of(self.scene, variant.solver), **variant.settings}
        self.settings = {**variant.settings, "dt": base.step(own["dt"])}
        shorter = self.settings["dt"] / own["dt"]
        if shorter != 1 and own.get("damping"):  # what a step loses of the velocity: as much of it in a second
            self.settings["damping"] = 1 - (1 - own["damping"]) ** shorter
        if finer > 1:
            self.settings["substeps"] = finer * knobs(self.run())["substeps"]
        self.turned = knobs(self.run())
        self.terms = {}
        self.measured, self.start = None, None  # the Run that is timed, and its State at time zero

    def run(self, **settings):
        """A Run that has not begun. Arguments: settings, in place of its own."""
        settings = {**self.settings, **settings}
        dt = settings.pop("dt")
        return Run(self.scene, self.variant.solver, self.base.duration, dt, 1 / self.base.interval, **settings)

    def turn(self, turned, **terms):
        """Settle substeps and iterations, and note on what terms."""
        self.turned = turned
        self.settings |= {name: turned[name] for name in ("substeps", "iterations") if name in turned}
        self.settings |= without_tolerance(self.variant.solver)
        self.terms |= terms

    def maker(self, turned=None):
        """A function that gives a Run with these substeps and iterations, or its own, and no tolerance: always the same
        one, put back to its start, for to make one anew takes as long as many steps."""
        turned = dict(self.turned if turned is None else turned)

        def again():
            if self.measured is None:
                self.measured = self.run(**without_tolerance(self.variant.solver))
                self.start = self.measured.system.state()
            running = self.measured
            running.system.set_state(self.start)
            running.done, running.seconds = 0, []
            moved = running.particles or running.system
            for name in ("substeps", "iterations"):
                if name in turned:
                    setattr(moved, name, turned[name])
            return running

        return again

    def trace(self, progress=None, measured=True):
        """Run it: a Trace, without deviations, and where it is not `measured` without series."""
        solver, label = self.variant.solver, self.variant.label
        running, readings = self.run(), []

        def note(number, count):
            with np.errstate(over="ignore", invalid="ignore"):  # what diverges has large numbers, before it has none
                readings.append(read(running) if measured else {})
            if progress:
                progress(label, number, count)

        failure, recording = "", None
        try:
            recording = recorded(running, note)
        except FAILURES as error:
            recording = cut(getattr(error, "recording", None), len(readings))
            failure = str(error)
            if recording is not None and not hasattr(error, "time"):
                failure = f"after {recording.times[-1]:.6g} s: {failure}"
        about = {} if recording is None else recording.about
        series = {name: np.array([each[name] for each in readings]) for name in (readings[0] if readings else ())}
        if measured and readings:
            series["drift"] = series["total"] - series["total"][0]
            spent = 1e6 * np.array(running.seconds)[: len(readings) - 1]
            series["microseconds"] = np.concatenate([[np.nan], [np.nan] * bool(len(spent)), spent[1:]])
        if running.seconds:
            about = {**about, "seconds_per_second": mean_of_frames(running.seconds) / running.settings["dt"]}
        about |= self.terms
        settings = {**{name: value for name, value in running.settings.items() if plain(value)}, **self.turned}
        return Trace(solver, label, settings, recording, series, {}, about.get("digest", ""), failure, about)

    def sweep(self, trace, reference, probe):
        """Error against cost: a list as of Comparison.sweep. Arguments: its Trace; the reference's Recording; {name:
        Probe} of one."""
        points = [] if trace.failure else [self.point(trace.recording, self.turned, reference, probe)]
        for knob in ("substeps", "iterations"):
            for factor in SWEEP if knob in self.turned else ():
                turned = {**self.turned, knob: round(factor * self.turned[knob])}
                if turned[knob] < 1 or turned[knob] == self.turned[knob]:
                    continue
                try:
                    recording = recorded(self.run(**{knob: turned[knob]}))
                except FAILURES:
                    continue  # it does not hold with so few
                points.append(self.point(recording, turned, reference, probe))
        return sorted(points, key=lambda point: point[0])

    def point(self, recording, turned, reference, probe):
        """One point of a sweep."""
        (apart,) = deviations(self.scene, recording, reference, probe).values()
        per_second = recording.about["microseconds_per_step"] / turned["dt"]
        return per_second, float(np.nanmax(apart)), dict(turned)


def recorded(running, progress=None):
    """The Recording of a Run, as scenes.simulate.run.record has it, but none of one that was interrupted."""
    recording = record(running, progress)
    if recording.about.get("interrupted"):
        raise KeyboardInterrupt
    return recording


def plain(value):
    """Whether a setting is a plain value."""
    return isinstance(value, (bool, int, float, str))


def cut(recording, frames):
    """The first frames of a Recording; None of none."""
    if recording is None or not frames:
        return None
    return Recording(recording.about, *(getattr(recording, name)[:frames] for name in Recording.ARRAYS))


# Equal terms ----------------------------------------------------------------------------------------------------------


def equalise(contenders, equal):
    """Give all the same iterations, or the same time, for a simulated second. Arguments: Contenders; "iterations" or
    "time"."""
    if equal == "time":
        equalise_time(contenders)
        return
    rate = next((rate for each in contenders if (rate := iteration_rate(each.turned))), None)
    for each in contenders:
        if "iterations" in each.turned:
            turned = {**each.turned, "iterations": iterations_for(each.turned, rate)}
            each.turn(turned, iterations_per_second=iteration_rate(turned))


def equalise_time(contenders):
    """Tune all to the one that spends most; what they come to is measured again, and tuned again where it is off.

    Where whole substeps and iterations do not come near enough, that one makes twice the substeps.
    """
    spent = {}
    for each in contenders:
        with suppress(*FAILURES):  # one that does not come to the end has no time for it, as its trace will tell
            (spent[each],) = seconds_per_second([each.maker()], 2)
    if not spent:
        return
    most = max(spent, key=spent.get)
    for each in spent:
        each.turn(each.turned)
    off = {each: 0.0 for each in spent if each is not most}
    for _ in range(ROUNDS):
        if any(amount > WITHIN for amount in off.values()):
            most.turn({**most.turned, "substeps": 2 * most.turned["substeps"]})
            off = {each: 0.0 for each in spent if each is not most}
        for each in off:
            each.turn(tune(lambda turned, each=each: share(each, turned, most), each.turned, 1.0)[0])
        spent = dict(zip(spent, seconds_per_second([each.maker() for each in spent], 4)))
        away = {each: abs(own / spent[most] - 1) for each, own in spent.items()}
        off = {each: amount for each, amount in away.items() if amount > WITHIN / 2}
        if not off:
            break
    for each, own in spent.items():
        each.terms |= {"seconds_per_second": float(own), "equal_time": float(own / max(spent.values()))}


def share(contender, turned, other):
    """What a Contender spends with these substeps and iterations, as a part of what another does."""
    own, most = seconds_per_second([contender.maker(turned), other.maker()], 2)
    return own / most
