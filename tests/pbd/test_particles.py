"""Descriptions: the effects of defaults and of less common constraints."""

import math

import numpy as np
import pytest

import pbd
from pbd.constraints import ANGLE_AT_LEAST
from pbd.description.rest_values import dihedral_angle

NAN, INF = math.nan, math.inf


def four(**environment):
    """Four particles that span a tetrahedron of volume 1/6."""
    particles = pbd.Particles(**environment)
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    return particles


def system(p, **options):
    return pbd.ParticleSystem(p, **options)


# Descriptions -------------------------------------------------------------------------------------------------------


def test_indices_are_returned_in_order_and_numbers_are_for_all_or_one_each():
    particles = pbd.Particles()
    assert particles.add_particle((1, 2, 3), 2.0, (4, 5, 6), 0.5) == 0
    assert particles.add_particles(np.ones((3, 3)), [1.0, 2.0, INF], 0.0, 0.1).tolist() == [1, 2, 3]
    assert len(particles) == 4
    assert particles.positions().tolist() == [[1, 2, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    assert particles.velocities().tolist() == [[4, 5, 6], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert particles.masses().tolist() == [2, 1, 2, INF]
    assert particles.radii().tolist() == [0.5, 0.1, 0.1, 0.1]


def test_a_pinned_particle_loses_its_velocity_and_stays():
    particles = pbd.Particles()
    particles.add_particles(np.eye(3), velocity=(1, 1, 1))
    particles.pin(1)
    assert particles.velocities().tolist() == [[1, 1, 1], [0, 0, 0], [1, 1, 1]]
    s = system(particles, dt=0.1)
    s.set_forces(np.ones((3, 3)))
    s.step(10)
    assert s.positions()[1].tolist() == [0, 1, 0]
    assert not s.velocities()[1].any()


def test_particles_fall_with_their_share_of_gravity():
    # x = s g t²/2, exactly. At the middle of a substep the energy is -m (s g h)²/8 of each particle.
    scales, h = np.array([0.0, 0.5, 1.0, -2.0]), 0.01
    particles = pbd.Particles(gravity=(0, 0, -10.0))
    particles.add_particles(np.zeros((4, 3)), mass=2.0, gravity_scale=scales)
    system = pbd.ParticleSystem(particles, dt=0.05)
    system.dt = h  # before the first step this keeps the start exact
    system.step(30)
    assert system.positions()[:, 2] == pytest.approx(-scales * 10.0 * 0.3**2 / 2, abs=1e-13)
    assert system.energy().total == pytest.approx(-(scales**2).sum() * 2.0 * (10.0 * h) ** 2 / 8, abs=1e-12)
    assert system.energy().kinetic > 40.0
    with pytest.raises(ValueError, match="gravity_scale is nan"):
        particles.add_particle((0, 0, 0), gravity_scale=math.nan)


def test_the_input_is_copied():
    x, masses = np.zeros((2, 3)), np.ones(2)
    particles = pbd.Particles()
    particles.add_particles(x, masses)
    x += 1
    masses += 1
    assert not particles.positions().any()
    assert particles.masses().tolist() == [1, 1]


# Attachments --------------------------------------------------------------------------------------------------------


def attached(particles, weights, to, to_weights, masses, iterations=1, direction="current"):
    """Random particles with an attachment: positions before, and the system after one step."""
    description = pbd.Particles(gravity=(0, 0, 0))
    x = np.random.default_rng(6).normal(size=(len(masses), 3))
    description.add_particles(x, masses)
    description.add_attachment(particles, weights, to, to_weights)
    s = system(description, iterations=iterations, direction=direction)
    s.step()
    return x, s


@pytest.mark.parametrize("direction", ["current", "start"])
@pytest.mark.parametrize("to", [[3], [3, 4], [3, 4, 5, 6]])
def test_an_attachment_matches_the_closed_form(to, direction):
    # One projection: x_i += c_i w_i λ Δ with Δ = q - p for the particles of p (b for -c on the other side), and λ =
    # 1/(Σ a² w + Σ b² w). It is linear, so one iteration satisfies it to round-off.
    masses = np.array([1.0, 7.0, 2.0, 5.0, 0.5, 3.0, 1.0])
    a = np.array([0.5, 0.7, -0.2])
    b = np.linspace(1, 2, len(to)) / np.linspace(1, 2, len(to)).sum()
    x, s = attached([0, 1, 2], a, to, b, masses, direction=direction)
    c, members = np.concatenate([a, -b]), [0, 1, 2, *to]
    w = 1 / masses[members]
    gap = c @ x[members]
    expected = x.copy()
    expected[members] -= np.outer(c * w, gap) / (c**2 @ w)
    assert np.abs(gap).max() > 0.1
    assert np.abs(s.positions() - expected).max() < 1e-14
    assert np.abs(c @ s.positions()[members]).max() < 1e-14
    # Σ m Δx = -(Σ c) λ gap = 0: linear momentum, with masses from 0.5 to 7.
    assert np.abs(masses @ (s.positions() - x)).max() < 1e-14


def test_two_particles_of_mass_one_and_seven_meet_at_their_centre_of_mass():
    x, s = attached(0, [1.0], 1, [1.0], [1.0, 7.0])
    centre = (x[0] + 7 * x[1]) / 8
    assert np.abs(s.positions() - centre).max() < 1e-15


def test_a_point_attached_to_a_pinned_particle_meets_it_and_does_not_move_it():
    x, s = attached([0, 1], [0.25, 0.75], 2, [1.0], [1.0, 7.0, INF])
    after = s.positions()
    assert np.array_equal(after[2], x[2])
    assert np.abs(0.25 * after[0] + 0.75 * after[1] - x[2]).max() < 1e-15
    # The mass-weighted least change: Δx_i in proportion to c_i / m_i.
    assert np.abs((after[0] - x[0]) / (0.25 / 1) - (after[1] - x[1]) / (0.75 / 7)).max() < 1e-14


def test_an_attachment_of_pinned_particles_alone_does_nothing():
    x, s = attached(0, [1.0], 1, [1.0], [INF, INF])
    assert np.array_equal(s.positions(), x)


# Angle and plane limits ---------------------------------------------------------------------------------------------


def elbow(degrees, length=1.0, masses=(1.0, 7.0, 2.0)):
    """Particles end, vertex, end with an angle between the arms; the first arm of length 1."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    angle = math.radians(degrees)
    particles.add_particles(
        [(1, 0, 0), (0, 0, 0), (length * math.cos(angle), length * math.sin(angle), 0)], np.array(masses)
    )
    return particles


def angle_of(x):
    u, v = x[0] - x[1], x[2] - x[1]
    return math.atan2(np.linalg.norm(np.cross(u, v)), u @ v)


@pytest.mark.parametrize("form", ["dot", "distance"])
@pytest.mark.parametrize("length", [1.0, 2.5])
@pytest.mark.parametrize(("limits", "start", "limit"), [
    ({"minimum": 60}, 59.5, 60), ({"minimum": 60}, 80, None), ({"maximum": 60}, 60.5, 60), ({"maximum": 60}, 40, None),
    ({"minimum": 50, "maximum": 100}, 100.5, 100), ({"minimum": 50, "maximum": 100}, 49.5, 50),
    ({"minimum": 50, "maximum": 100}, 75, None),
])  # fmt: skip
def test_an_angle_limit_acts_only_beyond_the_limit(form, length, limits, start, limit):
    # Sticks hold the lengths of the arms, so both forms are the same angle. One Newton step for the distance from δ
    # beyond the limit ends about ½ |cot θ| δ² on the permitted side, and an inequality stays there. For δ = 0.5° and
    # the angles here that is less than ½ · 0.84 · (8.7e-3)² = 3.2e-5, doubled for the share of the sticks.
    particles = elbow(start, length)
    x = particles.positions().copy()
    particles.add_sticks([(0, 1), (1, 2)])
    particles.add_angle_limit(0, 1, 2, **{name: math.radians(value) for name, value in limits.items()}, form=form)
    s = system(particles, iterations=500)
    s.step()
    after = s.positions()
    if limit is None:
        assert np.abs(after - x).max() < 1e-15
    else:
        inside = (angle_of(after) - math.radians(limit)) * (1 if start < limit else -1)
        assert -1e-12 < inside < 6.4e-5
    assert np.linalg.norm(after[2] - after[1]) == pytest.approx(length, abs=1e-12)
    # Masses 1, 7 and 2: the centre of mass does not move.
    assert np.abs(np.array([1.0, 7.0, 2.0]) @ (after - x)).max() < 1e-12


@pytest.mark.parametrize("form", ["dot", "distance"])
@pytest.mark.parametrize("length", [1.0, 2.5])
def test_an_angle_limited_from_both_sides_converges(form, length):
    particles = elbow(60, length)
    particles.add_sticks([(0, 1), (1, 2)])
    particles.add_angle_limit(0, 1, 2, minimum=math.radians(90), maximum=math.radians(90), form=form)
    s = system(particles, iterations=500)
    s.step()
    assert math.degrees(angle_of(s.positions())) == pytest.approx(90, abs=1e-9)


def test_the_dot_form_limits_the_angle_for_arms_of_any_length():
    # Without sticks the arms change their lengths, but the angle still reaches the limit.
    particles = elbow(30, 2.5)
    particles.add_angle_limit(0, 1, 2, minimum=1.2)
    particles.add_angle_limit(0, 1, 2, maximum=1.2)
    s = system(particles, iterations=100)
    s.step()
    assert angle_of(s.positions()) == pytest.approx(1.2, abs=1e-12)


def test_limits_of_zero_and_half_a_turn_are_accepted_and_never_act():
    for form in ("dot", "distance"):
        particles = elbow(70)
        x = particles.positions().copy()
        particles.add_angle_limit(0, 1, 2, minimum=0.0, maximum=math.pi, form=form)
        s = system(particles)
        s.step()
        assert np.abs(s.positions() - x).max() < 1e-15


@pytest.mark.parametrize("distance", [0.0, 0.3])
@pytest.mark.parametrize(("height", "acts"), [(-0.4, True), (0.1, None), (0.7, False)])
def test_a_plane_limit_keeps_a_particle_on_its_side(distance, height, acts):
    # C = n·(x0 - x1) - d >= 0 with the normal of (x1, x2, x3), counter-clockwise seen from the permitted side.
    acts = height < distance if acts is None else acts
    particles = pbd.Particles(gravity=(0, 0, 0))
    x = np.array([(0.3, 0.2, height), (0, 0, 0), (1, 0, 0), (0, 1, 0)], float)
    masses = np.array([1.0, 7.0, 2.0, 3.0])
    particles.add_particles(x, masses)
    particles.add_plane_limit(0, (1, 2, 3), distance)
    s = system(particles, iterations=50)
    s.step()
    after = s.positions()
    normal = np.cross(after[2] - after[1], after[3] - after[1])
    reached = normal @ (after[0] - after[1]) / np.linalg.norm(normal)
    assert reached == pytest.approx(distance if acts else height, abs=1e-12)
    assert acts == bool(np.abs(after - x).max() > 1e-6)
    assert np.abs(masses @ (after - x)).max() < 1e-13


def test_a_plane_limit_to_pinned_particles_moves_the_particle_alone_and_straight():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0.3, 0.2, -0.4), (0, 0, 0), (1, 0, 0), (0, 1, 0)], [2.0, INF, INF, INF])
    particles.add_plane_limit(0, (1, 2, 3), 0.1)
    s = system(particles, iterations=1)
    s.step()
    assert s.positions()[0] == pytest.approx([0.3, 0.2, 0.1], abs=1e-15)


# Defaults -----------------------------------------------------------------------------------------------------------


def test_default_rest_values_are_those_of_the_present_shape():
    # Length, rest angle and volume of a random tetrahedron are its present ones. Nothing moves and nothing is violated,
    # except for round-off of 2 sin((θ - θ0)/2), with the angle once from numpy and once from the kernel.
    particles = pbd.Particles(gravity=(0, 0, 0))
    x = np.random.default_rng(7).normal(size=(4, 3))
    particles.add_particles(x, [1.0, 7.0, 2.0, 3.0])
    particles.add_sticks([(0, 1), (1, 2)])
    particles.add_bending([(0, 1, 2, 3), (1, 2, 0, 3)])
    particles.add_volumes([(0, 1, 2, 3), (1, 0, 2, 3)])
    s = system(particles)
    s.step()
    assert np.abs(s.positions() - x).max() < 1e-14
    assert s.statistics().residual < 1e-14
    volume = particles.constraint_sets["volume", False].arrays()[1][:, 0]
    exact = (x[1] - x[0]) @ np.cross(x[2] - x[0], x[3] - x[0]) / 6
    assert volume == pytest.approx([exact, -exact], rel=1e-12)


@pytest.mark.parametrize("degrees", [-170, -90, -10, 0, 35, 90, 179])
def test_the_dihedral_angle_is_zero_when_flat_and_has_the_sign_of_the_fold(degrees):
    # Edge along y; one corner at -x, the other at angle θ from the plane's continuation.
    fold = math.radians(degrees)
    corners = np.array([[(0, 0, 0), (0, 1, 0), (-1, 0.3, 0), (math.cos(fold), 0.6, math.sin(fold))]])
    assert abs(dihedral_angle(corners)[0]) == pytest.approx(abs(fold), abs=1e-14)
    mirrored = corners * [1, 1, -1]
    assert dihedral_angle(mirrored)[0] == pytest.approx(-dihedral_angle(corners)[0], abs=1e-14)


@pytest.mark.parametrize("rest", [-2.0, 0.5, 3.0])
def test_bending_folds_to_the_rest_angle(rest):
    # The kernel has folded the edge; the formula of the description gives the same angle.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0, 1, 0), (-1, 0.3, 0), (1, 0.6, 0.1)], [1.0, 7.0, 2.0, 3.0])
    particles.add_bending([(0, 1, 2, 3)], rest_angle=rest)
    s = system(particles, iterations=200)
    s.step()
    assert dihedral_angle(s.positions()[None])[0] == pytest.approx(rest, abs=1e-9)


def test_a_new_constraint_type_has_its_bound_and_compliance():
    # A constraint type for angles, given as an object, has the same effect as the method.
    found = []
    for own in (False, True):
        particles = elbow(30)
        if own:
            particles.add_constraints(ANGLE_AT_LEAST, [(1, 0, 2)], 1e-4, limit=1.0)
        else:
            particles.add_angle_limit(0, 1, 2, minimum=1.0, compliance=1e-4)
        s = system(particles)
        s.step(3)
        found.append(s.positions())
    assert np.array_equal(*found)
    assert angle_of(found[0]) > math.radians(30)


def test_a_copy_with_other_positions_is_a_description_of_its_own():
    particles = pbd.Particles()
    particles.add_particles([(0, 0, 0), (1, 0, 0)])
    particles.add_stick(0, 1)
    other = particles.with_positions(particles.positions() + 1)
    other.add_stick(1, other.add_particle((3, 1, 1)))
    other.velocities()[0] = other.gravity[:] = 5.0
    other.built.append("more")
    assert [(key, each.arrays()[0].tolist()) for key, each in particles.constraint_sets.items()] == [
        (("stick", False), [[0, 1]])
    ]
    assert (particles.velocities() == 0).all()
    assert particles.gravity.tolist() == [0, 0, -9.81]
    assert particles.built == []


def test_gravity_and_wind_of_a_system_are_replaced_not_edited():
    # Kernels get them when they are set. An element that is set would be read and not act.
    particles = pbd.Particles(wind=(0, 1, 0))
    particles.add_particle((0, 0, 0))
    system = pbd.ParticleSystem(particles, dt=0.01)
    particles.gravity[:] = 0.0  # of another system, if one is made
    for vector in (system.gravity, system.wind):
        with pytest.raises(ValueError, match="read-only"):
            vector[2] = 3.0
    system.step(1)
    assert system.velocities()[0, 2] == pytest.approx(-9.81 * 0.01 / 2, rel=1e-12)  # (x - x*)/h after half a step
    system.gravity = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        system.gravity[2] = 3.0
