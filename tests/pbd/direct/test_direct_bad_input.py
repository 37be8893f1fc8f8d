"""What the direct solve does with input that has no solution, no direction or no room."""

import math
import re

import numpy as np
import pytest

import pbd
from pbd.direct import rows

g = 9.81


def falling(positions, sticks=(), masses=1.0, pins=(), **numbers):
    """Particles under gravity. Args: sticks: pairs; numbers: length or compliance of sticks."""
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles(positions, masses)
    particles.pin(list(pins))
    if len(sticks):
        particles.add_sticks(list(sticks), **numbers)
    return particles


def rope(count, **given):
    """A bent rope. Args: count: of its sticks."""
    k = np.arange(count + 1)
    positions = np.stack([0.1 * k, 0.03 * np.sin(k), -0.02 * k], axis=1)
    return falling(positions, np.stack([k[:-1], k[1:]], axis=1), **given)


def system(particles, solve="direct", **options):
    return pbd.ParticleSystem(
        particles, **{"dt": 0.005, "direction": "start", "iterations": 4, "solve": solve, **options}
    )


def stepped(particles, count=100, **options):
    one = system(particles, **options)
    one.step(count)
    assert np.isfinite(one.positions()).all()
    return one


SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]


def test_pinned_particles_joined_by_a_stick():
    # A stick between pins is no row, even if its length is wrong; the rest of the loop turns about the line of the
    # pins, and no stick stretches.
    particles = falling(SQUARE, pins=(0, 1))
    particles.add_stick(0, 1, length=0.7)
    particles.add_sticks([(1, 2), (2, 3), (3, 0), (0, 2), (1, 3)])
    one = stepped(particles, iterations=6)
    x = one.positions()
    assert len(one.direct.rows) == 5
    assert (x[:2] == SQUARE[:2]).all()
    for a, b in [(1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]:
        assert np.linalg.norm(x[a] - x[b]) == pytest.approx(math.dist(SQUARE[a], SQUARE[b]), abs=1e-6)


def test_pinned_triangle():
    # Nothing can move, so there are no rows.
    one = stepped(falling(SQUARE[:3], [(0, 1), (1, 2), (2, 0)], pins=(0, 1, 2)))
    assert one.statistics().direct == 0
    assert (one.positions() == SQUARE[:3]).all()


def test_sticks_without_a_direction():
    # A stick of no length, and one between particles at the same place, have no gradient: they iterate. The others keep
    # their lengths.
    particles = rope(4, pins=(0,))
    particles.add_particles([(0.4, 0.03 * math.sin(4), -0.08), (0.5, 0, 0)], 1.0)
    particles.add_stick(4, 5, length=0.0)
    particles.add_stick(5, 6)
    one = stepped(particles, iterations=10)
    x = one.positions()
    assert len(one.direct.rows) == 5
    assert np.linalg.norm(x[4] - x[5]) < 1e-3
    lengths = np.linalg.norm(np.diff(x[:5], axis=0), axis=1)
    start = np.linalg.norm(np.diff(particles.positions()[:5], axis=0), axis=1)
    assert lengths == pytest.approx(start, abs=1e-4)


@pytest.mark.slow
def test_stick_that_shrinks_to_nothing():
    # A length of zero between particles that are apart: both go to the middle, and no gradient of length zero divides.
    one = stepped(falling([(0, 0, 0), (0.1, 0, 0)], [(0, 1)], length=0.0), count=50, direction="current")
    x = one.positions()
    assert np.linalg.norm(x[0] - x[1]) < 1e-9
    assert x[:, 2] == pytest.approx(-0.5 * g * 0.25**2, rel=1e-9)


@pytest.mark.parametrize("solve", ["auto", "direct"])
def test_factor_without_memory_iterates(monkeypatch, solve):
    # The size is in the notes, and in a warning if the direct solve was asked for.
    monkeypatch.setattr(rows, "MOST_MEMORY", 1000)
    monkeypatch.setattr(rows, "MOST_MULTIPLY_ADDS", 0)
    said = "a component of 30 constraints iterates: its factor takes"
    if solve == "direct":
        with pytest.warns(RuntimeWarning, match=said):
            one = stepped(rope(30, pins=(0,)))
    else:
        one = stepped(rope(30, pins=(0,)), solve="auto")
    assert one.statistics().direct == 0
    assert re.search(said + r" \d+ products and .* GB", one.direct.notes[0])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"compliance": math.nan}, "compliance is nan: expected a finite number"),
        ({"compliance": -1e-3}, "compliance is -0.001: expected zero"),
        ({"compliance": math.inf}, "compliance is inf: expected a finite number"),
        ({"masses": math.nan}, "mass is nan: expected no NaN"),
        ({"masses": 0.0}, "mass is 0: expected a number above zero"),
    ],
)
def test_invalid_numbers(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        rope(3, **given)


def test_set_masses_refuses_nan():
    one = system(rope(3))
    with pytest.raises(ValueError, match="mass is nan"):
        one.set_masses([1], math.nan)


@pytest.mark.parametrize("given", ["dirct", "Direct", "", None])
def test_unknown_solve(given):
    hint = "did you mean 'direct'" if given in ("dirct", "Direct") else "expected one of"
    with pytest.raises(ValueError, match=hint):
        system(rope(3), solve=given)


@pytest.mark.parametrize("solve", ["auto", "direct"])
def test_no_constraints(solve):
    # Free fall, z = -g t²/2, which Verlet's recurrence meets exactly.
    one = stepped(falling(SQUARE), solve=solve)
    assert one.statistics().direct == 0
    assert one.positions()[:, 2] == pytest.approx(-0.5 * g * 0.5**2, rel=1e-9)


def test_pins_that_come_and_go():
    # A rope that was pinned at both ends, held in the middle and let go falls as a whole: Σ m z'' = -g Σ m.
    one = system(rope(8, pins=(0, 8)), iterations=8)
    for pinned, free in (([], [8]), ([4], []), ([], [4]), ([0], [])):
        one.set_masses(pinned, math.inf)
        one.set_masses(free, 1.0)
        one.step(20)
    one.set_masses([0], 1.0)
    before = one.velocities()[:, 2].mean()
    one.step(40)
    assert one.velocities()[:, 2].mean() == pytest.approx(before - g * 40 * 0.005, rel=1e-9)
    assert one.statistics().residual < 1e-6


def alternating(light):
    """Masses of a rope, light kg and 1/light kg in turn."""
    return np.where(np.arange(9) % 2 == 0, light, 1 / light)


@pytest.mark.parametrize("light", [1e-2, 1e2])
def test_masses_far_apart(light):
    # Masses of a ratio of 1e4 are no different: lengths stay, and with the pin the greatest speed is that of free fall
    # from the height of the rope's length, and a whip's.
    one = stepped(rope(8, masses=alternating(light), pins=(0,)), count=100, iterations=6)
    lengths = np.linalg.norm(np.diff(one.positions(), axis=0), axis=1)
    start = np.linalg.norm(np.diff(one.particles.positions(), axis=0), axis=1)
    assert lengths == pytest.approx(start, rel=1e-7)
    assert np.linalg.norm(one.velocities(), axis=1).max() < 2 * math.sqrt(2 * g * 0.9)


@pytest.mark.parametrize("light", [1e-6, 1e6])
def test_masses_too_far_apart_iterate(light):
    # With 1e12 no solve in 64 bits can hold the rope. That is said, and it iterates.
    with pytest.warns(RuntimeWarning, match="8 constraints iterates: its masses have a ratio of 1e\\+12"):
        one = stepped(rope(8, masses=alternating(light), pins=(0,)))
    assert one.statistics().direct == 0


def test_duplicate_sticks():
    # Two sticks of one length between the same particles are one row; the other is implied. Steps are so short that
    # they stay whole: round-off may choose other parts.
    particles = rope(4, pins=(0,))
    particles.add_stick(1, 2)
    one, alone = stepped(particles, dt=0.002), stepped(rope(4, pins=(0,)), dt=0.002)
    assert len(one.direct.rows) == 4
    assert one.positions() == pytest.approx(alone.positions(), abs=1e-11)


def test_sticks_of_two_lengths_iterate():
    # No length satisfies both. That is said, and both iterate: all else keeps its length, but for what they move, and
    # gains no energy. The rope is 0.42 m long, or 0.47 m with the longer stick.
    particles = rope(4, pins=(0,))
    particles.add_stick(1, 2, length=0.15)
    with pytest.warns(
        RuntimeWarning, match=re.escape("sticks on particles [1, 2] iterate: they have different lengths")
    ):
        one = system(particles)
    assert len(one.direct.rows) == 3
    for _ in range(50):
        one.step(20)
        lengths = np.linalg.norm(np.diff(one.positions(), axis=0), axis=1)
        assert 0.1 < lengths[1] < 0.16
        assert np.linalg.norm(one.velocities(), axis=1).max() < 2 * math.sqrt(2 * g * 0.47)
    assert one.statistics().residual > 1e-3
