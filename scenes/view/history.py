"""What the plots show: a bounded window of measurements of a session."""

from collections import deque

import numpy as np

from rigid.constraints.joints.gaps import joint_gaps
from scenes.comparison.measure import largest_stretch, state_of

INTERVAL = 0.1  # between samples, in time of the scene [s]
WINDOW = 20.0  # length of the plots, in time of the scene [s]


class History:
    """Measurements in the last WINDOW of a session.

    A sample contains: time [s]; kinetic, potential and total energy [J]; gap [mm, for sticks %]; time of a step [ms];
    total energy and gap of the ghost. What does not exist is NaN.

    Args: session.
    """

    def __init__(self, session):
        self.session, self.run, self.samples = session, None, deque(maxlen=round(WINDOW / INTERVAL) + 1)

    def add(self, frame, ghost_frame=None):
        """Take a sample if one is due. Args: Frames of the scene and of the ghost. Returns: whether it was due."""
        session = self.session
        if self.run is not session.run:
            self.run = session.run
            self.samples.clear()
        if self.samples and frame.time < self.samples[-1][0] + INTERVAL - 1e-9:
            return False
        ghost_energy, ghost_gap = np.nan, np.nan
        if session.ghost is not None and ghost_frame is not None:
            ghost_energy, ghost_gap = session.ghost.system.energy().total, largest_gap(session.ghost, ghost_frame)
        energy, gap = session.run.system.energy(), largest_gap(session.run, frame)
        self.samples.append((frame.time, *energy, gap, 1e3 * session.step_seconds, ghost_energy, ghost_gap))
        return True

    def columns(self):
        """All samples as eight arrays, in the order above."""
        return np.array(self.samples, float).reshape(-1, 8).T


def largest_gap(run, frame):
    """The widest gap of a joint [mm]; without bodies, the largest stretch of a stick [%]; NaN if there are neither."""
    scene = run.scene
    if scene.model is not None:
        return 1e3 * joint_gaps(scene.model, state_of(frame)).max() if scene.model.joints else np.nan
    stretch = largest_stretch(scene.particles, frame.positions)
    return np.nan if stretch is None else 100 * stretch
