"""Scenes of rods do what theory says, and rods do not pass through themselves or through bars."""

import importlib

import numpy as np
import pytest
import scipy
from scipy.integrate import trapezoid

import pbd
import scenes
from pbd.build import Plant, Rod
from pbd.build.plant import TAPER
from pbd.description.rod_frames import frames_of
from scenes.simulate.run import Run


def rods_of(scene):
    """The rods of a scene."""
    return [each for each in scene.particles.built if isinstance(each, Rod)]


def twist(particles, rod, positions):
    """The turns by which a rod is twisted. Args: particles; rod; positions (particles, 3) [m]."""
    frames = frames_of(positions, particles.rod_segments()[rod.segments])
    after = np.roll(np.arange(len(rod.segments)), -1)
    joints = (frames.inv() * frames[after]).as_quat(canonical=True)
    joints = joints if len(rod.segments) == len(rod.particles) else joints[:-1]
    return 2 * np.arctan2(joints[:, 2], joints[:, 3]).sum() / (2 * np.pi)


def writhe(points):
    """The writhe of a closed polygon (n, 3), by the solid angles in which two edges are seen to cross.

    Klenin, Langowski, Computation of Writhe in Modeling of Supercoiled DNA (2000), method 1a,
    https://doi.org/10.1002/1097-0282(20001015)54:5<307::AID-BIP20>3.0.CO;2-Y.
    """
    total, ends = 0.0, np.roll(points, -1, axis=0)
    for i in range(2, len(points)):
        j = np.arange(i - 1) if i < len(points) - 1 else np.arange(1, i - 1)
        a, b, c, d = points[i], ends[i], points[j], ends[j]
        faces = [np.cross(c - a, d - a), np.cross(d - a, d - b), np.cross(d - b, c - b), np.cross(c - b, c - a)]
        faces = [each / np.maximum(np.linalg.norm(each, axis=1), 1e-30)[:, None] for each in faces]
        cosines = [(first * second).sum(axis=1) for first, second in zip(faces, faces[1:] + faces[:1])]
        angles = np.arcsin(np.clip(cosines, -1, 1)).sum(axis=0)
        total += (angles * np.sign((np.cross(d - c, b - a) * (c - a)).sum(axis=1))).sum()
    return total / (2 * np.pi)


def least_distance(points, radius, closed=False):
    """The least distance of parts of a rod that are not near along it, in diameters. Args: points: nodes (n, 3) [m]."""
    ends = np.roll(points, -1, axis=0) if closed else points[1:]
    starts, part = points[: len(ends), None], np.linspace(0, 1, 8, endpoint=False)[:, None]
    fine = (starts + part * (ends[:, None] - starts)).reshape(-1, 3)
    step = np.linalg.norm(ends[0] - points[0]) / 8
    apart = np.abs(np.subtract.outer(np.arange(len(fine)), np.arange(len(fine))))
    apart = np.minimum(apart, len(fine) - apart) if closed else apart
    distance = np.linalg.norm(fine[:, None] - fine, axis=2)
    return distance[apart * step > 6.5 * radius].min() / (2 * radius)


def test_a_coil_spring_oscillates_at_its_rate():
    # k = G d⁴/(8 D³ n), and ω² = k/m with a third of the spring's mass. The other masses are below the spring.
    module = importlib.import_module("scenes.catalogue.coil_spring")
    scene = scenes.load("coil_spring", per_turn=24)
    (wire,) = rods_of(scene)
    frames = list(Run(scene, duration=5.0, fps=60).frames())
    heights = np.array([frame.positions[wire.particles[-1], 2] for frame in frames])
    middle = (heights.max() + heights.min()) / 2
    up = np.flatnonzero((heights[:-1] < middle) & (heights[1:] >= middle))
    crossings = (up + (middle - heights[up]) / (heights[up + 1] - heights[up])) / 60
    period = np.diff(crossings).mean()
    line_density = module.DENSITY * np.pi * module.WIRE**2
    mass = 2.0 + line_density * (module.COIL + module.HOOKS[1]) + line_density * 8 * 2 * np.pi * module.COIL / 3
    shear = module.YOUNG / (2 * (1 + module.POISSON))
    rate = shear * (2 * module.WIRE) ** 4 / (8 * (2 * module.COIL) ** 3 * 8)
    assert mass * (2 * np.pi / period) ** 2 == pytest.approx(rate, rel=0.03)


@pytest.mark.slow
def test_a_ring_beyond_michells_threshold_winds_and_keeps_its_linking_number():
    # Twist and writhe of a closed rod have a constant sum (Călugăreanu), unless it passes through itself: then 2 less.
    scene = scenes.load("michell")
    plane, wound = rods_of(scene)
    for frame in Run(scene, fps=10).frames():
        for rod, turns in ((plane, 2), (wound, 3)):
            points = frame.positions[rod.particles]
            assert twist(scene.particles, rod, frame.positions) + writhe(points) == pytest.approx(turns, abs=1e-6)
            assert least_distance(points, 0.014, closed=True) > 0.98
    heights = [np.ptp(frame.positions[rod.particles, 2]) for rod in (plane, wound)]
    assert heights[0] < 2e-3  # as at the start
    assert writhe(frame.positions[wound.particles]) > 1.5
    assert heights[1] > 0.02


@pytest.mark.slow
def test_a_cord_winds_about_itself_and_does_not_pass_through():
    scene = scenes.load("plectoneme")
    (cord,) = rods_of(scene)
    twists = []
    for frame in Run(scene, fps=10).frames():
        twists.append(abs(twist(scene.particles, cord, frame.positions)))
        assert least_distance(frame.positions[cord.particles], 0.008) > 0.97
    assert max(twists) > 5.5  # of six turns
    assert twists[-1] < 3.5  # the others are in its windings


@pytest.mark.slow
def test_a_cable_that_is_turned_leaves_its_plane():
    scene = scenes.load("cable")
    (cable,) = rods_of(scene)
    aside = []
    for frame in Run(scene, fps=10).frames():
        points = frame.positions[cable.particles]
        aside.append(np.abs(points[:, 1]).max())
        assert least_distance(points, 0.018) > 0.97
    assert aside[0] == 0.0
    assert max(aside) > 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("yields", "least", "most"), [(0.0, -0.07, 0.07), (3.0, 0.2, 0.95)])
def test_a_wire_bends_about_a_bar_and_springs_back(yields, least, most):
    """By how much its end is lower at last, as a part of the most: its weight alone, 3 cm of 43, if it is elastic."""
    scene = scenes.load("wire_bending", yield_curvature=yields)
    (wire,) = rods_of(scene)
    falls = []
    for frame in Run(scene, fps=30).frames():
        x, _, z = frame.positions[wire.particles].T
        assert np.hypot(x, z - 0.55).min() > 0.07 + 0.012 - 1e-5  # the bar and the wire have these radii
        falls.append(z[0] - z[-1])
    assert max(falls) > 0.3
    assert least < falls[-1] / max(falls) < most


TREE = importlib.import_module("scenes.catalogue.tree_in_wind")
TRUNK = 24  # segments of the trunk


def tree_of(scene):
    """The Plant of a scene, and its rows of segments."""
    (tree,) = (each for each in scene.particles.built if isinstance(each, Plant))
    return tree, scene.particles.rod_segments()[tree.rods]


def frame_modes(scene, count):
    """The lowest modes of a tree of Euler and Bernoulli's beams, clamped at its foot, without weight.

    Beams have 12 degrees of freedom each (Przemieniecki, Theory of Matrix Structural Analysis, 1968, section 5.6).
    Masses of wood and leaves are at nodes.

    Returns: ω (count,) [1/s]; modes of all particles (particles, 3, count), of masses one; masses of nodes.
    """
    particles, (tree, segments) = scene.particles, tree_of(scene)
    x, size = particles.positions(), 6 * (segments[:, :2].max() + 1)
    rows, columns, values, masses = [], [], [], np.zeros(size // 6)
    for (i, j), (a, b) in zip(segments[:, :2], tree.radii):
        length, mean = np.linalg.norm(x[j] - x[i]), a * a + a * b + b * b
        bending = TREE.YOUNG * np.pi / 4 * 3 * (a * b) ** 3 / mean
        masses[[i, j]] += TREE.DENSITY * np.pi * mean / 6 * length
        local = np.zeros((12, 12))
        for pair, stiffness in (((0, 6), TREE.YOUNG * np.pi * a * b), ((3, 9), bending / 1.3)):
            local[np.ix_(pair, pair)] += stiffness / length * np.array([(1, -1), (-1, 1)])
        for place, sign in (((1, 5, 7, 11), 1), ((2, 4, 8, 10), -1)):
            s, q = sign * 6 * length, length**2
            of_bend = [(12, s, -12, s), (s, 4 * q, -s, 2 * q), (-12, -s, 12, -s), (s, 2 * q, -s, 4 * q)]
            local[np.ix_(place, place)] += bending / length**3 * np.array(of_bend)
        axes = np.linalg.qr(np.column_stack([x[j] - x[i], np.eye(3)]))[0]
        axes[:, 0] *= np.sign(axes[:, 0] @ (x[j] - x[i]))
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        turn = np.kron(np.eye(4), axes)
        freedoms = np.concatenate([6 * i + np.arange(6), 6 * j + np.arange(6)])
        rows.append(np.repeat(freedoms, 12))
        columns.append(np.tile(freedoms, 12))
        values.append((turn @ local @ turn.T).ravel())
    np.add.at(masses, tree.triangles[: len(tree.triangles) // 2, 0], 0.2 * 0.3 * TREE.LEAF**2)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    moving = np.setdiff1d(np.unique(entries[1][0]), 6 * segments[0, 0] + np.arange(6))
    stiffness = scipy.sparse.csc_matrix(entries, (size, size))[moving][:, moving]
    weights = np.zeros((size // 6, 6))
    weights[:, :3] = masses[:, None]
    inertia = scipy.sparse.diags(weights.ravel()[moving]).tocsc()
    squares, found = scipy.sparse.linalg.eigsh(stiffness, count, inertia, sigma=0.0)
    modes = np.zeros((size, count))
    modes[moving] = found
    return np.sqrt(squares), modes.reshape(-1, 6, count)[:, :3], masses


@pytest.mark.slow
def test_a_tree_swings_with_the_lowest_frequencies_of_a_frame_of_beams():
    """Once the wind has ended. The part of a mode in a motion is φᵀ M u, whatever else moves. Without weight."""
    scene = scenes.load("tree_in_wind")
    scene.particles.gravity = (0.0, 0.0, 0.0)
    frequencies, modes, masses = frame_modes(scene, 2)
    start, parts = scene.particles.positions()[: len(masses)], []
    for frame in Run(scene, duration=16.0, fps=60, substeps=8).frames():
        parts.append(np.einsum("n,nk,nkm->m", masses, frame.positions[: len(masses)] - start, modes))
    parts = np.array(parts)[int(60 * TREE.CALM) + 60 :]
    for part, expected in zip(parts.T, frequencies):
        up = np.flatnonzero((part[:-1] < 0) & (part[1:] >= 0))
        crossings = (up - part[up] / (part[up + 1] - part[up])) / 60
        assert 2 * np.pi / np.diff(crossings).mean() == pytest.approx(expected, rel=0.015)


@pytest.mark.slow
def test_a_load_on_one_side_of_the_tree_twists_its_trunk_by_its_torque():
    """T ∫ ds/GJ as far as the middle of the last segment below the first branch, T of all forces about the trunk."""
    scene = scenes.load("tree_in_wind", speed=0.0)
    particles, (tree, segments) = scene.particles, tree_of(scene)
    particles.gravity = (0.0, 0.0, 0.0)
    start, count = particles.positions(), len(segments)
    tips = tree.sticks[count:, 1]
    forces = np.zeros_like(start)
    forces[tips[start[tips, 0] > 0.3], 1] = 0.05  # [N] for each leaf
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=4, damping=0.05)
    system.set_forces(forces)
    system.step(900)
    x = system.positions()
    below = TRUNK // 3 - 1
    before, after = (frames_of(place, segments[[below]]) for place in (start, x))
    axis = after.as_matrix()[0, :, 2]
    turned = (after * before.inv()).as_rotvec()[0] @ axis
    torque = np.cross(x - x[segments[below, 0]], forces).sum(axis=0) @ axis
    heights = np.linspace(0, (below + 0.5) * TREE.HEIGHT / TRUNK, 1001)
    radii = TREE.RADIUS * (1 - (1 - TAPER) * heights / TREE.HEIGHT)
    expected = torque * trapezoid(1.3 / (TREE.YOUNG * np.pi * radii**4 / 4), heights)
    assert turned == pytest.approx(expected, rel=0.01)
    assert turned > 1e-3


@pytest.mark.slow
def test_a_tree_comes_to_rest_upright_when_the_wind_has_ended():
    """It was bent by more than 0.3 m, twisted, and is where it is without wind, with the scene's settings."""
    bent, last = [], []
    for speed in (None, 0.0):
        scene = scenes.load("tree_in_wind", **({} if speed is None else {"speed": speed}))
        _, segments = tree_of(scene)
        for frame in Run(scene, duration=30.0, fps=10).frames():
            bent.append(frame.positions[segments[TRUNK - 1, 1], 0])
        last.append(frame.positions[segments[:, 1]])
        assert np.abs(frame.velocities[segments[:, 1]]).max() < 5e-3
    assert max(bent) > 0.3
    assert np.abs(last[0] - last[1]).max() < 5e-3
    assert np.linalg.norm(last[0][TRUNK - 1, :2]) < 0.15


@pytest.mark.slow
def test_substeps_damp_a_plant_in_the_wind():
    # Implicit Euler takes energy in proportion to the substep, so long ones damp the first gust.
    moved = {}
    for substeps in (1, 4, 16):
        scene, farthest = scenes.load("plant"), 0.0
        system = pbd.ParticleSystem(scene.particles, **{**scene.settings["verlet"], "substeps": substeps})
        for _ in range(26):
            system.step(5)
            farthest = max(farthest, np.linalg.norm(system.positions() - scene.particles.positions(), axis=1).max())
        moved[substeps] = farthest
    assert moved == pytest.approx({1: 0.31, 4: 0.43, 16: 0.46}, abs=0.01)
