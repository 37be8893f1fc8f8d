"""Comparing: one scene, several solvers, side by side on one time base.

A description, the runs of it, their recordings, a Comparison, files: each is made of the one before. Nothing is
interpolated: all solvers have whole steps at the instants of the frames.
"""

import rigid
from pbd.core.validate import one_of, positive
from scenes.comparison.comparison_run import FINER, Contender, TimeBase, equalise
from scenes.comparison.probes import chosen, deviations, probes_of
from scenes.comparison.results import Comparison, Trace, Variant
from scenes.registry import load
from scenes.scene import Scene
from scenes.simulate.device import initialise
from scenes.simulate.run import checked

__all__ = ["Comparing", "Comparison", "Trace", "Variant", "compare"]

EQUAL = ("iterations", "time")


def compare(scene, solvers=None, reference=None, equal=None, duration=None, dt=None, probes=None, fps=60.0, sweep=False,
            settings=None, progress=None):  # fmt: skip
    """Run a scene with several solvers, and compare them.

    Arguments:
        scene: a Scene, or the name of one of the catalogue.
        solvers: names, or Variants; None for all that can run the scene.
        reference: what the others are held against: a solver's name or a label; or "SOLVER/100", that solver with steps
            a hundred times smaller. None for the scene's own solver, and with `sweep` for that with smaller steps.
        equal: None: each with the settings that the scene has for it. "iterations": as many in a simulated second as
            the scene's own solver makes, or else the first that makes any. "time": substeps, then iterations, tuned
            until each spends as much wall time on a simulated second as the one that spends most, within a tenth (or
            as that one does with twice the substeps, where whole ones do not come as near). Both switch tolerances
            off, with which solvers stop early.
        duration: [s]; None for the scene's own. dt: time step of all [s]; None for the scene's own.
        probes: names of what is followed, see scenes/comparison/probes.py; None for all bodies, joints and particles.
        fps: frames a second [1/s]. They are as far apart as whole steps of the scene's own solver come to; a solver of
            whose steps no whole number makes that gets shorter ones, as long as possible. A run lasts for whole frames.
        sweep: whether each is run with more and fewer substeps and iterations too, for error against cost.
        settings: {solver: dt and options}, in place of the scene's, as values or as text.
        progress: called with a label, the number of a frame and how many there will be.

    Returns: a Comparison. A solver that cannot run the scene is named there, with the reason; one that fails on the way
    has a Trace until then.

    Errors: ValueError for an unknown solver, probe or option, and where nothing is left to compare.
    """
    return Comparing(scene, solvers, reference, equal, duration, dt, probes, fps, sweep, settings).run(progress)


class Comparing:
    """A comparison before anything is run: who, with what settings, on which frames. Arguments: as of `compare`.

    Errors: as of `compare`; what `run` raises is no fault of what was asked for.
    """

    def __init__(self, scene, solvers=None, reference=None, equal=None, duration=None, dt=None, probes=None, fps=60.0,
                 sweep=False, settings=None):  # fmt: skip
        self.scene = load(scene) if isinstance(scene, str) else scene
        if not isinstance(self.scene, Scene):
            raise TypeError(f"scene is {scene!r}: expected a Scene, or the name of one")
        initialise()
        self.equal = equal if equal is None else one_of("equal", equal, EQUAL)
        self.sweep, self.probes = sweep, chosen(self.scene, probes)
        variants = variants_of(self.scene, solvers, settings or {}, dt)
        base = TimeBase.of(self.scene, duration, dt, fps)
        self.unsupported = why_not(self.scene) if solvers is None else {}
        added = [] if reference is None else added_for(variants, reference)
        self.contenders = self._made(variants, base)
        if reference is None:
            reference = self.scene.solver if self.scene.solver in self.contenders else next(iter(self.contenders), None)
            if sweep and reference is not None:
                reference = f"{reference}/{FINER}"
                added = added_for(variants, reference)
        self.contenders |= self._made(added, base, FINER if str(reference).endswith(f"/{FINER}") else 1)
        if reference not in self.contenders:
            whose = "no solver can" if reference is None else f"reference {reference!r} cannot"
            raise ValueError(f"{whose} run scene {self.scene.name}: {'; '.join(self.unsupported.values())}")
        self.reference = reference
        self.compared = [variant.label for variant in variants if variant.label in self.contenders]

    def _made(self, variants, base, finer=1):
        """Contenders by label, of those that can run the scene; what the others say is in `unsupported`."""
        made = {}
        for variant in variants:
            try:
                made[variant.label] = Contender(self.scene, variant, base, finer)
            except (NotImplementedError, ValueError) as error:
                self.unsupported[variant.label] = str(error)
        return made

    def run(self, progress=None, measured=True):
        """Run them all: a Comparison. Arguments: progress: as of `compare`; measured: whether traces have series.

        After Ctrl-C, the KeyboardInterrupt has as its attribute `comparison` what there was until then, or None.
        """
        if self.equal is not None:
            own_first = sorted(self.compared, key=lambda label: label != self.scene.solver)
            equalise([self.contenders[label] for label in own_first], self.equal)
        order = [self.reference, *(label for label in self.contenders if label != self.reference)]
        traces = []
        try:
            for label in order:
                traces.append(self.contenders[label].trace(progress, measured))
                if traces[0].recording is None:
                    raise RuntimeError(f"reference {self.reference!r}: {traces[0].failure}")
            found = self._found(traces)
            for label in self.compared if self.sweep else ():
                found.sweep[label] = self._sweep(label, found)
        except KeyboardInterrupt as stop:
            stop.comparison = self._found(traces) if traces else None
            raise
        return found

    def _found(self, traces):
        """A Comparison of Traces, the reference first."""
        for trace in traces:
            if trace.recording is not None:
                trace.deviation = deviations(self.scene, trace.recording, traces[0].recording, self.probes)
        return Comparison(self.scene, traces, self.reference, self.unsupported, self.equal)

    def _sweep(self, label, found):
        """Points of one's sweep, as of Comparison.sweep; of the first probe."""
        probe = dict([next(iter(self.probes.items()))])
        return self.contenders[label].sweep(found.trace(label), found.traces[0].recording, probe)


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
        if variant.scene is not None and probes_of(variant.scene) != probes_of(scene):
            raise ValueError(f"scene of {variant.label!r} has other bodies, joints or particles than the one compared")
    labels = [variant.label for variant in variants]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label!r} is compared twice: expected labels of their own")
    if not labels:
        raise ValueError("nothing to compare: expected solvers")
    return variants


def added_for(variants, reference):
    """What has to be run for a reference besides the Variants: a list of one Variant, or of none."""
    labels = [variant.label for variant in variants]
    if reference in labels:
        return []
    name, _, finer = str(reference).partition("/")
    if finer not in ("", str(FINER)):
        raise ValueError(f"reference is {reference!r}: expected a solver, or one with /{FINER} behind it")
    if name not in labels:
        one_of("reference", name, tuple(dict.fromkeys([*labels, *rigid.SOLVERS])))
    like = variants[labels.index(name)] if name in labels else Variant(name)
    return [Variant(like.solver, reference, like.scene, like.settings)]


def why_not(scene):
    """{solver: why} of those that nobody needs to try on a scene."""
    reasons = {solver: "it moves bodies alone, and the scene has particles" for solver in rigid.SOLVERS}
    return {solver: why for solver, why in (reasons | scene.unsupported).items() if solver not in scene.solvers}
