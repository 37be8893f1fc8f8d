"""Equal conditions for different solvers: as many iterations, or as much wall time, per simulated second.

Tuning changes substeps first, then iterations, because spare time reduces the error most as shorter substeps. It never
changes dt, because the scene's control is called once per step.
"""

import math

import numpy as np

WITHIN = 0.1  # relative difference up to which times count as equal
TRIALS = 7  # of one setting
MOST = 100_000  # substeps or iterations


def step_settings(running):
    """Read dt, substeps and iterations of a run: a dict, without "iterations" if the solver makes none.

    Args: running: a scenes.Run.
    """
    solver = running.system
    found = {"dt": solver.dt, "substeps": solver.substeps, "iterations": solver.iterations}
    return {name: value for name, value in found.items() if value is not None}


def without_tolerance(solver):
    """Options with which a solver makes all its iterations. Args: solver: its name."""
    return {"impulse": {"tolerance": 0.0}, "articulated": {"tolerance": 0.0}, "verlet": {"tolerance": None}}.get(
        solver, {}
    )


def iterations_for(chosen, rate):
    """Find the iterations per substep that come nearest to a rate, at least one.

    Args: chosen: step settings; rate: iterations per simulated second [1/s].
    """
    return max(1, round(rate * chosen["dt"] / chosen["substeps"]))


def iteration_rate(chosen):
    """Iterations per simulated second [1/s]; None if the solver makes none. Args: chosen: step settings."""
    return chosen["iterations"] * chosen["substeps"] / chosen["dt"] if "iterations" in chosen else None


def seconds_per_second(makers, repeats=3):
    """Measure the wall time per simulated second of several runs [s].

    The runs take turns, and the least time of each frame counts, so that compilation and other load on the machine
    matter as little as possible.

    Args: makers: functions that return a Run at its start; repeats: how often each runs.

    Returns: an array (makers,).
    """
    spent = [[] for _ in makers]
    for _ in range(repeats):
        for make, own in zip(makers, spent):
            running = make()
            for _ in running.frames():
                pass
            step = running.settings["dt"]
            own.append([seconds / step for seconds in running.seconds])
    return np.array([mean_of_frames(np.min(own, axis=0)) for own in spent])


def mean_of_frames(seconds):
    """Mean time of a step, without the first frame, which compiles [s]. Args: seconds: (frames,) [s]."""
    return float(np.mean(seconds[1:] if len(seconds) > 1 else seconds))


def tune(cost, chosen, budget, within=WITHIN / 2):
    """Change substeps, then iterations, until a solver takes the time that it may.

    Args:
        cost: a function of step settings that returns the wall time of a simulated second [s].
        chosen: step settings to start from.
        budget: wall time of a simulated second [s].
        within: relative error that is good enough.

    Returns: step settings, and their cost [s].
    """
    chosen, found = dict(chosen), None
    for name in ("substeps", "iterations"):
        if name not in chosen or (found is not None and abs(found / budget - 1) <= within):
            continue
        value, spent = nearest_to(lambda value, name=name: cost({**chosen, name: value}), chosen[name], budget, within)
        if found is None or distance(spent, budget) < distance(found, budget) - within / 2:  # more than chance
            chosen[name], found = value, spent
    return chosen, found


def distance(spent, budget):
    """Distance of a cost from a budget: the logarithm of their ratio, without its sign."""
    return abs(math.log(spent / budget))


def nearest_to(cost, value, budget, within):
    """Find the whole number whose cost is nearest to a budget, by secants, and by bisection where secants fail.

    Args: cost: a function that grows with the number; value: to start from; budget, within: see `tune`.

    Returns: the number and its cost.
    """
    seen = {}
    for _ in range(TRIALS):
        if value not in seen:
            seen[value] = cost(value)
        if abs(seen[value] / budget - 1) <= within:
            break
        low = max((each for each in seen if seen[each] < budget), default=0)
        high = min((each for each in seen if seen[each] >= budget and each > low), default=math.inf)
        value = next_value(seen, value, budget, low, high)
        if value in seen or value > MOST:
            break
    best = min(seen, key=lambda each: distance(seen[each], budget))
    return best, seen[best]


def next_value(seen, value, budget, low, high):
    """Next number to try between low and high: on the secant through the last value and the nearest other one.

    With one value, or a secant that falls, cost is taken as proportional to the number.
    """
    other = min((each for each in seen if each != value), key=lambda each: abs(each - value), default=None)
    slope = 0.0 if other is None else (seen[value] - seen[other]) / (value - other)
    if slope <= 0:
        slope = seen[value] / value
    guess = round(value + (budget - seen[value]) / slope)
    guess = min(guess, 10 * value)  # a straight line is not reliable further away
    if not low < guess < high:
        guess = (low + high) // 2 if high < math.inf else 2 * low
    return max(guess, 1)
