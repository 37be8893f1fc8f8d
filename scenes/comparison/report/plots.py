"""Plots of a comparison, as PNG and as SVG: one line a solver, each in its solver's colour.

Where lines lie on one another, the earlier ones are the wider, so that all colours are seen.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from scenes.comparison.probes import unit_of
from scenes.comparison.report.figure import (
    figure_of,
    legend,
    mark_end,
    mark_passing,
    mark_tolerance,
    save,
    set_limits,
    set_logarithmic,
    spans_decades,
    styled,
    width_of,
)
from scenes.visuals.colours import colours_of


class Quantity(NamedTuple):
    """What an axis shows: a series of Trace; its name for people, with the unit; whether it has no sign; whether it is
    expected to grow by decades."""

    series: str
    title: str
    magnitude: bool = True
    growing: bool = False


# The plots, by the names of their files: a row each. What no solver has is left out.
PLOTS = {
    "energy": [
        Quantity("kinetic", "kinetic energy [J]", False),
        Quantity("potential", "potential energy [J]", False),
        Quantity("total", "total energy [J]", False),
    ],
    "drift": [Quantity("drift", "total energy less that at the start [J]", False)],
    "momentum": [
        Quantity("linear_momentum", "linear momentum [kg m/s]", False),
        Quantity("angular_momentum", "angular momentum about the origin [kg m²/s]", False),
    ],
    "joints": [
        Quantity("joint_gap", "widest gap of a joint [m]"),
        Quantity("joint_turn", "largest turn that a joint locks [rad]"),
        Quantity("limit_violation", "farthest beyond a joint's limit [rad or m]"),
    ],
    "penetration": [Quantity("penetration", "deepest overlap of bodies [m]")],
    "sticks": [Quantity("sticks", "largest relative stretch of a stick")],
    "work": [
        Quantity("iterations", "iterations of a substep"),
        Quantity("microseconds", "time of a step [µs]"),
    ],
}  # fmt: skip


def plot_series(comparison, directory):
    """Plot all that was measured against time.

    Arguments: comparison: a scenes.Comparison; directory: where to, it exists.

    Returns: {name: [paths]}, of each plot a PNG and an SVG: energy, drift, momentum, joints, penetration, sticks, work,
    deviation and, where there was a sweep, cost.
    """
    figures = {name: series_figure(comparison, quantities) for name, quantities in PLOTS.items()}
    figures["deviation"] = deviation_figure(comparison)
    figures["cost"] = cost_figure(comparison)
    return {
        name: [save(figure, Path(directory) / f"{name}{suffix}") for suffix in (".png", ".svg")]
        for name, figure in figures.items()
        if figure is not None
    }


def plot_deviation(comparison, path, tolerance=None, probes=None):
    """Plot how far each solver deviates from the reference, as for a test that fails.

    Arguments: comparison: a scenes.Comparison; path: .png or .svg; tolerance: of the deviation, drawn as a line with
    the moment when each solver first passes it; probes: names of those to plot, None for all.

    Returns: the path. Errors: ValueError where there is no deviation to plot.
    """
    figure = deviation_figure(comparison, tolerance, probes)
    if figure is None:
        raise ValueError("no deviation to plot: expected a comparison with probes, and solvers beside the reference")
    return save(figure, path)


def series_figure(comparison, quantities):
    """A Figure of some quantities against time, a row each; None where no solver has any that is not zero."""
    rows = []
    for quantity in quantities:
        lines = [
            (trace, np.asarray(trace.series[quantity.series], float))
            for trace in comparison.traces
            if quantity.series in trace.series
        ]
        lines = [(trace, np.linalg.norm(values, axis=1) if values.ndim == 2 else values) for trace, values in lines]
        if any(np.any(np.nan_to_num(values) != 0) for _, values in lines):
            rows.append((quantity, lines))
    return against_time(comparison, rows) if rows else None


def deviation_figure(comparison, tolerance=None, probes=None):
    """A Figure of each probe's deviation from the reference against time, a row each; None where there are none."""
    traces = [trace for trace in comparison.traces if trace.label != comparison.reference]
    known = list(dict.fromkeys(probe for trace in traces for probe in trace.deviation))
    rows = [
        (
            Quantity(probe, f"{with_unit(probe)}: deviation from {comparison.reference}", growing=True),
            [(trace, np.asarray(trace.deviation[probe], float)) for trace in traces if probe in trace.deviation],
        )
        for probe in known
        if probes is None or probe in probes
    ]
    return against_time(comparison, rows, tolerance) if rows else None


def against_time(comparison, rows, tolerance=None):
    """A Figure of rows (quantity, [(trace, values)]) against time."""
    with styled():
        figure, axes = figure_of(len(rows))
        colours = colours_of_traces(comparison)
        labels = [trace.label for trace in comparison.traces]
        shown = {trace.label for _, lines in rows for trace, _ in lines}
        for axis, (quantity, lines) in zip(axes, rows):
            axis.set_title(quantity.title, loc="left")
            # What diverges shall not press the others flat: of its end, all is shown that fits.
            calm = [values[: int(0.8 * len(values)) if trace.failure else None] for trace, values in lines]
            whole = np.concatenate([*calm, [] if tolerance is None else [tolerance]])
            logarithmic = quantity.magnitude and (quantity.growing or spans_decades(whole)) and (whole > 0).any()
            limits = set_limits(axis, whole, logarithmic, quantity.magnitude)
            for number, (trace, values) in enumerate(lines):
                times = np.asarray(trace.times, float)[: len(values)]
                colour, width = colours[trace.label], width_of(labels, trace.label)
                seen = np.where(values > 0, values, np.nan) if logarithmic else values
                axis.plot(times, seen, color=colour, linewidth=width, label=trace.label)
                if trace.failure:
                    mark_end(axis, times, values, limits, colour)
                if tolerance is not None:
                    mark_passing(axis, times, values, tolerance, colour, number)
            if tolerance is not None:
                mark_tolerance(axis, tolerance)
        axes[-1].set_xlabel("time [s]")
        ends = [trace.times[-1] for _, lines in rows for trace, _ in lines if len(trace.times)]
        axes[-1].set_xlim(0, max(ends, default=0) or 1)
        legend(figure, colours, {label: label for label in labels if label in shown})
    return figure


def cost_figure(comparison):
    """A Figure of error against cost over the sweep, on logarithmic axes; None where there was none."""
    sweep = {label: [point for point in points if np.isfinite(point[:2]).all() and min(point[:2]) > 0]
             for label, points in comparison.sweep.items()}  # fmt: skip
    sweep = {label: points for label, points in sweep.items() if points}
    if not sweep:
        return None
    settings = {trace.label: trace.settings for trace in comparison.traces}
    with styled():
        figure, (axis,) = figure_of(1, row=2.9)
        colours = colours_of_traces(comparison)
        for label, points in sweep.items():
            for knob, marker, face in KNOBS:
                line = along(knob, points, settings[label])
                if len(line) > 1 or knob == KNOBS[0][0]:
                    axis.plot([cost for cost, _ in line], [error for _, error in line], color=colours[label],
                              linewidth=1.1, marker=marker, markersize=4.5, markerfacecolor=face or colours[label],
                              label=f"{label}, {knob}")  # fmt: skip
        every = np.array([point[:2] for points in sweep.values() for point in points])
        for way, values in zip("xy", every.T):
            set_logarithmic(axis, way, values.min() / 1.3, values.max() * 1.3)
        probe = next((name for trace in comparison.traces for name in trace.deviation), None)
        what = "error" if probe is None else f"largest deviation, {with_unit(probe)}, from {comparison.reference}"
        axis.set_title(f"{what}: ●\u2009substeps, ○\u2009iterations", loc="left")
        axis.set_xlabel("computing for a second of the scene [µs]")
        legend(figure, colours, {label: label for label in sweep})
    return figure


# What is turned in a sweep, and how its line looks; more of it goes to the right.
KNOBS = (("substeps", "o", None), ("iterations", "o", "white"))


def along(knob, points, settings):
    """Of a sweep's points, (cost, error) of those in which nothing but one knob differs from a trace's settings; by
    how far it is turned."""
    others = [name for name, _, _ in KNOBS if name != knob]
    line = [point for point in points if all(point[2].get(name) == settings.get(name) for name in others)]
    return [point[:2] for point in sorted(line, key=lambda point: point[2].get(knob, 0))]


def with_unit(probe):
    """A probe's name with its unit."""
    return f"{probe} [{unit_of(probe)}]"


def colours_of_traces(comparison):
    """The colour of each trace of a comparison, by its label."""
    return colours_of([(trace.label, trace.solver) for trace in comparison.traces], comparison.reference)
