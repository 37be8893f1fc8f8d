"""Compliance in the course, docs/course/compliance.md, is that of the solver."""

import numpy as np
import pytest
from chapters import chapter

import pbd
from pbd.constraints.constraint_type import with_damping
from pbd.constraints.stick import STICK

course = chapter("compliance")


@pytest.mark.parametrize(("compliance", "iterations"), [(1e-6, 1), (1e-3, 1), (1e-3, 6)])
def test_a_compliant_rope_is_that_of_the_solver(compliance, iterations):
    # The same operations but for the order of sums: each of the 40 steps rounds by 1e-16 m.
    n, h = 5, 0.01
    x, w = np.outer(np.arange(n + 1) / n, [1, 0, 0]), np.r_[0, np.ones(n)]
    system = course.rope(n, compliance, at=x, dt=h, iterations=iterations)
    system.step(40)
    before = x + np.outer(w, [0, 0, -course.GRAVITY]) * h * h / 2
    for _ in range(40):
        x, before = course.step(x, before, w, course.rope_blocks(n, compliance), h, iterations)
    assert system.positions() == pytest.approx(x, abs=1e-13)


@pytest.mark.parametrize("iterations", [1, 6])
def test_triangles_are_those_of_the_solver(iterations):
    # The solver has the rows R e with RᵀR = α A D and one α, which is the same block but for round-off.
    h, fabric = 0.005, pbd.Fabric(warp=120.0, weft=60.0, shear=25.0, poisson=0.3)
    x = np.array([(0, 0, 0), (0.3, 0.1, 0), (0.1, 0.25, 0), (0.35, 0.3, 0)])
    masses = np.array([np.inf, 0.1, 0.2, 0.3])
    particles = pbd.Particles(gravity=(0, 0, -course.GRAVITY))
    particles.add_particles(x, mass=masses)
    made = particles.membranes[particles.add_membrane([(0, 1, 2), (1, 3, 2)], fabric, warp=(1, 0.3, 0))]
    system = pbd.ParticleSystem(particles, dt=h, iterations=iterations, elements="iterative")
    system.step(40)
    blocks = [
        (list(i), lambda y, a=a: course.triangle(y, a), np.linalg.inv(area * fabric.stiffness()))
        for i, a, area in zip(made.triangles, made.threads, made.areas)
    ]
    before = x + np.outer(masses < np.inf, [0, 0, -course.GRAVITY]) * h * h / 2
    for _ in range(40):
        x, before = course.step(x, before, 1 / masses, blocks, h, iterations)
    assert system.positions() == pytest.approx(x, abs=1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.03])
def test_a_damped_stick_is_that_of_the_solver(damping):
    h, compliance, x, w = 0.01, 1e-3, np.array([[0.0, 0, 0], [0, 0, 1.2]]), np.array([2.0, 1.0])
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, mass=1 / w)
    particles.add_constraints(with_damping(STICK), [(0, 1)], compliance, length=[1], damping=[damping])
    system = pbd.ParticleSystem(particles, dt=h, iterations=4)
    system.step(30)
    before, r = x, max(damping / h - 1, -0.25)
    softness = np.array([[compliance / h**2]])
    for _ in range(30):
        shift = -r * (course.stick(x, 1)[0] / softness[0])
        new, multiplier = 2 * x - before, shift
        for _ in range(4):
            new, multiplier = course.project(new, w, *course.stick(new, 1), softness / (1 + r), multiplier)
        x, before = new, x
    assert system.positions() == pytest.approx(x, abs=1e-13)


@pytest.mark.parametrize("damping", [None, 0.0, 1 / 60, 0.05])
def test_a_swing_fades_by_the_rate_of_the_chapter(damping):
    h, squared = 1 / 60, (2 * np.pi) ** 2
    x = course.swing(h, 2, damping)
    part = 1 if damping is None else max(damping / h, 0.75)
    kept = x[1:-1] ** 2 - x[2:] * x[:-2]  # |z|² per step, as x is a sum of powers of z and its conjugate
    assert kept[1:] / kept[:-1] == pytest.approx(1 / (1 + part * squared * h * h), rel=1e-7)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("iterations", [1, 4])
def test_a_weight_stretches_a_stick_by_the_formulas(iterations, keep):
    h, compliance = 1 / 60, 1e-4
    left = (1 - 1 / (1 + compliance / h**2)) ** iterations
    expected = course.GRAVITY * (compliance if keep else h * h * left / (1 - left))
    assert course.stretch_of_a_weight(iterations, h, keep) == pytest.approx(expected, rel=1e-6)


def test_a_rope_with_one_iteration_has_two_stretches():
    n, h, compliance = 6, 0.01, 2e-4
    stretch = course.lengthening(course.rope(n, compliance, dt=h, iterations=1))
    expected = n * (n - 1) / 2 * course.GRAVITY * h * h + n * (n + 1) / 2 * course.GRAVITY * compliance
    assert stretch == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ratio", [0.01, 0.3, 2.0])
def test_an_iteration_leaves_the_part_of_the_error_that_the_chapter_says(ratio):
    n = 30
    A = np.diag(np.r_[1, 2 * np.ones(n - 1)] + ratio) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    iteration = np.linalg.solve(np.tril(A), -np.triu(A, 1))
    assert np.abs(iteration).sum(axis=1).max() <= 1 / (1 + ratio) + 1e-12


def test_rows_of_a_solid_are_solved_as_a_block():
    x = np.vstack([np.zeros(3), np.eye(3)])
    a, volume, h, mu, lame = np.vstack([-np.ones(3), np.eye(3)]), 1 / 6, 0.01, 1e4, 1e5
    compliance, w = np.diag([1 / mu, 1 / lame]) / volume / h**2, np.ones(4)
    C, J = course.tetrahedron(x, a, mu / lame)
    new, multipliers = course.project(x, w, C, J, compliance, np.zeros(2))
    assert new == pytest.approx(x, abs=1e-14)
    assert multipliers == pytest.approx(-C / compliance.diagonal(), rel=1e-12)
    multipliers = np.zeros((2, 1))
    for _ in range(50):
        for row in (slice(0, 1), slice(1, 2)):
            C, J = course.tetrahedron(x, a, mu / lame)
            given = x, w, C[row], J[row], compliance[row, row]
            x, multipliers[row.start] = course.project(*given, multipliers[row.start])
    assert np.linalg.det(x.T @ a) == pytest.approx(0.9581, abs=1e-4)
