"""Frames between two steps, for slow motion: positions and rotations are interpolated."""

import numpy as np

from scenes.simulate.recording import Frame


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
    """Interpolate between poses (n, 7). Quaternions follow the chord, which is close to the arc for one step."""
    sign = np.where(np.sum(before[:, 3:] * after[:, 3:], axis=1) < 0, -1.0, 1.0)  # q and -q are one rotation
    signs = np.concatenate([np.ones((len(after), 3)), np.repeat(sign[:, None], 4, axis=1)], axis=1)
    poses = before + fraction * (signs * after - before)
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    return poses


class FrameInterpolator:
    """Remembers the last two frames of a Run."""

    def __init__(self):
        self.run, self.before, self.after = None, None, None

    def frames(self, run, fraction):
        """Read the current frame of a Run.

        Args: run: a Run, or None; fraction: position of the shown instant between the last two steps.

        Returns: the Frame of the last step, and the Frame to show; None for both if there is no run.
        """
        if run is not self.run:
            self.run, self.before, self.after = run, None, None
        if run is None:
            return None, None
        frame = run.frame(velocities=False)
        if self.after is None or frame.time != self.after.time:
            self.before = self.after
        self.after = frame
        return frame, frame if self.before is None else interpolate_frames(self.before, frame, fraction)
