"""Contact and friction of the course, docs/course/contact.md, are those of the solver."""

import numpy as np
import pytest
import taichi as ti
from chapters import chapter

import pbd
from pbd.collision.surfaces.closest import separation

course = chapter("contact")


@pytest.mark.parametrize("normal", [(0, 0, 1), (0.2, -0.3, 0.9)])
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.8), (0.3, 0.8), (2.0, 1.0)])
def test_contact_of_the_course_is_that_of_the_solver(normal, friction, restitution):
    # Both round each of 200 steps by some 1e-16 m, an error of the velocity, which adds up to 1e-16 m · 200².
    normal = np.array(normal) / np.linalg.norm(normal)
    given = (0, 0, 0.5), (1, 0.5, -1), (0, 0, -course.G), 0.01, 200, normal, friction, restitution
    assert course.path_of_solver(*given) == pytest.approx(course.path(*given), abs=5e-12)


@pytest.mark.parametrize("restitution", [1.0, 0.8])
def test_each_bounce_has_the_square_of_restitution_of_the_energy_before(restitution):
    # In flight the step is exact, so energies at three positions above the floor are those of the flight.
    x = course.path((0, 0, 1), (0, 0, 0), (0, 0, -course.G), course.H, 150, restitution=restitution)[:, 2]
    flying = np.flatnonzero((x[:-2] > 0) & (x[1:-1] > 0) & (x[2:] > 0)) + 1
    energy = (x[flying + 1] - x[flying - 1]) ** 2 / (8 * course.H**2) + course.G * x[flying]
    flight = np.cumsum(np.diff(flying, prepend=flying[0]) > 1)
    assert flight[-1] >= 3
    assert energy == pytest.approx(course.G * restitution ** (2 * flight), rel=1e-12)


@pytest.mark.parametrize("degrees", [5, 26, 27, 60])
@pytest.mark.parametrize("h", [1 / 60, 0.1])
def test_a_slope_has_its_closed_form_for_any_step(degrees, h):
    angle = np.radians(degrees)
    expected = max(course.G * (np.sin(angle) - course.FRICTION * np.cos(angle)), 0)
    assert course.acceleration_of_solver(angle, h, 10) == pytest.approx(expected, abs=1e-12)
    assert course.with_pyramid(angle, h, 10) == pytest.approx(
        max(course.G * (np.sin(angle) - 2**0.5 * course.FRICTION * np.cos(angle)), 0), abs=1e-12
    )


def test_friction_on_the_previous_position_creeps_by_the_formula():
    angle = np.radians(20)
    found = course.speed_with_previous_alone(angle, course.H, 50)
    assert found == pytest.approx(course.G * course.H * np.sin(angle), rel=1e-12)


def test_an_impact_takes_two_steps_and_a_mirrored_one_depends_on_the_start():
    u, y, h, zero = 2.0, 0.013, 0.01, np.zeros(3)
    x = course.path((0, 0, y), (5, 0, -u), zero, h, 3, friction=0.5)
    assert (x[1, 2], x[2, 2], x[3, 2]) == pytest.approx((0, 0, 0), abs=1e-15)
    assert np.diff(x[:, 0]) / h == pytest.approx([5 - 0.5 * (u - y / h), 5 - 0.5 * u, 5 - 0.5 * u], rel=1e-12)
    for e in (0.5, 1.0):
        mirrored = e * (u * h - y)
        assert (mirrored - y) / h == pytest.approx(e * u - (1 + e) * y / h)


@pytest.mark.parametrize("restitution", [0.0, 0.2])
@pytest.mark.parametrize("way", [0.8, 1.4, 2.5])
def test_a_thin_wall_stops_the_part_of_particles_that_the_exercise_says(restitution, way):
    # Lengths are in thicknesses of the wall, and `way` is u h. Places at the start fill one step evenly.
    particles = pbd.Particles(gravity=(0, 0, 0))
    for place in 3 + way * (np.arange(100) + 0.5) / 100:
        particles.add_particle((0, 0, place), velocity=(0, 0, -way / 0.01))
    particles.add_collider(pbd.Box((9, 9, 1)), restitution=restitution)
    system = pbd.ParticleSystem(particles, dt=0.01, substeps=1)
    system.step(10)
    expected = np.clip(1 / way if restitution else 2 / way - 1, 0, 1)
    assert (system.positions()[:, 2] > 0).mean() == pytest.approx(expected, abs=0.02)


@ti.kernel
def measured(is_edge: int, x: ti.types.matrix(4, 3, float), n: ti.types.vector(3, float)) -> float:
    return separation(is_edge, x, n)


@pytest.mark.parametrize("is_edge", [0, 1])
def test_features_apart_at_both_ends_of_a_step_are_apart_within_it(is_edge):
    rng = np.random.default_rng(is_edge)
    split = 1 + is_edge
    for _ in range(20):
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        x = rng.normal(size=(2, 4, 3))
        x[:, :split] += 6 * n  # above the others along n, but for some
        along = [measured(is_edge, ti.Matrix(each.tolist()), ti.Vector(n.tolist())) for each in x]
        least = min(along)
        for t in np.linspace(0, 1, 9):
            now = (1 - t) * x[0] + t * x[1]
            assert course.are_apart(now[:split], now[split:], n, least - 1e-12)
        assert along == pytest.approx([(each[:split] @ n).min() - (each[split:] @ n).max() for each in x], rel=1e-12)
