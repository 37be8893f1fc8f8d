"""Rods of the course, docs/course/rods.md, are those of the solver."""

import numpy as np
import pytest
import taichi as ti
from chapters import chapter
from scipy.spatial.transform import Rotation

import pbd
from pbd import build
from pbd.constraints.rod import joint_derivatives

course = chapter("rods")
STRAIGHT = (1.0, 0.0, 0.0, 0.0)


@ti.kernel
def evaluate(x: ti.types.ndarray(ndim=2), given: ti.types.ndarray(ndim=1), out: ti.types.ndarray(ndim=3)):
    points = [ti.Vector([x[k, 0], x[k, 1], x[k, 2]]) for k in ti.static(range(5))]
    C, gradients = joint_derivatives(points, [given[k] for k in ti.static(range(7))])
    for row in ti.static(range(3)):
        out[row, 5, 0] = C[row]
        for k in ti.static(range(5)):
            for j in ti.static(range(3)):
                out[row, k, j] = gradients[row][k][j]


def random_joint(seed):
    """Two segments, each a, b and its side particle."""
    a, b, c, s, t = np.random.default_rng(seed).normal(size=(5, 3))
    return (a, b, s), (b, c, t)


@pytest.mark.parametrize("seed", range(8))
def test_joints_of_the_course_are_those_of_the_solver(seed):
    # Rows and forces of size 1 to 100, by a dozen products each: some 1e-14 of that.
    first, second = random_joint(seed)
    roots, found = np.array([1.0, 0.7, 0.4]), np.zeros((3, 6, 3))
    evaluate(np.array([first[0], first[1], second[1], first[2], second[2]]), np.array([*STRAIGHT, *roots]), found)
    D, d = course.axes(*first), course.axes(*second)
    phi = course.rotation_vector(D, d)
    assert found[:, 5, 0] == pytest.approx(roots * (D @ phi), abs=1e-13)
    for k, W in enumerate(course.couples(D, phi)):
        on_first = course.forces_of_couple(-roots[k] * W, *first)
        on_second = course.forces_of_couple(roots[k] * W, *second)
        expected = [on_first[0], on_first[1] + on_second[0], on_second[1], on_first[2], on_second[2]]
        assert found[k, :5] == pytest.approx(np.array(expected), abs=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_energy_of_a_bent_and_twisted_rod_is_that_of_the_solver(seed):
    points = np.cumsum(np.random.default_rng(seed).uniform(-0.3, 1, (7, 3)), axis=0)
    particles = pbd.Particles(gravity=(0, 0, 0))
    stiffness = np.array([0.02, 0.01, 0.008])
    build.rod(particles, points, twist=1.2, **{**course.SECTION, "bending": stiffness[:2], "twisting": stiffness[2]})
    x, segments = particles.positions(), particles.rod_segments()
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    expected = sum(
        course.joint_energy(x[segments[j]], x[segments[j + 1]], stiffness, (lengths[j] + lengths[j + 1]) / 2)
        for j in range(len(segments) - 1)
    )
    # The solver adds the energy of round-off in lengths, EA (1e-16)²/2 by length.
    assert pbd.ParticleSystem(particles).energy().potential == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_rotation_vectors_and_couples_are_those_of_rotations(seed):
    D, d = (course.axes(*each) for each in random_joint(seed))
    phi = course.rotation_vector(D, d)
    turn = Rotation.from_rotvec(phi)
    assert turn.apply(D) == pytest.approx(d, abs=1e-12)
    along = phi / np.linalg.norm(phi)
    half, angle = Rotation.from_rotvec(phi / 2), np.linalg.norm(phi)
    for axis, couple in zip(D, course.couples(D, phi)):
        across = half.apply(axis) - (axis @ along) * along
        expected = (axis @ along) * along + across * (angle / 2) / np.sin(angle / 2)
        assert couple == pytest.approx(expected, abs=1e-12)
        for omega in 1e-6 * np.eye(3):
            both = [(Rotation.from_rotvec(sign * omega) * turn).as_rotvec() @ axis for sign in (1, -1)]
            assert both[0] - both[1] == pytest.approx(2 * couple @ omega, abs=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_forces_of_a_couple_have_no_sum_and_its_moment(seed):
    points, _ = random_joint(seed)
    W = np.random.default_rng(seed + 9).normal(size=3)
    forces = course.forces_of_couple(W, *points)
    assert forces.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-13)
    assert np.cross(points, forces).sum(axis=0) == pytest.approx(W, abs=1e-12)


@pytest.mark.parametrize("weight", [1, 10, 100])
def test_the_solver_hangs_as_the_chain_of_the_course(weight):
    # Segments of the solver stretch, by up to w L/EA = Γ 1e-8 of their length.
    found = course.hang_in_solver(weight, 20)
    assert found == pytest.approx(course.places(course.hang(weight, 20)), abs=2e-8 * weight)


def test_the_number_of_iterations_does_not_matter_at_rest():
    tips = [course.hang_in_solver(10, 20, iterations=each)[-1] for each in (1, 5)]
    assert tips[0] == pytest.approx(tips[1], abs=1e-8)


@pytest.mark.parametrize(("weight", "ratio"), [(1, 0.1246), (2, 0.2467), (5, 0.5857), (20, 1.8639), (100, 5.8881)])
def test_the_chain_converges_to_the_elastica(weight, ratio):
    reach, height = course.places(course.hang(weight, 320))[-1]
    assert -height / reach == pytest.approx(ratio, rel=4e-4)


def test_a_load_at_the_tip_is_that_of_the_exercise(monkeypatch):
    monkeypatch.setattr(course, "numbers_of_chain", lambda a, n, clamp: (
        np.append(n / clamp, np.full(n - 1, float(n))), np.full(n, a / n)))  # fmt: skip
    assert -course.places(course.hang(1, 320))[-1, 1] == pytest.approx(0.3017, abs=1e-4)


def test_a_whole_joint_at_the_clamp_is_an_error_of_first_order():
    fall = -course.places(course.hang(0.01, 640))[-1, 1]
    assert fall == pytest.approx(0.01 / 8, rel=1e-4)
    for count in (20, 40, 80):
        found = -course.places(course.hang(0.01, count, clamp=1.0))[-1, 1]
        assert found / fall - 1 == pytest.approx(2 / count, rel=0.05)


def test_iterations_one_by_one_grow_with_the_square_of_the_segments():
    def needed(count):
        rest = np.sin(course.hang(1, count)).mean()
        return np.argmax(np.abs(course.tips_one_by_one(1, count, 700) / rest - 1) < 0.03)

    assert needed(20) / needed(10) == pytest.approx(4, abs=0.3)
    assert np.abs(course.tips_together(1, 40, 4)[-1] - np.sin(course.hang(1, 40)).mean()) < 1e-12


def test_a_column_stands_up_to_greenhills_weight():
    critical = course.greatest_height()
    assert critical == pytest.approx(7.8373, abs=1e-4)
    for factor, stands in ((0.96, True), (1.04, False)):
        aside = course.hang_in_solver(factor * critical, 20, course.UPRIGHT, 1e-3, 1200)[-1, 0]
        assert (abs(aside) < 1e-3) == stands
