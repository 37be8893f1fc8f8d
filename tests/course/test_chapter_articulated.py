"""The articulated-body algorithm of the course, docs/course/articulated.md, is that of the solver."""

import numpy as np
import pytest
from chapters import chapter

import rigid

course = chapter("articulated")


def random_chain(links, seed):
    """A chain with hinges in all directions, with armatures."""
    random = np.random.default_rng(seed)
    points = np.cumsum(random.uniform(-0.5, 0.5, (links, 3)), axis=0)
    directions = random.normal(size=(links, 3))
    return course.Chain(
        points, directions / np.linalg.norm(directions, axis=1, keepdims=True), random.uniform(0.5, 2, links),
        points + random.uniform(-0.3, 0.3, (links, 3)), random.uniform(0.045, 0.055, (links, 3)),
        random.uniform(0, 0.1, links),
    )  # fmt: skip


def solver_of(chain, torques, h, **options):
    motors = [rigid.Motor(torque=torque) for torque in torques]
    return rigid.solver("articulated", course.model_of(chain, motors), dt=h, **options)


# Both round every step at 1e-16 of some rad, in sums of a hundred terms; fifty steps of these chains multiply an error
# by less than a hundred.
ROUND_OFF = 1e-12


@pytest.mark.parametrize(("links", "seed", "h"), [(1, 0, 0.01), (2, 1, 0.002), (4, 2, 0.01), (7, 3, 0.005)])
def test_accelerations_of_the_course_are_those_of_the_solver(links, seed, h):
    chain, torques = random_chain(links, seed), np.random.default_rng(seed).normal(size=links)
    solver = solver_of(chain, torques, h, velocity_products="explicit", gyroscopic="explicit")
    q, u = np.zeros(links), np.zeros(links)
    for _ in range(50):
        u = u + h * course.accelerations(chain, q, u, torques)
        q = q + h * u
    solver.step(50)
    assert course.angles(solver) == pytest.approx(q, abs=ROUND_OFF)


@pytest.mark.slow
@pytest.mark.parametrize(("links", "bend", "h"), [(1, 0.0, 0.01), (3, 0.5, 0.01), (5, -0.3, 0.004)])
def test_momenta_of_the_course_are_those_of_the_default_solver(links, bend, h):
    chain = course.rods(links, bend)._replace(armatures=np.linspace(0.1, 0, links))
    torques = np.linspace(0.2, -0.1, links)
    solver = solver_of(chain, torques, h)
    q, u, V = np.zeros(links), np.zeros(links), np.zeros((links, 6))
    for _ in range(50):
        q, u, V = course.step_of_momenta(chain, q, u, V, torques, h)
    solver.step(50)
    assert course.angles(solver) == pytest.approx(q, abs=ROUND_OFF)


@pytest.mark.parametrize("seed", range(4))
def test_elimination_agrees_with_the_mass_matrix(seed):
    chain, random = random_chain(6, seed), np.random.default_rng(seed)
    q, u, torques, impulse = *random.normal(size=(3, 6)), random.normal(size=6)
    mass = course.mass_matrix(chain, q)
    apart = course.accelerations(chain, q, u, torques) - course.accelerations(chain, q, u, 0 * torques)
    assert mass @ apart == pytest.approx(torques, rel=1e-10)
    axes, *_ = course.links_at(chain, q, u)
    along = np.where(np.arange(6) <= 3, axes @ impulse, 0.0)
    assert mass @ course.response(chain, q, 3, impulse) == pytest.approx(along, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("links", [1, 2, 5])
def test_accelerations_are_those_of_lagrange_for_planar_rods(links):
    # Σ_j A_ij cos(θ_i - θ_j) θ̈_j = -Σ_j A_ij sin(θ_i - θ_j) θ̇_j² + g b_i cos θ_i, with the angles θ of rods from the
    # level: A_ij counts the rods behind both, b_i those behind rod i.
    random = np.random.default_rng(links)
    q, u = random.normal(size=(2, links))
    behind = links - 1 - np.arange(links)
    A = np.minimum.outer(behind, behind) + 0.5
    np.fill_diagonal(A, behind + 1 / 3)
    angle, speed = np.cumsum(q), np.cumsum(u)
    apart = angle[:, None] - angle
    load = -(A * np.sin(apart)) @ speed**2 + course.g * (behind + 0.5) * np.cos(angle)
    expected = np.diff(np.linalg.solve(A * np.cos(apart), load), prepend=0.0)
    found = course.accelerations(course.rods(links), q, u, np.zeros(links))
    assert found == pytest.approx(expected, rel=1e-7)  # the rods of the course have a thickness of 1e-9 kg m²


def test_mass_of_a_straight_chain_follows_the_recursion():
    across = 0.0
    for count in range(1, 9):
        across = (1 / 4 + across) / (1 + 3 * across)
        mass = course.mass_at_the_start(course.rods(count))
        assert np.diag(mass) == pytest.approx([count, count, across], rel=1e-7)
    assert across == pytest.approx(1 / np.sqrt(12), rel=1e-6)


def test_an_impulse_moves_the_solver_as_the_response_says():
    chain = random_chain(4, 7)
    model = course.model_of(chain, 4 * [None])
    model.gravity[:] = 0.0
    solver = rigid.solver("articulated", model, dt=1e-6)
    force = np.array([3.0, -2.0, 1.0])
    solver.set_forces(3, force=force)
    solver.step()
    impulse = 1e-6 * np.concatenate([force, np.cross(chain.centres[3], force)])
    found = np.array(list(solver.joint_velocities().values()))
    assert found == pytest.approx(course.response(chain, np.zeros(4), 3, impulse), rel=1e-4)  # one step has turned it


def test_chain_that_falls_reaches_the_closed_form_of_the_page():
    # Level rods of 1 m: 9/7 g and -12/7 g.
    found = course.accelerations(course.rods(2), np.zeros(2), np.zeros(2), np.zeros(2))
    assert found == pytest.approx(course.g * np.array([9 / 7, -12 / 7]), rel=1e-8)
