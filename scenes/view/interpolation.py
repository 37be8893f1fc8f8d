"""Frames between two steps, for slow motion: what moves is drawn as if it went straight from one to the next."""

import numpy as np

from scenes.simulate.recording import Frame


def between(before, after, part):
    """A Frame between two. Arguments: before, after: Frames of one scene; part: of the way, from 0 to 1."""
    if part >= 1.0 or before.time >= after.time:
        return after
    time = before.time + part * (after.time - before.time)
    positions = before.positions + part * (after.positions - before.positions)
    poses, bodies = turned(before.poses, after.poses, part), turned(before.body_poses, after.body_poses, part)
    return Frame(time, positions, after.velocities, poses, bodies, after.body_velocities)


def turned(before, after, part):
    """Poses (n, 7) between two. The rotation goes along the chord, which for a step's turn is as good as the arc."""
    nearer = np.where(np.sum(before[:, 3:] * after[:, 3:], axis=1) < 0, -1.0, 1.0)  # q and -q are one rotation
    signs = np.concatenate([np.ones((len(after), 3)), np.repeat(nearer[:, None], 4, axis=1)], axis=1)
    poses = before + part * (signs * after - before)
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    return poses


class Shown:
    """The frames of a Run, and what of them is shown."""

    def __init__(self):
        self.running, self.before, self.after = None, None, None

    def frames(self, running, part):
        """A Run's Frame, and the one to show. Arguments: running, or None; part: of the way from the last but one."""
        if running is not self.running:
            self.running, self.before, self.after = running, None, None
        if running is None:
            return None, None
        frame = running.frame(velocities=False)
        if self.after is None or frame.time != self.after.time:
            self.before = self.after
        self.after = frame
        return frame, frame if self.before is None else between(self.before, frame, part)
