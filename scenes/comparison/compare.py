"""Compare several solvers on one scene, with one time base.

The solvers share the instants of the frames, so nothing is interpolated. The data flows one way: variants, runs,
recordings, a Comparison, files.
"""

import rigid
from pbd.core.validate import one_of, positive
from scenes.comparison.comparison_run import FINER, ComparisonRun, TimeBase, equalise
from scenes.comparison.probes import chosen, deviations, probes_of
from scenes.comparison.results import Comparison, Trace, Variant
from scenes.parameters import convert
from scenes.registry import load
from scenes.scene import Scene
from scenes.simulate.device import initialise
from scenes.simulate.settings import checked_options

__all__ = ["Comparison", "ComparisonPlan", "Trace", "Variant", "compare"]

EQUAL = ("iterations", "time")


def compare(scene, solvers=None, reference=None, equal=None, duration=None, dt=None, probes=None, fps=60.0, cost=False,
            settings=None, progress=None):  # fmt: skip
    """Run a scene with several solvers and compare them.

    Args:
        scene: a Scene, or the name of a scene of the catalogue.
        solvers: names of solvers, or Variants; None for all solvers that can run the scene.
        reference: the run that the others are compared with: the name of a solver, a label, or "SOLVER/100" for that
            solver with steps a hundred times smaller. None for the scene's own solver; with `cost`, for that solver
            with smaller steps.
        equal: None: each solver runs with the settings that the scene has for it.
            "iterations": all solvers make as many iterations per simulated second as the scene's own solver, or as the
            first solver that makes any.
            "time": substeps, then iterations, are tuned until each solver takes as much wall time per simulated second
            as the slowest, within a tenth. If whole numbers do not come that near, the slowest solver gets twice its
            substeps.
            "iterations" and "time" switch off the tolerances by which solvers stop early.
        duration: [s]; None for the scene's own.
        dt: time step of all solvers [s]; None for the scene's own.
        probes: names of the probes to follow, see scenes/comparison/probes.py; None for all bodies, joints and
            particles.
        fps: frames per second [1/s]. The interval between frames is a whole number of steps of the scene's own solver.
            A solver whose step does not divide the interval gets the longest shorter step that does. A run lasts for a
            whole number of frames.
        cost: whether each solver also runs with more and fewer substeps and iterations, for a plot of error and cost.
        settings: {solver: dt and options}, which replace the scene's; values or text.
        progress: called with a label, the number of a frame and the number of frames.

    Returns: a Comparison. It names each solver that cannot run the scene, with the reason. A solver that fails during
    its run has a Trace until that moment.

    Raises: ValueError for an unknown solver, probe or option, and if no solver is left to compare.
    """
    return ComparisonPlan(scene, solvers, reference, equal, duration, dt, probes, fps, cost, settings).run(progress)


class ComparisonPlan:
    """A comparison before it runs: its runs, their settings and the frames.

    Args: see `compare`.

    Raises: see `compare`. An error of `run` is not caused by these arguments.
    """

    def __init__(self, scene, solvers=None, reference=None, equal=None, duration=None, dt=None, probes=None, fps=60.0,
                 cost=False, settings=None):  # fmt: skip
        self.scene = load(scene) if isinstance(scene, str) else scene
        if not isinstance(self.scene, Scene):
            raise TypeError(f"scene is {scene!r}: expected a Scene, or the name of one")
        initialise()
        self.equal = equal if equal is None else one_of("equal", equal, EQUAL)
        self.cost, self.probes = cost, chosen(self.scene, probes)
        variants = make_variants(self.scene, solvers, settings or {}, dt)
        base = TimeBase.of(self.scene, duration, dt, fps)
        self.unsupported = self.scene.reasons if solvers is None else {}
        added = [] if reference is None else added_variants(variants, reference)
        self.runs = self._make_runs(variants, base)
        if reference is None:
            reference = self.scene.solver if self.scene.solver in self.runs else next(iter(self.runs), None)
            if cost and reference is not None:
                reference = f"{reference}/{FINER}"
                added = added_variants(variants, reference)
        self.runs |= self._make_runs(added, base, FINER if str(reference).endswith(f"/{FINER}") else 1)
        if reference not in self.runs:
            subject = "no solver can" if reference is None else f"reference {reference!r} cannot"
            raise ValueError(f"{subject} run scene {self.scene.name}: {'; '.join(self.unsupported.values())}")
        self.reference = reference
        self.compared = [variant.label for variant in variants if variant.label in self.runs]

    def _make_runs(self, variants, base, finer=1):
        """Make runs by label; a variant that cannot run the scene goes to `unsupported`, with the reason."""
        made = {}
        for variant in variants:
            try:
                made[variant.label] = ComparisonRun(self.scene, variant, base, finer)
            except (NotImplementedError, ValueError) as error:
                self.unsupported[variant.label] = str(error)
        return made

    def run(self, progress=None, measured=True):
        """Run all and return a Comparison.

        Args: progress: see `compare`; measured: whether traces have series.

        Raises: KeyboardInterrupt after Ctrl-C; its attribute `comparison` holds the runs so far, or None.
        """
        if self.equal is not None:
            own_first = sorted(self.compared, key=lambda label: label != self.scene.solver)
            equalise([self.runs[label] for label in own_first], self.equal)
        order = [self.reference, *(label for label in self.runs if label != self.reference)]
        traces = []
        try:
            for label in order:
                traces.append(self.runs[label].trace(progress, measured))
                if traces[0].recording is None:
                    raise RuntimeError(f"reference {self.reference!r}: {traces[0].failure}")
            found = self._result(traces)
            for label in self.compared if self.cost else ():
                found.cost[label] = self._cost(label, found)
        except KeyboardInterrupt as stop:
            stop.comparison = self._result(traces) if traces else None
            raise
        return found

    def _result(self, traces):
        """Make a Comparison of traces, the reference first."""
        for trace in traces:
            if trace.recording is not None:
                trace.deviation = deviations(self.scene, trace.recording, traces[0].recording, self.probes)
        return Comparison(self.scene, traces, self.reference, self.unsupported, self.equal)

    def _cost(self, label, found):
        """Measure cost and error of one run, as in Comparison.cost; the error is that of the first probe."""
        probe = dict([next(iter(self.probes.items()))])
        return self.runs[label].cost(found.trace(label), found.traces[0].recording, probe)


def make_variants(scene, solvers, settings, dt):
    """Make a list of Variants with different labels and checked settings."""
    for solver in settings:
        one_of("solver in settings", solver, rigid.SOLVERS)
    given = scene.solvers if solvers is None else [solvers] if isinstance(solvers, (str, Variant)) else solvers
    variants = []
    for each in given:
        variant = each if isinstance(each, Variant) else Variant(one_of("solver", each, rigid.SOLVERS))
        one_of("solver", variant.solver, rigid.SOLVERS)
        own = {**({} if dt is None else {"dt": dt}), **settings.get(variant.solver, {}), **variant.settings}
        step = {"dt": positive("dt", convert("dt", own.pop("dt"), float))} if "dt" in own else {}
        options = checked_options(variant.solver, own, particles_only=scene.model is None)
        variants.append(Variant(variant.solver, variant.label, variant.scene, step | options))
        if variant.scene is not None and probes_of(variant.scene) != probes_of(scene):
            raise ValueError(
                f"scene of {variant.label!r}: expected the bodies, joints and particles of the compared scene"
            )
    labels = [variant.label for variant in variants]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"label {label!r} is given twice: expected different labels")
    if not labels:
        raise ValueError("solvers is empty: expected at least one solver")
    return variants


def added_variants(variants, reference):
    """Make the variants that a reference needs besides those compared: a list of one, or an empty list."""
    labels = [variant.label for variant in variants]
    if reference in labels:
        return []
    name, _, finer = str(reference).partition("/")
    if finer not in ("", str(FINER)):
        raise ValueError(f"reference is {reference!r}: expected SOLVER or SOLVER/{FINER}")
    if name not in labels:
        one_of("reference", name, tuple(dict.fromkeys([*labels, *rigid.SOLVERS])))
    like = variants[labels.index(name)] if name in labels else Variant(name)
    return [Variant(like.solver, reference, like.scene, like.settings)]
