"""Plots of a comparison, as PNG and SVG: one line per run, in the colour of its solver.

Earlier lines are wider, so that lines on top of one another are all visible.
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


class Quantity(NamedTuple):
    """A plotted quantity: a series of a Trace, its title with the unit, whether it is never negative, and whether it
    can grow by decades."""

    series: str
    title: str
    magnitude: bool = True
    growing: bool = False


# Plots by file name: a row for each quantity. A quantity that no solver has is left out.
PLOTS = {
    "energy": [
        Quantity("kinetic", "kinetic energy [J]", False),
        Quantity("potential", "potential energy [J]", False),
        Quantity("total", "total energy [J]", False),
    ],
    "drift": [Quantity("drift", "change of total energy [J]", False)],
    "momentum": [
        Quantity("linear_momentum", "linear momentum [kg m/s]", False),
        Quantity("angular_momentum", "angular momentum about the origin [kg m²/s]", False),
    ],
    "joints": [
        Quantity("joint_gap", "widest gap of a joint [m]"),
        Quantity("joint_turn", "largest rotation about a locked axis [rad]"),
        Quantity("limit_violation", "largest violation of a joint's limit [rad or m]"),
    ],
    "penetration": [Quantity("penetration", "deepest overlap of bodies [m]")],
    "sticks": [Quantity("sticks", "largest relative stretch of a stick")],
    "work": [
        Quantity("iterations", "iterations per substep"),
        Quantity("microseconds", "wall time per step [µs]"),
    ],
}  # fmt: skip


def plot_series(comparison, directory):
    """Plot all measured quantities over time, and error over cost.

    Args: comparison: a scenes.Comparison; directory: an existing directory.

    Returns: {name: [paths]} with a PNG and an SVG of each plot: energy, drift, momentum, joints, penetration, sticks,
    work, deviation, and cost if it was measured.
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
    """Plot the deviation of each run from the reference over time.

    Args:
        comparison: a scenes.Comparison.
        path: a .png or .svg file.
        tolerance: drawn as a line, with the moment when each run first exceeds it; None for no line.
        probes: names of the probes to plot; None for all.

    Returns: the path.

    Raises: ValueError if there is no deviation to plot.
    """
    figure = deviation_figure(comparison, tolerance, probes)
    if figure is None:
        raise ValueError("no deviation to plot: expected a comparison with probes and a run besides the reference")
    return save(figure, path)


def series_figure(comparison, quantities):
    """Make a Figure of quantities over time, a row each; None if all are zero or absent."""
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
    return figure_over_time(comparison, rows) if rows else None


def deviation_figure(comparison, tolerance=None, probes=None):
    """Make a Figure of the deviation of each probe over time, a row each; None if there are none."""
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
    return figure_over_time(comparison, rows, tolerance) if rows else None


def figure_over_time(comparison, rows, tolerance=None):
    """Make a Figure of rows (quantity, [(trace, values)]) over time."""
    with styled():
        figure, axes = figure_of(len(rows))
        colours = comparison.colours()
        labels = [trace.label for trace in comparison.traces]
        shown = {trace.label for _, lines in rows for trace, _ in lines}
        for axis, (quantity, lines) in zip(axes, rows):
            axis.set_title(quantity.title, loc="left")
            # A run that diverges must not flatten the others: its last fifth does not count for the limits.
            early = [values[: int(0.8 * len(values)) if trace.failure else None] for trace, values in lines]
            whole = np.concatenate([*early, [] if tolerance is None else [tolerance]])
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
    """Make a Figure of error over cost, on logarithmic axes; None if it was not measured."""
    lines = {label: [point for point in points if np.isfinite(point[:2]).all() and min(point[:2]) > 0]
             for label, points in comparison.cost.items()}  # fmt: skip
    lines = {label: points for label, points in lines.items() if points}
    if not lines:
        return None
    settings = {trace.label: trace.settings for trace in comparison.traces}
    with styled():
        figure, (axis,) = figure_of(1, row=2.9)
        colours = comparison.colours()
        for label, points in lines.items():
            for name, marker, face in VARIED:
                line = line_of(name, points, settings[label])
                if len(line) > 1 or name == VARIED[0][0]:
                    axis.plot([cost for cost, _ in line], [error for _, error in line], color=colours[label],
                              linewidth=1.1, marker=marker, markersize=4.5, markerfacecolor=face or colours[label],
                              label=f"{label}, {name}")  # fmt: skip
        every = np.array([point[:2] for points in lines.values() for point in points])
        for way, values in zip("xy", every.T):
            set_logarithmic(axis, way, values.min() / 1.3, values.max() * 1.3)
        probe = next((name for trace in comparison.traces for name in trace.deviation), None)
        what = "error" if probe is None else f"largest deviation, {with_unit(probe)}, from {comparison.reference}"
        axis.set_title(f"{what}: ●\u2009substeps, ○\u2009iterations", loc="left")
        axis.set_xlabel("wall time per simulated second [µs]")
        legend(figure, colours, {label: label for label in lines})
    return figure


# Settings that are varied for the cost: name, marker and its fill.
VARIED = (("substeps", "o", None), ("iterations", "o", "white"))


def line_of(varied, points, settings):
    """Points (cost, error) that differ from a trace's settings in one setting only, sorted by it."""
    others = [name for name, _, _ in VARIED if name != varied]
    line = [point for point in points if all(point[2].get(name) == settings.get(name) for name in others)]
    return [point[:2] for point in sorted(line, key=lambda point: point[2].get(varied, 0))]


def with_unit(probe):
    """Name of a probe with its unit."""
    return f"{probe} [{unit_of(probe)}]"
