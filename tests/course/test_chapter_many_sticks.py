"""The rope of the course, docs/course/many_sticks.md, is that of the solver."""

import numpy as np
import pytest
from chapters import chapter

course = chapter("many_sticks")


def level(n):
    """A level rope of n sticks and 1 m: positions (n + 1, 3), and inverse masses."""
    return np.outer(np.arange(n + 1) / n, [1, 0, 0]), np.r_[0, np.ones(n)]


def swing(n, h, iterations, steps=40):
    """Positions of the course's rope that falls from the level."""
    x, w = level(n)
    before = x + np.outer(w, [0, 0, -course.GRAVITY]) * h * h / 2
    for _ in range(steps):
        x, before = course.step(x, before, w, 1 / n, h, iterations)
    return x


@pytest.mark.parametrize("iterations", [1, 7])
@pytest.mark.parametrize(("n", "h"), [(3, 0.02), (8, 0.004)])
def test_a_rope_is_that_of_the_solver(n, h, iterations):
    # Both do the same operations in the same order, and each of the 40 steps rounds by 1e-16 m.
    system = course.rope(n, h, at=level(n)[0], iterations=iterations)
    system.step(40)
    assert system.positions() == pytest.approx(swing(n, h, iterations), abs=1e-13)


@pytest.mark.parametrize(("n", "h"), [(3, 0.005), (8, 0.001), (8, 0.004)])
def test_the_direct_solve_is_that_of_the_solver(n, h):
    # Both solve until round-off is left, by other eliminations.
    system = course.rope(n, h, direction="start", at=level(n)[0], iterations=20, solve="direct")
    system.step(40)
    assert system.positions() == pytest.approx(swing(n, h, None), abs=1e-12)


@pytest.mark.parametrize(("n", "substeps", "iterations"), [(5, 1, 1), (10, 2, 1), (6, 1, 3)])
def test_a_rope_at_rest_stretches_by_the_formula(n, substeps, iterations):
    # What is left of the fall after 1500 steps with drag is below round-off.
    unit = course.GRAVITY * (course.FRAME / substeps) ** 2
    expected = course.stretch_at_rest(n, iterations) * unit
    assert course.hang(n, substeps=substeps, iterations=iterations) == pytest.approx(expected, abs=1e-12)
    whole = n * (n - 1) / 2 / iterations * unit
    assert expected == pytest.approx(whole, rel=1e-12 if iterations == 1 else 0.15)


@pytest.mark.parametrize("n", [4, 15])
def test_iterations_converge_by_the_rate_of_the_chapter(n):
    w = np.r_[0, np.ones(n)]
    # The error is the fall of a vertical rope, which is linear: there are no other directions.
    x = np.outer(np.r_[0, -1.001 - np.arange(n)], [0, 0, 1])
    errors = []
    for _ in range(8 * n * n):
        course.iterate(x, w, 1.0)
        errors.append(np.abs(np.diff(x[:, 2]) + 1).max())
    rate = (errors[-1] / errors[4 * n * n - 1]) ** (1 / (4 * n * n))
    assert rate == pytest.approx(np.cos(np.pi / (2 * n)) ** 2, rel=1e-4)


def test_the_tridiagonal_system_is_solved():
    random = np.random.default_rng(0)
    beside = random.uniform(-1, 1, 9)
    diagonal = random.uniform(2, 3, 10)
    A = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    b = random.uniform(-1, 1, 10)
    assert course.solve_tridiagonal(diagonal, beside, b) == pytest.approx(np.linalg.solve(A, b), abs=1e-14)
