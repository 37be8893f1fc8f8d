"""Meshes whose points are given over time: they carry, push and rub surfaces, and nothing passes through them."""

import math
import warnings

import numpy as np
import pytest
import trimesh
from sheets import add_line, add_sheet

import pbd
from pbd import build

g = 9.81
SQUARE = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
HALVES = [(0, 1, 2), (0, 2, 3)]
BALL = trimesh.creation.icosphere(3, 0.3)


def system_of(particles, **options):
    return pbd.ParticleSystem(particles, **{"dt": 0.01, "substeps": 4, "iterations": 10, **options})


def plate_that_slides(speed):
    """A level plate that moves along x. Args: speed [m/s]."""
    return pbd.DeformingMesh(HALVES, lambda t: SQUARE + (speed * t, 0, 0), thickness=0.01)


def test_a_plate_carries_a_sheet_by_friction_alone():
    # From rest on a plate at speed v, friction accelerates the sheet by μ g until it moves along: x = v t - v²/(2 μ g).
    speed, seconds = 0.5, 0.8
    found = {}
    for friction in (0.0, 0.3):
        particles = pbd.Particles()
        particles.add_collider(plate_that_slides(speed), friction=friction)
        sheet, _ = add_sheet(particles, 5, 0.2, (0, 0, 0.01), thickness=0.01, friction=friction)
        system = system_of(particles, substeps=8)
        system.step(round(seconds / 0.01))
        assert system.positions()[sheet, 2].min() > 0.01 - 1e-6
        assert system.crossings() == 0
        found[friction] = system.positions()[sheet, 0].mean()
    # The diagonals of plate and sheet are parallel. Where they meet, gravity has pressed the sheet g h² too deep, and
    # the edges part aside by the root of that: √(2 d g h²) = 0.6 mm at most.
    assert found[0.0] == pytest.approx(0.0, abs=math.sqrt(2 * 0.01 * g) * system.clock.h)
    # The sheet begins to move along at the end of a substep, so by h too late at most: that is v h.
    assert found[0.3] == pytest.approx(speed * seconds - speed**2 / (2 * 0.3 * g), abs=speed * system.clock.h)


def test_frames_are_joined_by_straight_motion():
    # Between two frames a point is on the line between them, and after the last it stays.
    frames = np.stack([SQUARE, SQUARE + (0, 0, 0.3), SQUARE + (0.1, 0, 0.3)])
    mesh = pbd.DeformingMesh(HALVES, frames, fps=10)
    for time, offset in ((0.0, (0, 0, 0)), (0.05, (0, 0, 0.15)), (0.1, (0, 0, 0.3)), (0.15, (0.05, 0, 0.3))):
        assert mesh(time) == pytest.approx(SQUARE + offset, abs=1e-15)
    assert mesh(7.0) == pytest.approx(frames[2], abs=1e-15)


def test_frames_and_a_function_are_the_same():
    # A plate that rises at one speed throws a rope up and lets it fall: it is the same motion, given in two ways.
    def run(positions):
        particles = pbd.Particles()
        particles.add_collider(pbd.DeformingMesh(HALVES, positions, fps=50, thickness=0.01), friction=0.5)
        rope = add_line(particles, (-0.2, 0, 0.02), (0.2, 0.05, 0.02), 9, radius=0.005, friction=0.5)
        system = system_of(particles)
        system.step(50)
        return system.positions()[rope]

    times = np.arange(51) / 50
    given = run(np.stack([SQUARE + (0, 0, 0.4 * t) for t in times]))
    assert given == pytest.approx(run(lambda t: SQUARE + (0, 0, 0.4 * t)), abs=1e-9)
    assert given[:, 2].min() > 0.4 * 0.5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cloth_on_a_ball_that_breathes_and_wanders_is_not_crossed(seed):
    random = np.random.default_rng(seed)
    wave, turn = random.normal(size=(2, 3))
    wave /= np.linalg.norm(wave)
    speed = random.uniform(0.5, 1.0)

    def positions(t):
        swell = 1.0 + 0.15 * np.sin(6.0 * t) * np.sin(BALL.vertices @ wave * 8.0 + turn[0])
        return swell[:, None] * BALL.vertices + (speed * 0.1 * np.sin(5 * t), 0.1 * np.sin(speed * 4 * t), 0)

    particles = pbd.Particles()
    particles.add_collider(pbd.DeformingMesh(BALL.faces, positions, thickness=0.01), friction=0.4)
    cloth = build.cloth(
        particles, (-0.5, -0.5, 0.45), (1, 0, 0), (0, 1, 0), (25, 25), density=0.2, thickness=0.01, friction=0.4,
        contacts="surface",
    )  # fmt: skip
    system = system_of(particles, dt=1 / 60, substeps=10, iterations=4, solve="iterative")
    for _ in range(12):
        system.step(8)
        assert system.crossings() == 0
    assert system.positions()[cloth.particles].mean(axis=0)[2] > -1.0  # it is still on the ball
    assert np.isfinite(system.positions()).all()


def test_bad_meshes_are_refused():
    frames = np.stack([SQUARE, SQUARE])
    wrong = frames.copy()
    wrong[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match=r"point 2 of a deforming mesh is .* in frame 1: expected numbers"):
        pbd.DeformingMesh(HALVES, wrong)
    with pytest.raises(ValueError, match=r"shape \(4, 3\): expected a function of time, or frames"):
        pbd.DeformingMesh(HALVES, SQUARE)
    with pytest.raises(IndexError, match="triangles of a deforming mesh holds 7: there are 4 points"):
        pbd.DeformingMesh([(0, 1, 7)], frames)
    with pytest.raises(ValueError, match=r"points .* of a deforming mesh coincide"):
        pbd.DeformingMesh(HALVES, frames[:, [0, 0, 2, 3]])
    inside_out = np.stack([BALL.vertices, -BALL.vertices])
    with pytest.raises(ValueError, match=r"deforming mesh is inside out at 0\.1 s"):
        pbd.DeformingMesh(BALL.faces, inside_out, fps=10)
    particles = pbd.Particles()
    particles.add_collider(pbd.DeformingMesh(BALL.faces, lambda t: BALL.vertices * (1 - 20 * t)))
    add_sheet(particles, middle=(0, 0, 1), thickness=0.01)
    with pytest.raises(ValueError, match="deforming mesh is inside out"):
        system_of(particles).step(10)
    with pytest.raises(ValueError, match="a DeformingMesh with motion or restitution"):
        pbd.Particles().add_collider(plate_that_slides(0.0), restitution=0.5)
    with pytest.raises(ValueError, match="with an edge of"):
        pbd.Particles().add_collider(pbd.DeformingMesh(BALL.faces, lambda t: BALL.vertices, thickness=0.5))


def test_what_is_on_no_surface_is_told_that_it_passes_through():
    particles = pbd.Particles()
    particles.add_collider(plate_that_slides(0.0))
    particles.add_particle((0, 0, 1), mass=1.0, radius=0.1)
    with pytest.warns(UserWarning, match="particle 4 is on no surface or segment"):
        system_of(particles)
    particles = pbd.Particles()
    particles.add_collider(plate_that_slides(0.0))
    add_sheet(particles, middle=(0, 0, 1), thickness=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system_of(particles)


def test_a_mesh_that_crosses_itself_is_not_counted():
    # Two plates of one mesh cross, as a character's arm and chest may. Nothing could move them apart.
    points = np.concatenate([SQUARE, SQUARE[:, [0, 2, 1]] * 0.5 + (0.1, 0.1, 0.1)])
    triangles = [*HALVES, *((a + 4, b + 4, c + 4) for a, b, c in HALVES)]
    particles = pbd.Particles()
    particles.add_collider(pbd.DeformingMesh(triangles, lambda t: points))
    add_sheet(particles, middle=(0, 0, 2), thickness=0.01)
    assert system_of(particles).crossings() == 0
    assert math.isfinite(particles.surfaces[0].radius)
