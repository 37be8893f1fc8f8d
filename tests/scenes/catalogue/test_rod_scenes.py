"""Scenes of rods do what theory says, and rods do not pass through themselves or through bars."""

import importlib

import numpy as np
import pytest

import scenes
from pbd.build import Rod
from pbd.description.rods import frames_of
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
