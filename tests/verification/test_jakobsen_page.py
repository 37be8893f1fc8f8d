"""Examples and exercises of the web page that retells Jakobsen's paper, [2] of docs/solvers/sources.md.

Its numbers are kept: a box from 0 to 1000, sticks of length 100. Where the page is wrong, a comment says so.
"""

import math

import numpy as np
import pytest

import pbd
from pbd.build import hexagonal_cloth


def paged(gravity=(0, 0, 0), positions=(), mass=1.0, velocity=(0, 0, 0)):
    particles = pbd.Particles(gravity=gravity)
    particles.add_particles(positions, mass, velocity)
    return particles


# The Verlet scheme ----------------------------------------------------------------------------------------------------


def test_first_exercise_by_hand():
    # "Set a = (0, 0, 1), x = (1, 0, 0), x* = (0, 0, 0), and do a few steps by hand." With a time step of one,
    # x' = 2 x - x* + a gives (2, 0, 1), (3, 0, 3), (4, 0, 6), (5, 0, 10): x_n = (1 + n, 0, n (n + 1)/2).
    # Our start from a velocity is x* = x - v + a/2, so v = (1, 0, 1/2).
    system = pbd.ParticleSystem(paged((0, 0, 1), [(1, 0, 0)], velocity=(1, 0, 0.5)), dt=1.0)
    for n in range(1, 11):
        system.step()
        assert system.positions()[0].tolist() == [1.0 + n, 0.0, n * (n + 1) / 2]


def test_199_in_place_of_2_is_damping():
    # ⚠ With 1.99 x - x* + a h² as the page has it, a particle at rest at x = 1 falls towards the origin: that is a
    # spring. With the coefficient of x* lowered as well, 1.99 x - 0.99 x*, each step keeps 0.99 of the displacement.
    resting = pbd.ParticleSystem(paged(positions=[(1, 0, 0)]), dt=1.0, damping=0.01)
    resting.step(100)
    assert resting.positions()[0].tolist() == [1, 0, 0]
    moving = pbd.ParticleSystem(paged(positions=[(0, 0, 0)], velocity=(1, 0, 0)), dt=1.0, damping=0.01)
    moving.step(100)
    assert moving.positions()[0, 0] == pytest.approx(0.99 * (1 - 0.99**100) / 0.01, rel=1e-13)


# The box --------------------------------------------------------------------------------------------------------------


def test_the_box_needs_no_change_of_velocities():
    # "Do these calculations yourself: there is no need to zero the velocity along the normal." A particle flies into
    # the wall x = 1000 with displacement (30, 7, 0) per step. vmin(vmax(x, 0), 1000) stops x, and keeps y to the bit.
    particles = paged(positions=[(950, 500, 500)], velocity=(30, 7, 0))
    particles.add_box((0, 0, 0), (1000, 1000, 1000))
    system = pbd.ParticleSystem(particles, dt=1.0)
    found = []
    for _ in range(5):
        system.step()
        found.append(system.positions()[0].tolist())
    assert found == [[980, 507, 500], [1000, 514, 500], [1000, 521, 500], [1000, 528, 500], [1000, 535, 500]]
    # After the step in which it arrives, x - x* has nothing left along the normal.
    assert system.velocities()[0].tolist() == [0, 7, 0]


def test_a_particle_at_rest_on_the_floor_stays_there_to_the_bit():
    # "Resting contacts": x' = vmax(x + a h², 0) = 0 in every step.
    particles = paged((0, 0, -10), [(500, 500, 0)])
    particles.add_box((0, 0, 0), (1000, 1000, 1000))
    system = pbd.ParticleSystem(particles, dt=1.0)
    system.step(100)
    assert system.positions()[0].tolist() == [500, 500, 0]


# Sticks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 4.0), (1.0, math.inf)])
def test_one_projection_of_a_stick(masses):
    # diff = (|δ| - 100)/(|δ| (w1 + w2)); x1 += w1 δ diff; x2 -= w2 δ diff. ⚠ The page has both signs the other way
    # round, by which a stick that is too long grows longer.
    x1, x2 = np.array([0, 0, 0.0]), np.array([120, 50, 0.0])
    w1, w2 = (0.0 if math.isinf(mass) else 1 / mass for mass in masses)
    delta = x2 - x1
    diff = (130 - 100) / (130 * (w1 + w2))
    particles = paged(positions=[x1, x2], mass=masses)
    particles.add_stick(0, 1, 100)
    system = pbd.ParticleSystem(particles, dt=1.0, iterations=1)
    system.step()
    assert system.positions() == pytest.approx(np.array([x1 + w1 * delta * diff, x2 - w2 * delta * diff]), rel=1e-14)
    assert np.linalg.norm(np.diff(system.positions(), axis=0)) == pytest.approx(100, rel=1e-14)


@pytest.mark.parametrize("length", [80.0, 100.0, 130.0])
def test_one_projection_without_a_square_root(length):
    # delta *= r²/(δ·δ + r²) - 0.5; x1 -= delta; x2 += delta: the page's root-free version, with r = 100. If |δ| = r,
    # delta is (0, 0, 0), and nothing moves, to the bit.
    delta = np.array([0.6, 0, 0.8]) * length
    particles = paged(positions=[(500, 500, 500), np.array([500, 500, 500]) + delta])
    particles.add_constraints("root-free stick", [(0, 1)], length=100)
    system = pbd.ParticleSystem(particles, dt=1.0, iterations=1)
    system.step()
    delta = delta * (100.0**2 / (delta @ delta + 100.0**2) - 0.5)
    expected = np.array([(500, 500, 500) - delta, np.array([500, 500, 500]) + [0.6 * length, 0, 0.8 * length] + delta])
    assert system.positions() == pytest.approx(expected, rel=1e-13)
    if length == 100.0:
        assert (system.positions()[0] == 500).all()


@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 10])
def test_relaxation_of_a_stick_in_the_box_halves_the_error(iterations):
    # A stick of length 100 from x = -20 to x = 70, which sticks out of the box. Each iteration: the stick moves both
    # ends by half of what is missing, then the box puts the first end back to 0. So the second end is at
    # 100 - 25/2^(k-1) after k iterations: (-20, 70), (-25, 75), (0, 75), (-12.5, 87.5), (0, 87.5), ...
    # The page projects the box first and the stick last; ours has the box last, so that nothing leaves it.
    particles = paged(positions=[(-20, 500, 500), (70, 500, 500)])
    particles.add_stick(0, 1, 100)
    particles.add_box((0, 0, 0), (1000, 1000, 1000))
    system = pbd.ParticleSystem(particles, dt=1.0, iterations=iterations)
    system.step()
    expected = [0, 100 - 25 / 2 ** (iterations - 1)]
    assert system.positions()[:, 0] == pytest.approx(np.array(expected), abs=1e-12)


def test_later_steps_complete_unconverged_iterations():
    # "If we stop the iterations too early, the result is not exact, but in the next frame it is a little better." One
    # iteration per step: the same stick ends at length 100 although no step converges. With the second end at 100 + u,
    # Verlet predicts 2 u_n - u_{n-1}, and one iteration halves that error: u_{n+1} = (2 u_n - u_{n-1})/2. The roots
    # (1 ± i)/2 have the size 1/sqrt(2), so u vanishes.
    particles = paged(positions=[(0, 500, 500), (75, 500, 500)])
    particles.add_stick(0, 1, 100)
    particles.add_box((0, 0, 0), (1000, 1000, 1000))
    system = pbd.ParticleSystem(particles, dt=1.0, iterations=1)
    before, now = -25.0, -25.0
    for _ in range(60):
        # The box puts the first end back to 0 as long as the stick is too short. A stick that is too long pulls it
        # inside, which the closed form leaves out.
        system.step()
        before, now = now, (2 * now - before) / 2
        if now > 0:
            break
        assert system.positions()[:, 0] == pytest.approx(np.array([0, 100 + now]), abs=1e-12)
    system.step(200)
    assert np.ptp(system.positions()[:, 0]) == pytest.approx(100, abs=1e-6)


# Cloth and bodies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["stick", "root-free stick"])
def test_cloth_with_one_iteration_hangs_from_the_origin(name):
    # The page's cloth: a hexagonal mesh of sticks, one of its particles held at (0, 0, 0), a single iteration. It
    # comes to rest below the origin, and sticks are longer by their load only: a hanging column of n sticks, one
    # iteration from the top, stretches by n (n - 1)/2 g h² (see test_sticks.py), some 2 % here.
    particles = pbd.Particles(gravity=(0, 0, -9.81))
    sheet = hexagonal_cloth(
        particles, (0, 0, 0), (0.75, 0, 0), (0, 0, -0.6), 8, density=0.2, bending=None, drag=None, pins=("left_top",)
    )
    lengths = particles.constraint_sets.pop(("stick", False)).arrays()[1][:, 0]
    particles.add_constraints(name, sheet.sticks, length=lengths)
    system = pbd.ParticleSystem(particles, dt=1 / 240, iterations=1, damping=0.01)
    system.step(240 * 8)
    x = system.positions()
    assert x[0].tolist() == [0, 0, 0]
    assert x[:, 2].max() == 0.0
    assert np.abs(x.mean(axis=0)[:2]).max() < 1e-2  # its centre of mass is below the pin (equal masses inside)
    rest = np.linalg.norm(np.diff(particles.positions()[sheet.sticks], axis=1)[:, 0], axis=1)
    length = np.linalg.norm(np.diff(x[sheet.sticks], axis=1)[:, 0], axis=1)
    assert np.median(np.abs(length / rest - 1)) < 0.02


def constraint_jacobian(x, sticks, right_angles):
    """Derivatives of squared lengths and of dot products of arms from particle 0."""
    rows = []
    for a, b in sticks:
        row = np.zeros((4, 3))
        row[a], row[b] = 2 * (x[a] - x[b]), 2 * (x[b] - x[a])
        rows.append(row.ravel())
    for a, b in right_angles:
        row = np.zeros((4, 3))
        row[a], row[b] = x[b] - x[0], x[a] - x[0]
        row[0] = -row[a] - row[b]
        rows.append(row.ravel())
    return np.array(rows)


def test_both_frames_of_four_particles_have_six_degrees_of_freedom():
    # 4 · 3 coordinates less six independent constraints: six sticks of a tetrahedron; or particles at (0, 0, 0),
    # (1, 0, 0), (0, 1, 0), (0, 0, 1) with three sticks of length one and three right angles.
    tetrahedron = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float)
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    axes = np.vstack([np.zeros(3), np.eye(3)])
    for x, sticks, angles in ((tetrahedron, edges, []), (axes, edges[:3], edges[3:])):
        assert np.linalg.matrix_rank(constraint_jacobian(x, sticks, angles)) == 6


def test_a_frame_of_axes_falls_and_keeps_its_shape():
    # The page's other frame, thrown into the box with a spin: lengths and right angles stay, four iterations a step.
    spin, x = np.array([3.0, 1.0, 2.0]), np.vstack([np.zeros(3), np.eye(3)])
    particles = pbd.Particles(gravity=(0, 0, -9.81))
    particles.add_particles(x + (5, 5, 3), 1.0, np.cross(spin, x))
    particles.add_sticks([(0, 1), (0, 2), (0, 3)])
    for a, b in ((1, 2), (1, 3), (2, 3)):
        particles.add_angle_limit(a, 0, b, minimum=math.pi / 2, maximum=math.pi / 2)
    particles.add_box((0, 0, 0), (10, 10, 10), friction=0.4)
    system = pbd.ParticleSystem(particles, dt=1 / 120, iterations=20)
    system.step(120 * 4)
    arms = system.positions()[1:] - system.positions()[0]
    # Iterations leave what a step of g h² = 0.7 mm brings.
    assert arms @ arms.T == pytest.approx(np.eye(3), abs=5e-3)
    assert system.positions()[:, 2].min() >= 0


def test_two_tetrahedra_that_share_particles_are_a_ball_joint_or_a_hinge():
    # Seven particles with 12 sticks leave 9 degrees of freedom: two bodies on a ball joint, 6 + 3. Six particles with
    # 11 sticks (the shared one counts once) leave 7: a hinge, 6 + 1.
    edges = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    rng = np.random.default_rng(0)
    for shared, freedom in ((1, 9), (2, 7)):
        second = np.array([*range(shared), *range(4, 8 - shared)])
        x = rng.normal(size=(8 - shared, 3))
        pairs = {tuple(sorted(pair)) for pair in np.concatenate([edges, second[edges]]).tolist()}
        rows = []
        for a, b in sorted(pairs):
            row = np.zeros_like(x)
            row[a], row[b] = x[a] - x[b], x[b] - x[a]
            rows.append(row.ravel())
        assert x.size - np.linalg.matrix_rank(np.array(rows)) == freedom


# Angle limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("distance", "expected"), [(80.0, 100.0), (100.0, 100.0), (140.0, 140.0)])
def test_a_one_sided_stick_acts_below_100_only(distance, expected):
    # |x2 - x1| > 100: two particles never come nearer; farther away nothing happens, to the bit.
    particles = paged(positions=[(500, 500, 500), (500 + distance, 500, 500)])
    particles.add_stick(0, 1, 100, bound="at_least")
    system = pbd.ParticleSystem(particles, dt=1.0, iterations=1)
    system.step()
    found = np.linalg.norm(np.diff(system.positions(), axis=0))
    assert found == pytest.approx(expected, rel=1e-14)
    if distance >= 100:
        assert found == distance


def test_a_dot_product_limits_the_angle():
    # (x2 - x0)·(x1 - x0) < α: for arms of one length r that is an angle above acos(α/r²), here 60° for α = r²/2.
    arms = 100 * np.array([(0, 0, 0), (1, 0, 0), (math.cos(0.5), math.sin(0.5), 0)])
    particles = paged(positions=500 + arms)
    particles.add_sticks([(0, 1), (0, 2)])
    particles.add_angle_limit(1, 0, 2, minimum=math.pi / 3)
    system = pbd.ParticleSystem(particles, dt=1.0, iterations=200)
    system.step()
    x = system.positions()
    # The limit is one-sided: while the sticks shorten the arms again, they open by up to half a degree more.
    angle = math.acos((x[2] - x[0]) @ (x[1] - x[0]) / np.prod(np.linalg.norm(x[1:] - x[0], axis=1)))
    assert math.pi / 3 - 1e-9 < angle < math.pi / 3 + math.radians(0.5)
    assert np.linalg.norm(x[1:] - x[0], axis=1) == pytest.approx(100, rel=1e-9)
