"""Rods: frames, twist, clamps, turned segments, worlds, snapshots and 32 bits."""

import numpy as np
import pytest
from described import assert_continues, refusal
from elsewhere import run_elsewhere
from marks import slow
from rods import BENDING, LENGTH, LINE, RADIUS, REST, TWISTING, at_rest, elastica, rod_along, twists
from scipy.spatial.transform import Rotation

import pbd
from pbd.core.kernels import real_type
from pbd.description.rod_frames import frames_along, twist_of

LEVEL = [(0, 0, 0), (LENGTH, 0, 0)]
CURVE = np.stack([np.cos(np.linspace(0, 3, 20)), np.sin(np.linspace(0, 5, 20)), np.linspace(0, 1, 20) ** 2], axis=1)
RUBBER = {"radius": 0.004, "density": 1100.0, "young": 3e6, "bending": None, "twisting": None, "stretching": None}


# Description --------------------------------------------------------------------------------------------------------


def joints_of(particles):
    """Stiffness of joints (n, 3) [N m] and the segments of each (n, 2), by their side particles."""
    members, numbers = particles.constraint_sets["rod joint", True].arrays()
    place = np.full(len(particles), -1)
    place[particles.rod_segments()[:, 2]] = np.arange(len(particles.rod_segments()))
    return numbers[:, 4:7] ** 2 / numbers[:, -1:], place[members[:, 3:]]


def test_frames_follow_a_line_without_twist():
    frames = frames_along(CURVE, False, 0.0)
    along = np.diff(CURVE, axis=0)
    np.testing.assert_allclose(
        frames.as_matrix()[:, :, 2], along / np.linalg.norm(along, axis=1)[:, None], atol=1e-14
    )
    assert frames.as_matrix()[0, 2, 0] == pytest.approx(0, abs=1e-15)  # the first axis is horizontal at the start
    for twist in (0.0, 1.8):
        frames = frames_along(CURVE, False, twist)
        found = [twist_of(each) for each in frames[:-1].inv() * frames[1:]]
        np.testing.assert_allclose(found, twist / 18, atol=1e-14)


def test_rotations_are_the_frames_of_segments():
    particles, rod = rod_along(CURVE, twist=1.0)
    system = pbd.ParticleSystem(particles)
    found = Rotation.from_quat(np.roll(system.rotations()[rod.segments], -1, axis=1))
    assert (found.inv() * frames_along(CURVE, False, 1.0)).magnitude().max() < 1e-12
    worlds = pbd.ParticleSystem(particles, worlds=2)
    np.testing.assert_array_equal(worlds.rotations(), [system.rotations()] * 2)
    alone = pbd.Particles()
    alone.add_particle((0, 0, 0))
    assert pbd.ParticleSystem(alone).rotations().shape == (0, 4)


def test_a_rod_has_the_mass_and_the_inertia_of_its_section():
    # m = ρ A l, of which all has weight; about its axis a segment has ρ (I_1 + I_2) l = m r²/2.
    particles, rod = rod_along(LEVEL, 5, (0, 0, -10.0))
    masses, sides = particles.masses(), particles.rod_segments()[rod.segments, 2]
    assert masses.sum() == pytest.approx(LINE * LENGTH, rel=1e-12)
    assert (masses * particles.gravity_scales()).sum() == pytest.approx(LINE * LENGTH, rel=1e-12)
    arms = np.linalg.norm(particles.positions()[sides, 1:], axis=1)
    np.testing.assert_allclose(masses[sides] * arms**2, LINE * LENGTH / 5 * RADIUS**2 / 2, rtol=1e-12)


def test_joints_are_half_of_each_segment_and_clamps_leave_one_half():
    # K = 1/(l_a/2EI_a + l_b/2EI_b), and 2 EI/l beside a held segment.
    points = [(0, 0, 0), (0.1, 0, 0), (0.4, 0, 0), (0.6, 0, 0)]
    lengths, stiffness = np.array([0.1, 0.3, 0.2]), np.array([1.0, 2.0, 4.0])
    particles, rod = rod_along(points, bending=stiffness[:, None] * np.ones(2), twisting=stiffness)
    halves = lengths / 2 / stiffness
    found, _ = joints_of(particles)
    np.testing.assert_allclose(found, np.repeat(1 / (halves[:-1] + halves[1:])[:, None], 3, axis=1), rtol=1e-12)
    particles.clamp(rod.segments[1])
    found, _ = joints_of(particles)
    np.testing.assert_allclose(found, np.repeat(1 / halves[[0, 2], None], 3, axis=1), rtol=1e-12)
    assert np.isinf(particles.masses()[particles.rod_segments()[rod.segments[1]]]).all()
    clamped, rod = rod_along(points, bending=stiffness[:, None] * np.ones(2), twisting=stiffness, clamps="end")
    found, segments = joints_of(clamped)
    at_end = (segments == rod.clamps["end"]).any(axis=1)
    np.testing.assert_allclose(found[at_end], 1 / halves[[2]] * np.ones((1, 3)), rtol=1e-12)


@pytest.mark.parametrize("natural", ["straight", "given"])
def test_a_closed_rod_is_twisted_by_its_angle_all_the_way_round(natural):
    # GJ Θ²/2L, and EI κ²/2 for each metre if it is straight by nature: with corners of 2π/n to second order, (2π/n)²/6
    # and less.
    segments, twist, angle = 60, 5.0, np.arange(60) * 2 * np.pi / 60
    radius = LENGTH / (2 * segments * np.sin(np.pi / segments))
    particles, rod = rod_along(
        radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1), closed=True, twist=twist, natural=natural
    )
    assert len(rod.segments) == len(rod.particles) == segments
    system = pbd.ParticleSystem(particles)
    bent = BENDING * (2 * np.pi) ** 2 / LENGTH / 2 if natural == "straight" else 0.0
    expected = TWISTING * twist**2 / LENGTH / 2 + bent
    assert system.energy().potential == pytest.approx(expected, rel=(2 * np.pi / segments) ** 2 / 6)
    untwisted, _ = rod_along(particles.positions()[rod.particles], closed=True, natural=natural)
    assert pbd.ParticleSystem(untwisted).energy().potential == pytest.approx(bent, rel=2e-3, abs=1e-20)


# Turned segments ----------------------------------------------------------------------------------------------------


def turned_rod(angle, segments=8):
    """A rod with both ends clamped, its end turned. Returns: particles, its segments from clamp to clamp."""
    particles, rod = rod_along(LEVEL, segments, clamps=("start", "end"))
    particles.turn(rod.clamps["end"], angle)
    return particles, [rod.clamps["start"], *rod.segments, rod.clamps["end"]]


def test_a_segment_turned_by_an_angle_or_along_a_path_twists_the_same():
    # About the axis from its first node to its second; twist is the angle over the length, half of it at the ends.
    for angle in (1.5, lambda t: 1.5 * min(t, 1.0)):
        particles, segments = turned_rod(angle)
        system = at_rest(particles, 300)
        expected = 1.5 * np.array([0.5, *[1] * 7, 0.5]) / 8
        np.testing.assert_allclose(twists(system, segments), expected, atol=1e-6)
        assert system.energy().potential == pytest.approx(TWISTING * 1.5**2 / LENGTH / 2, rel=1e-6)


def test_a_path_may_turn_a_segment_many_times():
    # A rod that is free at its other end follows: 3 turns in 3 s, and then it rests.
    particles, rod = rod_along(LEVEL, 8, clamps="start", pins="end")
    particles.turn(rod.clamps["start"], lambda t: 2 * np.pi * min(t, 3.0))
    segments = [rod.clamps["start"], *rod.segments]
    system = at_rest(particles, 45)  # 0.75 s
    assert system.energy().kinetic > 0
    system.step(600)
    np.testing.assert_allclose(twists(system, segments), 0, atol=1e-6)


def test_a_path_that_jumps_is_refused():
    particles, _ = turned_rod(lambda t: 0.0 if t < 0.1 else 4.0)
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(5)
    expected = "angle of rod segment 9 jumps from 0 to 4 rad between 0.09 and 0.1 s: expected less than half a turn"
    assert refusal(lambda: system.step(10), ValueError).startswith(expected)
    particles, _ = turned_rod(lambda t: 300 * t)
    assert "jumps from 0 to 5 rad" in refusal(pbd.ParticleSystem(particles, dt=1 / 60).step, ValueError)
    pbd.ParticleSystem(particles, dt=1 / 60, substeps=2, iterations=1).step()  # 2.5 rad in a substep


# Solver -------------------------------------------------------------------------------------------------------------


def thread(**given):
    """A rubber thread that falls from a clamp, twisted and curved by nature."""
    return rod_along(LEVEL, 10, (0, 0, -9.81), natural=((2.0, 1.0), 3.0), clamps="start", **RUBBER, **given)[0]


@pytest.mark.parametrize("direction", ["current", slow("start")])
def test_worlds_have_the_bits_of_each_alone(direction):
    options = {"dt": 1 / 60, "substeps": 8, "iterations": 3, "direction": direction}
    particles, rng = thread(), np.random.default_rng(0)
    velocities = 0.05 * rng.normal(size=(3, len(particles), 3))
    worlds = pbd.ParticleSystem(particles, worlds=3, **options)
    worlds.set_velocities(velocities)
    worlds.step(30)
    for k in range(3):
        alone = pbd.ParticleSystem(particles, **options)
        alone.set_velocities(velocities[k])
        alone.step(30)
        np.testing.assert_array_equal(worlds.positions()[k], alone.positions())
        np.testing.assert_array_equal(worlds.rotations()[k], alone.rotations())


@pytest.mark.parametrize("worlds", [1, slow(3)])
@pytest.mark.parametrize(("direction", "damping"), [("current", 1e-3), ("start", 0.0), slow("start", 1e-3)])
def test_a_snapshot_continues_bit_for_bit(direction, damping, worlds):
    options = {"dt": 1 / 60, "substeps": 2, "iterations": 3, "direction": direction, "worlds": worlds}
    system = pbd.ParticleSystem(thread(damping=damping), **options)
    system.step(7)
    assert_continues(system)
    other = pbd.ParticleSystem(thread(damping=damping), **options)
    other.set_state(system.state())
    for each in (system, other):
        each.step(20)
    assert other.digest() == system.digest()


@pytest.mark.parametrize("compliance", [0.0, 1e-3])
def test_an_iterated_projection_of_a_joint_keeps_both_momenta(compliance):
    # It pushes by couples and pairs of forces, Σ m Δx = 0 and Σ m x × Δx = 0, to round-off, from rest.
    rng = np.random.default_rng(2)
    x = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (0.5, 0.5, 0), (1.5, 0.5, 0)]) + rng.uniform(-0.2, 0.2, (5, 3))
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, [1.0, 7.0, 2.0, 3.0, 0.5])
    rest = dict(zip(("rest_x", "rest_y", "rest_z", "rest_w"), Rotation.from_rotvec((0.2, 0.5, -0.4)).as_quat()))
    particles.add_constraints("rod joint", [(0, 1, 2, 3, 4)], compliance, root_1=1.0, root_2=0.8, root_3=0.5, **rest)
    system = pbd.ParticleSystem(particles, iterations=1, elements="iterative")
    system.step()
    moved = particles.masses()[:, None] * (system.positions() - x)
    assert np.abs(moved).max() > 1e-2
    assert np.abs(moved.sum(axis=0)).max() < 1e-13
    assert np.abs(np.cross(x, moved).sum(axis=0)).max() < 1e-13


def tip_of_a_cantilever():
    """Fall over reach of a heavy cantilever, and kinds of numbers; run in a process of its own, in 32 bits."""
    particles, rod = rod_along(LEVEL, 20, (0, 0, -10 * BENDING / LENGTH**3 / LINE), clamps="start", stretching=1e4)
    tip = at_rest(particles).positions()[rod.particles[-1]]
    return f"ratio: {-tip[2] / tip[0]}\nkind: {np.dtype(real_type()).name}"


def test_32_bits_bend_as_64():
    # 0.28 % by 20 segments, and the round-off of 1e-7 over the angle of a joint, 0.05.
    found = run_elsewhere(__file__, "tip_of_a_cantilever()", "f32", opt_level=0)
    reach, fall, _ = elastica(0, 10)
    assert found["kind"] == "float32"
    assert float(found["ratio"]) == pytest.approx(1.0028 * fall / reach, rel=2e-3)


def test_a_damped_rod_comes_to_rest():
    # What swings with ω decays by ω² τ/2: after 2 s exp(-ω² τ t/2) is left, with ω = 3.516 √(EI/m L³) = 6.3 rad/s.
    tau, rate = 0.05, (3.5160**2 * BENDING / LINE / LENGTH**4) * 0.05 / 2
    particles, rod = rod_along(LEVEL, 10, clamps="start", damping=tau)
    system = pbd.ParticleSystem(particles, **{**REST, "damping": 0.0, "substeps": 16, "iterations": 4})
    velocities = np.zeros((len(particles), 3))
    velocities[rod.particles, 2] = 1e-3 * np.linspace(0, 1, 11) ** 2
    velocities[particles.rod_segments()[rod.segments, 2], 2] = 1e-3 * np.linspace(0.05, 0.95, 10) ** 2
    system.set_velocities(velocities)
    system.step(60)
    first = system.energy().total
    system.step(60)
    assert np.log(first / system.energy().total) / 2 == pytest.approx(rate, rel=0.1)
