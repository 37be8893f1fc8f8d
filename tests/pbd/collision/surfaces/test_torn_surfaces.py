"""Triangles and segments at torn sticks touch nothing any more; those beside them do, and nothing crosses."""

import numpy as np
import pytest
from sheets import add_line, add_sheet

import pbd
from pbd import build
from pbd.core.topology import edges_of

STEPS = 60


def system_of(particles, **options):
    given = {"dt": 0.01, "substeps": 4, "iterations": 10, "solve": "iterative"}
    return pbd.ParticleSystem(particles, **given, **options)


def sheet_with_needles():
    """A fixed sheet of 8 x 8 squares of 5 cm, and above each square a needle that falls.

    Returns: the Particles; triangles; needles (64, 2).
    """
    particles = pbd.Particles()
    sheet, triangles = add_sheet(particles, 9, 0.4, mass=1.0, thickness=0.004)
    particles.pin(sheet)
    middles = particles.positions()[sheet].reshape(9, 9, 3)[:-1, :-1].reshape(-1, 3) + (0.03, 0.02, 0)
    needles = [add_line(particles, at + (0, 0, 0.01), at + (0, 0, 0.04), radius=0.001) for at in middles]
    return particles, triangles, np.array(needles)


def at_sticks(system, triangles):
    """Indices of the sticks that are edges of triangles."""
    sticks, _ = system.sticks()
    wanted = {tuple(each) for each in edges_of(triangles).tolist()}
    return [k for k, each in enumerate(sticks) if tuple(sorted(each.tolist())) in wanted]


def test_what_lies_on_a_cut_triangle_falls_through_and_the_rest_stays():
    # Of random triangles all edges are cut, so those beside them are gone, too. A needle falls through these alone.
    particles, triangles, needles = sheet_with_needles()
    system = system_of(particles)
    system.step(20)
    assert (system.positions()[needles, 2] > 0).all()
    chosen = triangles[np.random.default_rng(3).choice(len(triangles), 12, replace=False)]
    system.cut(at_sticks(system, chosen))
    system.step(STEPS)
    assert system.crossings() == 0
    ends = edges_of(chosen).tolist()
    gone = np.array([any(each in ends for each in edges_of(t[None]).tolist()) for t in triangles])
    x = particles.positions()
    for needle in needles:
        # The triangle below: all cross products of its sides with the arms to the needle have one sign.
        a, b, c = (x[triangles[:, k], :2] - x[needle[0], :2] for k in range(3))
        turns = np.stack([p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0] for p, q in ((a, b), (b, c), (c, a))])
        (below,) = np.flatnonzero((turns > 0).all(axis=0) | (turns < 0).all(axis=0))
        assert (system.positions()[needle, 2] < 0).all() == gone[below]
    assert 12 <= gone.sum() < len(triangles) - 12


def test_edges_of_a_hole_touch_although_their_first_triangle_is_gone():
    # A segment lies across the edge that two triangles share. One of them goes: the first, and then the other.
    for tip in (2, 3):
        particles = pbd.Particles()
        corners = particles.add_particles([(-1, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0)], np.inf)
        triangles = corners[[[0, 1, 2], [1, 0, 3]]]
        particles.add_sticks(edges_of(triangles))
        particles.add_surface(triangles, thickness=0.01)
        across = add_line(particles, (0, -0.4, 0.02), (0, 0.4, 0.02), mass=1.0, radius=0.005)
        system = system_of(particles)
        system.cut([k for k, each in enumerate(system.sticks()[0]) if tip in each])
        system.step(1)
        system.set_velocities(np.zeros((6, 3)))
        system.step(20)
        # One end lies on the triangle that is left. Only the edge carries the other.
        assert np.abs(system.positions()[across, 2]).max() < 0.03


def test_a_rope_that_is_cut_lets_another_through():
    particles = pbd.Particles()
    rope = add_line(particles, (-0.3, 0, 0), (0.3, 0, 0), 4, np.inf, radius=0.01)
    fall = add_line(particles, (0, -0.3, 0.05), (0, 0.3, 0.05), 2, radius=0.01)
    system = system_of(particles)
    system.step(STEPS)
    assert (system.positions()[fall, 2] > 0.0).all()
    middle = [k for k, each in enumerate(system.sticks()[0]) if set(each.tolist()) == {rope[1], rope[2]}]
    system.cut(middle)
    system.step(STEPS)
    assert (system.positions()[fall, 2] < -0.1).all()


def test_a_triangle_at_a_torn_stick_passes_a_collider():
    # Its corners fall beside the ball. It is held as long as it is whole; torn, it has only its corners' sticks.
    particles = pbd.Particles()
    corners = particles.add_particles([(-1, -1, 0.3), (1, -1, 0.3), (0, 1.5, 0.3)], 1.0)
    particles.add_sticks([(0, 1), (1, 2), (2, 0)])
    particles.add_surface([corners], thickness=0.01, friction=1.0)
    particles.add_collider(pbd.Sphere(0.2), friction=1.0)
    system = system_of(particles)
    system.step(30)
    held = system.positions()[:, 2].copy()
    system.cut([0])
    system.step(STEPS)
    assert held.mean() > 0.1
    assert (system.positions()[:, 2] < -0.4).all()


def test_a_stick_that_is_cut_twice_takes_no_other_triangle_away():
    # A stick of a sheet is cut, twice. The triangle on the other side of one of its ends falls on a small ball.
    particles = pbd.Particles()
    add_sheet(particles, 5, 0.4, (0, 0, 0.03), thickness=0.01, friction=1.0)
    particles.add_collider(pbd.Sphere(0.02, centre=particles.positions()[[6, 12, 11]].mean(axis=0) * (1, 1, 0)))
    heights = []
    for times in (1, 2):
        system = system_of(particles)
        (middle,) = (k for k, each in enumerate(system.sticks()[0].tolist()) if each in ([6, 7], [7, 6]))
        for _ in range(times):
            system.cut([middle])
        system.step(20)
        heights.append(system.positions()[:, 2])
    assert np.array_equal(*heights)
    assert np.ptp(heights[0]) > 0.1


@pytest.mark.slow
def test_a_saved_state_makes_a_torn_surface_whole_again():
    particles = pbd.Particles()
    build.cloth(
        particles, (-0.5, -0.5, 0), (1, 0, 0), (0, 1, 0), (7, 7), thickness=0.02, contacts="surface", tear=1.05,
        pins=("top", "bottom"),
    )
    ball = add_line(particles, (0, 0, 0.05), (0, 0, 0.3), 2, 5.0, velocity=(0, 0, -10), radius=0.02)
    system = system_of(particles)
    start, ways = system.state(), []
    for _ in range(2):
        system.set_state(start)
        for _ in range(40):
            system.step()
            assert system.crossings() == 0
        ways.append((system.digest(), len(system.events)))
    assert ways[1] == (ways[0][0], 2 * ways[0][1])
    assert ways[0][1] > 0
    assert (system.positions()[ball, 2] < -0.5).all()


def test_surfaces_of_several_worlds_do_not_tear():
    particles = pbd.Particles()
    build.cloth(particles, (0, 0, 0), (1, 0, 0), (0, 1, 0), (3, 3), thickness=0.1, contacts="surface", tear=1.2)
    with pytest.raises(NotImplementedError, match="which 2 worlds share: expected one world"):
        system_of(particles, worlds=2)
