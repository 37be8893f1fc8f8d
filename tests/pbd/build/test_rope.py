"""Ropes: counts, masses and lengths by formula, and the shape of a hanging rope."""

import math

import numpy as np
import pytest
from marks import slow
from scipy.optimize import brentq

import pbd
import rigid
from pbd.build import rod, rope


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


g = 9.81


def stretch(system, length):
    """The largest change of length of a stick, relative to `length` of each."""
    return np.abs(np.linalg.norm(np.diff(system.positions(), axis=0), axis=1) / length - 1).max()


def heavily_loaded(length, **options):
    """A rope of 1,000 segments, each of 1 g and of a length [m], that carries the weight of 1,000 of them."""
    particles = pbd.Particles(gravity=(0, 0, -g))
    rope(particles, [(0, 0, 0), (0, 0, -1000 * length)], 1000, mass=1.0, weight=1.0, pins="start", **options)
    return particles


def test_a_weight_is_added_to_the_end():
    particles = heavily_loaded(0.01)
    masses = particles.masses()
    assert np.isinf(masses[0])
    assert masses[1:] == pytest.approx([1e-3] * 999 + [1.0005])
    assert np.linalg.norm(np.diff(particles.positions(), axis=0), axis=1).sum() == pytest.approx(10)


@pytest.mark.slow
def test_a_hanging_rope_of_1000_segments_carries_what_hangs_below():
    # At rest the tension of a stick is T = g Σ m of the particles below. A compliance of α = 1e-9 m/N shows it, as the
    # stick is longer by α T > 1e-8 m. Positions of 100 m have a round-off of 1e-14 m, 1e-6 of that. XPBD damps the
    # slowest vibration along the rope, ω² = 1/(n α M) = (900/s)², by h ω²/2 = 200/s.
    compliance = 1e-9
    particles = heavily_loaded(0.1, compliance=compliance)
    system = pbd.ParticleSystem(particles, substeps=32, iterations=2, solve="direct")
    system.step(30)
    below = np.cumsum(particles.masses()[:0:-1])[::-1]
    tension = (np.linalg.norm(np.diff(system.positions(), axis=0), axis=1) - 0.1) / compliance
    assert tension == pytest.approx(g * below, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("direction", [slow("start"), "current"])
def test_a_rope_of_1000_segments_stretches_by_less_than_1e_6_in_two_rounds(direction):
    # At rest, and while the weight swings. Nodes swing across with ω = sqrt(4 T/(m l)) = 900/s, h ω = 0.9. The energy
    # of converged sticks oscillates with (h ω)² and does not drift.
    at_rest = pbd.ParticleSystem(heavily_loaded(0.01), iterations=2, solve="direct", direction=direction)
    at_rest.step(60)
    assert stretch(at_rest, 0.01) < 1e-6
    swinging = pbd.ParticleSystem(heavily_loaded(0.1), substeps=16, iterations=2, solve="direct", direction=direction)
    swinging.set_velocities(np.outer(np.arange(1001) / 1000, (1.0, 0, 0)))
    before, largest = swinging.energy().total, 0.0
    for _ in range(60):
        swinging.step()
        largest = max(largest, stretch(swinging, 0.1))
    assert largest < 1e-6
    kinetic = 0.5 * (1.0 + 1.0 / 3)  # [J], of the weight and the rope
    assert swinging.energy().total - before == pytest.approx(0.0, abs=0.02 * kinetic)


def test_a_rope_between_two_posts_hangs_like_a_chain():
    """Stick j, counted from the lowest particle, carries j - 1/2 weights: tan θ_j = (j - 1/2) m g / H.

    H follows from the gap, which the cosines of the sticks span. The sag is the sum of their sines. For n -> ∞ it is
    that of the catenary, a (cosh(s/2a) - 1), 2 a sinh(s/2a) = L. A polygon of n sticks differs from it by about 1/n².
    """
    length, span, count = 1.2, 1.0, 100
    particles = pbd.Particles(gravity=(0, 0, -g))
    depth = math.sqrt((length / 2) ** 2 - (span / 2) ** 2)
    rope(particles, [(0, 0, 0), (span / 2, 0, -depth), (span, 0, 0)], count, mass=1, pins=("start", "end"))
    system = pbd.ParticleSystem(particles, substeps=16, iterations=2, damping=0.1, solve="direct", direction="start")
    system.step(600)
    places = np.arange(count // 2) + 0.5

    def width(weight):
        return 2 * length / count * np.cos(np.arctan(places * weight)).sum()

    weight = brentq(lambda weight: width(weight) - span, 1e-6, 10)
    polygon = length / count * np.sin(np.arctan(places * weight)).sum()
    a = brentq(lambda a: 2 * a * math.sinh(span / (2 * a)) - length, 0.1, 10)
    sag = -system.positions()[:, 2].min()
    assert stretch(system, length / count) < 1e-9
    assert np.abs(system.velocities()).max() < 1e-9
    assert sag == pytest.approx(polygon, abs=1e-8)
    assert sag == pytest.approx(a * (math.cosh(span / (2 * a)) - 1), abs=length / count**2)


BENT = {"mass": 0.1, "radius": 0.005, "bending": 1e-3}


def test_a_rope_with_bending_is_a_rod_with_twist():
    """The same description, with GJ of a round section and EA from the compliance of a segment."""
    line, ropes = [(0, 0, 1), (1, 0, 1)], (pbd.Particles(), pbd.Particles())
    made = rope(ropes[0], line, 10, compliance=1e-4, clamps="start", tear=1.5, **BENT)
    area = np.pi * BENT["radius"] ** 2
    same = rod(
        ropes[1], line, 10, radius=BENT["radius"], density=BENT["mass"] / area, bending=1e-3, twisting=1e-3 / 1.3,
        stretching=0.1 / 1e-4, strength=0.5 * 0.1 / 1e-4, clamps="start",
    )  # fmt: skip
    assert (made.particles == same.particles).all()
    assert (made.segments == same.segments).all()
    assert made.clamps == same.clamps
    assert made.sticks.tolist() == [[k, k + 1] for k in range(10)]
    assert [each.built for each in ropes] == [[made], [same]]
    for values in ("positions", "velocities", "masses", "radii", "gravity_scales"):
        first, second = (getattr(each, values)() for each in ropes)
        assert first == pytest.approx(second, rel=1e-12)
    sets, others = (each.constraint_sets for each in ropes)
    assert list(sets) == list(others)
    assert len(sets) == 3
    for key in sets:
        (members, numbers), (expected, parameters) = sets[key].arrays(), others[key].arrays()
        assert (members == expected).all()
        assert numbers == pytest.approx(parameters, rel=1e-9)


@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_a_rope_with_twist_stretches_by_a_thousandth(weight):
    """At rest, with its weight at the end. It swings down from level nearly as fast as with short substeps."""
    times, ratios = [], []
    for options in ({"substeps": 1, "iterations": 4}, {"substeps": 16, "iterations": 8}):
        particles = pbd.Particles()
        made = rope(particles, [(0, 0, 2), (1, 0, 2)], 20, weight=weight, pins="start", **{**BENT, "bending": 1e-5})
        assert particles.masses()[np.isfinite(particles.masses())].sum() == pytest.approx(0.1 + weight, rel=0.03)
        system = pbd.ParticleSystem(particles, dt=1 / 60, **options)
        while system.positions()[made.particles[-1], 0] > 0:
            system.step()
        times.append(system.time)
        system.damping = 0.1
        system.step(600)
        ratios.append(np.linalg.norm(np.diff(system.positions()[made.particles], axis=0), axis=1).sum() - 1)
    assert times[0] == pytest.approx(times[1], rel=0.15)
    assert max(ratios) < 1.001e-3
    assert ratios[0] == pytest.approx(1e-3 * (weight + 0.05) / (weight + 0.1), rel=0.02)


def test_sticks_in_place_of_bending_have_its_energy_at_half_a_radian():
    """EI θ²/2l at each node of an arc, to the second order of θ."""
    count, angle, segment = 10, 0.5, 0.1
    headings = angle * np.arange(count)
    steps = segment * np.stack([np.cos(headings), np.sin(headings), 0 * headings], axis=1)
    straight = pbd.Particles(gravity=(0, 0, 0))
    rope(straight, [(0, 0, 0), (count * segment, 0, 0)], count, mass=1, bending=3.0, twist=False)
    members, numbers = straight.constraint_sets["stick", True].arrays()
    bent = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    shorter = np.linalg.norm(bent[members[:, 1]] - bent[members[:, 0]], axis=1) - numbers[:, 0]
    assert shorter**2 / (2 * numbers[:, 1]) == pytest.approx(3.0 * angle**2 / (2 * segment), rel=0.02)


def test_a_rope_with_twist_is_held_by_a_body():
    """As a rod is: a box on it twists it."""
    particles, model = pbd.Particles(gravity=(0, 0, 0)), rigid.Model(gravity=(0, 0, 0))
    line = rope(particles, [(0, 0, 1), (0, 0, 0)], 10, clamps="start", **BENT)
    box = model.add_box((0.1, 0.1, 0.1), mass=0.5, position=(0, 0, -0.05), angular_velocity=(0, 0, 1))
    solver = rigid.solver("verlet", model, particles=particles, clamps=[(line, "end", box)], dt=1 / 60, substeps=8)
    solver.step(60)
    spin = solver.state().angular_velocity[box, 2]
    assert spin == pytest.approx(np.cos(np.sqrt(1e-3 / 1.3 / (0.5 * 0.01 / 6))), abs=0.05)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"bending_compliance": 1.0}, "bending is 0.001 beside bending_compliance: expected one of them"),
        ({"twisting": 1.0, "twist": False}, "twisting is 1.0 with twist=False: expected a rope with bending and twist"),
        ({"twisting": 1.0, "bending": None}, "twisting is 1.0 without bending"),
        ({"clamps": "start", "bending": None}, "clamps is 'start' without bending"),
        ({"clamps": ("end",), "twist": False}, "clamps is .* with twist=False"),
        ({"radius": 0}, "radius is 0 with bending and twist"),
        ({"bending": -1}, "bending is -1: expected a number above zero"),
        ({"twisting": math.nan}, "twisting is nan"),
        ({"compliance": -1}, "compliance"),
        ({"tear": 0.5}, "tear"),
        ({"clamps": "end", "weight": 1}, "weight is 1 at the end of a rope, which is pinned"),
        ({"clamps": "middle"}, "'middle'"),
        ({"twist": "yes"}, "twist is 'yes'"),
    ],
)
def test_contradictions_of_twist_are_refused(arguments, says):
    particles = pbd.Particles()
    with pytest.raises((TypeError, ValueError), match=says):
        rope(particles, [(0, 0, 0), (1, 0, 0)], 4, **{**BENT, **arguments})
    assert len(particles) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"points": [(0, 0, 0)]}, "along 1 points: expected two or more"),
        ({"points": [(0, 0, 0), (0, 0, 0)]}, "coincide"),
        ({"segments": 0}, "segments is 0: expected 1 or more"),
        ({"mass": 0}, "mass is 0: expected a number above zero"),
        ({"radius": -1}, "radius is -1"),
        ({"weight": -1}, "weight is -1: expected zero or more"),
        ({"weight": math.inf}, "weight is inf: expected a finite number"),
        ({"weight": 2.5, "pins": ("start", "end")}, "weight is 2.5 at the end of a rope, which is pinned"),
        ({"pins": "strat"}, "pin is 'strat'.*did you mean 'start'"),
        ({"points": [(0, 0, math.nan), (1, 0, 0)]}, "nan"),
    ],
)
def test_bad_input_is_refused(arguments, says):
    particles = pbd.Particles()
    with pytest.raises(ValueError, match=says):
        rope(particles, **{"points": [(0, 0, 0), (1, 0, 0)], "mass": 1.0, **arguments})
    assert len(particles) == 0
