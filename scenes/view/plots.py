"""Live plots on the panel: energy, gap of joints, time of a step."""

import numpy as np

from scenes.colours import SOLVERS

GREY = "#7a818c"
HEIGHT = 150  # of a plot [pixels]


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
        series = ({"label": "t [s]"}, *({"label": label, "stroke": colour, "width": 1.5} for label, colour in lines))
        nothing = tuple(np.zeros(0) for _ in series)
        return self.gui.add_uplot(nothing, series, title=title, scales={"x": {"time": False}}, height=HEIGHT,
                                  legend={"show": len(lines) > 1})  # fmt: skip

    def show(self, columns):
        """Show a History's columns."""
        time, kinetic, potential, total, gap, step, ghost_total, ghost_gap = columns
        shown = [(total, kinetic, potential, ghost_total), (gap, ghost_gap), (step,)]
        for handle, found in zip(self.handles, shown):
            handle.data = (time, *found[: len(handle.series) - 1])
