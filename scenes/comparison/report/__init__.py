"""What a comparison looks like: plots, films, and a page that shows all of it.

    comparison = scenes.compare(scene, ["verlet", "impulse"])
    report.write(comparison, "out")          # out/index.html
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from scenes.comparison.report import page
from scenes.comparison.report.plots import plot_deviation, plot_series
from scenes.render.several import film_comparison

__all__ = ["film_comparison", "plot_deviation", "plot_series", "write"]


def write(comparison, directory, films=True, command=None, progress=None):
    """Write plots, films and index.html beside what `comparison.save` wrote.

    Arguments: comparison: a scenes.Comparison; directory: it exists; files of the same names are replaced; films:
    whether there shall be films, and a replay where viser is installed (extra `view`); command: that made it, None for
    this process's own; progress: called with a word, the number of a frame and how many there will be.

    Returns: the paths of all that was written, the page last.
    """
    directory = Path(directory)
    plots = plot_series(comparison, directory)
    written = [path for paths in plots.values() for path in paths]
    when = most_apart(comparison)
    for name, layout in page.FILMS.items() if films else ():
        update = progress and (lambda number, count, layout=layout: progress(layout, number, count))
        for path in (directory / f"{name}.mp4", directory / f"{name}.png"):
            film_comparison(comparison, path, layout, progress=update, when=when)
            written.append(path)
    written += replayed(comparison, directory, progress) if films else []
    return [*written, page.write(comparison, directory, plots, command)]


def replayed(comparison, directory, progress):
    """Write replay.html where that can be made: a list of its path, or of none."""
    if find_spec("viser") is None:
        return []
    from scenes.render.page.replay import TooLong, replay

    path = directory / "replay.html"
    try:
        replay(comparison, path, progress=progress and (lambda number, count: progress("replay", number, count)))
    except TooLong:  # for any browser: the films are there
        path.unlink(missing_ok=True)
        return []
    return [path]


def most_apart(comparison):
    """When some solver is farthest from the reference, by the first probe [s]; the end where none is."""
    found = []
    for trace in comparison.traces:
        for apart in list(trace.deviation.values())[:1]:
            if not trace.failure and np.nanmax(apart, initial=0.0) > 0:
                k = int(np.nanargmax(apart))
                found.append((apart[k], trace.times[k]))
    return max(found, default=(0.0, np.inf))[1]
