"""Figures in one style: axes, limits, ticks, marks, legend. Matplotlib is imported when a function needs it."""

from pathlib import Path

import numpy as np

from pbd.core.files import replacing

INK, GRID = "#1f2430", "#e3e6ea"
WIDTH, ROW, FRAME = 5.4, 1.75, 0.85  # of a figure; height of a row and of the frame [inches]
DECADES = 16  # a logarithmic axis shows at most
STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib
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
    "svg.fonttype": "none",  # text stays text, in the page's font
    "svg.hashsalt": "verletlab",  # makes the file reproducible
}


def styled():
    """Context in which matplotlib draws in our style."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def figure_of(count, row=ROW):
    """Make a Figure of rows on one x axis. Args: count: of rows; row: height [inches]. Returns: figure, axes."""
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
    """Write a figure as PNG or SVG, by the suffix of the path. Returns: the path."""
    metadata = {"Date": None} if Path(path).suffix == ".svg" else {}
    with styled(), replacing(path) as partial:
        figure.savefig(partial, dpi=200, metadata=metadata, transparent=Path(path).suffix == ".svg")
    return Path(path)


def width_of(labels, label):
    """Width of a line [points]; earlier lines are wider."""
    return 1.2 + 0.5 * (len(labels) - 1 - labels.index(label))


def spans_decades(values):
    """Whether magnitudes need a logarithmic axis."""
    values = values[np.isfinite(values)]
    positive = values[values > 0]
    return 2 * len(positive) > len(values) and positive.max() > 30 * np.quantile(positive, 0.1)


def set_limits(axis, values, logarithmic, magnitude):
    """Fit a vertical axis to values, with a margin. Returns: its lower and upper limit."""
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
    """Make the "x" or "y" axis logarithmic from low to high, with readable ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set(**{f"{way}scale": "log", f"{way}lim": (low, high)})
    along = getattr(axis, f"{way}axis")
    along.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,), numticks=7))
    along.set_major_formatter(FuncFormatter(scientific if high > 1000 * low else plain))
    along.set_minor_locator(NullLocator())


def plain(value, _position=None):
    """Format a tick of an axis of few decades: 0.02, 50 000, 2·10⁻⁵."""
    if 0.9e-3 < value < 1.1e6:
        return f"{value:,.0f}".replace(",", "\u2009") if value >= 1e4 else f"{value:g}"  # thin spaces
    return scientific(value)


def scientific(value, _position=None):
    """Format a tick above zero: 1, 10⁻⁵, 2·10⁶."""
    if round(value, 9) == 1:
        return "1"
    digits, exponent = f"{value:.0e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digits == "1" else f"{digits}·{power}"


def mark_end(axis, times, values, limits, colour):
    """Draw a cross where a line ends early or leaves the axes."""
    inside = np.flatnonzero((values >= limits[0]) & (values <= limits[1]))
    if len(inside):
        axis.plot(times[inside[-1]], values[inside[-1]], "x", color=colour, markersize=7, markeredgewidth=1.8)


def mark_tolerance(axis, tolerance):
    """Draw a dashed line at the tolerance, with its value."""
    axis.axhline(tolerance, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    axis.annotate(f"tolerance\n{tolerance:g}", (1, tolerance), (4, 0), ("axes fraction", "data"), "offset points",
                  va="center", fontsize=8)  # fmt: skip


def mark_passing(axis, times, values, tolerance, colour, number):
    """Draw a ring where a line first exceeds the tolerance, with the time below it. Args: number: of the line."""
    from matplotlib.patheffects import withStroke

    passed = np.flatnonzero(values > tolerance)
    if not len(passed):
        return
    when = times[passed[0]]
    axis.plot(when, tolerance, "o", color=colour, markerfacecolor="white", markersize=6, markeredgewidth=1.4)
    axis.annotate(f"{when:.3g} s", (when, tolerance), (6, -11 - 10 * number), textcoords="offset points", color=colour,
                  fontsize=8, path_effects=[withStroke(linewidth=3, foreground="white")])  # fmt: skip


def legend(figure, colours, names):
    """Draw a legend above the plots. Args: figure; colours: {label: colour}; names: {label: text}."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=colours[label], linewidth=2.2) for label in names]
    letters = sum(map(len, names.values())) + 6 * len(names)
    columns = -(-len(names) // -(-letters // 74))
    figure.legend(handles, list(names.values()), loc="outside upper left", ncols=columns, frameon=False,
                  handlelength=1.1, handletextpad=0.5, columnspacing=1.2, borderaxespad=0.2)  # fmt: skip
