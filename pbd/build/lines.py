"""Lines through corners, and names of their ends, which ropes and rods share."""

import numpy as np

ENDS = {"start": 0, "end": -1}


def resampled(points, segments):
    """The points (segments + 1, 3) that divide a line into pieces of equal length."""
    along = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    at = np.linspace(0, along[-1], segments + 1)
    return np.stack([np.interp(at, along, points[:, k]) for k in range(3)], axis=1)
