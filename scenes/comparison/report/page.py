"""The page of a comparison: index.html, which opens from disk without a network."""

import os
import platform
import re
import shlex
import sys
import time
from importlib import resources
from pathlib import Path

import numpy as np
import taichi as ti

from pbd.core.files import replacing
from pbd.core.version import installed_version
from scenes.comparison import summary
from scenes.comparison.report.figure import GRID, INK
from scenes.simulate.device import running_on

# Layouts of films by file name; each is an .mp4, and a .png that shows before it plays.
FILMS = {"comparison": "side by side", "ghosts": "ghosts"}
FILM_CAPTIONS = {
    "comparison": "All solvers side by side. A solver that diverged keeps its last frame.",
    "ghosts": "All solvers in one picture, each in its colour, in stripes where they agree.",
}
CAPTIONS = {
    "energy": "Energy.",
    "drift": "Change of total energy.",
    "momentum": "Magnitudes of linear and angular momentum.",
    "joints": "Errors of joints: gaps, rotations, limit violations.",
    "penetration": "Deepest overlap of bodies.",
    "sticks": "Largest stretch of a stick.",
    "work": "Iterations and time of a step.",
    "deviation": "Deviation from the reference, of the body or joint that deviates most.",
    "cost": "Error and cost with more and fewer substeps and iterations.",
}
# Titles of lines of the table, longer than those for a terminal.
TITLES = {
    "dt": "time step",
    "iterations": "iterations, at most",
    "mean_iterations": "iterations, mean",
    "microseconds_per_step": "wall time per step",
    "seconds_per_second": "wall time per simulated second",
    "equal_time": "wall time, relative to the slowest",
    "drift": "change of energy",
    "linear_momentum": "change of momentum",
    "angular_momentum": "change of angular momentum",
    "joint_gap": "gap of a joint",
    "joint_turn": "rotation about a locked axis",
    "limit_violation": "violation of a joint's limit",
    "penetration": "overlap of bodies",
    "sticks": "stretch of a stick",
}
OTHERS = ("summary.json", "summary.csv", "replay.html")  # the page links to those that exist


def write(comparison, directory, plots=None, command=None):
    """Write index.html.

    Args:
        comparison: a scenes.Comparison.
        directory: with the films, plots and summaries; the page is written here.
        plots: {name: [paths]}, from `plot_series`.
        command: the command that made the comparison; None for the command of this process.

    Returns: the path of the page.
    """
    directory = Path(directory)
    scene = comparison.scene
    return write_page(
        directory / "index.html",
        "scenes.comparison.report",
        title=scene.name or "A comparison",
        summary=scene.summary,
        traces=comparison.traces,
        reference=comparison.reference,
        colours=comparison.colours(),
        failures=failures_of(comparison),
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


def write_page(path, package, **values):
    """Write a page from a package's page.html, with the frame and the style of all reports.

    Args: path: of the page; package: name; values: of the template. Returns: the path.
    """
    from jinja2 import DictLoader, Environment
    from markupsafe import Markup

    own = resources.files("scenes.comparison.report")
    style, base = (own.joinpath(name).read_text("utf-8") for name in ("style.css", "base.html"))
    loader = DictLoader({"base.html": base})
    environment = Environment(autoescape=True, trim_blocks=False, keep_trailing_newline=True, loader=loader)
    environment.filters["number"] = number
    template = environment.from_string(resources.files(package).joinpath("page.html").read_text("utf-8"))
    with replacing(path) as partial:
        partial.write_text(template.render(style=Markup(style), **values), encoding="utf-8")
    return path


def failures_of(comparison):
    """Pairs (label, reason) of runs that failed and of solvers that cannot run the scene."""
    ended = [(trace.label, f"failed: {trace.failure}") for trace in comparison.traces if trace.failure]
    return ended + [(label, f"did not run: {why}") for label, why in comparison.unsupported.items()]


def table_of(comparison):
    """Make the lines of the table, with all solvers side by side."""
    rows = [row for row in summary.rows(comparison) if "dt" in row]
    lines = [
        {
            "title": TITLES.get(name, title),
            "unit": unit,
            "cells": [summary.cell(row, name) for row in rows],
        }
        for name, title, unit in summary.lines(rows)
    ]
    lines.append({"title": "digest of the last state", "cells": [row["digest"] or "-" for row in rows], "code": True})
    return {
        "labels": [row["label"] for row in rows],
        "lines": lines,
        "note": "Changes, gaps, violations, overlaps and deviations are the largest of the whole run.",
    }


def made_of(comparison, command):
    """Pairs (name, value) that describe how a comparison was made."""
    scene = comparison.scene
    recordings = [trace.recording for trace in comparison.traces if trace.recording is not None]
    parameters = ", ".join(f"{name} {number(value)}" for name, value in scene.parameters.items() if value is not None)
    longest = max(recordings, key=len)
    device = {trace.about["device"] for trace in comparison.traces if "device" in trace.about} or {running_on()}
    return [
        ("command", command or command_of_process()),
        ("scene", f"{scene.name}{f' ({parameters})' if parameters else ''}"),
        ("time", f"{longest.times[-1]:g} s in {len(longest)} frames"),
        *([("equal", f"{comparison.equal} for all")] if comparison.equal else []),
        ("device", ", ".join(sorted(device))),
        *made_on(),
    ]


def made_on():
    """Pairs (name, value) of the machine, versions and the date."""
    return [
        ("machine", f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"),
        ("versions", f"verletlab {installed_version()}, Taichi {'.'.join(map(str, ti.__version__))}, "
                     f"NumPy {np.__version__}, Python {platform.python_version()}"),
        ("date", time.strftime("%Y-%m-%d %H:%M")),
    ]  # fmt: skip


def command_of_process():
    """The command of this process."""
    return shlex.join([program(), *sys.argv[1:]])


def program():
    """Name of the program of this process."""
    name = Path(sys.argv[0]).name
    return "verletlab" if Path(name).stem in ("__main__", "cli") else name


def processor():
    """Name of the processor."""
    try:
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def number(value):
    """Format a setting."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def embedded(path, label):
    """Embed an SVG plot, with the colours and width of the page. Args: path: of the SVG; label: alternative text."""
    from markupsafe import Markup, escape

    text = path.read_text("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r' id="[a-z.]+[a-z0-9]*_\d+"', "", text)  # such as figure_1, which is in every plot
    text = text.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    return Markup(text.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1))
