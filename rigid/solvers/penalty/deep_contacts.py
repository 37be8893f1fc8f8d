"""A warning where contacts give way: bodies sink into one another under a load that their springs do not bear."""

import warnings

import numpy as np

from pbd.core.kernels import read
from rigid.collision.data import SHAPE, STRUCTURE
from rigid.solvers.report import REPORT


class DeepContacts:
    """Warns once where bodies overlap by half of the thinner one's half thickness.

    A contact's stiffness follows from its bodies' masses and the step, not from the load. So a tall pile sinks into
    itself, and in the end its bodies pass through one another.

    Args: solver: a PenaltySolver.
    """

    DEPTH = 0.5  # in parts of the half thickness

    def __init__(self, solver):
        shapes = solver.data.shapes
        halves = read(shapes.numbers)[0, :, SHAPE["half_extent"]].min(axis=1)
        self._halves = np.full(len(solver.model.bodies) + 1, np.inf)  # of each body's thinnest shape, the ground's last
        np.minimum.at(self._halves, read(shapes.integers)[:, STRUCTURE.body], halves)
        self._least = self.DEPTH * self._halves[:-1].min(initial=np.inf)

    def look(self, solver, report):
        """Look at the contacts of the last substep. Args: solver; report: of the launch (worlds, REPORT)."""
        for world in np.flatnonzero(report[:, REPORT.position_error] > self._least):
            contacts = solver.contact_forces(int(world))
            depths = -contacts.gaps / self._halves[contacts.bodies].min(axis=1)
            if depths.max(initial=0.0) > self.DEPTH:
                self._least = np.inf
                deepest = int(depths.argmax())
                bodies = solver.model.bodies
                one, other = (bodies[k].name if k >= 0 else "ground" for k in contacts.bodies[deepest])
                warnings.warn(
                    f'solver "penalty", world {world}, {solver.time:.6g} s: {one!r} is {-contacts.gaps[deepest]:.2g} m '
                    f"inside {other!r}: contacts give way: expected {solver.remedies}",
                    UserWarning, stacklevel=4,
                )  # fmt: skip
                return
