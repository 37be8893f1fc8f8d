"""Contacts of colliders with points, sticks, triangles and tetrahedra: the source's example, impulses, friction."""

import math

import numpy as np
import pytest
from marks import cases
from scipy.optimize import minimize

import pbd

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
SCHEDULES = {
    "serial": {"schedule": "serial"},
    "coloured": {"schedule": "coloured"},
    "tolerance": {"schedule": "coloured", "tolerance": 1e-9},
}


def projected(particles, iterations=1, **options):
    """Positions after one step at rest, which is projection alone."""
    system = pbd.ParticleSystem(particles, iterations=iterations, **options)
    system.step()
    return system.positions()


def at_rest(positions, mass=1.0, **colliders):
    """Particles at rest without gravity. Args: positions; mass; shape: a collider; friction."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    members = particles.add_particles(positions, mass)
    particles.add_collider(colliders.pop("shape"), **colliders)
    return particles, members


# The source's example: a stick of which the point p = 0.75 x1 + 0.25 x2 is inside a bump, figure 4b of [2] ------------


@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 3.0), (2.0, math.inf)])
@pytest.mark.parametrize("given", ["point", "stick"])
@pytest.mark.parametrize("schedule", cases(SCHEDULES, slow=[each for each in SCHEDULES if each != "serial"]))
def test_worked_example_of_the_source(given, masses, schedule):
    # λ = 1/(0.75² w1 + 0.25² w2), x1' = x1 + 0.75 w1 λ Δ, x2' = x2 + 0.25 w2 λ Δ, and then p' = q. For equal masses
    # that is the source's λ with the sign of Δ = q - p. A ball of radius 0.3 below p is 0.1 too high: Δ = (0, 0, 0.1).
    x1, x2, delta = np.array([0, 0, 0.0]), np.array([2, 0, 0.0]), np.array([0, 0, 0.1])
    particles, members = at_rest([x1, x2], masses, shape=pbd.Sphere(0.3, centre=(0.5, 0, -0.2)))
    if given == "point":
        particles.add_contact_point(members, (0.75, 0.25))
    else:
        particles.add_element_contacts([members])
    w1, w2 = (0.0 if math.isinf(mass) else 1 / mass for mass in masses)
    factor = 1 / (0.75**2 * w1 + 0.25**2 * w2)
    expected = [x1 + 0.75 * w1 * factor * delta, x2 + 0.25 * w2 * factor * delta]
    found = projected(particles, **SCHEDULES[schedule])
    # The search finds c to 1e-9.
    assert found == pytest.approx(np.array(expected), abs=1e-12 if given == "point" else 1e-9)
    assert 0.75 * found[0] + 0.25 * found[1] == pytest.approx(np.array([0.5, 0, 0.1]), abs=1e-9)


def test_an_end_inside_moves_alone():
    # Figure 4a: c1 = 1, c2 = 0. The stick is deepest at its end, and x2 need not move.
    particles, members = at_rest([(0, 0, -0.05), (1, 0, 1)], shape=pbd.Plane())
    particles.add_element_contacts([members])
    assert projected(particles) == pytest.approx(np.array([(0, 0, 0), (1, 0, 1)]), abs=1e-15)


def test_a_contact_is_one_sided():
    # An element that touches nothing is not moved, to the bit, and neither is one beside the bump.
    places = np.array([(0, 0, 0.11), (2, 0, 0.11), (0, 0, 0.7), (0, 3, 0.7)])
    particles, members = at_rest(places, shape=pbd.Sphere(0.3, centre=(0.5, 0, -0.2)))
    particles.add_element_contacts(members.reshape(2, 2))
    particles.add_contact_point(members[:2], (0.75, 0.25))
    assert (projected(particles, 5) == places).all()


# The deepest point ----------------------------------------------------------------------------------------------------

START, END = np.array([-0.3, 0, 0]), np.array([0.3, 0.2, 0])  # of a capsule


def convex_distance(shape, p):
    """Signed distance of a point from a sphere, or from a capsule."""
    if isinstance(shape, pbd.Sphere):
        return np.linalg.norm(p - shape.centre) - shape.radius
    along = END - START
    t = np.clip((p - START) @ along / (along @ along), 0, 1)
    return np.linalg.norm(p - START - t * along) - shape.radius


def least_distance(shape, x):
    """The least distance of a simplex from a convex shape, by a general minimiser, from several starts."""
    count = len(x)

    def distance(c):
        return convex_distance(shape, c @ x)

    bounds, sums = [(0, 1)] * count, {"type": "eq", "fun": lambda c: c.sum() - 1}
    starts = [np.full(count, 1 / count), *(0.2 / count + 0.8 * np.eye(count))]
    return min(minimize(distance, c, bounds=bounds, constraints=sums, tol=1e-14).fun for c in starts)


@pytest.mark.slow
@pytest.mark.parametrize("arity", [2, 3, 4])
@pytest.mark.parametrize("kind", ["sphere", "capsule"])
def test_the_deepest_point_is_the_minimum_of_the_distance(arity, kind):
    # One projection moves the deepest point by its depth d along the normal there: Δx_i = c_i λ Δ, |Δ| = d,
    # λ = 1/Σ c_i² for equal masses. So the displacements give c, and d = |Σ c_i Δx_i|.
    rng = np.random.default_rng(arity)
    radius = 0.25
    if kind == "sphere":
        shape = pbd.Sphere(radius)
    else:
        shape = pbd.Capsule(radius, start=START, end=END)
    tried = 0
    for _ in range(100):
        x = rng.normal(0, 0.5, (arity, 3))
        depth = -least_distance(shape, x)
        if not 0.02 < depth < 0.2:
            continue
        tried += 1
        particles, members = at_rest(x, shape=shape)
        particles.add_element_contacts([members])
        moved = projected(particles) - x
        c = np.linalg.norm(moved, axis=1)
        c /= c.sum()
        found = np.linalg.norm(c @ moved)
        # The search ends at 1e-7 of the element's size.
        assert found == pytest.approx(depth, abs=1e-6)
        assert convex_distance(shape, c @ x) == pytest.approx(-depth, abs=1e-6)
        if tried == 5:
            break
    assert tried == 5


def test_a_triangle_and_a_tetrahedron_are_kept_out_of_a_bump_that_no_corner_enters():
    for corners in ([(0, 1, 0), (1, -1, 0), (-1, -1, 0)], [(0, 1, 0), (1, -1, 0), (-1, -1, 0), (0, 0, 1.5)]):
        bump = pbd.Sphere(0.3, centre=(0.1, -0.2, -0.2))
        particles, members = at_rest(np.array(corners, float), shape=bump)
        particles.add_element_contacts([members], radius=0.02)
        x = projected(particles, 30)
        assert min(np.linalg.norm(x - bump.centre, axis=1)) > 0.6
        # Deepest point of the first three corners' plane: its distance from the centre is the radius and 0.02.
        normal = np.cross(x[1] - x[0], x[2] - x[0])
        normal /= np.linalg.norm(normal)
        assert abs((bump.centre - x[0]) @ normal) == pytest.approx(0.32, abs=1e-6)


# Momenta, friction, motion --------------------------------------------------------------------------------------------


def test_a_contact_is_one_impulse_at_the_point():
    # Σ m_i Δx_i = P along the normal, and Σ m_i x_i × Δx_i = p × P.
    x = np.array([(0, 0, 0.0), (2, 0.3, 0.1), (0.4, -2, 0.05)])
    masses = np.array([1.0, 5.0, 2.5])
    particles, members = at_rest(x, masses, shape=pbd.Sphere(0.3, centre=(0.5, -0.45, -0.2)))
    weights = np.array([0.5, 0.2, 0.3])
    particles.add_contact_point(members, weights)
    moved = masses[:, None] * (projected(particles) - x)
    impulse, point = moved.sum(axis=0), weights @ x
    assert np.linalg.norm(impulse) > 0.1
    assert np.cross(x, moved).sum(axis=0) == pytest.approx(np.cross(point, impulse), abs=1e-14)
    assert np.cross(impulse, point - (0.5, -0.45, -0.2)) == pytest.approx(np.zeros(3), abs=1e-14)


@pytest.mark.parametrize(("friction", "slope"), [(0.5, 0.3), (0.2, 0.5)])
def test_a_stick_on_two_balls_obeys_coulomb(friction, slope):
    # A stick lies along x on two balls, and gravity pulls it by g sin θ along itself: it rests if tan θ <= μ, else
    # x'' = g (sin θ - μ cos θ). Its own length is kept by one stick; the ends hang free.
    g, time = 9.81, 0.5
    particles = pbd.Particles(gravity=(g * math.sin(slope), 0, -g * math.cos(slope)))
    stick = particles.add_particles([(-2, 0, 0.3), (2, 0, 0.3)], radius=0.0)
    particles.add_sticks([stick])
    for x in (-0.7, 0.7):
        particles.add_collider(pbd.Sphere(0.3, centre=(x, 0, 0)), friction=friction)
    particles.add_element_contacts([stick])
    system = pbd.ParticleSystem(particles, dt=1 / 240, iterations=60)
    system.step(round(240 * time))
    moved = system.positions()[:, 0] - (-2, 2)
    expected = 0.5 * g * max(math.sin(slope) - friction * math.cos(slope), 0) * time**2
    # Iterations over both balls leave some of the friction undone: 2 % of the free path.
    assert moved == pytest.approx(expected, abs=0.02 * 0.5 * g * math.sin(slope) * time**2)
    assert system.positions()[:, 2] == pytest.approx(0.3, abs=1e-3)
    assert system.statistics().contacts >= 1


def test_a_moving_collider_lifts_a_stick():
    # The ball rises by 0.1 m/s under the middle of a stick, which moves by as much without gravity.
    particles = pbd.Particles(gravity=(0, 0, 0))
    stick = particles.add_particles([(-1, 0, 0.3), (1, 0, 0.3)])
    particles.add_sticks([stick])
    particles.add_collider(pbd.Sphere(0.3), motion=lambda time: (0, 0, 0.1 * time))
    particles.add_element_contacts([stick])
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(100)
    assert system.positions()[:, 2] == pytest.approx(0.4, abs=1e-9)


def test_corners_of_a_cube_on_a_tetrahedron_stay_in_a_box():
    # Figure 6: a cube is tied to a tetrahedron. Its corners are Σ c_i x_i, with c computed once, some of them negative.
    frame = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) * 0.2
    cube = np.array([(a, b, c) for a in (-0.3, 0.3) for b in (-0.3, 0.3) for c in (-0.3, 0.3)])
    weights = np.linalg.solve(np.vstack([frame.T, np.ones(4)]), np.vstack([cube.T, np.ones(8)])).T
    particles = pbd.Particles()
    members = particles.add_particles(frame + (0, 0, 1), velocity=np.cross((3, 2, 1), frame))
    particles.add_sticks(members[EDGES])
    particles.add_box((-0.6, -0.6, 0), (0.6, 0.6, 3), friction=0.4)
    for row in weights:
        particles.add_contact_point(members, row)
    system = pbd.ParticleSystem(particles, dt=1 / 120, substeps=2, iterations=12)
    lowest = []
    for _ in range(240):
        system.step()
        lowest.append((weights @ system.positions())[:, 2].min())
    # Sticks stretch while corners are pushed, by what the iterations leave.
    assert min(lowest) > -5e-3
    corners = weights @ system.positions()
    # It lies on a face: four corners on the floor, the centre half an edge above it.
    assert np.sort(corners[:, 2])[:4] == pytest.approx(0, abs=3e-3)
    assert corners[:, 2].mean() == pytest.approx(0.3, abs=3e-3)


@pytest.mark.slow
def test_worlds_have_the_bits_of_one():
    def falling():
        particles = pbd.Particles()
        stick = particles.add_particles([(-0.8, 0, 0.8), (1, 0, 0.9)])
        particles.add_sticks([stick])
        particles.add_collider(pbd.Sphere(0.5), friction=0.3)
        particles.add_element_contacts([stick])
        return particles

    one = pbd.ParticleSystem(falling())
    many = pbd.ParticleSystem(falling(), worlds=3)
    one.step(40)
    many.step(40)
    assert (many.positions() == one.positions()).all()
    assert np.linalg.norm(one.positions()[0] - (-0.8, 0, 0.8)) > 0.1


def test_bad_input_is_refused_and_changes_nothing():
    particles = pbd.Particles()
    particles.add_particles(np.eye(4)[:, :3])
    for call, says in (
        (lambda: particles.add_element_contacts([0, 1]), r"shape \(2,\): expected \(n, 2\) sticks"),
        (lambda: particles.add_element_contacts([(0, 1, 2, 3, 0)]), r"shape \(1, 5\): expected"),
        (lambda: particles.add_element_contacts([(0, 1), (0, 1, 2)]), r"\(0, 1, 2\)\]: expected \(n, 2\) sticks"),
        (lambda: particles.add_element_contacts([(1, 1)]), r"particles \[1, 1\]: expected different ones"),
        (lambda: particles.add_element_contacts([(0, 7)]), "holds 7: there are 4 particles"),
        (lambda: particles.add_element_contacts([(0, 1)], radius=-1), "radius is -1: expected zero or more"),
        (lambda: particles.add_contact_point((0, 1), (0.75, 0.5)), "sum to 1.25: expected one"),
        (lambda: particles.add_contact_point((0, 1), (1.0,)), r"shape \(1,\): expected \(2,\)"),
        (lambda: particles.add_contact_point((0, 0), (0.5, 0.5)), r"particles \[0, 0\]: expected different ones"),
        (lambda: particles.add_contact_point((0, 1), (math.nan, 0.5)), "is nan at index 0: expected finite"),
        (lambda: particles.add_contact_point((), ()), "on 0 particles: expected one to 4"),
        (lambda: particles.add_contact_point((0, 1), (0.5, 0.5), radius=-1), "radius is -1: expected zero or more"),
    ):
        with pytest.raises((TypeError, ValueError, IndexError), match=says):
            call()
    assert len(particles.contact_elements()[0]) == 0
    other = pbd.Particles()
    other.add_particles(np.eye(4)[:, :3])
    other.add_element_contacts([(0, 1)])
    with pytest.raises(ValueError, match="world 1 has other contact elements"):
        pbd.ParticleSystem([particles, other])
