"""What a comparison looks like: plots, films, and a page that shows all of it.

    comparison = scenes.compare(scene, ["verlet", "impulse"])
    report.write(comparison, "out")          # out/index.html
"""

from pathlib import Path

from scenes.render.several import film_comparison
from scenes.report import page
from scenes.report.plots import plot_deviation, plot_series

__all__ = ["film_comparison", "plot_deviation", "plot_series", "write"]


def write(comparison, directory, films=True, command=None, progress=None):
    """Write plots, films and index.html beside what `comparison.save` wrote.

    Arguments: comparison: a scenes.Comparison; directory: it exists; files of the same names are replaced. films:
    whether there shall be films; command: that made it, None for this process's own; progress: called with a word, the
    number of a frame and how many there will be.

    Returns: the paths of all that was written, the page last.
    """
    directory = Path(directory)
    plots = plot_series(comparison, directory)
    written = [path for paths in plots.values() for path in paths]
    several = sum(trace.recording is not None for trace in comparison.traces) > 1
    for name, layout in (("comparison.mp4", "side by side"), ("ghosts.mp4", "ghosts")) if films else ():
        if layout == "ghosts" and not several:
            continue
        update = progress and (lambda number, count, layout=layout: progress(layout, number, count))
        film_comparison(comparison, directory / name, layout, progress=update)
        written.append(directory / name)
    return [*written, page.write(comparison, directory, plots, command)]
