"""The page that shows a comparison: index.html, which opens from disk and needs nothing from any network."""

import os
import platform
import re
import shlex
import sys
import time
from importlib import metadata, resources
from pathlib import Path

import numpy as np
import taichi as ti

from scenes.comparison import summary
from scenes.comparison.report.figure import GRID, INK
from scenes.comparison.report.plots import colours_of_traces
from scenes.simulate.device import running_on

# Films by the names of their files, which end with .mp4, and with .png the picture that stands there before they play.
FILMS = {"comparison": "side by side", "ghosts": "ghosts"}
FILM_CAPTIONS = {
    "comparison": "Side by side, at one time. What diverged stands still.",
    "ghosts": "As ghosts: one picture, each solver in its colour, in stripes where they agree.",
}
CAPTIONS = {
    "energy": "Energy.",
    "drift": "What energy was won or lost.",
    "momentum": "Momenta, by their lengths.",
    "joints": "How far joints open, turn, and pass their limits.",
    "penetration": "How deep bodies overlap.",
    "sticks": "How far sticks stretch.",
    "work": "What a step costs.",
    "deviation": "How far solvers part from the reference, the farthest of all bodies or joints.",
    "cost": "More substeps and iterations, and what they buy.",
}
# Of lines of the table, where there is room for more words than in a terminal.
TITLES = {
    "dt": "time step",
    "iterations": "iterations at most",
    "mean_iterations": "iterations made, mean",
    "microseconds_per_step": "time of a step",
    "seconds_per_second": "computing for a second",
    "equal_time": "time, to the slowest's",
    "drift": "change of energy",
    "linear_momentum": "change of momentum",
    "angular_momentum": "change of angular momentum",
    "joint_gap": "gap of a joint",
    "joint_turn": "turn that a joint locks",
    "limit_violation": "beyond a joint's limit",
    "penetration": "overlap of bodies",
    "sticks": "stretch of a stick",
}
OTHERS = ("summary.json", "summary.csv", "replay.html")  # files that the page links to where they are there


def write(comparison, directory, plots=None, command=None):
    """Write index.html.

    Arguments: comparison: a scenes.Comparison; directory: where films, plots and summaries are already, and the page
    goes; plots: {name: [paths]} as `plot_series` returns; command: that made it, None for this process's own.

    Returns: the path of the page.
    """
    from jinja2 import Environment

    directory = Path(directory)
    environment = Environment(autoescape=True, trim_blocks=False, keep_trailing_newline=True)
    environment.filters["number"] = number
    template = environment.from_string(resources.files("scenes.comparison.report").joinpath("page.html").read_text("utf-8"))
    scene = comparison.scene
    page = template.render(
        title=scene.name or "A comparison",
        summary=scene.summary,
        traces=comparison.traces,
        reference=comparison.reference,
        colours=colours_of_traces(comparison),
        troubles=troubles_of(comparison),
        films=[
            {"file": f"{name}.mp4", "poster": f"{name}.png", "caption": caption}
            for name, caption in FILM_CAPTIONS.items()
            if all((directory / f"{name}{suffix}").exists() for suffix in (".mp4", ".png"))
        ],
        table=table_of(comparison),
        links=[name for name in OTHERS if (directory / name).exists()],
        plots=[
            {
                "svg": embedded(next(path for path in paths if path.suffix == ".svg"), CAPTIONS[name]),
                "caption": CAPTIONS[name],
                "files": [path.name for path in paths],
            }
            for name, paths in (plots or {}).items()
        ],
        made=made_of(comparison, command),
    )
    path = directory / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def troubles_of(comparison):
    """Pairs (who, what): of runs that ended early, and of solvers that cannot run the scene."""
    ended = [(trace.label, f"failed: {trace.failure}") for trace in comparison.traces if trace.failure]
    return ended + [(label, f"did not run: {why}") for label, why in comparison.unsupported.items()]


def table_of(comparison):
    """What the table shows: the lines of the terminal's, all solvers side by side."""
    rows = [row for row in summary.rows(comparison) if "dt" in row]
    lines = [
        {
            "title": TITLES.get(name, title).replace("off, ", "deviation, "),
            "unit": unit,
            "cells": [summary.cell(row, name) for row in rows],
        }
        for name, title, unit in summary.lines(rows)
    ]
    lines.append({"title": "digest of the last state", "cells": [row["digest"] or "-" for row in rows], "code": True})
    return {
        "labels": [row["label"] for row in rows],
        "lines": lines,
        "note": "Of drift, momenta, gaps, violations, overlaps and deviations the largest of the whole run.",
    }


def made_of(comparison, command):
    """Pairs (name, value) that say how a comparison was made."""
    scene = comparison.scene
    recordings = [trace.recording for trace in comparison.traces if trace.recording is not None]
    parameters = ", ".join(f"{name} {number(value)}" for name, value in scene.parameters.items())
    longest = max(recordings, key=len)
    device = {trace.about["device"] for trace in comparison.traces if "device" in trace.about} or {running_on()}
    return [
        ("command", command or shlex.join([program(), *sys.argv[1:]])),
        ("scene", f"{scene.name}{f' ({parameters})' if parameters else ''}"),
        ("time", f"{longest.times[-1]:g} s in {len(longest)} frames"),
        *([("equal", f"{comparison.equal} for all")] if getattr(comparison, "equal", None) else []),
        ("device", ", ".join(sorted(device))),
        ("machine", f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"),
        ("versions", f"verletlab {version()}, Taichi {'.'.join(map(str, ti.__version__))}, NumPy {np.__version__}, "
                     f"Python {platform.python_version()}"),
        ("date", time.strftime("%Y-%m-%d %H:%M")),
    ]  # fmt: skip


def program():
    """What this process is called."""
    name = Path(sys.argv[0]).name
    return "verletlab" if Path(name).stem in ("__main__", "cli") else name


def processor():
    """What the processor is called."""
    try:
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def version():
    """The version of verletlab that is installed; of a checkout that is not, a word that says so."""
    try:
        return metadata.version("verletlab")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def number(value):
    """A setting as text, short."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def embedded(path, label):
    """An SVG of ours as part of the page: its ink is the page's, light or dark, and it is as wide as it may be."""
    from markupsafe import Markup, escape

    text = path.read_text("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r' id="[a-z.]+[a-z0-9]*_\d+"', "", text)  # figure_1 and the like, which every plot has
    text = text.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1))
