"""Frames between two steps: positions and rotations are interpolated. Films have frames at a rate of their own."""

import math

import numpy as np

from pbd.core.messages import shown
from pbd.core.validate import positive
from scenes.simulate.recording import Frame

MOST = 1000.0  # frames per second of a film
ON_STEP = 1e-6  # part of a step within which an instant counts as that of the step


def interpolate_frames(before, after, fraction):
    """Interpolate between two Frames of a scene.

    Args: before, after: Frames; fraction: from 0, which gives `before`, to 1, which gives `after`.

    Returns: a Frame, with the velocities of `after`.
    """
    if fraction >= 1.0 or before.time >= after.time:
        return after
    return Frame(
        before.time + fraction * (after.time - before.time),
        before.positions + fraction * (after.positions - before.positions),
        after.velocities,
        interpolate_poses(before.poses, after.poses, fraction),
        interpolate_poses(before.body_poses, after.body_poses, fraction),
        after.body_velocities,
        before.torn,
    )


def interpolate_poses(before, after, fraction):
    """Interpolate between poses (n, 7): positions linearly, quaternions along the shorter arc.

    Source: Shoemake, Animating Rotation with Quaternion Curves (1985), https://doi.org/10.1145/325334.325242: slerp.
    """
    first, last = before[:, 3:], after[:, 3:]
    last = np.where(np.sum(first * last, axis=1, keepdims=True) < 0, -last, last)  # q and -q are one rotation
    # The angle between them, in units of π. By atan2 it is exact for small turns, where arccos is not.
    turn = np.arctan2(np.linalg.norm(last - first, axis=1), np.linalg.norm(last + first, axis=1))[:, None] * 2 / np.pi
    rotations = sum(part * np.sinc(part * turn) * each for part, each in ((1 - fraction, first), (fraction, last)))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    return np.hstack([before[:, :3] + fraction * (after[:, :3] - before[:, :3]), rotations])


def frames_between(places, read):
    """Yield Frames at places between whole numbers.

    Args: places: ascending, such as times in steps; read: function of a whole number that returns its Frame. It is
    called in ascending order, once for each.
    """
    known = {}
    for place in places:
        first = math.floor(place + ON_STEP)
        fraction = place - first
        needed = (first, first + 1) if fraction > ON_STEP else (first,)
        known = {k: known[k] if k in known else read(k) for k in needed}
        yield interpolate_frames(known[first], known[first + 1], fraction) if len(needed) > 1 else known[first]


class Resampled:
    """Frames of a Run or a Replay at any rate, interpolated between its steps.

    Args:
        source: the Run or Replay.
        fps: frames per second [1/s], at most MOST. A run that is shorter than a frame has a higher rate.
        ending: whether the last frame shows the end of the run. In a film it does not: each frame is shown until the
            next one, the last one until the end, so that the film lasts as long as the run, within half a frame.

    Attributes: count: how many frames; fps; scene, solver: of the source.

    Raises: TypeError or ValueError for a rate out of range.
    """

    def __init__(self, source, fps, ending=True):
        if positive("fps", fps) > MOST:
            raise ValueError(f"fps is {shown(fps)}: expected at most {MOST:g} frames per second")
        self.source, self.scene, self.solver = source, source.scene, source.solver
        self.fps = max(float(fps), 1 / source.length) if source.length > 0 else float(fps)
        frames = source.length * self.fps
        self.count = 1 + math.ceil(frames - ON_STEP) if ending else max(1, round(frames))

    @property
    def system(self):
        """The system of a Run."""
        return self.source.system

    def about(self):
        """Describe a Run as plain values, as `Run.about`."""
        return self.source.about()

    def events(self):
        """Events so far, as `Run.events`."""
        return self.source.events()

    def frames(self):
        """Iterate over the frames."""
        return self.source.frames_at(min(k / self.fps, self.source.length) for k in range(self.count))
