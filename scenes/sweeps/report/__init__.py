"""Report of a sweep: index.html, with plots of each measure against each parameter."""

from collections import Counter
from pathlib import Path

from pbd.core.messages import clipped, listed
from scenes.comparison.report import page
from scenes.registry import find
from scenes.sweeps.report.plots import plot_measures, title_of

REASONS = 10  # most common ones that are shown
OTHERS = ("table.parquet", "sweep.json")  # the page links to them


def write(plan, table, directory, command=None):
    """Write plots and index.html.

    Args:
        plan: a SweepPlan; table: its pandas.DataFrame.
        directory: of the sweep; files of the same names are replaced.
        command: that made the sweep; None for the command of this process.

    Returns: the path of the page.
    """
    directory = Path(directory)
    plots = plot_measures(plan, table, directory / "plots")
    failures = Counter(reason for reason in table["failure"] if reason)
    scene = find(plan.job.name())
    return page.write_page(
        directory / "index.html",
        "scenes.sweeps.report",
        title=f"Sweep of {scene.name}",
        summary=scene.summary,
        runs=f"{len(table):,}",
        failed=f"{failures.total():,}",
        failures=[(f"{count:,}", clipped(reason, 300)) for reason, count in failures.most_common(REASONS)],
        axes=[
            (name, f"{len(values):,}", listed([page.number(each) for each in values], 60))
            for name, values in plan.axes.items()
        ],
        sections=[
            {"title": title_of(name), "plots": [page.embedded(path, path.stem) for path in paths]}
            for name, paths in plots.items()
        ],
        links=[name for name in OTHERS if (directory / name).exists()],
        made=[
            ("command", command or page.command_of_process()),
            ("run", f"{plan.duration:g} s, measured {plan.job.fps:g} times a second"),
            *page.made_on(),
        ],
    )
