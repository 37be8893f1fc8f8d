"""The stick of the course, docs/course/stick.md, is that of the solver."""

import numpy as np
import pytest
from chapters import chapter

import pbd

course = chapter("stick")

ENDS = np.array([[0.1, -0.2, 0.3], [1.0, 0.5, -0.4]])
CASES = [((1, 1), 1.0), ((0.2, 5), 0.3), ((0, 2), 2.5), ((3, 0), 1.3)]  # inverse masses, length [m]


def projected_by_the_solver(w, length, name):
    """Ends of a stick at rest after one iteration in verletlab."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(ENDS, mass=[1 / each if each else np.inf for each in w])
    particles.add_constraints(name, [(0, 1)], length=[length])
    system = pbd.ParticleSystem(particles, iterations=1)
    system.step()
    return system.positions()


@pytest.mark.parametrize(("w", "length"), CASES)
def test_the_projection_is_that_of_the_solver(w, length):
    # The same few operations on numbers near one; the solver adds 1e-30 and the like to what could be zero.
    w = np.array(w, float)
    new = course.project(ENDS, w, length)
    assert projected_by_the_solver(w, length, "stick") == pytest.approx(new, abs=1e-14)
    assert np.linalg.norm(new[1] - new[0]) == pytest.approx(length, abs=1e-14)
    new = course.project_without_root(ENDS, w, length)
    assert projected_by_the_solver(w, length, "root-free stick") == pytest.approx(new, abs=1e-14)


@pytest.mark.filterwarnings("ignore:.*energy has risen")  # the first chord is faster than the velocity of the start
@pytest.mark.parametrize("iterations", [1, 20])
@pytest.mark.parametrize("direction", ["current", "start"])
@pytest.mark.parametrize("h", [0.004, 0.02, 0.1])
def test_the_spinning_stick_is_that_of_the_solver(h, direction, iterations):
    # Each step rounds by 1e-16 m, and what it does to the rate adds up over the 50 steps.
    expected = course.spin(h, 50, direction, iterations)
    assert course.spin_in_verletlab(h, 50, direction, iterations) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("h", [0.01, 0.1])
def test_a_spinning_stick_obeys_the_formulas_of_both_directions(h):
    angles = course.angles(course.spin(h, 400, "current"))
    assert angles == pytest.approx(course.predicted_angles(h, 400), abs=1e-13)
    assert course.angles(course.spin(h, 400, "start")) == pytest.approx(np.arcsin(course.RATE * h), abs=1e-12)
    for iterations in (1, 20):
        momentum = course.angular_momentum(course.spin(h, 400, "start", iterations), h)
        assert momentum == pytest.approx(momentum[0], rel=1e-12)


def test_the_current_direction_lets_a_stick_turn_by_30_degrees_at_most():
    angle = np.linspace(0, np.pi, 100_001)
    new = np.arctan2(np.sin(angle), 2 - np.cos(angle))
    assert new.max() == pytest.approx(np.pi / 6, abs=1e-9)
    assert angle[new.argmax()] == pytest.approx(np.pi / 3, abs=1e-4)


@pytest.mark.parametrize("error", [-0.5, 0.01, 2.0])
def test_lengths_after_a_projection(error):
    x = np.array([[0, 0, 0], [1 + error, 0, 0]])
    new = course.project_without_root(x, [1, 2], 1.0)
    assert new[1, 0] - new[0, 0] == pytest.approx(1 - error**2 / (2 + 2 * error + error**2), abs=1e-14)
    moved = course.project(x, [1, 2], 1.0) - x
    assert (x - moved)[1, 0] - (x - moved)[0, 0] == pytest.approx(1 + 2 * error, abs=1e-14)  # signs of the source
