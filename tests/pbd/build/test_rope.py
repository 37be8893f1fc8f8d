"""Ropes: counts, masses and lengths by formula, and the shape of a hanging rope."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import pbd
from pbd.build import rope


def test_a_straight_rope_has_equal_sticks_and_half_masses_at_its_ends():
    particles = pbd.Particles()
    made = rope(particles, [(0, 0, 1), (2, 0, 1)], 8, mass=1.6, radius=0.01)
    assert made.particles.tolist() == list(range(9))
    assert made.sticks.tolist() == [[k, k + 1] for k in range(8)]
    assert particles.positions()[:, 0] == pytest.approx(np.arange(9) / 4)
    assert particles.masses() == pytest.approx([0.1] + [0.2] * 7 + [0.1])
    assert particles.radii() == pytest.approx([0.01] * 9)
    members, numbers = particles.constraint_sets["stick", False].arrays()
    assert (members == made.sticks).all()
    assert numbers[:, 0] == pytest.approx([0.25] * 8)


def test_a_bent_rope_keeps_its_points_or_is_divided_evenly():
    corner = [(0, 0, 0), (3, 0, 0), (3, 4, 0)]
    as_given, cut = pbd.Particles(), pbd.Particles()
    rope(as_given, corner, mass=7)
    assert as_given.masses() == pytest.approx([1.5, 3.5, 2.0])  # by length
    rope(cut, corner, 7, mass=7)
    assert cut.positions().tolist() == [
        [0, 0, 0],
        [1, 0, 0],
        [2, 0, 0],
        [3, 0, 0],
        [3, 1, 0],
        [3, 2, 0],
        [3, 3, 0],
        [3, 4, 0],
    ]


def test_ropes_share_a_description_with_pins_and_stiffness():
    particles = pbd.Particles()
    particles.add_particle((9, 9, 9))
    made = rope(particles, [(0, 0, 0), (1, 0, 0)], 4, mass=1, bending_compliance=0.1, pins=("start", "end"))
    assert made.particles.tolist() == [1, 2, 3, 4, 5]
    assert np.flatnonzero(np.isinf(particles.masses())).tolist() == [1, 5]
    members, numbers = particles.constraint_sets["stick", True].arrays()
    assert members.tolist() == [[1, 3], [2, 4], [3, 5]]
    assert numbers == pytest.approx(np.array([(0.5, 0.1)] * 3))


def test_a_rope_between_two_posts_hangs_like_a_chain():
    """Stick j, counted from the lowest particle, carries j - 1/2 weights: tan θ_j = (j - 1/2) m g / H.

    H follows from the gap, which the cosines of the sticks span. The sag is the sum of their sines. For n -> ∞ it is
    that of the catenary.
    """
    length, span, count = 1.2, 1.0, 24
    particles = pbd.Particles()
    depth = math.sqrt((length / 2) ** 2 - (span / 2) ** 2)
    rope(particles, [(0, 0, 0), (span / 2, 0, -depth), (span, 0, 0)], count, mass=1, pins=("start", "end"))
    system = pbd.ParticleSystem(particles, dt=1 / 120, iterations=300, damping=0.02)
    system.step(1500)
    places = np.arange(count // 2) + 0.5

    def width(weight):
        return 2 * length / count * np.cos(np.arctan(places * weight)).sum()

    weight = brentq(lambda weight: width(weight) - span, 1e-6, 10)
    sag = length / count * np.sin(np.arctan(places * weight)).sum()
    # Unconverged iterations leave sticks longer by dl. The sag then grows by sin θ dl, and by at most as much again
    # because other sticks turn down to keep the span.
    positions = system.positions()
    longer = np.linalg.norm(np.diff(positions, axis=0), axis=1).sum() - length
    assert 0 <= longer < 1e-3 * length
    assert np.abs(system.velocities()).max() < 1e-4
    assert -positions[:, 2].min() == pytest.approx(sag, abs=2 * longer)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"points": [(0, 0, 0)]}, "along 1 points: expected two or more"),
        ({"points": [(0, 0, 0), (0, 0, 0)]}, "coincide"),
        ({"segments": 0}, "segments is 0: expected 1 or more"),
        ({"mass": 0}, "mass is 0: expected a number above zero"),
        ({"radius": -1}, "radius is -1"),
        ({"pins": "strat"}, "pin is 'strat'.*did you mean 'start'"),
        ({"points": [(0, 0, math.nan), (1, 0, 0)]}, "nan"),
    ],
)
def test_bad_input_is_refused(arguments, says):
    particles = pbd.Particles()
    with pytest.raises(ValueError, match=says):
        rope(particles, **{"points": [(0, 0, 0), (1, 0, 0)], "mass": 1.0, **arguments})
    assert len(particles) == 0
