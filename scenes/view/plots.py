"""Live plots on the panel: energy, gap of joints, time of a step."""

import numpy as np

from scenes.view.history import WINDOW
from scenes.visuals.colours import REFERENCE, SOLVERS

HEIGHT = 130  # of a plot [pixels]


class Plots:
    """Three plots on the panel. Args: gui: of a viser server."""

    def __init__(self, gui):
        self.gui, self.handles = gui, []
        self.folder = gui.add_folder(None)

    def rebuild(self, session):
        """Make new plots for the current run of a session."""
        for handle in self.handles:
            handle.remove()
        run, ghost = session.run, session.ghost
        colour, ghost_colour = SOLVERS[run.solver], SOLVERS[ghost.solver] if ghost else REFERENCE
        energies = [("total", colour), ("kinetic", "#e69f00"), ("potential", "#56b4e9")]
        gaps = [(run.solver, colour)]
        if ghost:
            energies.append((ghost.solver, ghost_colour))
            gaps.append((ghost.solver, ghost_colour))
        gap = "joint gap [mm]" if run.scene.model is not None else "largest stretch [%]"
        with self.folder:
            self.handles = [
                self.add_plot("energy [J]", energies),
                self.add_plot(gap, gaps),
                self.add_plot("step time [ms]", [("step", colour)]),
            ]

    def add_plot(self, title, lines):
        """Add a plot. Args: title; lines: (label, colour) of each line. Returns: its handle."""
        style = {"width": 1.5, "points": {"show": False}}
        series = ({"label": "seconds ago"}, *({"label": label, "stroke": colour, **style} for label, colour in lines))
        empty = tuple(np.zeros(1) for _ in series)
        # A fixed range, because viser's page loses an automatic one if data arrive faster than it draws.
        scales = {"x": {"time": False, "range": (-WINDOW, 0.0)}}
        legend = {"show": len(lines) > 1, "live": False}
        return self.gui.add_uplot(empty, series, title=title, scales=scales, height=HEIGHT, legend=legend)

    def show(self, columns):
        """Show measurements. Args: columns: as History.columns returns them."""
        time, kinetic, potential, total, gap, step, ghost_total, ghost_gap = columns
        lines = [(total, kinetic, potential, ghost_total), (gap, ghost_gap), (step,)]
        for handle, values in zip(self.handles, lines):
            handle.data = (time - time[-1], *values[: len(handle.series) - 1])
