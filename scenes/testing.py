"""Assertions for tests of solvers.

    from scenes.testing import assert_solvers_agree

    def test_crane():
        assert_solvers_agree(crane(), ["verlet", "impulse"], probe="hook", tolerance=0.01, duration=2.0)

scenes/pytest_plugin.py offers the same as a fixture.
"""

import re
from pathlib import Path

import numpy as np

from scenes.comparison.compare import ComparisonPlan
from scenes.comparison.probes import deviations, probes_of, unit_of


def assert_solvers_agree(
    scene, solvers=None, probe=None, *, tolerance, duration=None, reference=None, dt=None, fps=60.0, folder=None,
    name=None, **settings,
):  # fmt: skip
    """Run a scene with several solvers, and fail if one deviates from the reference.

    Args:
        scene: a Scene, or the name of a scene of the catalogue.
        solvers: names of solvers, or scenes.Variants, which can have scenes of their own; None for all solvers that can
            run the scene.
        probe: one or several names of probes (scenes/comparison/probes.py); None for the position of the body, or of
            the particle, that deviates most.
        tolerance: largest deviation allowed at any frame [m or rad, as the probe].
        duration, dt: [s], see scenes.compare.
        reference: a solver or a label, or "SOLVER/100" for that solver with steps a hundred times smaller; None for the
            run with which most others agree.
        fps: frames per second [1/s].
        folder: where the plot of a failure is written, as PNG; None for the current directory.
        name: of the plot, without suffix; None for the name of the scene.
        settings: options of solvers, by the name of the solver: impulse={"iterations": 50}.

    Returns: the scenes.Comparison with the reference, without measured series.

    Raises:
        AssertionError: if a solver deviates, cannot run the scene, or fails. The message names the solver, the first
            time, the place and the size of the deviation, the solvers that agree, and the plot (attribute `plot`, a
            Path or None).
        ValueError: for an unknown solver, probe or option.
    """
    __tracebackhide__ = True
    plan = ComparisonPlan(scene, solvers, reference, None, duration, dt, probe, fps, settings=settings)
    if probe is None:
        first = next(iter(plan.probes))
        plan.probes = {first: plan.probes[first]}
    comparison = plan.run(measured=False)
    if reference is None:
        use_majority_as_reference(comparison, plan.probes, tolerance)
    wrong = [trace for trace in comparison.traces if trace.failure or first_excess(trace, tolerance)]
    if not wrong and not comparison.unsupported:
        return comparison
    error = AssertionError()
    error.plot = draw(comparison, tolerance, folder, name) if wrong else None
    error.args = (failure_report(comparison, wrong, tolerance, error.plot),)
    raise error


def use_majority_as_reference(comparison, probes, tolerance):
    """Make the trace with which most others agree the reference; among equals, the first.

    Args: comparison: a Comparison, which is changed; probes: {name: Probe}; tolerance: [m or rad].
    """
    scene, traces = comparison.scene, [trace for trace in comparison.traces if not trace.failure]
    if not traces:
        return

    def count_agreeing(centre):
        found = (deviations(scene, trace.recording, centre.recording, probes) for trace in traces)
        return sum(max(map(np.nanmax, each.values())) <= tolerance for each in found)

    centre = max(traces, key=count_agreeing)  # the first of the best
    comparison.reference = centre.label
    comparison.traces.sort(key=lambda trace: trace is not centre)
    for trace in comparison.traces:
        if trace.recording is not None:
            trace.deviation = deviations(scene, trace.recording, centre.recording, probes)


def first_excess(trace, tolerance):
    """{probe: number of the first frame} at which a trace exceeds the tolerance."""
    found = {probe: np.flatnonzero(apart > tolerance) for probe, apart in trace.deviation.items()}
    return {probe: int(frames[0]) for probe, frames in found.items() if len(frames)}


def failure_report(comparison, wrong, tolerance, plot):
    """Make the message of a failed assertion. Args: comparison; wrong: traces; tolerance; plot: a path, or None."""
    lines = [f"solvers disagree in scene {comparison.scene.name!r}, tolerance {tolerance:g}, "
             f"reference {comparison.reference}:"]  # fmt: skip
    lines += [f"  {label} cannot run the scene: {why}" for label, why in comparison.unsupported.items()]
    for trace in wrong:
        lines += [f"  {trace.label} failed: {trace.failure}"] if trace.failure else []
        lines += [f"  {deviation_line(comparison, trace, *each)}" for each in first_excess(trace, tolerance).items()]
    agreeing = [trace for trace in comparison.traces if trace not in wrong and trace.label != comparison.reference]
    if agreeing:
        lines.append(f"agreeing: {', '.join(map(largest_deviation, agreeing))}")
    return "\n".join([*lines, f"plot: {plot}"] if plot else lines)


def deviation_line(comparison, trace, probe, frame):
    """Describe a deviation in one line. Args: comparison; trace; probe: its name; frame: the first that exceeds."""
    apart, unit = trace.deviation[probe], unit_of(probe)
    last = int(np.nanargmax(apart))
    first, most = (f"at {trace.times[k]:.4g} s by {apart[k]:.4g} {unit}" for k in (frame, last))
    return f"{trace.label} deviates, first {first} in {place_of(comparison, trace, probe, frame)}, most {most}"


def place_of(comparison, trace, probe, frame):
    """Find the body, joint or particle that deviates most at a frame: the name of its probe, or "particle 3"."""
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


def largest_deviation(trace):
    """Describe the largest deviations of a trace."""
    found = ", ".join(f"{np.nanmax(apart):.3g} {unit_of(probe)}" for probe, apart in trace.deviation.items())
    return f"{trace.label} (within {found})"


def draw(comparison, tolerance, folder, name):
    """Plot all deviations and the tolerance. Returns: the path."""
    from scenes.comparison.report.plots import plot_deviation

    folder = Path.cwd() if folder is None else Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = name or f"{comparison.scene.name or 'scene'}-disagrees"
    path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name).strip('-')}.png"
    plot_deviation(comparison, path, tolerance)
    return path
