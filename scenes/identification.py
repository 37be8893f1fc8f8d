"""Identification: gain and time constant of a first-order lag from a recorded table."""

from typing import NamedTuple

import numpy as np
import scipy

from pbd.core.validate import boolean, finite_array

# Time constants are searched from this part of the shortest interval of the table to this multiple of its length.
SHORTEST, LONGEST = 0.05, 2.0
CANDIDATES = 60


class Lag(NamedTuple):
    """A first-order lag T ω' = k δ - ω, as fitted."""

    gain: float  # k [unit of ω per unit of δ]
    time_constant: float  # T [s]
    start: float  # ω at the first time
    residual: float  # root mean square of the deviations of ω


def identify(times, inputs, outputs, hold=True):
    """Fit a first-order lag T ω' = k δ - ω to a table, by least squares.

    For a given T the response is linear in k and in ω at the start. So T alone is searched, and each candidate has its
    best k. The deviations are those of the whole response, not of its slopes, so noise of the outputs does not bias k
    and T. T is known as well as the table has changes of δ with samples soon after them.

    Args:
        times: t (n,), ascending [s].
        inputs: δ (n,).
        outputs: ω (n,).
        hold: whether δ keeps its value until the next time; otherwise it changes linearly.

    Returns: a Lag.

    Raises: TypeError or ValueError for fewer than four times, times that do not ascend, other shapes, numbers that are
    not finite, or an input that is always zero.

    Source: output-error method, Ljung, System Identification (1999), section 4.2, with separable least squares: Golub
    and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate
    (1973), https://doi.org/10.1137/0710036.
    """
    times, hold = finite_array("times", times, (None,)), boolean("hold", hold)
    if len(times) < 4:
        raise ValueError(f"times are {len(times)} numbers: expected four or more")
    if (np.diff(times) <= 0).any():
        late = int(np.argmax(np.diff(times) <= 0))
        raise ValueError(f"times are {times[late]:g} and then {times[late + 1]:g}: expected ascending times")
    inputs, outputs = finite_array("inputs", inputs, times.shape), finite_array("outputs", outputs, times.shape)
    if not inputs.any():
        raise ValueError("inputs are all zero: expected a change of the input")

    def error(logarithm):
        return fit_gain(times, inputs, outputs, np.exp(logarithm), hold)[1]

    least, most = np.log([SHORTEST * np.diff(times).min(), LONGEST * (times[-1] - times[0])])
    candidates = np.linspace(least, most, CANDIDATES)
    best = int(np.argmin([error(each) for each in candidates]))
    around = candidates[max(best - 1, 0)], candidates[min(best + 1, CANDIDATES - 1)]
    found = scipy.optimize.minimize_scalar(error, bounds=around, method="bounded", options={"xatol": 1e-10})
    (gain, start), squares = fit_gain(times, inputs, outputs, np.exp(found.x), hold)
    return Lag(float(gain), float(np.exp(found.x)), float(start), float(np.sqrt(squares / len(times))))


def fit_gain(times, inputs, outputs, time_constant, hold):
    """Fit k and the start for a given T. Args: see `identify`. Returns: k and start (2,); the sum of squares."""
    unit = response(times, inputs, time_constant, hold)
    columns = np.stack([unit, np.exp(-(times - times[0]) / time_constant)], axis=1)
    fitted = np.linalg.lstsq(columns, outputs, rcond=None)[0]
    return fitted, float(((columns @ fitted - outputs) ** 2).sum())


def response(times, inputs, time_constant, hold=True):
    """The response of a lag of gain one that starts at zero, for inputs that are constant or linear between times.

    It is exact. Over an interval s with δ from δ_0 to δ_1, z = s/T, the lag goes from ω to
    ω e^{-z} + δ_0 (1 - e^{-z}) + (δ_1 - δ_0) (1 - (1 - e^{-z})/z).

    Args: see `identify`. Returns: (n,).
    """
    z = np.diff(times) / time_constant
    decay, reached = np.exp(-z), -np.expm1(-z)
    gained = inputs[:-1] * reached
    if not hold:
        gained = gained + np.diff(inputs) * (1 - reached / z)
    found = np.zeros(len(times))
    for n in range(len(z)):
        found[n + 1] = decay[n] * found[n] + gained[n]
    return found
