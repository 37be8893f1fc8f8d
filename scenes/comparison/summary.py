"""A Comparison in numbers: the rows of its table, summary.json and summary.csv, and the table for a terminal."""

import csv
import json
import math

import numpy as np
from rich.table import Table
from rich.text import Text

from scenes.comparison.probes import unit_of

# The largest over a run, by name and unit, where a scene and a solver have it.
LARGEST = {
    "joint_gap": "m", "joint_turn": "rad", "limit_violation": "rad", "penetration": "m", "sticks": "", "residual": "",
    "contacts": "",
}  # fmt: skip


def rows(comparison):
    """A dict of plain values for each trace, and for each that cannot run. Arguments: a Comparison.

    label, solver, reference (whether it is), dt [s], substeps, iterations; seconds, of the run; microseconds_per_step,
    seconds_per_second (of wall time for a simulated one), on equal terms also equal_time (this to the largest) or
    iterations_per_second; drift, the largest change of total energy, and kinetic, potential, total at the end [J]; the
    largest changes of linear_momentum [kg m/s] and angular_momentum [kg m²/s]; the largest of what LARGEST names;
    mean_iterations of a substep; "deviation PROBE", the largest [m or rad]; digest; failure: when and why it failed, or
    why it cannot run.
    """
    found = [row(trace, trace.label == comparison.reference) for trace in comparison.traces]
    for label, why in comparison.unsupported.items():
        found.append({"label": label, "solver": label, "reference": False, "failure": why})
    return found


def row(trace, reference):
    """The dict of a Trace. Arguments: the Trace; whether it is the reference."""
    found = {"label": trace.label, "solver": trace.solver, "reference": reference}
    found |= {name: trace.settings[name] for name in ("dt", "substeps", "iterations") if name in trace.settings}
    if len(trace.times):
        found["seconds"] = float(trace.times[-1])
    of_time = "microseconds_per_step", "seconds_per_second", "equal_time", "iterations_per_second"
    found |= {name: trace.about[name] for name in of_time if name in trace.about}
    series = trace.series
    if series:
        found["drift"] = float(np.abs(series["drift"]).max())
        found |= {name: float(series[name][-1]) for name in ("kinetic", "potential", "total")}
        for name in ("linear_momentum", "angular_momentum"):
            found[name] = float(np.linalg.norm(series[name] - series[name][0], axis=1).max())
        found |= {name: float(series[name].max()) for name in LARGEST if name in series}
        if "iterations" in series:  # none are made before the first step
            found["mean_iterations"] = float(series["iterations"][1:].mean()) if len(series["iterations"]) > 1 else 0.0
    for probe, apart in trace.deviation.items():
        found[f"deviation {probe}"] = float(np.nanmax(apart)) if np.isfinite(apart).any() else math.nan
    return found | {"digest": trace.digest, "failure": trace.failure}


def data(comparison):
    """All that a Comparison holds but its recordings, as what JSON can say; NaN is null. Arguments: a Comparison."""
    traces = [
        {
            "label": trace.label, "solver": trace.solver, "settings": trace.settings, "about": trace.about,
            "digest": trace.digest, "failure": trace.failure, "times": trace.times, "series": trace.series,
            "deviation": trace.deviation,
        }
        for trace in comparison.traces
    ]  # fmt: skip
    scene = comparison.scene
    return sayable({
        "scene": scene.name, "summary": scene.summary, "parameters": scene.parameters, "equal": comparison.equal,
        "reference": comparison.reference, "unsupported": comparison.unsupported, "rows": rows(comparison), "traces": traces,
        "sweep": comparison.sweep,
    })  # fmt: skip


def sayable(value):
    """A value in the types of JSON."""
    if isinstance(value, dict):
        return {str(key): sayable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [sayable(each) for each in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value if value is None else str(value)


def write(comparison, directory):
    """Write summary.json and summary.csv. Arguments: a Comparison; a directory, a Path. Returns: the paths."""
    paths = [directory / "summary.json", directory / "summary.csv"]
    paths[0].write_text(json.dumps(data(comparison), indent=1, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")
    table = [sayable(each) for each in rows(comparison)]
    with paths[1].open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for each in table for name in each)))
        writer.writeheader()
        writer.writerows(table)
    return paths


# For a terminal -------------------------------------------------------------------------------------------------------

# What is shown of a row: name, title, unit.
SHOWN = (
    ("dt", "step", "s"),
    ("substeps", "substeps", ""),
    ("iterations", "iterations", ""),
    ("mean_iterations", "made, mean", ""),
    ("microseconds_per_step", "a step takes", "µs"),
    ("seconds_per_second", "a second takes", "s"),
    ("equal_time", "to the longest", ""),
    ("drift", "energy drift", "J"),
    ("linear_momentum", "momentum change", "kg m/s"),
    ("angular_momentum", "angular change", "kg m²/s"),
    ("joint_gap", "joint gap", "m"),
    ("joint_turn", "joint turn", "rad"),
    ("limit_violation", "past limits", "rad"),
    ("penetration", "overlap", "m"),
    ("sticks", "stretch", ""),
    ("residual", "residual", ""),
    ("contacts", "contacts", ""),
)
NAMES, COLUMN = 24, 13  # widths of the names and of a column, of figures


def tables(comparison, width):
    """The table for a terminal: as many solvers side by side as fit, the others below. Arguments: a Comparison; width
    in characters. Returns: a list of rich tables."""
    shown = [each for each in rows(comparison) if "dt" in each]
    side_by_side = max(1, (width - NAMES) // (COLUMN + 1))
    return [table(shown[k : k + side_by_side]) for k in range(0, len(shown), side_by_side)]


def table(shown):
    """One table, its solvers side by side. Arguments: rows."""
    made = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("", overflow="fold", max_width=NAMES)
    for each in shown:
        made.add_column(each["label"], justify="right", overflow="fold", max_width=COLUMN)
    for name, title, unit in lines(shown):
        made.add_row(Text(f"{title} [{unit}]" if unit else title), *(cell(each, name) for each in shown))
    made.add_row("state", *(each["digest"][:COLUMN] or "-" for each in shown))
    return made


def lines(shown):
    """Lines of a table: (name, title, unit) of all that any of some rows has. Arguments: rows."""
    probes = [name for name in dict.fromkeys(name for each in shown for name in each) if name.startswith("deviation ")]
    every = [*SHOWN, *((name, f"off, {name[10:]}", unit_of(name)) for name in probes)]
    return [each for each in every if any(each[0] in row for row in shown)]


def cell(row, name):
    """A figure of a row, short; a dash for none."""
    value = row.get(name)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, int):
        return str(value)
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.3g}"
