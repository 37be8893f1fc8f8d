"""Live plots on the panel: energy, gap of joints, time of a step."""

import numpy as np

from scenes.view.history import WINDOW
from scenes.visuals.colours import SOLVERS

GREY = "#7a818c"
HEIGHT = 130  # of a plot [pixels]


class Plots:
    """Three plots. Arguments: gui: of a viser server."""

    def __init__(self, gui):
        self.gui, self.handles = gui, []
        self.folder = gui.add_folder(None)

    def renew(self, session):
        """Plots for what a session runs now."""
        for handle in self.handles:
            handle.remove()
        running, ghost = session.running, session.ghost
        own, other = SOLVERS[running.solver], SOLVERS[ghost.solver] if ghost else GREY
        energies = [("total", own), ("kinetic", "#e69f00"), ("potential", "#56b4e9")]
        gaps = [(running.solver, own)]
        if ghost:
            energies.append((ghost.solver, other))
            gaps.append((ghost.solver, other))
        gap = "joint gap [mm]" if running.scene.model is not None else "largest stretch [%]"
        with self.folder:
            self.handles = [
                self.plot("energy [J]", energies), self.plot(gap, gaps), self.plot("step [ms]", [("step", own)]),
            ]  # fmt: skip

    def plot(self, title, lines):
        """One plot. Arguments: title; lines: (label, colour) of each."""
        line = {"width": 1.5, "points": {"show": False}}
        series = ({"label": "seconds ago"}, *({"label": label, "stroke": colour, **line} for label, colour in lines))
        nothing = tuple(np.zeros(1) for _ in series)
        # A range that stays: viser's page loses its own where data come faster than it draws.
        scales = {"x": {"time": False, "range": (-WINDOW, 0.0)}}
        return self.gui.add_uplot(nothing, series, title=title, scales=scales, height=HEIGHT,
                                  legend={"show": len(lines) > 1, "live": False})  # fmt: skip

    def show(self, columns):
        """Show a History's columns."""
        time, kinetic, potential, total, gap, step, ghost_total, ghost_gap = columns
        shown = [(total, kinetic, potential, ghost_total), (gap, ghost_gap), (step,)]
        for handle, found in zip(self.handles, shown):
            handle.data = (time - time[-1], *found[: len(handle.series) - 1])
