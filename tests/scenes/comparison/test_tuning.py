"""Equal iterations and equal time, with times from a formula."""

import itertools
import time

import pytest

import scenes
from scenes.comparison.tuning import WITHIN, iteration_rate, iterations_for, nearest_to, tune
from scenes.simulate.run import Run


def clock(a, b, uncertain=0.0):
    """Make a cost function: (a + b × iterations) for each substep, with relative noise.

    Args: a, b: costs of a substep and of an iteration; uncertain: size of the noise.
    """
    turns = itertools.cycle((1 + uncertain, 1 - uncertain, 1.0))
    return lambda chosen: chosen["substeps"] * (a + b * chosen.get("iterations", 0)) * next(turns)


@pytest.mark.parametrize("uncertain", [0.0, 0.02])
@pytest.mark.parametrize("times", [1.07, 1.4, 3.0, 17.0, 200.0])
@pytest.mark.parametrize(
    ("a", "b", "chosen"),
    [
        (1.0, 0.1, {"substeps": 1, "iterations": 20}),
        (1.0, 1.0, {"substeps": 3, "iterations": 150}),
        (1e-3, 1.0, {"substeps": 1, "iterations": 10}),
        (1.0, 0.0, {"substeps": 16}),
    ],
)
def test_tuned_time_is_within_a_tenth(a, b, chosen, times, uncertain):
    cost, measured = clock(a, b), clock(a, b, uncertain)
    budget = times * cost(chosen)
    found, spent = tune(measured, {**chosen, "dt": 0.01}, budget)
    assert found["dt"] == 0.01
    assert set(found) == {*chosen, "dt"}
    assert cost(found) == pytest.approx(budget, rel=WITHIN)
    assert spent == pytest.approx(cost(found), rel=2 * uncertain + 1e-12)


def test_iterations_without_cost_do_not_change():
    found, _ = tune(clock(1.0, 0.0), {"substeps": 1, "iterations": 50}, 2.4)
    assert found == {"substeps": 2, "iterations": 50}  # the nearest whole number


def test_nearest_whole_number_is_found_in_few_trials():
    for power, goal in itertools.product((0.5, 1.0, 2.0), (1, 2, 3, 10, 437)):
        value, cost = nearest_to(lambda x, power=power: x**power, 5, (goal + 0.2) ** power, 1e-9)
        assert (value, cost) == (goal, goal**power)


def test_iterations_for_a_rate():
    assert iteration_rate({"dt": 0.01, "substeps": 5, "iterations": 10}) == pytest.approx(5000)
    assert iteration_rate({"dt": 0.01, "substeps": 5}) is None
    assert iterations_for({"dt": 0.02, "substeps": 4}, 5000) == 25
    assert iterations_for({"dt": 0.001, "substeps": 50}, 5000) == 1  # at least one


@pytest.fixture
def formula(monkeypatch):
    """Replace steps by ones that move nothing and take the time of a formula, with noise and a slow first frame."""
    now, prices = [0.0], {"verlet": (2.0, 0.5), "impulse": (1.0, 0.3), "articulated": (5.0, 0.1), "penalty": (1.3, 0)}
    hiccups = itertools.cycle((0.0, 3.0, 0.0))

    def timed(self, count=1):
        a, b = prices[self.solver]
        spent = self.system.substeps * (a + b * (self.system.iterations or 0)) + next(hiccups)
        now[0] += 1e-6 * count * spent + (not self.seconds) * 7.0

    monkeypatch.setattr(Run, "step", timed)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return prices


def test_all_solvers_take_the_same_time(formula):
    comparison = scenes.compare("five_link_chain", equal="time", duration=0.16, settings={"penalty": {"substeps": 256}})
    spent = {}
    for trace in comparison.traces:
        a, b = formula[trace.solver]
        spent[trace.label] = trace.settings["substeps"] * (a + b * trace.settings.get("iterations", 0))
        assert trace.about["seconds_per_second"] == pytest.approx(1e-6 * spent[trace.label] / 0.01, rel=0.02)
        assert trace.about["equal_time"] > 1 - WITHIN
    assert max(spent.values()) < min(spent.values()) / (1 - WITHIN)
    assert comparison.trace("penalty").settings["substeps"] == 256  # the slowest does not change
    assert comparison.equal == "time"
