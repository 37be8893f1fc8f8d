"""Visual of a rod: a tube around its nodes, and a stripe on the side of its side particles."""

import numpy as np
import pytest

import pbd
import scenes
from pbd import build
from pbd.description.rod_frames import frames_of
from scenes.export.pieces import pieces_of
from scenes.simulate.recording import Frame
from scenes.simulate.run import Run
from scenes.view.picking import connected_load, pick
from scenes.visuals import ParticleVisual, Rods, RodVisual, default_visuals
from scenes.visuals.framing import drawn_points

MATERIAL = {"radius": 0.02, "density": 1000.0, "young": 1e6}
ANGLE = 2 * np.pi * np.arange(40) / 40
LINES = {
    "straight": [(0, 0, 1), (1, 0, 1)],
    "bent": [(0, 0, 1), (0.4, 0, 1), (0.7, 0.3, 1), (0.7, 0.3, 1.4)],
    "circle": np.stack([np.cos(ANGLE), np.sin(ANGLE), 0 * ANGLE + 1], axis=1),
}


def frame_of(particles):
    """A Frame of a description."""
    nothing = np.zeros((0, 7))
    return Frame(0.0, particles.positions(), particles.velocities(), nothing, nothing, None)


def made(line, **options):
    """Particles with a rod, and both. Args: line: a name of LINES."""
    particles = pbd.Particles()
    closed = line == "circle"
    return particles, build.rod(particles, LINES[line], None if closed else 20, closed=closed, **MATERIAL, **options)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("twist", [0.0, 2 * np.pi])
def test_tube_is_closed_and_as_thick_as_the_rod(line, twist):
    particles, rod = made(line, twist=twist)
    tube, stripe = RodVisual(particles, rod).draw(frame_of(particles))
    nodes = particles.positions()[rod.particles]
    for surface, thickness in ((tube, 1.0), (stripe, 1.04)):
        distance = np.linalg.norm(surface.vertices[:, None] - nodes, axis=2).min(axis=0)
        assert distance == pytest.approx(np.full(len(distance), 0.02 * thickness), rel=1e-9)
    # The volume of a closed mesh by the divergence theorem: all triangles face outwards. Mitres of bends are thinner.
    corners = tube.vertices[tube.triangles]
    length = particles._column("rod_length").sum()
    section = 10 * np.sin(np.pi / 10) * 0.02**2  # of a polygon of 20 sides
    ends = 0.0 if line == "circle" else 4 / 3 * np.pi * 0.02**3
    assert np.linalg.det(corners).sum() / 6 == pytest.approx(section * length + ends, rel=0.03)


@pytest.mark.parametrize("line", LINES)
def test_stripe_follows_the_twist(line):
    particles, rod = made(line, twist=4 * np.pi)
    _, stripe = RodVisual(particles, rod).draw(frame_of(particles))
    rings = stripe.vertices.reshape(-1, 5, 3)[::2]
    sides = frames_of(particles.positions(), particles.rod_segments()).as_matrix()[:, :, 0]
    nodes = particles.positions()[np.append(rod.particles, rod.particles[:1])][: len(rings)]
    outwards = rings[:, 2] - nodes  # the middle of the stripe
    for first in (outwards[:-1], outwards[1:]):  # half a segment's twist and bend away from the segment's own side
        assert ((first * sides).sum(axis=1) > 0.02 * np.cos(0.6)).all()


def test_stripe_ends_where_a_ring_is_joined_out_of_phase():
    particles, rod = made("circle", twist=np.pi)
    _, stripe = RodVisual(particles, rod).draw(frame_of(particles))
    rings = stripe.vertices.reshape(-1, 5, 3)
    node = particles.positions()[rod.particles[0]]
    assert np.dot(rings[0, 2] - node, rings[-1, 2] - node) < -0.9 * 0.0208**2  # on opposite sides
    turns = np.linalg.norm(np.diff(rings[:, 2], axis=0), axis=1)
    assert turns.max() < 1.1 * turns.min()


@pytest.mark.parametrize("line", LINES)
def test_a_torn_segment_is_not_drawn(line):
    """Half the rod moves away: no triangle crosses the gap, rings beside it are as before, and curves end there."""
    particles, rod = made(line, strength=1.0)
    whole, stripe = RodVisual(particles, rod).draw(frame_of(particles))
    nodes, gap = particles.positions()[rod.particles], len(rod.segments) // 3
    frame = frame_of(particles)._replace(torn=rod.particles[[[gap, gap + 1]]])
    segments = particles.rod_segments()[rod.segments]
    if line != "circle":
        moved = np.append(rod.particles[gap + 1 :], segments[gap + 1 :, 2])
        frame.positions[moved] += (0, 0, 5.0)
    drawn = RodVisual(particles, rod).draw(frame)
    for surface, before, quads in zip(drawn, (whole, stripe), (20, 4)):
        corners = surface.vertices[surface.triangles]
        assert np.ptp(corners[..., 2], axis=1).max() < 0.3
        assert len(before.triangles) - len(surface.triangles) == 2 * 2 * quads
        assert len(surface.vertices) == len(before.vertices)
    assert list(drawn[0].curves()[2]) == [gap + 1, len(rod.segments) - gap]
    if line == "straight":
        expected = whole.vertices + np.where(whole.vertices[:, :1] > nodes[gap, 0] + 0.001, (0, 0, 5.0), 0.0)
        assert np.abs(drawn[0].vertices - expected)[np.unique(drawn[0].triangles)].max() < 1e-9


def test_rods_are_drawn_without_visuals_and_without_their_side_particles():
    particles, _ = made("bent", clamps=("start", "end"))
    visuals = default_visuals(particles)
    assert [type(each) for each in visuals] == [RodVisual]
    particles.add_particle((0, 0, 2))
    assert [type(each) for each in default_visuals(particles)] == [RodVisual, ParticleVisual]


def test_a_camera_does_not_fit_side_particles():
    particles = pbd.Particles()
    build.rod(particles, LINES["straight"], 10, **MATERIAL)
    scene = scenes.Scene(particles, settings={"verlet": {"dt": 1 / 60, "solve": "iterative"}})
    points = drawn_points(scene, frame_of(particles))
    assert np.abs(points[:, 1]).max() == pytest.approx(0.0208)
    sides = particles.positions()[particles.rod_segments()[:, 2]]
    assert np.abs(sides[:, 1]).max() > 0.1


def test_files_keep_the_axis_and_the_stripe():
    particles, rod = made("circle", twist=4 * np.pi)
    scene = scenes.Scene(particles, settings={"verlet": {"dt": 1 / 60, "solve": "iterative"}})
    tube, stripe = pieces_of(scene, frame_of(particles)).values()
    points, radii, counts = tube.curves()
    assert isinstance(tube, Rods)
    assert list(counts) == [41]
    assert np.allclose(points, particles.positions()[np.append(rod.particles, rod.particles[0])])
    assert np.allclose(radii, 0.02)
    assert len(stripe.vertices) == 81 * 5


def test_a_pointer_picks_nodes_and_grabs_the_whole_rod():
    particles, rod = made("straight", pins="start")
    scene = scenes.Scene(particles, settings={"verlet": {"dt": 1 / 60, "solve": "iterative"}})
    run = Run(scene)
    picked = pick(run, scene.visuals[0], 0, None, (0.62, 0.02, 1.0))
    assert set(picked.particles) == set(rod.particles[[12, 13]])
    mass, size, _ = connected_load(run, picked)
    assert mass == pytest.approx(particles.masses()[1:].sum())
    assert size > 0.9


@pytest.mark.parametrize(("value", "match"), [(0.0, None), (np.nan, "not finite"), (1e40, "not finite")])
def test_rods_without_length_are_drawn_and_others_have_an_error(value, match):
    particles, rod = made("straight")
    particles.positions()[3:6] = value
    visual = RodVisual(particles, rod)
    if match is None:
        assert len(visual.draw(frame_of(particles))) == 2
        return
    with pytest.raises(ValueError, match=match):
        visual.draw(frame_of(particles))
