"""Rods: they hang, twist, buckle, swing and coil by the closed forms of the elastica, at 1/60 s and any iterations."""

import time

import numpy as np
import pytest
from marks import slow
from rods import (
    BENDING,
    LENGTH,
    LINE,
    REST,
    TWISTING,
    at_rest,
    elastica,
    free_masses,
    rod_along,
    turned,
    twists,
    unequal,
)
from scipy.spatial.transform import Rotation

import pbd

LEVEL = [(0, 0, 0), (LENGTH, 0, 0)]
RUBBER = {"radius": 0.004, "density": 1100.0, "young": 3e6, "bending": None, "twisting": None, "stretching": None}
STEEL = {**RUBBER, "radius": 1e-3, "density": 7800.0, "young": 2e11}
SILK = {**RUBBER, "radius": 1e-5, "density": 1300.0, "young": 1e10}


# At rest ------------------------------------------------------------------------------------------------------------


def heavy_cantilever(gamma, points, segments=None, **options):
    """The tip of a cantilever whose weight is Γ EI/L³, at rest (3,) [m]."""
    particles, rod = rod_along(points, segments, (0, 0, -gamma * BENDING / LENGTH**3 / LINE), clamps="start")
    return at_rest(particles, **options).positions()[rod.particles[-1]]


@pytest.mark.parametrize("gamma", [0.1, 1, 10, 100, 1000])
def test_a_heavy_cantilever_hangs_as_an_elastica(gamma):
    # Errors are of second order in a segment over the length in which the rod turns down, L/√Γ for a large Γ: 32 mm at
    # Γ = 1000, where the reach is 46 mm. Segments of 25 mm have 3.4 % of the reach, and 0.3 % of the fall there.
    reach, fall, _ = elastica(0, gamma)
    tips = {n: heavy_cantilever(gamma, LEVEL, n) for n in (20, 40, 80)}
    errors = {n: -tip[2] / fall - 1 for n, tip in tips.items()}
    assert abs(errors[40]) < 0.01
    assert 3 < errors[20] / errors[40] < 5
    assert 3 < errors[40] / errors[80] < 5
    enough = 40 if gamma < 1000 else 80
    assert -tips[enough][2] / tips[enough][0] == pytest.approx(fall / reach, rel=0.01)


@pytest.mark.parametrize(("substeps", "iterations"), [(1, 1), (1, 5), (4, 2)])
def test_rest_does_not_depend_on_iterations(substeps, iterations):
    # It is where forces balance. Motion left after 15 s is exp(-1.5 · 15) of 1 m.
    tip = heavy_cantilever(10, LEVEL, 20, substeps=substeps, iterations=iterations)
    np.testing.assert_allclose(tip, heavy_cantilever(10, LEVEL, 20), atol=1e-8)


@pytest.mark.parametrize("load", [0.5, 1, 2, 5])
def test_a_load_at_the_tip_bends_as_an_elastica(load):
    # a = P L²/EI. At the tip the curvature is zero, so the last segment has the angle of the tip to second order.
    particles, rod = rod_along(LEVEL, 40, clamps="start")
    system = pbd.ParticleSystem(particles, **REST)
    forces = np.zeros((len(particles), 3))
    forces[rod.particles[-1], 2] = -load * BENDING / LENGTH**2
    system.set_forces(forces)
    system.step(900)
    x = system.positions()[rod.particles]
    along = x[-1] - x[-2]
    _, fall, angle = elastica(load, 0)
    assert -x[-1, 2] == pytest.approx(fall, rel=0.01)
    assert np.arctan2(-along[2], along[0]) == pytest.approx(angle, rel=0.01)


@pytest.mark.parametrize("segments", [10, 40])
def test_a_torque_twists_by_its_length_over_the_stiffness(segments):
    # M l/GJ, l from the clamp to the middle of the last segment, where the couple acts. It turns with the segment.
    particles, rod = rod_along(LEVEL, segments, clamps="start")
    system, moment = pbd.ParticleSystem(particles, **REST), 1.5 * TWISTING
    a, b, side = particles.rod_segments()[rod.segments[-1]]
    for _ in range(120):
        x = system.positions()
        arm, axis = x[side] - (x[a] + x[b]) / 2, (x[b] - x[a]) / np.linalg.norm(x[b] - x[a])
        forces = np.zeros_like(x)
        forces[side] = moment * np.cross(axis, arm) / arm.dot(arm)
        forces[a] = forces[b] = -forces[side] / 2
        system.set_forces(forces)
        system.step(5)
    twist = twists(system, [rod.clamps["start"], *rod.segments]).sum()
    assert twist == pytest.approx(1.5 * (LENGTH - LENGTH / segments / 2), rel=1e-3)


@pytest.mark.parametrize("points", ["even", "unequal"])
def test_a_turned_end_stores_the_energy_of_the_twist(points):
    # GJ θ²/2L exactly, because the twist is the same everywhere, whatever the segments.
    points = np.linspace(*LEVEL, 41) if points == "even" else unequal(40, np.random.default_rng(0))
    particles, rod = rod_along(points, clamps=("start", "end"))
    particles.turn(rod.clamps["end"], 2.0)
    system = at_rest(particles, 300)
    assert system.energy().potential == pytest.approx(TWISTING * 2.0**2 / (2 * LENGTH), rel=1e-6)


@pytest.mark.parametrize("stretch", [0.05, 1.0])
def test_a_stretched_rod_keeps_its_twist(stretch):
    # Two sticks would pull a side particle onto the axis at a strain of 2 (10 k/l)² = 100 r²/l², here 4e-2.
    particles, rod = rod_along(LEVEL, 20, clamps=("start", "end"), twist=1.0, stretching=10.0)
    end = rod.particles[-1]
    held = np.array([end, *particles.rod_segments()[rod.clamps["end"]][1:]])
    places = particles.positions()[held]
    particles.add_path(held, lambda time: places + (stretch * min(time, 1.0), 0, 0))
    system = at_rest(particles, steps=240)
    found = twists(system, [rod.clamps["start"], *rod.segments, rod.clamps["end"]])
    # Twist is even, but for round-off: each joint has 1/20 rad, those at clamps, which have half a length, half of it.
    expected = np.full(21, 1 / 20)
    expected[[0, -1]] = 1 / 40
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("gamma", [1, 10])
def test_unequal_segments_hang_as_equal_ones(gamma, seed):
    # Lengths at random up to 10:1.
    reach, fall, _ = elastica(0, gamma)
    tip = heavy_cantilever(gamma, unequal(40, np.random.default_rng(seed)))
    assert -tip[2] / tip[0] == pytest.approx(fall / reach, rel=0.02)


@pytest.mark.parametrize(("per_turn", "error"), [(12, 0.03), (24, 0.01)])
def test_a_coil_spring_has_the_rate_of_its_wire(per_turn, error):
    # G d⁴/(8 D³ n) for a small pitch, with GJ = G π d⁴/32; both ends are held, so the energy is half the rate times the
    # square of the length by which it is pulled. A polygon of m sides has about 3.7/m² more: 12 sides a turn are enough
    # for 3 %.
    diameter, pitch, turns, pulled = 0.1, 0.005, 3, 0.003
    angle = np.arange(per_turn * turns + 1) * 2 * np.pi / per_turn
    points = np.stack([diameter / 2 * np.cos(angle), diameter / 2 * np.sin(angle), pitch * angle / 2 / np.pi], axis=1)
    particles, rod = rod_along(points, natural="given", clamps=("start", "end"))
    x = particles.positions().copy()
    x[particles.rod_segments()[rod.clamps["end"]], 2] += pulled
    system = at_rest(particles.with_positions(x), 300)
    rate = TWISTING * 32 / np.pi / (8 * diameter**3 * turns)
    assert 2 * system.energy().potential / pulled**2 == pytest.approx(rate, rel=error)


def helix_of(points):
    """Radius and pitch of points on a helix at equal distances [m]."""
    steps = np.diff(points, axis=0)
    basis = np.linalg.svd(np.diff(steps, axis=0))[2]  # the last of it is along the axis
    across = points @ basis[:2].T
    *centre, rest = np.linalg.lstsq(np.c_[2 * across, np.ones(len(across))], (across**2).sum(axis=1), rcond=None)[0]
    a, b = across[:2] - centre
    turn = np.arccos(a.dot(b) / np.linalg.norm(a) / np.linalg.norm(b))
    return np.sqrt(rest + np.dot(centre, centre)), abs(steps[0] @ basis[2]) * 2 * np.pi / turn


@pytest.mark.parametrize(("curvature", "twist"), [(2 * np.pi, 0.0), (12.0, 5.0), (5.0, 12.0)])
def test_a_straight_rod_with_natural_curvature_coils_up(curvature, twist):
    # A circle of radius 1/κ, which closes for κ L = 2π; with twist a helix of radius κ/u² and pitch 2π τ/u², u² = κ² +
    # τ². Nodes lie on it with a radius larger by (u l)²/24, and the pitch is exact.
    particles, rod = rod_along(LEVEL, 40, natural=((curvature, 0.0), twist))
    system, u = at_rest(particles), np.hypot(curvature, twist)
    x = system.positions()[rod.particles]
    radius, pitch = helix_of(x)
    assert radius / (curvature / u**2) == pytest.approx(1 + (u * LENGTH / 40) ** 2 / 24, rel=1e-4)
    assert pitch == pytest.approx(2 * np.pi * twist / u**2, rel=1e-4, abs=1e-6)
    if not twist:
        np.testing.assert_allclose(x[-1], x[0], atol=1e-6)
    assert system.energy().potential < 1e-10 * BENDING * curvature**2 * LENGTH / 2


@pytest.mark.parametrize("end", ["start", "end"])
def test_a_clamped_rod_bends_by_its_natural_curvature_from_the_clamp(end):
    # Segment j stands at an angle (j + 1/2) κ l: half of the first segment bends, and nothing is stored.
    segments, curvature = 8, 1.0
    particles, rod = rod_along(LEVEL, segments, natural=((0.0, curvature), 0.0), clamps=end)
    system = at_rest(particles, substeps=4, iterations=4)
    angles = (np.arange(segments) + 0.5) * curvature * LENGTH / segments
    reach, aside = np.cos(angles).mean() * LENGTH, np.sin(angles).mean() * LENGTH
    x = system.positions()[rod.particles][:: 1 if end == "start" else -1]
    tip = x[-1] - x[0]
    assert abs(tip[0]) == pytest.approx(reach, abs=1e-6)
    assert np.linalg.norm(tip[1:]) == pytest.approx(aside, abs=1e-6)
    assert system.energy().potential < 1e-10


# Stability ----------------------------------------------------------------------------------------------------------

PERTURBATION = 1e-6  # [m]
RUN = {"dt": 1 / 60, "substeps": 4, "iterations": 4}


def column(load):
    """A column under its own weight. Returns: a function that gives how far the system leans, and its runs."""
    particles, rod = rod_along([(0, 0, 0), (0, 0, LENGTH)], 20, (0, 0, -7.8373 * load * BENDING / LINE), clamps="start")
    particles.positions()[rod.particles[1:], 0] += PERTURBATION * np.linspace(0, 1, 20) ** 2
    system = pbd.ParticleSystem(particles, **RUN)
    return system, lambda: np.abs(system.positions()[rod.particles, :2]).max()


def strip_on_edge(load):
    """A strip on edge with a load at its tip, stiff in the plane of the load."""
    particles, rod = rod_along(LEVEL, 20, clamps="start", bending=(1000 * BENDING, BENDING))
    particles.positions()[rod.particles[1:], 1] += PERTURBATION * np.linspace(0, 1, 20) ** 2
    system, forces = pbd.ParticleSystem(particles, **RUN), np.zeros((len(particles), 3))
    forces[rod.particles[-1], 2] = -4.0126 * load * np.sqrt(BENDING * TWISTING) / LENGTH**2
    system.set_forces(forces)
    return system, lambda: np.abs(system.positions()[rod.particles, 1]).max()


def twisted_ring(load):
    """A straight rod that was bent to a ring and twisted, with nothing held: how far it is from a plane."""
    angle, radius = np.arange(40) * 2 * np.pi / 40, LENGTH / (2 * np.pi)
    points = [radius * np.cos(angle), radius * np.sin(angle), PERTURBATION * np.cos(2 * angle)]
    twist = 2 * np.pi * np.sqrt(3) * BENDING / TWISTING * load
    particles, rod = rod_along(np.stack(points, axis=1), closed=True, twist=twist)
    system = pbd.ParticleSystem(particles, **RUN)

    def away():
        x = system.positions()[rod.particles]
        return np.linalg.svd(x - x.mean(axis=0))[1][2] / np.sqrt(len(x))

    return system, away


# Zajac, Stability of two planar loop elasticas (1962), https://doi.org/10.1115/1.3636505, for the ring. Below the
# threshold the energy of the perturbation bounds it: 3 % below, stiffness against it is 1 - 0.97² or more of that
# without load, so it is at most 4.1 times as large, and the parabola that was given has less than twice the energy of
# the softest shape. Above it grows until it is as large as the rod.
@pytest.mark.parametrize("case", [column, strip_on_edge, twisted_ring])
def test_rods_buckle_at_the_threshold(case):
    system, aside = case(0.97)
    stable = []
    for _ in range(100):
        system.step(6)
        stable.append(aside())
    assert max(stable) < 10 * PERTURBATION
    system, aside = case(1.03)
    buckled = []
    for _ in range(100):
        system.step(6)
        buckled.append(aside())
    assert max(buckled) > 1e4 * PERTURBATION


# Motion -------------------------------------------------------------------------------------------------------------


def frequency(times, values, near):
    """The frequency of the largest peak in a spectrum within 10 % [rad/s]. Args: near: where to look."""
    windowed = np.hanning(len(times)) * np.asarray(values)

    def peak(found):
        return found[np.argmax(np.abs(windowed @ np.exp(-1j * np.outer(times, found))))]

    coarse = peak(np.linspace(0.9 * near, 1.1 * near, 201))
    return peak(np.linspace(coarse - 0.002 * near, coarse + 0.002 * near, 401))


def modes_of_a_cantilever(along):
    """Its first two shapes (2, n). Args: along: places [1]."""
    shapes = []
    for k in (1.8751041, 4.6940911):
        ratio = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))
        shapes.append(np.cosh(k * along) - np.cos(k * along) - ratio * (np.sinh(k * along) - np.sin(k * along)))
    return np.array(shapes) / 2


@pytest.mark.parametrize(("points", "error"), [("even", 0.01), slow("unequal", 0.02)])
def test_a_cantilever_swings_with_its_frequencies(points, error):
    # ω = 3.5160 and 22.0345 √(EI/(m L³)), of amplitudes so small that they do not mix, in 16 substeps.
    points = np.linspace(*LEVEL, 41) if points == "even" else unequal(40, np.random.default_rng(1))
    particles, rod = rod_along(points, clamps="start")
    shapes, x = modes_of_a_cantilever(points[:, 0] / LENGTH), particles.positions()
    lifted = 1e-3 * shapes[0] + 2e-4 * shapes[1]
    x[rod.particles, 2] += lifted
    x[particles.rod_segments()[rod.segments, 2], 2] += (lifted[1:] + lifted[:-1]) / 2
    system, found = pbd.ParticleSystem(particles, dt=1 / 60, substeps=16, iterations=4, direction="start"), []
    weights = shapes * free_masses(particles)[rod.particles]
    for _ in range(480):
        found.append(weights @ system.positions()[rod.particles, 2])
        system.step()
    for k, factor in enumerate((3.5160, 22.0345)):
        expected = factor * np.sqrt(BENDING / LINE) / LENGTH**2
        assert frequency(np.arange(480) / 60, np.array(found)[:, k], expected) == pytest.approx(expected, rel=error)


@pytest.mark.parametrize("direction", ["current", "start"])
def test_a_torsion_pendulum_swings_with_its_frequency(direction):
    # ω = √(GJ/(l I)), l to the middle of the segment that has the inertia I. The rod's own is 3e-6 of that.
    particles, rod = rod_along([(0, 0, 0), (0, 0, -LENGTH)], 20, clamps="start")
    particles.pin(rod.particles[-2:])  # bearings
    side, omega = particles.rod_segments()[rod.segments[-1], 2], 2 * np.pi
    x = particles.positions()
    arm = np.append(x[side, :2], 0)
    particles.masses()[side] = TWISTING / (LENGTH - LENGTH / 40) / omega**2 / arm.dot(arm)
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, iterations=4, direction=direction)
    velocities, angles = np.zeros_like(x), []
    velocities[side] = 0.5 * np.cross((0, 0, 1), arm)
    system.set_velocities(velocities)
    for _ in range(600):
        now = np.append(system.positions()[side, :2], 0)
        angles.append(np.arctan2(np.cross(arm, now)[2], arm.dot(now)))
        system.step()
    assert frequency(np.arange(600) / 60, angles, omega) == pytest.approx(omega, rel=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("held", ["pins", "clamps"])
def test_a_swinging_and_twisting_rod_keeps_its_energy(held):
    # For 60 s within 2 % of what its swing and its twist have, m g times the 0.2 m that its centre may fall, and GJ
    # θ²/2L. A pinned rod whirls as its twist comes out.
    points, twist = [(0, 0, 0), (0.8, 0, -0.6)], 2.0
    particles, _ = rod_along(points, 20, (0, 0, -9.81), twist=twist, **{**RUBBER, held: "start"})
    system, energies = pbd.ParticleSystem(particles, dt=1 / 60, substeps=16, iterations=8, direction="start"), []
    for _ in range(180):
        system.step(20)
        energies.append(system.energy().total)
    radius, young = RUBBER["radius"], RUBBER["young"]
    swing = RUBBER["density"] * np.pi * radius**2 * LENGTH * 9.81 * 0.2
    assert np.ptp(energies) < 0.02 * (swing + young / 2.6 * np.pi / 4 * radius**4 * twist**2 / LENGTH)


def momenta(system):
    """Linear and angular momentum of all that move (6,), of Σ m (x - x*)/h at x*."""
    state, masses = system.state(), free_masses(system.particles)
    before = state.previous_position.reshape(-1, 3)
    moved = masses[:, None] * (state.position.reshape(-1, 3) - before) * system.substeps / system.dt
    return np.append(moved.sum(axis=0), np.cross(before, moved).sum(axis=0))


@pytest.mark.parametrize(("iterations", "angular"), [slow(4, 1e-4), slow(8, 1e-6), (16, 1e-9)])
def test_a_free_rod_keeps_its_momenta(iterations, angular):
    # Linear momentum to round-off: 1e-16 m over a substep of 1 ms, in a walk of 4,800. Angular momentum as far as
    # iterations converge, to round-off with 16.
    particles, _ = rod_along(LEVEL, 20, twist=2.0, **RUBBER)
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=16, iterations=iterations, direction="start")
    system.set_velocities(np.cross((0.7, 2.0, 3.0), particles.positions()) + (0.1, 0.2, 0.3))
    system.step()
    before = momenta(system)
    system.step(300)
    changed = np.abs(momenta(system) - before)
    assert changed[:3].max() < 1e-10 * np.abs(before[:3]).max()
    assert changed[3:].max() < angular * np.abs(before[3:]).max()


@pytest.mark.parametrize("direction", ["current", "start"])
def test_results_do_not_depend_on_the_orientation(direction):
    # To round-off, 1e-16 of 1 m in each of 3840 iterations, which the motion makes larger, as it does any difference.
    # They converge: what four iterations leave with "start" turns 1e-16 to 4e-9.
    rotation = Rotation.random(rng=np.random.default_rng(7)).as_matrix()
    particles, _ = rod_along(LEVEL, 20, (0, 0, -9.81), natural=((3.0, 1.0), 2.0), clamps="start", **RUBBER)
    found = []
    for each in (particles, turned(particles, rotation)):
        system = pbd.ParticleSystem(each, dt=1 / 60, substeps=4, iterations=16, direction=direction)
        system.step(60)
        found.append(system.positions())
    np.testing.assert_allclose(found[1] @ rotation, found[0], atol=1e-10 * LENGTH)


@pytest.mark.parametrize(("material", "segments"), [(STEEL, 100), (SILK, 20), slow(STEEL, 20), slow(SILK, 100)])
def test_stiff_and_thin_rods_do_not_diverge(material, segments):
    # One substep of 1/60 s and one iteration. It stretches by far less than 1e-5: w L/EA is 4e-7 for steel.
    particles, rod = rod_along(LEVEL, segments, (0, 0, -9.81), twist=3.0, clamps="start", **material)
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=1)
    for _ in range(20):
        system.step(30)
        lengths = np.linalg.norm(np.diff(system.positions()[rod.particles], axis=0), axis=1)
        assert lengths.sum() == pytest.approx(LENGTH, rel=0.01)
    assert lengths.sum() == pytest.approx(LENGTH, rel=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_rods_at_random_do_not_diverge_and_gain_no_energy():
    # 1 cm to 100 m, 1e3 to 3e11 Pa, with 1 to 8 substeps of 1 to 5 iterations. Energies are at the positions, as in
    # test_energy_never_rises_along_present_directions. What diverges raises an error.
    random = np.random.default_rng(0)
    for _ in range(180):
        length, segments = 10 ** random.uniform(-2, 2), int(random.integers(5, 30))
        material = {**RUBBER, "radius": length * 10 ** random.uniform(-4, -1.7), "young": 10 ** random.uniform(3, 11.5),
                    "density": 10 ** random.uniform(2, 4), "twist": random.uniform(-6, 6)}  # fmt: skip
        particles, _ = rod_along([(0, 0, 0), (length, 0, 0)], segments, (0, 0, -9.81), clamps="start", **material)
        substeps, iterations = int(random.integers(1, 9)), int(random.integers(1, 6))
        system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=substeps, iterations=iterations)
        weights, energies = free_masses(particles) * particles.gravity_scales() * -9.81, []
        for _ in range(12):
            system.step(10)
            energies.append(system.energy().total - weights @ system.velocities()[:, 2] / 60 / substeps / 2)
        assert np.diff(energies).max() < 1e-9 * np.abs(energies).max()


@pytest.mark.parametrize("gravity", [0.0, -9.81])
@pytest.mark.parametrize("material", [STEEL, SILK, RUBBER], ids=["steel", "silk", "rubber"])
@pytest.mark.parametrize("iterations", [1, 2, 4])
def test_energy_never_rises_along_present_directions(iterations, material, gravity):
    # A thread that whips about, whatever the iterations: kinetic energy of (x - x*)/h, and the potential energy at x.
    # `energy` has the weight at the middle of the substep, x - h v/2.
    particles, rod = rod_along(LEVEL, 20, (0, 0, gravity), twist=1.0, clamps="start", **material)
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=iterations)
    velocities, segments = np.zeros((len(particles), 3)), particles.rod_segments()[rod.segments]
    velocities[rod.particles[1:]] = 2.0 * np.random.default_rng(1).normal(size=(20, 3))
    velocities[segments[:, 2]] = velocities[segments[:, :2]].mean(axis=1)
    system.set_velocities(velocities)
    weights, energies = free_masses(particles) * particles.gravity_scales() * gravity, []
    for _ in range(300):
        system.step()
        energies.append(system.energy().total - weights @ system.velocities()[:, 2] / 60 / 2)
    assert np.diff(energies).max() < 1e-9 * np.ptp(energies)


@pytest.mark.slow
def test_cost_is_linear_in_the_segments():
    # CPU time of the same number of iterations and segments, from 10 to 10,000 in one rod. A rod of 10 lies in the
    # processor's fastest memory, which is worth a factor of two.
    seconds = []
    for segments in (10, 100, 1000, 10000):
        particles, _ = rod_along(LEVEL, segments, (0, 0, -9.81), clamps="start", **{**RUBBER, "radius": 1e-3})
        system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, iterations=4)
        system.step()
        taken = []
        for _ in range(4):
            begun = time.process_time()
            system.step(20000 // segments)
            taken.append(time.process_time() - begun)
        seconds.append(min(taken))
    assert max(seconds) < 3 * seconds[0]
    assert max(seconds[1:]) < 2 * min(seconds[1:])
