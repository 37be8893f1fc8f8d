"""Comparing: one scene, several solvers, side by side on one time base.

A description, the runs of it, their recordings, a Comparison, files: each is made of the one before. Nothing is
interpolated: all solvers have whole steps at the instants of the frames.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import rigid
from pbd.validate import one_of, positive
from scenes import summary
from scenes.device import initialise
from scenes.measure import read
from scenes.probes import chosen, deviations
from scenes.recording import Recording
from scenes.run import Run, checked, record, settings_of
from scenes.scene import Scene, load
from scenes.tuning import (
    iteration_rate,
    iterations_for,
    knobs,
    mean_of_frames,
    seconds_per_second,
    tune,
    without_tolerance,
)

EQUAL = (None, "iterations", "time")
FINER = 100  # how many times smaller the steps of a reference such as "impulse/100" are
SWEEP = (0.25, 0.5, 2.0, 4.0)  # times the substeps, and times the iterations


@dataclass
class Variant:
    """One of those that are compared, where the name of a solver does not say it all.

    Arguments: solver: its name; label: what to call it, unique, the solver's name where None; scene: another Scene than
    the others have, of the same bodies; settings: dt and options, in place of the scene's.
    """

    solver: str
    label: str | None = None
    scene: Scene | None = None
    settings: dict = field(default_factory=dict)

    def __post_init__(self):
        self.label = self.label or self.solver


@dataclass
class Trace:
    """One solver's run in a comparison.

    Arguments:
        solver, label: its name, and what it is called here.
        settings: what it was run with, by name: dt [s], substeps, iterations, options.
        recording: a Recording, of the frames until it failed; None where there are none.
        series: {name: (frames,) or (frames, 3)} of what scenes.measure reads; besides "drift", the total energy less
            what it was first [J], and "microseconds" of a step, averaged over the frame: NaN in the first frame, which
            has none, and in the second, which loads the kernel.
        deviation: {probe: (frames,)} from the reference, [m] or [rad] (scenes/probes.py).
        digest: of the final state, sixteen hexadecimal digits; empty where it did not come to its end.
        failure: when and why it did not; empty where it did.
        about: what Recording.about says, and more of how it compares: plain values.
    """

    solver: str
    label: str
    settings: dict
    recording: Recording | None
    series: dict
    deviation: dict = field(default_factory=dict)
    digest: str = ""
    failure: str = ""
    about: dict = field(default_factory=dict)

    @property
    def times(self):
        """Of its frames (frames,) [s]."""
        return np.zeros(0) if self.recording is None else self.recording.times


@dataclass
class Comparison:
    """What `compare` found: plain data.

    Arguments:
        scene: the Scene.
        traces: a Trace of each that ran, the reference first.
        reference: its label.
        cannot: {label: why} of those that cannot run the scene.
        equal: None, "iterations" or "time".
        sweep: {label: [(microseconds of wall time for a simulated second, error, settings), ...]}, by cost; the error
            is the largest deviation of the first probe. Empty where it was not asked for.
    """

    scene: Scene
    traces: list
    reference: str
    cannot: dict = field(default_factory=dict)
    equal: str | None = None
    sweep: dict = field(default_factory=dict)

    def trace(self, label):
        """The Trace of a label."""
        labels = [trace.label for trace in self.traces]
        return self.traces[labels.index(one_of("label", label, labels))]

    def rows(self):
        """A table: a dict of plain values for each trace, and for each that cannot run; see scenes/summary.py."""
        return summary.rows(self)

    def save(self, directory):
        """Write what was found: summary.json, summary.csv. Arguments: a directory. Returns: the paths."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        return summary.write(self, directory)


def compare(scene, solvers=None, reference=None, equal=None, duration=None, dt=None, probes=None, fps=60.0, sweep=False,
            settings=None, progress=None):  # fmt: skip
    """Run a scene with several solvers, and compare them.

    Arguments:
        scene: a Scene, or the name of one of the catalogue.
        solvers: names, or Variants; None for all that can run the scene.
        reference: what the others are held against: a solver's name or a label; or "SOLVER/100", that solver with steps
            a hundred times smaller. None for the scene's own solver, and with `sweep` for that with smaller steps.
        equal: None: each with the settings that the scene has for it. "iterations": as many in a simulated second as
            the first has that makes any. "time": substeps, then iterations, tuned until each spends as much wall time
            on a simulated second as the one that spends most, within a tenth. Both switch tolerances off, with which
            solvers stop early.
        duration: [s]; None for the scene's own. dt: time step of all [s]; None for the scene's own.
        probes: names of what is followed, see scenes/probes.py; None for all bodies, joints and particles.
        fps: frames a second [1/s]. They are as far apart as whole steps of the scene's own solver come to; a solver of
            whose steps no whole number makes that gets shorter ones, as long as possible. A run lasts for whole frames.
        sweep: whether each is run with more and fewer substeps and iterations too, for error against cost.
        settings: {solver: dt and options}, in place of the scene's, as values or as text.
        progress: called with a label, the number of a frame and how many there will be.

    Returns: a Comparison. A solver that cannot run the scene is named there, with the reason; one that fails on the way
    has a Trace until then.

    Errors: ValueError for an unknown solver, probe or option, and where nothing is left to compare.
    """
    scene = load(scene) if isinstance(scene, str) else scene
    if not isinstance(scene, Scene):
        raise TypeError(f"scene is {scene!r}: expected a Scene, or the name of one")
    initialise()
    one_of("equal", equal, EQUAL)
    probes = chosen(scene, probes)
    variants = variants_of(scene, solvers, settings or {}, dt)
    reference, added = reference_of(scene, variants, reference, sweep)
    base = TimeBase.of(scene, duration, dt, fps)
    cannot = {} if solvers is not None else dict(scene.cannot)
    made, why = {}, {}
    for variant in [*variants, *added]:
        try:
            made[variant.label] = Contender(scene, variant, base)
        except (NotImplementedError, ValueError) as error:
            why[variant.label] = str(error)
    if reference in why:
        raise ValueError(f"reference {reference!r}: {why[reference]}")
    cannot |= why
    if equal is not None:
        equalise([made[variant.label] for variant in variants if variant.label in made], equal)
    order = [reference, *(label for label in made if label != reference)]
    traces = [made[label].trace(progress) for label in order]
    if traces[0].recording is None:
        raise ValueError(f"reference {reference!r}: {traces[0].failure}")
    for trace in traces:
        if trace.recording is not None:
            trace.deviation = deviations(scene, trace.recording, traces[0].recording, probes)
    found = Comparison(scene, traces, reference, cannot, equal)
    if sweep:
        probe = dict([next(iter(probes.items()))])
        labels = [variant.label for variant in variants if variant.label in made]
        found.sweep = {label: made[label].sweep(found.trace(label), traces[0].recording, probe) for label in labels}
    return found


# Who is compared ------------------------------------------------------------------------------------------------------


def variants_of(scene, solvers, settings, dt):
    """All that are compared, as Variants of labels of their own; each with its settings checked."""
    for solver in settings:
        one_of("solver in settings", solver, rigid.SOLVERS)
    given = scene.solvers if solvers is None else [solvers] if isinstance(solvers, (str, Variant)) else solvers
    variants = []
    for each in given:
        variant = each if isinstance(each, Variant) else Variant(one_of("solver", each, rigid.SOLVERS))
        one_of("solver", variant.solver, rigid.SOLVERS)
        own = {**({} if dt is None else {"dt": dt}), **settings.get(variant.solver, {}), **variant.settings}
        step = {"dt": positive("dt", float(own.pop("dt")))} if "dt" in own else {}
        variants.append(Variant(variant.solver, variant.label, variant.scene, step | checked(variant.solver, own)))
    labels = [variant.label for variant in variants]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label!r} is compared twice: expected labels of their own")
    if not labels:
        raise ValueError("nothing to compare: expected solvers")
    return variants


def reference_of(scene, variants, reference, sweep):
    """The label of the reference, and a list of what has to be run for it besides."""
    labels = [variant.label for variant in variants]
    if reference is None:
        reference = scene.solver if scene.solver in labels else labels[0]
        if sweep:
            reference = f"{reference}/{FINER}"
    if reference in labels:
        return reference, []
    name, _, finer = str(reference).partition("/")
    if finer not in ("", str(FINER)):
        raise ValueError(f"reference is {reference!r}: expected a solver, or one with /{FINER} behind it")
    if name not in labels:
        one_of("reference", name, dict.fromkeys([*labels, *rigid.SOLVERS]))
    like = variants[labels.index(name)] if name in labels else Variant(name)
    return reference, [Variant(like.solver, reference, like.scene, like.settings)]


# How they are run -----------------------------------------------------------------------------------------------------


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
    """A Variant on a TimeBase: what is run again and again, with this or that setting."""

    def __init__(self, scene, variant, base):
        self.scene = scene if variant.scene is None else variant.scene
        self.variant, self.base = variant, base
        own = {**settings_of(self.scene, variant.solver), **variant.settings}
        self.settings = {**variant.settings, "dt": base.step(own["dt"])}
        lost = float(own.get("damping", 0.0)) if variant.solver == "verlet" else 0.0
        if lost:  # what a step loses of the velocity, as much of it in a second
            self.settings["damping"] = 1 - (1 - lost) ** (self.settings["dt"] / own["dt"])
        if variant.label.endswith(f"/{FINER}"):
            self.settings["substeps"] = FINER * knobs(self.run())["substeps"]
        self.turned = knobs(self.run())
        self.terms = {}

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

    def cost(self, turned, repeats=2):
        """Wall time of a simulated second with these substeps and iterations, no tolerance [s]."""
        chosen = {name: turned[name] for name in ("substeps", "iterations") if name in turned}
        chosen |= without_tolerance(self.variant.solver)
        return seconds_per_second(lambda: self.run(**chosen), repeats)

    def trace(self, progress=None):
        """Run it: a Trace, without deviations."""
        solver, label = self.variant.solver, self.variant.label
        running, readings = self.run(), []

        def note(number, count):
            readings.append(read(running))
            if progress:
                progress(label, number, count)

        failure, recording = "", None
        try:
            recording = record(running, note)
        except (ArithmeticError, RuntimeError, ValueError) as error:
            recording = cut(getattr(error, "recording", None), len(readings))
            failure = str(error)
            if recording is not None and not hasattr(error, "time"):
                failure = f"after {recording.times[-1]:.6g} s: {failure}"
        if recording is not None and recording.about.get("interrupted"):
            raise KeyboardInterrupt
        about = {} if recording is None else recording.about
        series = {name: np.array([each[name] for each in readings]) for name in (readings[0] if readings else ())}
        if series:
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
                    recording = record(self.run(**{knob: turned[knob]}))
                except (ArithmeticError, RuntimeError, ValueError, NotImplementedError):
                    continue  # it does not hold with so few
                points.append(self.point(recording, turned, reference, probe))
        return sorted(points, key=lambda point: point[0])

    def point(self, recording, turned, reference, probe):
        """One point of a sweep."""
        (apart,) = deviations(self.scene, recording, reference, probe).values()
        per_second = recording.about["microseconds_per_step"] / turned["dt"]
        return per_second, float(np.nanmax(apart)), dict(turned)


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
    if equal == "iterations":
        rate = next((rate for each in contenders if (rate := iteration_rate(each.turned))), None)
        for each in contenders:
            if "iterations" in each.turned:
                turned = {**each.turned, "iterations": iterations_for(each.turned, rate)}
                each.turn(turned, iterations_per_second=iteration_rate(turned))
        return
    spent = [each.cost(each.turned) for each in contenders]
    budget = max(spent)
    for each, own in zip(contenders, spent):
        turned = each.turned if own == budget else tune(each.cost, each.turned, budget)[0]
        each.turn(turned)
    # Measured again, one after another in turn, so that what the machine does meanwhile strikes all alike.
    again = [[each.cost(each.turned, 1) for each in contenders] for _ in range(3)]
    least = np.min(again, axis=0)
    for each, own in zip(contenders, least):
        each.terms |= {"seconds_per_second": float(own), "equal_time": float(own / least.max())}

