"""Springs and dampers of the course, docs/course/penalty.md, are those of the solver."""

import numpy as np
import pytest
from chapters import chapter

import rigid

course = chapter("penalty")

# The numpy code and the kernel round sums of some ten terms at 1e-16 m in each of a hundred steps. Damping makes such
# errors smaller; the chain, which swings, multiplies them by less than ten.
ROUND_OFF = 1e-13


@pytest.mark.parametrize(
    ("links", "h", "alpha", "beta"), [(1, 0.003, 5000, 25), (3, 0.003, 5000, 25), (5, 0.001, 2e4, 9)]
)
def test_joints_of_the_course_are_those_of_the_solver(links, h, alpha, beta):
    solver = rigid.solver("penalty", course.chain_model(links), dt=h, stiffness=alpha, damping=beta)
    x, V = course.level(links), np.zeros((links, 3))
    for _ in range(100):
        x, V = course.penalty_step(x, V, h, alpha, beta)
    solver.step(100)
    assert solver.state().position[:, [0, 2]] == pytest.approx(x[:, :2], abs=ROUND_OFF)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.7, 1.0])
def test_contact_of_the_course_is_that_of_the_solver(restitution):
    found = course.positions(course.ball_model(0.2, restitution), 0.003, 150)[:, 2] - 0.1
    expected = course.bounce(0.2, 0.0, 0.003, 150, course.damping_of(restitution))
    assert found == pytest.approx(expected, abs=ROUND_OFF)
    assert found.min() < -0.001  # it has met the ground


@pytest.mark.parametrize("speed", [0.0, 0.0715, 0.3])
def test_friction_of_the_course_is_that_of_the_solver(speed):
    model = course.ball_model(-course.g / course.ALPHA, friction=0.5, velocity=(speed, 0, 0))
    solver = rigid.solver("penalty", model, dt=0.003)
    pulls = np.concatenate([np.linspace(0, 8, 60), np.zeros(20), np.linspace(0, -8, 60)])
    found = []
    for pull in pulls:
        solver.set_forces(0, force=(pull * course.MASS, 0, 0))
        solver.step()
        found.append(solver.state(warm_start=False).position[0, 0])
    expected = course.slide(speed, pulls, 0.5 * course.g, 0.003)
    assert found == pytest.approx(expected, abs=ROUND_OFF)
    assert np.abs(expected).max() > 0.005  # it has slipped


@pytest.mark.parametrize("zeta", [0.0, 0.2, 0.7, 1.0, 1.3])
def test_regions_of_stability_are_those_of_the_matrices(zeta):
    limits = {"semi-implicit": 2 * (np.sqrt(1 + zeta**2) - zeta),
              "explicit": 2 * zeta - 2 * np.sqrt(max(zeta**2 - 1, 0))}  # fmt: skip
    for method, limit in limits.items():
        if limit > 0:
            assert course.growth(method, 0.99 * limit, zeta) < 1 + 1e-9, method
        assert course.growth(method, 1.01 * limit + 0.01, zeta) > 1, method
    for a in (0.1, 2.0, 50.0):
        assert course.growth("implicit", a, zeta) < 1


@pytest.mark.parametrize("links", [1, 2, 5])
def test_longest_step_of_a_chain_is_that_of_its_stiffest_motion(links):
    times = course.stiffest(links)
    assert times == pytest.approx(1 + np.cos(np.pi / (2 * links)), rel=1e-12)
    expected = course.longest_step(times * course.ALPHA, times * course.BETA)
    assert course.refused_step(links) == pytest.approx(expected, rel=5e-3)  # three digits


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_is_at_most_twice_as_stiff_as_a_joint_in_any_pose(seed):
    x = np.random.default_rng(seed).uniform(-3, 3, (7, 3))
    mass = np.tile([course.MASS, course.MASS, course.INERTIA], 7)
    rows = [course.rows_of(x, k)[1] for k in range(7)]
    parts = [J.T @ np.linalg.solve(J / mass @ J.T, J) / np.sqrt(np.outer(mass, mass)) for J in rows]
    for part in parts:
        assert part @ part == pytest.approx(part, abs=1e-12)
    assert 1 < np.linalg.eigvalsh(sum(parts))[-1] <= 2 + 1e-12


def test_restitution_is_that_of_its_damping_ratio():
    e = np.linspace(0.14, 1, 50)
    assert course.restitution_of(course.damping_of(e)) == pytest.approx(e, abs=0.0015)
    for zeta in (0.1, 0.3, 0.9):
        path = course.bounce(0.0, -100.0, 1e-5, 6000, zeta)  # so fast that gravity takes 0.6 % of the speed
        assert np.diff(path)[-1] / 1e-5 / 100 == pytest.approx(course.restitution_of(zeta), abs=0.007)


def test_rows_of_the_source_are_too_stiff():
    # m α* for a rod of length l: across its end 4 α*, and for a torque 12 α*/l².
    mass, length, h = 2.0, 0.05, 0.003
    assert mass * (1 / mass + (length / 2) ** 2 / (mass * length**2 / 12)) == pytest.approx(4)
    for length, stable in ((0.05, False), (0.66, False), (0.68, True)):
        k, c = 12e4 / length**2, 120 / length**2
        assert (course.growth("semi-implicit", h * np.sqrt(k), c / (2 * np.sqrt(k))) < 1) == stable
