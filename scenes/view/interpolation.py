"""The instant that is shown in slow motion, between two steps."""

from scenes.simulate.interpolation import interpolate_frames


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
