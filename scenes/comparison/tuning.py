"""Equal terms for solvers of several kinds: as many iterations, or as much time, for a simulated second.

What is turned is substeps and iterations, in this order: whoever has time to spare spends it best on shorter steps.
Steps themselves stay, and with them the instants at which a scene's control is asked.
"""

import math

import numpy as np

WITHIN = 0.1  # by which times may differ, and still be called equal
TRIALS = 7  # of one knob
MOST = 100_000  # substeps or iterations


def knobs(running):
    """What can be turned: {"dt", "substeps", "iterations"}, without iterations for a solver that makes none.

    Arguments: a scenes.Run."""
    moved = running.particles or running.system
    names = ("dt", "substeps", "iterations") if hasattr(moved, "iterations") else ("dt", "substeps")
    return {name: getattr(moved, name) for name in names}


def without_tolerance(solver):
    """Options with which a solver makes all the iterations that it is given."""
    return {"impulse": {"tolerance": 0.0}, "articulated": {"tolerance": 0.0}, "verlet": {"tolerance": None}}.get(
        solver, {}
    )


def iterations_for(turned, rate):
    """Iterations of a substep that make `rate` of them in a simulated second, as near as whole ones come, and one at
    least. Arguments: turned: of `knobs`; rate [1/s]."""
    return max(1, round(rate * turned["dt"] / turned["substeps"]))


def iteration_rate(turned):
    """Iterations in a simulated second [1/s]; None for a solver that makes none. Arguments: of `knobs`."""
    return turned["iterations"] * turned["substeps"] / turned["dt"] if "iterations" in turned else None


def seconds_per_second(makers, repeats=3):
    """Wall time that a simulated second takes, of several runs [s]; that of compiling, and of what else the machine
    does, left out as far as can be: they are run in turn, again and again, and of each frame the least time counts.

    Arguments: makers: functions that give a Run each, at its start; repeats: how often. Returns: an array of one each.
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
    """The mean of what a step took over frames [s], without the first, which compiles. Arguments: (frames,) [s]."""
    return float(np.mean(seconds[1:] if len(seconds) > 1 else seconds))


def tune(cost, turned, budget, within=WITHIN / 2):
    """Turn substeps, then iterations, until a solver spends what it may.

    Arguments: cost: a function of {"substeps": ..., "iterations": ...} that gives the wall time of a simulated second
    [s]; turned: of `knobs`, to begin with; budget [s]; within: how near is near enough, as a part of the budget.

    Returns: what `turned` comes to, and its cost [s].
    """
    turned, found = dict(turned), None
    for name in ("substeps", "iterations"):
        if name not in turned or (found is not None and abs(found / budget - 1) <= within):
            continue
        value, spent = nearest_to(lambda value, name=name: cost({**turned, name: value}), turned[name], budget, within)
        if found is None or off(spent, budget) < off(found, budget) - within / 2:  # more than by chance
            turned[name], found = value, spent
    return turned, found


def off(spent, budget):
    """How far a cost is off a budget, whether above or below."""
    return abs(math.log(spent / budget))


def nearest_to(cost, value, budget, within):
    """The whole number whose cost comes nearest to a budget, and that cost: by secants, and where these lead astray by
    halves. Arguments: cost: a function that grows with the number; value: where to begin; budget, within: as of `tune`.
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
    best = min(seen, key=lambda each: off(seen[each], budget))
    return best, seen[best]


def next_value(seen, value, budget, low, high):
    """Where to look next, between low and high: along the secant through the last value and the nearest other, or as if
    cost were proportional."""
    other = min((each for each in seen if each != value), key=lambda each: abs(each - value), default=None)
    slope = 0.0 if other is None else (seen[value] - seen[other]) / (value - other)
    if slope <= 0:
        slope = seen[value] / value
    guess = round(value + (budget - seen[value]) / slope)
    guess = min(guess, 10 * value)  # as far as a straight line is to be believed
    if not low < guess < high:
        guess = (low + high) // 2 if high < math.inf else 2 * low
    return max(guess, 1)
