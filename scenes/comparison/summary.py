"""A Comparison as numbers: rows of a table, summary.json, summary.csv, and a table for a terminal."""

import csv
import json
import math

import numpy as np
from rich.table import Table
from rich.text import Text

from pbd.core.files import replacing
from scenes.comparison.probes import unit_of

# Quantities of which a row has the largest of the run, with units.
LARGEST = {
    "joint_gap": "m", "joint_turn": "rad", "limit_violation": "rad", "penetration": "m", "sticks": "", "residual": "",
    "contacts": "",
}  # fmt: skip


def rows(comparison):
    """Make a dict of plain values for each run, and for each solver that cannot run the scene.

    - label, solver; reference: whether it is the reference; dt [s], substeps, iterations
    - seconds: duration of the run; microseconds_per_step; seconds_per_second: wall time per simulated second
    - equal_time: seconds_per_second divided by the largest; iterations_per_second (both with `equal` only)
    - drift: largest change of total energy; kinetic, potential, total: at the end [J]
    - linear_momentum [kg m/s], angular_momentum [kg m²/s]: largest changes
    - the largest of each quantity in LARGEST; mean_iterations: per substep
    - "deviation PROBE": the largest [m or rad]
    - digest; failure: when and why the run failed, or why the solver cannot run the scene

    Args: comparison: a Comparison.
    """
    found = [row(trace, trace.label == comparison.reference) for trace in comparison.traces]
    for label, why in comparison.unsupported.items():
        found.append({"label": label, "solver": label, "reference": False, "failure": why})
    return found


def row(trace, reference):
    """Make the row of one Trace. Args: trace: a Trace; reference: whether it is the reference."""
    found = {"label": trace.label, "solver": trace.solver, "reference": reference}
    found |= {name: trace.settings[name] for name in ("dt", "substeps", "iterations") if name in trace.settings}
    if len(trace.times):
        found["seconds"] = float(trace.times[-1])
    timings = "microseconds_per_step", "seconds_per_second", "equal_time", "iterations_per_second"
    found |= {name: trace.about[name] for name in timings if name in trace.about}
    series = trace.series
    if series:
        found["drift"] = float(np.abs(series["drift"]).max())
        found |= {name: float(series[name][-1]) for name in ("kinetic", "potential", "total")}
        for name in ("linear_momentum", "angular_momentum"):
            found[name] = float(np.linalg.norm(series[name] - series[name][0], axis=1).max())
        found |= {name: float(series[name].max()) for name in LARGEST if name in series}
        if "iterations" in series:  # without the frame before the first step
            found["mean_iterations"] = float(series["iterations"][1:].mean()) if len(series["iterations"]) > 1 else 0.0
    for probe, apart in trace.deviation.items():
        found[f"deviation {probe}"] = float(np.nanmax(apart)) if np.isfinite(apart).any() else math.nan
    return found | {"digest": trace.digest, "failure": trace.failure}


def data(comparison):
    """Convert a Comparison, without its recordings, to the types of JSON; NaN becomes null. Args: comparison."""
    traces = [
        {
            "label": trace.label, "solver": trace.solver, "settings": trace.settings, "about": trace.about,
            "digest": trace.digest, "failure": trace.failure, "times": trace.times, "series": trace.series,
            "deviation": trace.deviation,
        }
        for trace in comparison.traces
    ]  # fmt: skip
    scene = comparison.scene
    return json_value({
        "scene": scene.name, "summary": scene.summary, "parameters": scene.parameters, "equal": comparison.equal,
        "reference": comparison.reference, "unsupported": comparison.unsupported, "rows": rows(comparison),
        "traces": traces, "cost": comparison.cost,
    })  # fmt: skip


def json_value(value):
    """Convert a value to the types of JSON."""
    if isinstance(value, dict):
        return {str(key): json_value(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [json_value(each) for each in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value if value is None else str(value)


def write(comparison, directory):
    """Write summary.json and summary.csv. Args: comparison; directory: a Path. Returns: the paths."""
    paths = [directory / "summary.json", directory / "summary.csv"]
    text = json.dumps(data(comparison), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with replacing(paths[0]) as partial:
        partial.write_text(text, "utf-8")
    table = [json_value(each) for each in rows(comparison)]
    with replacing(paths[1]) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for each in table for name in each)))
        writer.writeheader()
        writer.writerows(table)
    return paths


# For a terminal -------------------------------------------------------------------------------------------------------

# Lines of the table: name in a row, title, unit.
SHOWN = (
    ("dt", "step", "s"),
    ("substeps", "substeps", ""),
    ("iterations", "iterations", ""),
    ("mean_iterations", "mean iterations", ""),
    ("microseconds_per_step", "time per step", "µs"),
    ("seconds_per_second", "time per second", "s"),
    ("equal_time", "of the slowest", ""),
    ("drift", "energy drift", "J"),
    ("linear_momentum", "momentum change", "kg m/s"),
    ("angular_momentum", "angular change", "kg m²/s"),
    ("joint_gap", "joint gap", "m"),
    ("joint_turn", "joint rotation", "rad"),
    ("limit_violation", "limit violation", "rad"),
    ("penetration", "overlap", "m"),
    ("sticks", "stick stretch", ""),
    ("residual", "residual", ""),
    ("contacts", "contacts", ""),
)
NAMES, COLUMN = 24, 13  # widths of the names and of a column [characters]


def tables(comparison, width):
    """Make tables for a terminal: as many solvers side by side as fit, the others below.

    Args: comparison: a Comparison; width: of the terminal [characters].

    Returns: a list of rich tables.
    """
    shown = [each for each in rows(comparison) if "dt" in each]
    side_by_side = max(1, (width - NAMES) // (COLUMN + 1))
    return [table(shown[k : k + side_by_side]) for k in range(0, len(shown), side_by_side)]


def table(shown):
    """Make one table with solvers side by side. Args: shown: rows."""
    made = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("", overflow="fold", max_width=NAMES)
    for each in shown:
        made.add_column(each["label"], justify="right", overflow="fold", max_width=COLUMN)
    for name, title, unit in lines(shown):
        made.add_row(Text(f"{title} [{unit}]" if unit else title), *(cell(each, name) for each in shown))
    made.add_row("state", *(each["digest"][:COLUMN] or "-" for each in shown))
    return made


def lines(shown):
    """Find the lines of a table: (name, title, unit) of all values in some rows. Args: shown: rows."""
    probes = [name for name in dict.fromkeys(name for each in shown for name in each) if name.startswith("deviation ")]
    every = [*SHOWN, *((name, f"deviation, {name[10:]}", unit_of(name)) for name in probes)]
    return [each for each in every if any(each[0] in row for row in shown)]


def cell(row, name):
    """Format a value of a row; a dash if it has none."""
    value = row.get(name)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, int):
        return str(value)
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.3g}"
