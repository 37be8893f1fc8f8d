"""Trajectories for controls of scenes: from pose to pose, at rest in each."""

import numpy as np


def eased(time, times, values):
    """Interpolate values smoothly, at rest at each of them.

    Between values a and b it is a + (b - a) (3 s² - 2 s³), with s from 0 to 1. It is constant before the first time and
    after the last.

    Args: time: [s]; times: (n,), ascending [s]; values: (n,) or (n, k).

    Returns: a number, or (k,).
    """
    times, values = np.asarray(times, float), np.asarray(values, float)
    k = int(np.clip(np.searchsorted(times, time, "right") - 1, 0, len(times) - 2))
    s = np.clip((time - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0)
    return values[k] + (values[k + 1] - values[k]) * (s * s * (3 - 2 * s))
