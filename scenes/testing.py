"""For tests of one's own: solvers that are to agree.

    from scenes.testing import assert_solvers_agree

    def test_the_crane_swings_alike():
        assert_solvers_agree(crane(), ["verlet", "impulse"], probe="hook", tolerance=0.01, duration=2.0)

scenes/pytest_plugin.py has the same as a fixture. Nothing here is imported, and no kernel compiled, before it is used.
"""

import re
from pathlib import Path

import numpy as np

from scenes.comparison.compare import Comparing
from scenes.comparison.probes import deviations, probes_of, unit_of


def assert_solvers_agree(
    scene, solvers=None, probe=None, *, tolerance, duration=None, reference=None, dt=None, fps=60.0, folder=None,
    name=None, **settings,
):  # fmt: skip
    """Run a scene with several solvers, and fail where one goes another way.

    Arguments:
        scene: a Scene, or the name of one of the catalogue.
        solvers: names, or scenes.Variants, which may have scenes of their own; None for all that can run the scene.
        probe: what is followed, a name or several (scenes/comparison/probes.py); None for the position of the body, or the
            particle, that is farthest off.
        tolerance: how far from the reference each may be, at every frame [m or rad, as the probe].
        duration, dt [s], fps [1/s]: as of scenes.compare.
        reference: a solver or a label, "SOLVER/100" for steps a hundred times smaller; None for the one with which most
            of the others agree.
        folder: where the plot of a failure goes, as PNG; None for the directory one is in. name: of the plot, without
            suffix; None for one made of the scene's.
        settings: options of solvers, by the solver's name: impulse={"iterations": 50}.

    Returns: the scenes.Comparison, held against the reference, without series of what is measured.

    Errors: AssertionError, which says who deviates, when first, where and by how much, who agrees, and where the plot
    is (its attribute `plot`, a Path); also where a solver cannot run the scene, or fails on the way. ValueError for
    solvers, probes and options that do not exist.
    """
    __tracebackhide__ = True
    comparing = Comparing(scene, solvers, reference, None, duration, dt, probe, fps, settings=settings)
    if probe is None:
        first = next(iter(comparing.probes))
        comparing.probes = {first: comparing.probes[first]}
    comparison = comparing.run(measured=False)
    if reference is None:
        hold_against_most(comparison, comparing.probes, tolerance)
    wrong = [trace for trace in comparison.traces if trace.failure or passed(trace, tolerance)]
    if not wrong and not comparison.unsupported:
        return comparison
    lines = [f"solvers do not agree in scene {comparison.scene.name or 'given'} to {tolerance:g}, all against "
             f"{comparison.reference}:"]  # fmt: skip
    lines += [f"  {label} cannot run it: {why}" for label, why in comparison.unsupported.items()]
    lines += [f"  {line}" for trace in wrong for line in accusation(comparison, trace, tolerance)]
    right = [worst(trace) for trace in comparison.traces if trace not in wrong and trace.label != comparison.reference]
    if right:
        lines.append(f"who agrees: {', '.join(right)}")
    error = AssertionError()
    error.plot = draw(comparison, tolerance, folder, name) if wrong else None
    if error.plot:
        lines.append(f"plot: {error.plot}")
    error.args = ("\n".join(lines),)
    raise error


def hold_against_most(comparison, probes, tolerance):
    """Make the trace with which most others agree the reference; of several the one that is it already, or the first.

    Arguments: a Comparison, which is changed; probes: {name: Probe}; tolerance [m or rad].
    """
    scene, traces = comparison.scene, [trace for trace in comparison.traces if not trace.failure]
    if not traces:
        return

    def seen_from(centre):
        return [(trace, deviations(scene, trace.recording, centre.recording, probes)) for trace in traces]

    def agreeing(centre):
        return sum(max(map(np.nanmax, found.values())) <= tolerance for _, found in seen_from(centre))

    centre = max(traces, key=agreeing)  # the first of those with most
    comparison.reference = centre.label
    comparison.traces.sort(key=lambda trace: trace is not centre)
    for trace in comparison.traces:
        if trace.recording is not None:
            trace.deviation = deviations(scene, trace.recording, centre.recording, probes)


def passed(trace, tolerance):
    """{probe: number of the first frame} in which a Trace is beyond the tolerance."""
    found = {probe: np.flatnonzero(apart > tolerance) for probe, apart in trace.deviation.items()}
    return {probe: int(frames[0]) for probe, frames in found.items() if len(frames)}


def accusation(comparison, trace, tolerance):
    """Lines on a Trace that deviates or has failed."""
    lines = [f"{trace.label} failed: {trace.failure}"] if trace.failure else []
    for probe, frame in passed(trace, tolerance).items():
        apart, unit, where = trace.deviation[probe], unit_of(probe), whose(comparison, trace, probe, frame)
        last = int(np.nanargmax(apart))
        first, most = (f"at {trace.times[k]:.4g} s by {apart[k]:.4g} {unit}" for k in (frame, last))
        lines.append(f"{trace.label} deviates, first {first} in {where}, most {most}")
    return lines


def whose(comparison, trace, probe, frame):
    """Which body or joint it is that is farthest off at a frame: a probe's name. Particles have none, and are given by
    number."""
    every = probes_of(comparison.scene)
    reference = comparison.trace(comparison.reference).recording
    if probe == "particles":
        apart = np.linalg.norm(trace.recording.positions[frame] - reference.positions[frame], axis=-1)
        return f"particle {int(np.argmax(apart))}"
    own = {name: each for name, each in every.items() if each.kind == probe and name != probe}
    if not own:
        return probe
    apart = deviations(comparison.scene, trace.recording, reference, own)
    return max(own, key=lambda name: apart[name][frame])


def worst(trace):
    """How far one that agrees is off, at most."""
    off = ", ".join(f"{np.nanmax(apart):.3g} {unit_of(probe)}" for probe, apart in trace.deviation.items())
    return f"{trace.label} (to {off})"


def draw(comparison, tolerance, folder, name):
    """Plot all deviations, and the tolerance. Returns: the path."""
    from scenes.comparison.report.plots import plot_deviation

    folder = Path.cwd() if folder is None else Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = name or f"{comparison.scene.name or 'scene'}-disagrees"
    path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name).strip('-')}.png"
    plot_deviation(comparison, path, tolerance)
    return path
