"""Ropes as segments: around a bar with friction, and a cord in a channel; a sheet that lies folded on itself."""

import warnings

import numpy as np
import pytest
from marks import slow

import pbd
from pbd import build

BAR, ROPE, HANG = 0.1, 0.005, 0.6  # radii of bar and rope, length that hangs on each side [m]


def around_a_bar(turn, segments, radius=BAR + ROPE):
    """A rope that comes up beside a bar along y, goes around it by an angle, and leaves it.

    Args: radius: of the circle on which its particles are [m].

    Returns: particles, the rope's particles, and the direction of its second end.
    """
    angle = np.pi - np.linspace(0, turn, 1201)
    along = 2.3 * ROPE * (np.pi - angle) / (2 * np.pi)  # one turn beside the other
    arc = np.stack([radius * np.cos(angle), along, radius * np.sin(angle)], axis=1)
    end = np.array([np.sin(angle[-1]), 0, -np.cos(angle[-1])])
    particles = pbd.Particles(gravity=(0, 0, 0))
    rope = build.rope(
        particles, [(-radius, 0, -HANG), *arc, arc[-1] + HANG * end], segments, mass=0.5, radius=ROPE, friction=0.3
    )
    return particles, rope.particles, end


ITERATED = {"solve": "iterative", "substeps": 50, "iterations": 40}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turn", "segments", "options"),
    [
        (90, 20, {"solve": "direct"}), (180, 60, {"solve": "direct"}), (540, 60, {"solve": "direct"}),
        (540, 200, {"solve": "direct"}), (90, 20, ITERATED), (180, 60, ITERATED), (540, 60, ITERATED),
    ],
)  # fmt: skip
@pytest.mark.parametrize("part", [0.95, 1.05])
def test_capstan(turn, segments, options, part):
    # The rope holds up to T2 = T1 exp(μ φ). 5 % more moves all by s = 0.05 F t²/(2 M) in a time t, with M = 1.5 kg and
    # F = 5 N exp(μ φ): by 2.1 cm or more from 0.25 s to 0.5 s, if friction at the light end did not grow with the
    # motion. Before, the polygon settles on the bar.
    friction, pull = 0.2, 5.0
    radius = BAR + ROPE
    if options["solve"] == "iterative":  # segments touch the bar in their middle, not particles
        length = (radius * np.radians(turn) + 2 * HANG) / segments
        radius = np.hypot(radius, length / 2)
    particles, rope, end = around_a_bar(np.radians(turn), segments, radius)
    particles.add_collider(pbd.Cylinder(BAR, start=(0, -1, 0), end=(0, 1, 0)), friction=friction)
    system = pbd.ParticleSystem(particles, **{"substeps": 10, **options})
    system.set_masses(rope[[0, -1]], 0.5)
    forces = np.zeros((len(particles), 3))
    forces[rope[0]] = (0, 0, -pull)
    forces[rope[-1]] = part * np.exp(friction * np.radians(turn)) * pull * end
    system.set_forces(forces)
    system.step(15)
    before = system.positions()
    system.step(15)
    moved = (system.positions() - before)[rope[-1]] @ end
    assert moved < 0.001 if part < 1 else moved > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("velocity", [(0, 0.05, 0), slow((0, -0.03, -0.04))])
@pytest.mark.parametrize("substeps", [1, 8])
def test_a_cord_stays_in_a_channel(velocity, substeps):
    # Two capsules of 80 mm in a channel of eight vertices: one surface of six triangles, which no capsule passes.
    width, height, radius, thickness = 0.006, 0.02, 0.0012, 0.0004
    profile = [(-width / 2, height), (-width / 2, 0), (width / 2, 0), (width / 2, height)]
    particles = pbd.Particles()
    walls = particles.add_particles([(x, *each) for x in (-0.1, 0.1) for each in profile], np.inf)
    quads = [(k, k + 1, k + 4, k + 5) for k in range(3)]
    triangles = walls[[corners for a, b, c, d in quads for corners in ((a, b, d), (a, d, c))]]
    particles.add_surface(triangles, thickness=thickness, friction=0.2, self_contact=False)
    cord = particles.add_particles([(x, 0, 0.01) for x in (-0.08, 0, 0.08)], 0.001, velocity)
    pairs = np.stack([cord[:-1], cord[1:]], axis=1)
    particles.add_sticks(pairs)
    particles.add_segments(pairs, radius=radius, friction=0.2)
    system = pbd.ParticleSystem(particles, substeps=substeps, iterations=4, solve="iterative")
    gap = radius + thickness / 2
    for _ in range(180):
        system.step()
        assert system.crossings() == 0
        x = system.positions()[cord]
        assert np.abs(x[:, 1]).max() < width / 2 - 0.5 * gap
        assert x[:, 2].min() > 0.5 * gap
    assert system.energy().kinetic < 1e-9  # and lies there: 3e-4 J fell


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.03, 0.06])
def test_a_sheet_that_lies_folded_does_not_shake(radius):
    # 625 particles, 0.5 kg, 3 mm. Half of it falls onto the other half, from a fold of this radius.
    size, thickness = 0.48, 0.003
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=0.5)
    build.cloth(
        particles, (0, 0, thickness / 2), (size, 0, 0), (0, size, 0), (25, 25), density=0.5 / size**2, bending=1e-4,
        shear_compliance=1e-2, thickness=thickness, friction=0.3, contacts="surface",
    )  # fmt: skip
    system = pbd.ParticleSystem(particles, substeps=12, iterations=3, solve="iterative", damping=0.01)
    x = system.positions()
    way = np.maximum(x[:, 0] - size / 2, 0)  # from the fold on
    angle = np.minimum(way / radius, np.pi)
    x[:, 0] = np.minimum(x[:, 0], size / 2) + radius * np.sin(angle) - np.maximum(way - np.pi * radius, 0)
    x[:, 2] += radius * (1 - np.cos(angle))
    system.set_positions(x)
    system.set_velocities(0 * x)
    for _ in range(30):
        system.step(10)
        assert system.crossings() == 0
    assert system.energy().kinetic < 1e-6


@pytest.mark.parametrize(("segments", "thrown"), [slow(20, True), (60, True), (400, False)])
def test_a_rope_that_starts_in_a_bar_is_told_that_it_is_thrown_out(segments, thrown):
    # Its particles are on the bar, so a segment of length l is in it by l²/8R: 7, 0.8 and 0.02 mm. It leaves it in a
    # substep of 1/2400 s, at 17, 1.9 and 0.04 m/s.
    particles, _, _ = around_a_bar(np.pi, segments)
    particles.add_collider(pbd.Cylinder(BAR, start=(0, -1, 0), end=(0, 1, 0)))
    system = pbd.ParticleSystem(particles, substeps=40, iterations=4, solve="iterative")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            system.step()
        except pbd.Diverged:
            assert thrown
    assert any("starts in a collider" in str(each.message) for each in told) == thrown


@pytest.mark.slow
def test_what_is_pinned_in_a_collider_is_not_told_of():
    particles = pbd.Particles()
    particles.add_collider(pbd.Sphere(BAR))
    line = particles.add_particles([(-0.2, 0, 0), (0.2, 0, 0)], np.inf)
    particles.add_segments([line], radius=ROPE)
    particles.add_particle((0, 0, 1))
    system = pbd.ParticleSystem(particles)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.step()
