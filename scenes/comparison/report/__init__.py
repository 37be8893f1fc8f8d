"""Report of a comparison: plots, films, and a page that shows all of them.

    comparison = scenes.compare(scene, ["verlet", "impulse"])
    report.write(comparison, "out")          # out/index.html
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from scenes.comparison.report import page
from scenes.comparison.report.plots import plot_deviation, plot_series
from scenes.render.comparison_film import film_comparison

__all__ = ["film_comparison", "plot_deviation", "plot_series", "write"]


def write(comparison, directory, films=True, command=None, progress=None):
    """Write plots, films and index.html beside the files of `Comparison.save`.

    Args:
        comparison: a scenes.Comparison.
        directory: an existing directory; files of the same names are replaced.
        films: whether to write films, and a replay if viser is installed (extra `view`).
        command: the command that made the comparison; None for the command of this process.
        progress: called with a word, the number of a frame and the number of frames.

    Returns: the paths of all written files, the page last.
    """
    directory = Path(directory)
    plots = plot_series(comparison, directory)
    written = [path for paths in plots.values() for path in paths]
    when = time_of_largest_deviation(comparison)
    for name, layout in page.FILMS.items() if films else ():
        update = progress and (lambda number, count, layout=layout: progress(layout, number, count))
        for path in (directory / f"{name}.mp4", directory / f"{name}.png"):
            film_comparison(comparison, path, layout, progress=update, when=when)
            written.append(path)
    written += write_replay(comparison, directory, progress) if films else []
    return [*written, page.write(comparison, directory, plots, command)]


def write_replay(comparison, directory, progress):
    """Write replay.html: a list of its path, empty if viser is not installed or the replay is too long."""
    if find_spec("viser") is None:
        return []
    from scenes.render.page.replay import replay
    from scenes.render.video import TooLong

    path = directory / "replay.html"
    try:
        replay(comparison, path, progress=progress and (lambda number, count: progress("replay", number, count)))
    except TooLong:  # no browser can hold it; there are films
        path.unlink(missing_ok=True)
        return []
    return [path]


def time_of_largest_deviation(comparison):
    """When a solver deviates most from the reference, by the first probe [s]; infinite if none deviates."""
    found = []
    for trace in comparison.traces:
        for apart in list(trace.deviation.values())[:1]:
            if not trace.failure and np.nanmax(apart, initial=0.0) > 0:
                k = int(np.nanargmax(apart))
                found.append((apart[k], trace.times[k]))
    return max(found, default=(0.0, np.inf))[1]
