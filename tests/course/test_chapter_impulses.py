"""The sequential impulses of the course, docs/course/impulses.md, are those of the solver "impulse"."""

import numpy as np
import pytest
from chapters import chapter
from marks import slow

import rigid

course = chapter("impulses")

H, ITERATIONS = 0.004, 7


def chain(soft=None):
    """Three unequal boxes on ball joints that are off their axes."""
    model = rigid.Model()
    parent, point = rigid.GROUND, np.zeros(3)
    for mass in (1.0, 2.0, 0.5):
        at, spin = point + (0.15, 0, 0), (1, -0.5, 2 * mass)
        box = model.add_box((0.3, 0.1, 0.06), mass=mass, position=at, velocity=(0, mass, 0), angular_velocity=spin)
        model.add_ball(parent, box, point=point, soft=soft)
        parent, point = box, point + (0.3, 0.05, 0)
    return model


WAYS = {
    "pseudo-velocities": {"iterations": ITERATIONS},
    "velocities": {"iterations": ITERATIONS, "split_impulse": False},
    "soft": {"small_steps": 1},
}


@pytest.mark.parametrize(
    ("way", "soft"),
    [*((way, None) for way in WAYS), *(("velocities", each) for each in ((800.0, 3.0), (0.0, 3.0), (1e6, 0.0)))],
)
def test_chain_of_the_course_is_that_of_the_solver(way, soft):
    # Both do the same operations in another order, with roundings of 1e-16. Errors grow little in 20 steps, in which
    # boxes turn by 0.3 rad. Soft joints have their springs, and no other correction.
    model = chain(soft and rigid.Soft(stiffness=soft[0], damping=soft[1]))
    bodies = course.Bodies(model, *(soft or ()))
    options = {"iterations": ITERATIONS} if soft else WAYS[way]
    solver = rigid.solver("impulse", model, H, contacts=False, block=False, tolerance=0.0, **options)
    for _ in range(20):
        course.step(bodies, H, ITERATIONS, way)
        solver.step()
    state, V = solver.state(), bodies.V.reshape(-1, 6)
    assert state.position == pytest.approx(bodies.position, abs=1e-14)
    assert state.rotation == pytest.approx(bodies.rotation, abs=1e-14)
    assert state.velocity == pytest.approx(V[:, :3], abs=1e-12)
    assert state.angular_velocity == pytest.approx(V[:, 3:], abs=1e-12)


@pytest.mark.parametrize(
    ("masses", "speeds"),
    [slow((1.0,), 0.0), ((1.0, 1.0), 0.0), ((1.0, 1.0), (-1.0, 0.6)), ((1.0, 5.0, 0.2, 30.0), 0.0),
     ((2.0, 3.0, 1.0), (0.3, -0.4, -0.1)), ((2.0, 1.0, 1.0), (1.0, -0.4, 2.0))],
)  # fmt: skip
def test_column_of_the_course_is_that_of_the_solver(masses, speeds):
    # Impulses of up to 1 N s, of sums of a few terms. Some contacts do not push: their bounds act.
    for iterations in (1, 4, 30):
        found = course.push_in_verletlab(masses, 0.01, iterations, speeds)
        assert found == pytest.approx(course.push(masses, 0.01, iterations, speeds), abs=1e-14)


def test_solution_pushes_or_parts():
    J, answers, V = course.column((2.0, 1.0, 1.0), 0.01, (1.0, -0.4, 2.0))
    impulses = course.push((2.0, 1.0, 1.0), 0.01, 500, (1.0, -0.4, 2.0))
    parting = J @ (V + answers @ impulses)
    assert (impulses >= 0).all()
    assert (parting > -1e-12).all()
    assert np.abs(impulses * parting).max() < 1e-12
    assert impulses[1] > impulses[2] == 0


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_rate_is_that_of_the_matrix(n):
    J, answers, _ = course.column(np.full(n, 3.0), 0.01)
    A = J @ answers
    iteration = -np.linalg.solve(np.tril(A), np.triu(A, 1))
    assert np.abs(np.linalg.eigvals(iteration)).max() == pytest.approx(course.rate(n), abs=1e-7)


def test_each_impulse_lowers_the_energy_by_half_its_residual():
    J, answers, V = course.column((2.0, 3.0, 1.0), 0.01)
    M, none, free = np.diag((2.0, 3.0, 1.0)), np.zeros(3), np.full(3, np.inf)
    for r in (0, 1, 2, 1, 0):
        row = slice(r, r + 1)
        after, _ = course.sequential_impulses(
            J[row], answers[:, row], V, none[row], none[row], -free[row], free[row], none[row], 1
        )
        fallen = 0.5 * (V @ M @ V - after @ M @ after)
        assert fallen == pytest.approx((J[r] @ V) ** 2 / (2 * J[r] @ answers[:, r]), abs=1e-15)
        V = after


@pytest.mark.slow
def test_corrections_by_velocities_give_energy():
    # A fifth of 0.05 m in a step of 1/240 s: 2.4 m/s, however gravity pulls. The others give none.
    for way, (name, options) in zip((0.2 * 0.05 * 240, 0.0, 0.0), course.WAYS.items()):
        solver = course.overlapping_ball(0.05, **options)
        solver.dt /= solver.substeps
        solver.substeps = 1
        solver.step()
        assert solver.state().velocity[0, 2] == pytest.approx(way, abs=1e-12), name


def test_a_ball_sinks_by_gravity_over_the_square_of_the_frequency():
    solver = course.column_in_verletlab([1.0], 1 / 60, small_steps=4)
    solver.step(300)
    frequency = 0.5 * np.pi * 240  # soft.py: a quarter of a turn in a small step
    assert 0.5 - solver.state().position[0, 2] == pytest.approx(course.GRAVITY / frequency**2, rel=1e-9)


@pytest.mark.parametrize(("k", "c"), [(50.0, 0.0), (300.0, 4.0), (0.0, 2.0), (1e9, 1.0)])
def test_a_soft_row_is_implicit_euler(k, c):
    h, m, x, v = 0.02, 1.5, 0.3, -2.0
    one, free = np.ones((1, 1)), np.array([np.inf])
    for _ in range(10):
        γ, β = course.softness(k, c, h)
        row = course.sequential_impulses(
            one, one / m, np.array([v]), np.array([β * x / h]), np.array([γ]), -free, free, np.zeros(1), 1
        )
        expected = (m * v - h * k * x) / (m + h * c + h * h * k)
        assert row[0][0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        v = expected
        x += h * v


def test_numbers_of_soft_steps_are_those_of_solver2d():
    # Its effective mass is scaled by a2/(1 + a2), the impulse by 1/(1 + a2), with a2 = h ω (2 ζ + h ω).
    A, h, ω, ζ = 0.7, 1 / 240, 2 * np.pi * 30, 10.0
    γ, β = course.soft_numbers(A, h * ω, ζ)
    assert (γ, β) == pytest.approx(course.softness(ω**2 / A, 2 * ζ * ω / A, h), rel=1e-14)
    a2 = h * ω * (2 * ζ + h * ω)
    assert 1 / (A + γ) == pytest.approx(a2 / (1 + a2) / A, rel=1e-14)
    assert γ / (A + γ) == pytest.approx(1 / (1 + a2), rel=1e-14)
    assert β / h == pytest.approx(ω / (2 * ζ + h * ω), rel=1e-14)


def test_gyroscopic_torque_takes_energy():
    # For small steps by (ω' - ω)·I (ω' - ω)/2, as for the exact solution of the implicit equation.
    inertia, w = np.diag([1.0, 2.0, 2.5]), np.array([3.0, 1.0, -2.0])
    after = course.gyroscopic(w, inertia, 1e-4)
    lost = 0.5 * (w @ inertia @ w - after @ inertia @ after)
    assert lost == pytest.approx(0.5 * (after - w) @ inertia @ (after - w), rel=1e-2)
