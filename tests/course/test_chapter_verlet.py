"""The Verlet step of the course, docs/course/verlet.md, is that of the solver."""

import numpy as np
import pytest
from chapters import chapter

course = chapter("verlet")


@pytest.mark.parametrize("h", [0.002, 0.01, 0.13, 0.31])
def test_verlet_of_the_course_is_that_of_the_solver(h):
    # Both compute 2 x - x* + h² a with a few roundings of 1e-16 m in each of 50 steps, which an oscillator keeps.
    expected = course.verlet(np.array([1.0]), np.array([course.SPEED]), h, 50)[:, 0]
    assert course.swing(h, 50) == pytest.approx(expected, abs=1e-12)


def test_verlet_keeps_its_quantity_and_the_period_of_its_angle():
    h = 0.05
    x = course.verlet(np.array([1.0]), np.array([course.SPEED]), h, 500)[:, 0]
    kept = (x[1:] - x[:-1]) ** 2 / h**2 + course.RATE**2 * x[1:] * x[:-1]
    assert kept == pytest.approx(kept[0], rel=1e-12)
    angle = 2 * np.arcsin(course.RATE * h / 2)
    n = np.arange(501)
    expected = x[0] * np.cos(n * angle) + (x[1] - x[0] * np.cos(angle)) / np.sin(angle) * np.sin(n * angle)
    assert x == pytest.approx(expected, abs=1e-11)


def test_orders_are_those_of_the_chapter():
    for name, order in [("explicit Euler", 1), ("implicit Euler", 1), ("Verlet", 2), ("Verlet, x* = x - h v", 1)]:
        method = course.METHODS[name]
        errors = [abs(method(np.ones(1), 2 * np.ones(1), course.TIME / n, n)[-1, 0] - course.END) for n in (2000, 4000)]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.02), name
