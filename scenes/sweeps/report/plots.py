"""Plots of a sweep: each measure against each parameter, and a map over the first two parameters."""

from pathlib import Path

import numpy as np

from scenes.comparison.measure import UNITS
from scenes.comparison.report.figure import (
    WIDTH,
    figure_of,
    legend,
    save,
    set_limits,
    set_logarithmic,
    spans_decades,
    styled,
)
from scenes.comparison.report.page import TITLES
from scenes.visuals.colours import colours_of

SETTINGS = ("run", "dt", "substeps", "iterations", "seconds")  # columns that are not measures
FEWEST = 3  # values of each of two parameters, for a map
OWN_TITLES = {"kinetic": "kinetic energy at the end", "potential": "potential energy at the end",
              "total": "total energy at the end"}  # fmt: skip
OWN_UNITS = {"drift": "J"}


def title_of(measure):
    """Title of a measure, with its unit."""
    unit = OWN_UNITS.get(measure, UNITS.get(measure, ""))
    title = OWN_TITLES.get(measure) or TITLES.get(measure, measure.replace("_", " "))
    return f"{title} [{unit}]" if unit else title


def plot_measures(plan, table, folder):
    """Plot all measures that are not the same in all runs.

    Args: plan: a SweepPlan; table: its pandas.DataFrame; folder: for the SVG files, is made if needed.

    Returns: {measure: [paths]}: one against each parameter with several values, then a map.
    """
    axes = {name: values for name, values in plan.axes.items() if len(values) > 1 and name != "solver"}
    numeric = [name for name, values in axes.items()
               if len(values) >= FEWEST and not isinstance(values[0], (bool, str))]  # fmt: skip
    table = table[table["failure"] == ""]
    measures = [name for name in table.columns if name not in (*SETTINGS, *plan.axes)
                and table[name].dtype.kind in "fi" and table[name].nunique() > 1]  # fmt: skip
    folder, found = Path(folder), {}
    folder.mkdir(exist_ok=True)
    for measure in measures:
        figures = {name: figure_against(plan, table, measure, name) for name in axes}
        if len(numeric) > 1:
            figures["map"] = figure_of_map(plan, table, measure, *numeric[:2])
        found[measure] = [save(figure, folder / file_name(measure, name)) for name, figure in figures.items()]
    return found


def file_name(measure, name):
    """Name of a plot's file, of plain characters."""
    return "".join(each if each.isalnum() else "_" for each in f"{measure}-{name}") + ".svg"


def figure_against(plan, table, measure, name):
    """Make a Figure of a measure against a parameter: medians, and areas from the least to the largest."""
    values = plan.axes[name]
    categories = isinstance(values[0], (bool, str))
    colours = colours_of([(solver, solver) for solver in plan.solvers], plan.solvers[0])
    with styled():
        figure, (axis,) = figure_of(1, row=2.2)
        whole = table[measure].to_numpy(float)
        magnitude = bool(np.nanmin(whole) >= 0)
        logarithmic = magnitude and spans_decades(whole)
        lines = {}
        for solver in plan.solvers:
            grouped = table[table["solver"] == solver].groupby(name, observed=True)[measure]
            found = grouped.agg(["median", "min", "max"])
            places = [values.index(each) for each in found.index] if categories else found.index.to_numpy(float)
            axis.fill_between(places, found["min"], found["max"], color=colours[solver], alpha=0.18, linewidth=0)
            marker = "o" if len(values) <= 30 else None
            axis.plot(places, found["median"], color=colours[solver], linewidth=1.4, marker=marker, markersize=3.5)
            lines[solver] = solver
        set_limits(axis, whole, logarithmic, magnitude)
        if categories:
            axis.set_xticks(range(len(values)), [str(each) for each in values])
        elif len(values) > 2 and min(values) > 0 and max(values) >= 100 * min(values):
            set_logarithmic(axis, "x", min(values), max(values))
        axis.set_title(title_of(measure), loc="left")
        axis.set_xlabel(name)
        if len(plan.solvers) > 1:
            legend(figure, colours, lines)
    return figure


def figure_of_map(plan, table, measure, across, up):
    """Make a Figure of a measure over two parameters, a map for each solver, with medians over all others."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    values = table[measure].to_numpy(float)
    signed = np.nanmin(values) < 0 < np.nanmax(values)
    largest = np.nanquantile(np.abs(values), 0.99)
    low, high = (-largest, largest) if signed else (np.nanquantile(values, 0.01), np.nanquantile(values, 0.99))
    with styled():
        figure = Figure((WIDTH, 2.6 * len(plan.solvers) + 0.4), layout="constrained")
        FigureCanvasAgg(figure)
        panes = figure.subplots(len(plan.solvers), 1, squeeze=False, sharex=True)[:, 0]
        for axis, solver in zip(panes, plan.solvers):
            own = table[table["solver"] == solver]
            grid = own.pivot_table(index=up, columns=across, values=measure, aggfunc="median")
            drawn = axis.pcolormesh(
                grid.columns.to_numpy(float), grid.index.to_numpy(float), grid.to_numpy(float), shading="nearest",
                cmap="RdBu_r" if signed else "viridis", vmin=low, vmax=high, rasterized=True,
            )  # fmt: skip
            axis.set_title(f"{title_of(measure)}{f', {solver}' if len(plan.solvers) > 1 else ''}", loc="left")
            axis.set_ylabel(up)
        panes[-1].set_xlabel(across)
        figure.colorbar(drawn, ax=panes, shrink=0.9, extend="both")
    return figure
