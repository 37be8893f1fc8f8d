"""Contacts of surfaces and segments: what they keep, what they conserve, and friction."""

import math

import numpy as np
import pytest
from sheets import add_line, add_sheet, turned

import pbd

g = 9.81


def system_of(particles, **options):
    return pbd.ParticleSystem(particles, **{"dt": 0.01, "iterations": 10, **options})


# What is kept ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("thicknesses", [(0.004, 0.004), (0.002, 0.01)])
def test_a_sheet_rests_on_another_at_their_mean_thickness(thicknesses):
    # The edge of the upper sheet is not above that of the lower one, so vertices rest on triangles and edges on edges.
    particles = pbd.Particles()
    add_sheet(particles, 5, 0.4, mass=math.inf, thickness=thicknesses[0])
    turn = [[math.cos(0.3), -math.sin(0.3), 0], [math.sin(0.3), math.cos(0.3), 0], [0, 0, 1]]
    upper, _ = add_sheet(particles, 6, 0.2, (0.013, 0.02, 0.05), turn, thickness=thicknesses[1])
    system = system_of(particles, substeps=4)
    system.step(60)
    heights = system.positions()[upper, 2]
    # A contact is C = gap - d >= 0, and gravity presses each by g h² in a substep before it is projected. One thread
    # projects them in turn, so what comes later lifts what came before, by a part of that.
    mean = sum(thicknesses) / 2
    assert heights.min() == pytest.approx(mean, abs=1e-9)
    assert heights.max() < mean + 2 * g * system.clock.h**2


def test_capsules_rest_on_one_another_at_the_sum_of_their_radii():
    # d = r₁ + r₂ at the crossing of two segments, whatever their angle.
    particles = pbd.Particles()
    add_line(particles, (-1, -0.3, 0), (1, 0.3, 0), mass=math.inf, radius=0.02)
    ends = add_line(particles, (0.1, -0.2, 0.1), (-0.1, 0.2, 0.1), radius=0.03)
    system = system_of(particles)
    system.step(2)
    system.set_velocities(np.zeros((4, 3)))
    system.step(100)
    x = system.positions()
    assert x[ends, 2] == pytest.approx(0.05, abs=2 * g * 0.01**2)


def test_what_is_nearer_in_the_description_keeps_its_distance():
    # Two layers 1 mm apart with a thickness of 1 cm, in no gravity: nothing moves.
    particles = pbd.Particles(gravity=(0, 0, 0))
    add_sheet(particles, thickness=0.01)
    add_sheet(particles, middle=(0, 0, 0.001), thickness=0.01)
    system = system_of(particles)
    system.step(10)
    assert system.positions() == pytest.approx(particles.positions(), abs=1e-15)


def test_self_contact_may_be_left_out():
    particles = pbd.Particles(gravity=(0, 0, 0))
    _, triangles = add_sheet(particles)
    upper, others = add_sheet(particles, middle=(0, 0, 0.1), velocity=(0, 0, -1))
    particles.add_surface(np.concatenate([triangles, others]), thickness=0.01, self_contact=False)
    system = system_of(particles)
    system.step(20)
    assert system.positions()[upper, 2] == pytest.approx(-0.1)


@pytest.mark.slow
def test_an_attached_rope_has_no_contact_where_it_is_tied():
    # Its end lies in a triangle, where it is joined, so it hangs from there, and nothing pushes it aside.
    particles = pbd.Particles()
    sheet, triangles = add_sheet(particles, 5, thickness=0.004)
    particles.pin(sheet)
    rope = add_line(particles, (0.01, 0.02, 0), (0.01, 0.02, -0.2), 6, radius=0.003)
    corners = particles.positions()[triangles]
    weights = [np.linalg.lstsq(np.vstack([each.T, np.ones(3)]), [0.01, 0.02, 0, 1], rcond=None)[0] for each in corners]
    inside = next(k for k, each in enumerate(weights) if (each > -1e-12).all())
    particles.add_attachment([rope[0]], [1.0], triangles[inside], weights[inside])
    system = system_of(particles, iterations=50)
    system.step(50)
    assert system.positions()[rope] == pytest.approx(particles.positions()[rope], abs=2e-3)


# What is conserved ----------------------------------------------------------------------------------------------------


def pressed(kind, masses, friction, **options):
    """A system whose only contact, a vertex and a triangle or two edges, is half as far apart as it should be."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    if kind == "vertex":
        surface = particles.add_particles([(-0.1, -0.1, 0), (0.2, -0.1, 0.02), (0, 0.2, -0.01)], masses[:3])
        particles.add_surface([surface], thickness=0.01, friction=friction)
        other = particles.add_particles([(0.02, 0.01, 0.5), (0.03, -0.02, 0.8)], masses[3:])
    else:
        other = particles.add_particles([(-0.1, 0.01, 0), (0.2, 0.03, 0.02)], masses[:2])
        particles.add_segments([other], radius=0.005, friction=friction)
        other = particles.add_particles([(0.05, -0.1, 0.5), (0.07, 0.3, 0.52)], masses[2:4])
    particles.add_segments([other], radius=0.005, friction=friction)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=1, **options)
    x = system.positions()
    x[other] -= (0, 0, 0.49)
    system.set_positions(x)
    system.set_velocities(np.zeros_like(x))
    return system, particles.masses()


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["current", "start"])
@pytest.mark.parametrize("kind", ["vertex", "edges"])
def test_a_contact_is_one_impulse(kind, direction):
    # From rest, Δx is the impulse's: Σ m Δx = 0 and Σ m x × Δx = 0 to round-off, whatever the masses.
    system, masses = pressed(kind, (1.0, 2.0, 0.5, 3.0, 0.1), 0.3, direction=direction)
    before = system.positions()
    system.step()
    change = system.positions() - before
    assert np.abs(change).max() > 1e-4
    assert masses @ change == pytest.approx(np.zeros(3), abs=1e-16)
    assert masses @ np.cross(before, change) == pytest.approx(np.zeros(3), abs=1e-16)
    moved = np.flatnonzero(np.abs(change).max(axis=1))
    assert len(moved) == 4


@pytest.mark.parametrize("iterations", [5, 20])
def test_a_sheet_that_meets_another_does_not_bounce(iterations):
    # Without restitution a fixed sheet takes all kinetic energy. What one iteration pushes too far, a later one takes
    # back; if none did, a third of the speed would be left, whatever the iterations.
    rng = np.random.default_rng(iterations)
    for _ in range(5):
        particles = pbd.Particles(gravity=(0, 0, 0))
        angle, aside = rng.uniform(0, 2 * np.pi), (*rng.uniform(-0.03, 0.03, 2), 0.02)
        turn = [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
        add_sheet(particles, size=0.3, mass=math.inf, thickness=0.005)
        sheet, _ = add_sheet(particles, middle=aside, turn=turn, velocity=(0, 0, -1), thickness=0.005)
        system = system_of(particles, substeps=4, iterations=iterations)
        system.step(6)
        v = system.velocities()[sheet]
        assert (v**2).sum() / len(sheet) == pytest.approx(0.0, abs=0.005)


def test_flying_sheets_conserve_momentum():
    # Also with friction, which is equal and opposite, and many contacts in turn.
    rng = np.random.default_rng(0)
    particles = pbd.Particles(gravity=(0, 0, 0))
    for k in range(3):
        add_sheet(
            particles, 4, 0.1, (0, 0, 0.15 * k), turned(rng), mass=rng.uniform(0.001, 0.1),
            velocity=(0.1 * k, 0, -k), thickness=0.01, friction=0.5,
        )  # fmt: skip
    masses = particles.masses()
    system = system_of(particles, substeps=20)
    momentum, touched = masses @ system.velocities(), 0
    for _ in range(40):
        system.step()
        assert masses @ system.velocities() == pytest.approx(momentum, rel=1e-12, abs=1e-12)
        assert system.arrays.surface.halvings.to_numpy().max() == 0  # a motion that is cut back loses momentum
        touched += int(system.arrays.surface.found.to_numpy()[1].max() > 0)
    assert touched > 5


# Friction -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [10.0, 16.0, 17.4, 25.0])
def test_a_sheet_on_a_slope_slides_beyond_its_friction_angle_only(angle):
    # μ = 0.3, so it holds up to 16.70° and then accelerates at g (sin θ - μ cos θ). The sheet lies on large triangles:
    # its vertices are the only features in contact.
    mu, theta = 0.3, math.radians(angle)
    particles = pbd.Particles(gravity=(g * math.sin(theta), 0, -g * math.cos(theta)))
    add_sheet(particles, 2, 4.0, mass=math.inf, thickness=0.01, friction=mu)
    sheet, _ = add_sheet(particles, 4, 0.1, (-1, 0.3, 0.01), thickness=0.01, friction=mu)
    system = system_of(particles, substeps=4)
    system.step(50)
    way = system.positions()[sheet, 0].mean() - particles.positions()[sheet, 0].mean()
    t = system.time
    expected = max(0.0, 0.5 * g * (math.sin(theta) - mu * math.cos(theta)) * t * (t + system.clock.h))
    # Sticks between the vertices pass on what the order of projections leaves different between them.
    assert way == pytest.approx(expected, rel=0.02, abs=1e-4)


# Bad input ------------------------------------------------------------------------------------------------------------


def test_bad_surfaces_are_refused():
    particles = pbd.Particles()
    sheet, triangles = add_sheet(particles)
    cases = [
        (([[0, 1, 1]],), {"thickness": 0.01}, "triangle of a surface on particles"),
        (([[0, 1, 5], [5, 0, 1]],), {"thickness": 0.01}, "is given twice: expected once"),
        ((triangles,), {"thickness": 0.06}, "thickness of at most the shortest edge"),
        ((triangles,), {"thickness": 0.0}, "thickness is 0"),
        ((triangles,), {"thickness": 0.01, "friction": -1}, "friction is -1"),
        ((triangles,), {"thickness": 0.01, "self_contact": 3}, "self_contact is 3"),
        (([[0, 1, 99]],), {"thickness": 0.01}, "99"),
    ]
    for arguments, options, message in cases:
        with pytest.raises((ValueError, TypeError, IndexError), match=message):
            particles.add_surface(*arguments, **options)
    particles.add_particle(particles.positions()[3])
    for pairs, radius, message in (([[1, 1]], 0.01, "different"), ([[1, 2], [2, 1]], 0.01, "twice"),
                                   ([[0, 1]], -0.1, "radius"), ([[3, len(sheet)]], 0.1, "coincide")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            particles.add_segments(pairs, radius=radius)
    assert particles.surfaces == []


def test_surfaces_that_cross_at_the_start_are_refused():
    particles = pbd.Particles()
    add_sheet(particles, thickness=0.001)
    add_sheet(particles, middle=(0.01, 0.02, 0), turn=turned(np.random.default_rng(0)), thickness=0.001)
    with pytest.raises(ValueError, match=r"the edge of particles \d+ and \d+ crosses the triangle of"):
        pbd.ParticleSystem(particles)
