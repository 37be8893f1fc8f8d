"""A run of a comparison: one variant, on the frames that all variants share."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

import pbd
from pbd.core.validate import positive
from scenes.comparison.measure import read
from scenes.comparison.probes import deviations
from scenes.comparison.results import Trace
from scenes.comparison.tuning import (
    WITHIN,
    iteration_rate,
    iterations_for,
    mean_of_frames,
    seconds_per_second,
    step_settings,
    tune,
    without_tolerance,
)
from scenes.simulate.recording import Recording
from scenes.simulate.run import Run, record, recording_before
from scenes.simulate.settings import settings_of

FINER = 100  # how many times smaller the steps of a reference such as "impulse/100" are
FACTORS = (0.25, 0.5, 2.0, 4.0)  # factors of the substeps, and of the iterations
ROUNDS = 3  # of tuning for equal time

# Errors that end a run early: a state that is not finite, too many contacts, a number out of bounds.
FAILURES = (ArithmeticError, RuntimeError, ValueError)


@dataclass
class TimeBase:
    """The frames that all runs share: the interval [s], and the number of frames after the one at time zero."""

    interval: float
    frames: int

    @classmethod
    def of(cls, scene, duration, dt, fps):
        """Make frames of whole steps of the scene's own solver. Args: see `compare`."""
        duration = positive("duration", scene.duration if duration is None else duration)
        dt = settings_of(scene, scene.solver)["dt"] if dt is None else positive("dt", dt)
        running = min(1 / positive("fps", fps), duration)
        interval = max(1, round(running / dt)) * dt
        return cls(interval, max(1, round(duration / interval)))

    @property
    def duration(self):
        """Duration of a run [s]."""
        return self.frames * self.interval

    def step(self, dt):
        """Find the longest step that divides the interval [s]. Args: dt: upper bound [s]."""
        count = max(1, int(np.ceil(self.interval / dt - 1e-9)))
        return dt if abs(count * dt / self.interval - 1) < 1e-9 else self.interval / count


class ComparisonRun:
    """A Variant on a TimeBase, which can run several times with different settings.

    Args: scene: of the comparison; variant: a Variant; base: a TimeBase; finer: factor of its substeps.

    Attributes: step_settings: {"dt", "substeps", "iterations"}; about: what Trace.about gets besides the recording's.
    """

    def __init__(self, scene, variant, base, finer=1):
        self.scene = scene if variant.scene is None else variant.scene
        self.variant, self.base = variant, base
        own = {**settings_of(self.scene, variant.solver), **variant.settings}
        self.settings = {**variant.settings, "dt": base.step(own["dt"])}
        shorter = self.settings["dt"] / own["dt"]
        if shorter != 1 and own.get("damping"):  # damping is per step: keep the loss per second
            self.settings["damping"] = 1 - (1 - own["damping"]) ** shorter
        if finer > 1:
            self.settings["substeps"] = finer * step_settings(self.run())["substeps"]
        self.step_settings = step_settings(self.run())
        self.about = {}
        self.measured, self.start = None, None  # the Run that is timed, and its State at time zero

    def run(self, **settings):
        """Make a Run. Args: settings: replace this run's own."""
        settings = {**self.settings, **settings}
        dt = settings.pop("dt")
        return Run(self.scene, self.variant.solver, self.base.duration, dt, 1 / self.base.interval, **settings)

    def use(self, chosen, **about):
        """Adopt substeps and iterations, without a tolerance. Args: chosen: step settings; about: see the class."""
        self.step_settings = chosen
        self.settings |= {name: chosen[name] for name in ("substeps", "iterations") if name in chosen}
        self.settings |= without_tolerance(self.variant.solver)
        self.about |= about

    def maker(self, chosen=None):
        """Make a function that returns a Run at its start, without a tolerance.

        It always returns the same Run, reset to time zero, because a new one takes as long as many steps.

        Args: chosen: step settings; None for this run's own.
        """
        chosen = dict(self.step_settings if chosen is None else chosen)

        def restart():
            if self.measured is None:
                self.measured = self.run(**without_tolerance(self.variant.solver))
                self.start = self.measured.system.state()
            running = self.measured
            running.system.set_state(self.start)
            running.done, running.seconds = 0, []
            for name in ("substeps", "iterations"):
                if name in chosen:
                    setattr(running.system, name, chosen[name])
            return running

        return restart

    def trace(self, progress=None, measured=True):
        """Run, and return a Trace without deviations. Args: progress: see `compare`; measured: whether it has any."""
        solver, label = self.variant.solver, self.variant.label
        running, readings = self.run(), []

        def note(number, count):
            with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges has large numbers first
                readings.append(read(running) if measured else {})
            if progress:
                progress(label, number, count)

        failure, recording = "", None
        try:
            recording = recorded(running, note)
        except FAILURES as error:
            recording = first_frames(recording_before(error), len(readings))
            failure = str(error)
            if recording is not None and not isinstance(error, pbd.Diverged):  # which names the time
                failure = f"after {recording.times[-1]:.6g} s: {failure}"
        about = {} if recording is None else recording.about
        series = {name: np.array([each[name] for each in readings]) for name in (readings[0] if readings else ())}
        if measured and readings:
            series["drift"] = series["total"] - series["total"][0]
            spent = 1e6 * np.array(running.seconds)[: len(readings) - 1]
            series["microseconds"] = np.concatenate([[np.nan], [np.nan] * bool(len(spent)), spent[1:]])
        if running.seconds:
            about = {**about, "seconds_per_second": mean_of_frames(running.seconds) / running.settings["dt"]}
        about |= self.about
        plain = {name: value for name, value in running.settings.items() if isinstance(value, (bool, int, float, str))}
        settings = {**plain, **self.step_settings}
        return Trace(solver, label, settings, recording, series, {}, about.get("digest", ""), failure, about)

    def cost(self, trace, reference, probe):
        """Measure cost and error for several substeps and iterations: a list as in Comparison.cost.

        Args: trace: this run's Trace; reference: a Recording; probe: {name: Probe} of one probe.
        """
        points = [] if trace.failure else [self.point(trace.recording, self.step_settings, reference, probe)]
        for name in ("substeps", "iterations"):
            for factor in FACTORS if name in self.step_settings else ():
                chosen = {**self.step_settings, name: round(factor * self.step_settings[name])}
                if chosen[name] < 1 or chosen[name] == self.step_settings[name]:
                    continue
                try:
                    recording = recorded(self.run(**{name: chosen[name]}))
                except FAILURES:
                    continue  # it diverges with so few
                points.append(self.point(recording, chosen, reference, probe))
        return sorted(points, key=lambda point: point[0])

    def point(self, recording, chosen, reference, probe):
        """Make one point of error over cost."""
        (apart,) = deviations(self.scene, recording, reference, probe).values()
        per_second = recording.about["microseconds_per_step"] / chosen["dt"]
        return per_second, float(np.nanmax(apart)), dict(chosen)


def recorded(running, progress=None):
    """Record a Run like scenes.simulate.run.record, but raise KeyboardInterrupt after Ctrl-C."""
    recording = record(running, progress)
    if recording.about.get("interrupted"):
        raise KeyboardInterrupt
    return recording


def first_frames(recording, frames):
    """Cut a Recording to its first frames; None if there are none."""
    if recording is None or not frames:
        return None
    return Recording(recording.about, *(getattr(recording, name)[:frames] for name in Recording.ARRAYS))


# Equal iterations, equal time ----------------------------------------------------------------------------------------


def equalise(runs, equal):
    """Give all runs the same iterations or wall time per simulated second. Args: equal: "iterations" or "time"."""
    if equal == "time":
        equalise_time(runs)
        return
    rate = next((rate for each in runs if (rate := iteration_rate(each.step_settings))), None)
    for each in runs:
        if "iterations" in each.step_settings:
            chosen = {**each.step_settings, "iterations": iterations_for(each.step_settings, rate)}
            each.use(chosen, iterations_per_second=iteration_rate(chosen))


def equalise_time(runs):
    """Tune all runs to the slowest, then measure again and tune again where the times differ.

    If whole substeps and iterations do not come near enough, the slowest run gets twice its substeps.
    """
    spent = {}
    for each in runs:
        with suppress(*FAILURES):  # a run that fails has no time; its trace names the failure
            (spent[each],) = seconds_per_second([each.maker()], 2)
    if not spent:
        return
    slowest = max(spent, key=spent.get)
    for each in spent:
        each.use(each.step_settings)
    errors = {each: 0.0 for each in spent if each is not slowest}
    for _ in range(ROUNDS):
        if any(error > WITHIN for error in errors.values()):
            slowest.use({**slowest.step_settings, "substeps": 2 * slowest.step_settings["substeps"]})
            errors = {each: 0.0 for each in spent if each is not slowest}
        for each in errors:
            each.use(tune(lambda chosen, each=each: cost_ratio(each, chosen, slowest), each.step_settings, 1.0)[0])
        spent = dict(zip(spent, seconds_per_second([each.maker() for each in spent], 4)))
        away = {each: abs(own / spent[slowest] - 1) for each, own in spent.items()}
        errors = {each: error for each, error in away.items() if error > WITHIN / 2}
        if not errors:
            break
    for each, own in spent.items():
        each.about |= {"seconds_per_second": float(own), "equal_time": float(own / max(spent.values()))}


def cost_ratio(run, chosen, other):
    """Measure the wall time of a run with the chosen step settings, divided by that of another run."""
    own, most = seconds_per_second([run.maker(chosen), other.maker()], 2)
    return own / most
