"""Plots of a comparison, as PNG and as SVG: one line a solver, each in its solver's colour.

Where lines lie on one another, the earlier ones are the wider, so that all colours are seen.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from scenes.colours import colours_of
from scenes.probes import unit_of

INK, GRID = "#1f2430", "#e3e6ea"
WIDTH, ROW, FRAME = 5.4, 1.75, 0.85  # of a figure, of each of its rows, of what is around them [inches]
DECADES = 16  # that a logarithmic axis shows at most
STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # matplotlib brings it
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8.5,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",  # text stays text, in the letters of the page it stands on
    "svg.hashsalt": "verletlab",  # the same plot is the same file
}


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
                axis.axhline(tolerance, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
                axis.annotate(f"tolerance\n{tolerance:g}", (1, tolerance), (4, 0), ("axes fraction", "data"),
                              "offset points", va="center", fontsize=8)  # fmt: skip
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


# Parts of a figure ------------------------------------------------------------------------------------------------


def styled():
    """A context in which matplotlib draws in our style."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def figure_of(count, row=ROW):
    """A Figure of so many rows above one another, on one axis of time, and their axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure((WIDTH, FRAME + count * row), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for axis in axes:
        axis.grid(axis="y", color=GRID, linewidth=0.7)
        axis.set_axisbelow(True)
        axis.tick_params(length=2.5)
    return figure, axes


def save(figure, path):
    """Write a figure; its suffix says as what. Returns: the path."""
    metadata = {"Date": None} if Path(path).suffix == ".svg" else {}
    with styled():
        figure.savefig(path, dpi=200, metadata=metadata, transparent=Path(path).suffix == ".svg")
    return Path(path)


def colours_of_traces(comparison):
    """The colour of each trace of a comparison, by its label."""
    return colours_of([(trace.label, trace.solver) for trace in comparison.traces], comparison.reference)


def width_of(labels, label):
    """Width of a line [points]: the wider, the earlier it is drawn."""
    return 1.2 + 0.5 * (len(labels) - 1 - labels.index(label))


def spans_decades(values):
    """Whether magnitudes are better seen on a logarithmic axis."""
    values = values[np.isfinite(values)]
    positive = values[values > 0]
    return 2 * len(positive) > len(values) and positive.max() > 30 * np.quantile(positive, 0.1)


def set_limits(axis, values, logarithmic, magnitude):
    """Make an axis show these values, with some room. Returns: the lowest and the highest that it shows."""
    from matplotlib.ticker import MaxNLocator

    values = values[np.isfinite(values)]
    if logarithmic:
        positive = values[values > 0]
        low, high = max(np.quantile(positive, 0.01), positive.max() * 10.0**-DECADES) / 1.6, positive.max() * 1.6
        set_logarithmic(axis, "y", low, high)
    else:
        low, high = values.min(initial=0.0 if magnitude else np.inf), values.max(initial=-np.inf)
        room = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
        low, high = 0.0 if magnitude and low == 0 else low - room, high + room
        axis.set_ylim(low, high)
        axis.yaxis.set_major_locator(MaxNLocator(5, steps=(1, 2, 5, 10)))
    return low, high


def set_logarithmic(axis, way, low, high):
    """Make the axis that goes "x" or "y" logarithmic, from low to high, with ticks that can be read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set(**{f"{way}scale": "log", f"{way}lim": (low, high)})
    along = getattr(axis, f"{way}axis")
    along.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,), numticks=7))
    along.set_major_formatter(FuncFormatter(scientific if high > 1000 * low else plain))
    along.set_minor_locator(NullLocator())


def plain(value, _position=None):
    """A number of an axis of few decades as text: 0.02, 50 000, 2·10⁻⁵."""
    if 0.9e-3 < value < 1.1e6:
        return f"{value:,.0f}".replace(",", "\u2009") if value >= 1e4 else f"{value:g}"  # thin spaces
    return scientific(value)


def scientific(value, _position=None):
    """A number above zero as text: 1, 10⁻⁵, 2·10⁶."""
    if round(value, 9) == 1:
        return "1"
    digits, exponent = f"{value:.0e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digits == "1" else f"{digits}·{power}"


def mark_end(axis, times, values, limits, colour):
    """A cross where a line ends before its time, or leaves the picture on its way there."""
    inside = np.flatnonzero((values >= limits[0]) & (values <= limits[1]))
    if len(inside):
        axis.plot(times[inside[-1]], values[inside[-1]], "x", color=colour, markersize=7, markeredgewidth=1.8)


def mark_passing(axis, times, values, tolerance, colour, number):
    """A ring where a line first passes the tolerance, with the time, for each line lower than for the one before."""
    from matplotlib.patheffects import withStroke

    passed = np.flatnonzero(values > tolerance)
    if not len(passed):
        return
    when = times[passed[0]]
    axis.plot(when, tolerance, "o", color=colour, markerfacecolor="white", markersize=6, markeredgewidth=1.4)
    axis.annotate(f"{when:.3g} s", (when, tolerance), (6, -11 - 10 * number), textcoords="offset points", color=colour,
                  fontsize=8, path_effects=[withStroke(linewidth=3, foreground="white")])  # fmt: skip


def legend(figure, colours, names):
    """A row of names above the plots, each with its colour."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=colours[label], linewidth=2.2) for label in names]
    letters = sum(map(len, names.values())) + 6 * len(names)
    columns = -(-len(names) // -(-letters // 74))
    figure.legend(handles, list(names.values()), loc="outside upper left", ncols=columns, frameon=False,
                  handlelength=1.1, handletextpad=0.5, columnspacing=1.2, borderaxespad=0.2)  # fmt: skip
