"""What the plots show: a bounded window of what a session measured."""

from collections import deque

import numpy as np

from rigid.constraints.joints.gaps import joint_gaps
from scenes.comparison.measure import largest_stretch, state_of

EVERY = 0.1  # seconds of the scene from one sample to the next
WINDOW = 20.0  # seconds of the scene that are kept


class History:
    """What was measured in the last WINDOW of a session. Arguments: session.

    A sample: time [s]; kinetic, potential, total energy [J], gap [mm, of sticks %], step [ms], and of the ghost: total
    energy, gap; not a number where there is none.
    """

    def __init__(self, session):
        self.session, self.running, self.samples = session, None, deque(maxlen=round(WINDOW / EVERY) + 1)

    def add(self, frame, ghost_frame=None):
        """Take a sample where one is due. Arguments: Frames of the scene and of the ghost. Returns: whether it was."""
        session = self.session
        if self.running is not session.running:
            self.running = session.running
            self.samples.clear()
        if self.samples and frame.time < self.samples[-1][0] + EVERY - 1e-9:
            return False
        energy, total, gap = session.running.system.energy(), np.nan, np.nan
        if session.ghost is not None and ghost_frame is not None:
            total, gap = session.ghost.system.energy().total, gap_of(session.ghost, ghost_frame)
        of_step = 1e3 * session.step_seconds, total, gap
        self.samples.append((frame.time, *energy, gap_of(session.running, frame), *of_step))
        return True

    def columns(self):
        """The samples, an array a column."""
        return np.array(self.samples, float).reshape(-1, 8).T


def gap_of(running, frame):
    """The widest gap of joints [mm]; of particles alone, the largest stretch of sticks [%]; not a number of neither."""
    scene = running.scene
    if scene.model is not None:
        return 1e3 * joint_gaps(scene.model, state_of(frame)).max() if scene.model.joints else np.nan
    stretch = largest_stretch(scene.particles, frame.positions)
    return np.nan if stretch is None else 100 * stretch
