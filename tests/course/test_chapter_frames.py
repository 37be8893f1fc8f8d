"""Frames of particles of the course, docs/course/frames.md, are those of the solvers."""

import numpy as np
import pytest
from chapters import chapter

import pbd
from rigid.solvers.verlet.frame import make_frame

course = chapter("frames")


def random_body(rng):
    """Mass and inertia of a random cloud, and some of its points."""
    points = rng.normal(size=(10, 3)) * rng.uniform(0.1, 1.0, 3)
    points -= points.mean(axis=0)
    second = points.T @ points / 10
    return 1.0, np.trace(second) * np.eye(3) - second, points


@pytest.mark.parametrize("joints", [0, 1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_frame_of_the_course_is_that_of_the_solver_and_exact(joints, seed):
    # Both find the same eigenvectors, of size one, and differ by their round-off.
    mass, inertia, points = random_body(np.random.default_rng(seed))
    expected = make_frame("body", mass, inertia, points[:joints])
    x, m = course.frame(mass, inertia, points[:joints], expected.joint_mass)
    assert x == pytest.approx(expected.points, abs=1e-12)
    assert m == pytest.approx(expected.masses, rel=1e-14)
    assert m @ x == pytest.approx(np.zeros(3), abs=1e-13)
    assert (m[:, None] * x).T @ x == pytest.approx(course.second_moments(inertia), abs=1e-12)
    corners = x[:4]
    assert course.weights(corners, points[0]) == pytest.approx(expected.weights(points[0]), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_contact_point_of_the_solver_moves_as_in_the_course(seed):
    # One projection in both, of numbers of size one.
    rng = np.random.default_rng(seed)
    x, m = rng.normal(size=(4, 3)) + (0, 0, 9), rng.uniform(1, 5, 4)
    point = np.array([0.3, -0.2, -0.25])
    c = course.weights(x, point)
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, m)
    particles.add_contact_point(range(4), c)
    particles.add_collider(pbd.Plane())
    system = pbd.ParticleSystem(particles, dt=1.0, substeps=1, iterations=1)
    system.step()
    expected = course.move_point(x, 1 / m, c, (0, 0, 0.25))
    assert system.positions() == pytest.approx(expected, abs=1e-11 * np.abs(c).max())


@pytest.mark.parametrize("place", course.PLACES)
def test_a_body_of_the_solver_moves_as_in_the_course(place):
    # One contact and one iteration from a straight flight: positions of size 0.1 m, so errors are some 1e-17 m.
    found, start = course.impact_of_body(place)
    m = np.full(4, course.MASS / 4)
    predicted, way = start - (0, 0, course.SPEED * course.H), course.SPEED * course.H
    point = np.array(course.PLACES[place]) * course.SIZE / 2
    arm = np.cross(point, (0, 0, 1))
    impulse = way / (1 / course.MASS + arm @ np.linalg.solve(course.inertia_of_box(), arm))
    at = point - (0, 0, point[2])
    expected = predicted + course.move_body(start, m, at, np.array([0, 0, impulse])) - start
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_both_ways_are_one_impulse_at_the_point_and_the_retold_one_is_not(seed):
    rng = np.random.default_rng(seed)
    x, m, way = rng.normal(size=(4, 3)), rng.uniform(1, 5, 4), rng.normal(size=3)
    c = np.append(rng.normal(size=3), 0)
    c[3] = 1 - c.sum()
    point = c @ x
    impulse = way / (c * c / m).sum()
    by_points = course.move_point(x, 1 / m, c, way)
    assert c @ by_points == pytest.approx(point + way, abs=1e-12)
    for moved in (by_points, course.move_body(x, m, point, impulse)):
        assert m @ (moved - x) == pytest.approx(impulse, abs=1e-12)
        spin = np.cross(x, m[:, None] * (moved - x)).sum(axis=0)
        assert spin == pytest.approx(np.cross(point, impulse), abs=1e-12)
    assert course.as_body(x, m, by_points) == pytest.approx(course.move_body(x, m, point, impulse), abs=1e-12)
    wrong = course.retold(x, c, way)
    assert c @ wrong == pytest.approx(point - way, abs=1e-12)
    momentum = m @ (wrong - x)
    spin = np.cross(x, m[:, None] * (wrong - x)).sum(axis=0)
    assert np.abs(spin - np.cross(point, momentum)).max() > 1e-3


@pytest.mark.parametrize("place", course.PLACES)
def test_a_round_removes_the_part_of_the_depth_that_the_formula_says(place):
    part = course.part_of_depth(place)
    assert course.rounds(place, 5) == pytest.approx((1 - part) ** np.arange(6), rel=1e-12)
    assert course.rounds(place, 5, course.retold) == pytest.approx((1 + part) ** np.arange(6), rel=1e-12)
    x, m = course.frame(course.MASS, course.inertia_of_box())
    point = np.array(course.PLACES[place]) * course.SIZE / 2
    loose = 1 / course.MASS + point @ np.linalg.solve(course.second_moments(course.inertia_of_box()), point)
    assert (course.weights(x, point) ** 2 / m).sum() == pytest.approx(loose, rel=1e-12)


def test_joint_particles_of_a_rod_may_have_a_sixth_of_its_mass():
    ends, inertia = np.array([(0.5, 0, 0), (-0.5, 0, 0)]), course.inertia_of_box(1.0, (1.0, 1e-9, 1e-9))
    left = [course.second_moments(inertia)[0, 0] - each * (ends.T @ ends)[0, 0] for each in (0.99 / 6, 1.01 / 6)]
    assert left[0] > 0 > left[1]


@pytest.mark.parametrize(("x", "mass"), [(0.25, 24), (0.5, 24), (1.0, 96), (2.0, 384)])
def test_joint_particles_far_out_are_light(x, mass):
    inertia = course.inertia_of_box(1.0, (0.5, 0.05, 0.05))
    assert make_frame("rod", 1.0, inertia, [(x, 0, 0)]).joint_mass == pytest.approx(1 / mass)
