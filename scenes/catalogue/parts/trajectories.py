"""Ways for controls of scenes: from pose to pose, at rest in each."""

import numpy as np


def eased(time, times, values):
    """Where something is that goes from value to value, and starts and ends each way at rest.

    Between two times it is a + (b - a) (3 s² - 2 s³), s from 0 to 1; before the first and after the last it rests.

    Arguments: time [s]; times (n,), rising [s]; values (n,) or (n, k). Returns: a number, or (k,).
    """
    times, values = np.asarray(times, float), np.asarray(values, float)
    k = int(np.clip(np.searchsorted(times, time, "right") - 1, 0, len(times) - 2))
    s = np.clip((time - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0)
    return values[k] + (values[k + 1] - values[k]) * (s * s * (3 - 2 * s))
