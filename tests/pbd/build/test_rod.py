"""Rods that cannot be are refused in one line, which says what was given and what is expected."""

import math

import numpy as np
import pytest
from described import refusal

import pbd
from pbd import build
from pbd.description import rods
from pbd.implicit import tables

POINTS = [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
TRIANGLE = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
RUBBER = {"radius": 0.01, "density": 1000.0, "young": 1e6}
WITHOUT_YOUNG = {"radius": 0.01, "density": 1000.0}

REFUSED = [
    ({"points": POINTS[:1]}, ValueError, "rod has 1 point: expected 2 or more"),
    ({"points": POINTS[:2], "closed": True}, ValueError, "rod has 2 points: expected 3 or more"),
    ({"points": [(0, 0), (1, 0)]}, ValueError, "rod points has shape (2, 2): expected (any, 3)"),
    ({"points": [(0, 0, 0), (math.nan, 0, 0)]}, ValueError,
     "rod points is nan at index (1, 0): expected finite numbers"),
    ({"points": [(0, 0, 0), (1, 0, 0), (1, 0, 0)]}, ValueError,
     "rod points 1 and 2 coincide, at [1.0, 0.0, 0.0]: expected different ones"),
    ({"points": [(0, 0, 0), (1e-12, 0, 0), (1, 0, 0)]}, ValueError,
     "rod points 0 and 1 coincide, at [0.0, 0.0, 0.0]: expected different ones"),
    ({"points": [(0, 0, 0), (0, 0, 0)], "segments": 5}, ValueError, "rod points 0 and 1 coincide"),
    ({"points": [*TRIANGLE, TRIANGLE[0]], "closed": True}, ValueError,
     "rod points 3 and 0 coincide, at [0.0, 0.0, 0.0]: expected the first of a closed rod only once"),
    ({"segments": 0}, ValueError, "segments is 0: expected 1 or more"),
    ({"segments": 10**9}, ValueError, "segments is 1000000000: that takes 2e+03 GB of memory, expected at most 4 GB"),
    ({"radius": -0.01}, ValueError, "radius is -0.01: expected a number above zero"),
    ({"radius": [0.01, 0.01, 0.01]}, ValueError,
     "radius is [0.01, 0.01, 0.01]: expected one for all, or an array of shape (2,)"),
    ({"radius": 1e-60}, ValueError, "stretching is 3.14159e-114 N, as given or by young and area or radius: expected "
     "1e-30 or more"),
    ({"density": 1e-45}, ValueError, "mass of rod segment 0 is 3.14159e-49 kg by its points, density, and radius or "
     "area: expected 1e-40 to 1e+40"),
    ({"radius": 1e50}, ValueError, "by its points, density, and radius or area: expected 1e-40 to 1e+40"),
    ({"stretching": 1e-50}, ValueError, "stretching is 1e-50 N, as given or by young and area or "
     "radius: expected 1e-30 or more"),
    ({"density": 0}, ValueError, "density is 0: expected a number above zero"),
    ({"young": math.inf}, ValueError, "young is inf: expected a finite number"),
    ({"young": None}, TypeError,
     "young is None: expected Young's modulus [Pa], or bending and stretching and twisting as well"),
    ({"young": None, "bending": 1.0, "stretching": 1.0}, TypeError,
     "young is None: expected Young's modulus [Pa], or twisting as well"),
    ({"shear": 1e6, "poisson": 0.3}, ValueError, "shear is 1e+06 Pa, young 1e+06 and poisson 0.3 make 3.846e+05: "
     "expected one of shear and poisson, or both that agree"),
    ({"poisson": 0.7}, ValueError, "poisson is 0.7: expected a ratio above -1 and at most 0.5"),
    ({"poisson": 0.7, "twisting": 1.0}, ValueError, "poisson is 0.7: expected a ratio above -1 and at most 0.5"),
    ({"shear": -1.0, "twisting": 1.0}, ValueError, "shear is -1: expected a number above zero"),
    ({"bending": "soft"}, TypeError, "bending is 'soft': expected numbers"),
    ({"bending": [(1, 2), 3]}, TypeError, "bending is [(1, 2), 3]: expected numbers"),
    ({"bending": (1, 2, 3)}, ValueError, "bending is (1, 2, 3): expected one for all, or an array of shape (2, 2)"),
    ({"bending": (1, 0)}, ValueError, "bending is 0: expected numbers above zero"),
    ({"natural": "bent"}, ValueError, 'natural is \'bent\': expected "straight", "given", or (curvatures, twist)'),
    ({"natural": None}, TypeError, 'natural is None: expected "straight", "given", or (curvatures, twist)'),
    ({"natural": (0, 1, 2)}, TypeError, 'natural is (0, 1, 2): expected "straight", "given", or (curvatures, twist)'),
    ({"natural": ([(0, 1)] * 3, 0.0)}, ValueError, "curvatures of natural is [(0, 1), (0, 1), (0, 1)]: expected one "
     "for all, or an array of shape (1, 2)"),
    ({"natural": ((0, 1), [0.0, 0.0])}, ValueError,
     "twist of natural is [0.0, 0.0]: expected one for all, or an array of shape (1,)"),
    ({"natural": ((0, 4), 0.0)}, ValueError,
     "natural turns joint 0 by 4 rad: expected less than half a turn, so more segments"),
    ({"twist": 100.0}, ValueError, "twist turns joint 0 by 100 rad: expected less than half a turn, so more segments"),
    ({"twist": math.nan}, ValueError, "twist is nan: expected a finite number"),
    ({"damping": -1}, ValueError, "damping is -1: expected zero or more"),
    ({"damping": -1, "segments": 1}, ValueError, "damping is -1: expected zero or more"),
    ({"friction": -1}, ValueError, "friction is -1: expected zero or more"),
    ({"closed": "yes"}, TypeError, "closed is 'yes': expected True or False"),
    ({"points": TRIANGLE, "closed": True, "pins": "start"}, ValueError,
     "pins of a closed rod, which has no ends: expected none, see pbd.Particles.clamp"),
    ({"points": TRIANGLE, "closed": True, "clamps": ["end"]}, ValueError,
     "clamps of a closed rod, which has no ends: expected none, see pbd.Particles.clamp"),
    ({"pins": "middle"}, ValueError, "pins is 'middle': expected one of 'start', 'end'"),
    ({"pins": 1}, TypeError, 'pins is 1: expected names among "start" and "end"'),
    ({"clamps": "strat"}, ValueError, "clamps is 'strat': expected one of 'start', 'end'; did you mean 'start'?"),
    ({"clamps": ["end", "end"]}, ValueError, "clamps is ['end', 'end']: expected each end once"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "error", "message"), REFUSED)
def test_rods_that_cannot_be_are_refused(given, error, message):
    particles = pbd.Particles()
    assert message in refusal(lambda: build.rod(particles, **{"points": POINTS, **RUBBER, **given}), error)
    assert len(particles) == len(particles.rod_segments()) == 0
    assert not particles.constraint_sets


def test_moduli_follow_from_one_another():
    # G = E/2(1 + ν), ν = 0.3 if it is not given; E is not needed where nothing depends on it.
    def twisting(**given):
        particles = pbd.Particles()
        build.rod(particles, POINTS, **WITHOUT_YOUNG, **given)
        return rods.Section.from_table(particles._column("rod_section")).twisting[0]

    inertia = math.pi / 2 * RUBBER["radius"] ** 4
    assert twisting(young=1e6) == pytest.approx(1e6 / 2.6 * inertia)
    assert twisting(young=1e6, poisson=0.5) == pytest.approx(1e6 / 3 * inertia)
    assert twisting(young=1e6, shear=2e6) == pytest.approx(2e6 * inertia)
    assert twisting(young=1e6, shear=1e6 / 2.6, poisson=0.3) == pytest.approx(1e6 / 2.6 * inertia)
    assert twisting(shear=2e6, bending=1.0, stretching=1.0) == pytest.approx(2e6 * inertia)
    assert twisting(twisting=3.0, bending=1.0, stretching=1.0) == 3.0


SEGMENTS = "there are 2 rod segments, 0 to 1"


def fails(time):
    return 0.0 if time == 0.0 else math.nan


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda p: p.clamp(7), IndexError, f"segment is 7: {SEGMENTS}"),
        (lambda p: p.clamp(-1), IndexError, f"segment is -1: {SEGMENTS}"),
        (lambda p: p.clamp("start"), TypeError, "segment is 'start': expected a whole number, the index of one of"),
        (lambda p: p.turn(7, 1.0), IndexError, f"segment is 7: {SEGMENTS}"),
        (lambda p: p.turn(0, "far"), TypeError, "angle is 'far': expected a number"),
        (lambda p: p.turn(0, math.nan), ValueError, "angle is nan: expected a finite number"),
        (lambda p: p.turn(0, lambda t: 1 + t), ValueError, "angle at 0 s is 1: expected 0, the segment as it is"),
        (lambda p: p.turn(0, lambda t: (t, t)), TypeError, "angle is (0.0, 0.0): expected a number"),
        (lambda p: p.turn(0, lambda: 0.0), TypeError, "expected a function of time that gives an angle"),
        (lambda p: p.turn(0, lambda t: 1 / t), ValueError, "angle fails at 0 s with ZeroDivisionError"),
    ],
)
def test_clamps_and_turns_that_cannot_be_are_refused(act, error, message):
    particles = pbd.Particles()
    build.rod(particles, POINTS, **RUBBER)
    assert message in refusal(lambda: act(particles), error)
    assert np.isfinite(particles.masses()).all()
    assert not particles.paths


def test_a_segment_has_one_path():
    particles = pbd.Particles()
    build.rod(particles, POINTS, **RUBBER)
    particles.turn(0, lambda t: t)
    expected = "segment 0 is on a path: expected one that is not, or paths of its particles"
    for angle in (1.0, lambda t: t):
        assert refusal(lambda angle=angle: particles.turn(0, angle), ValueError) == expected


def test_an_angle_that_is_no_number_later_is_refused_in_the_step():
    particles = pbd.Particles()
    build.rod(particles, POINTS, **RUBBER)
    particles.turn(0, fails)
    assert refusal(pbd.ParticleSystem(particles).step, ValueError) == "angle is nan: expected a finite number"


def test_there_are_no_rods_to_clamp():
    assert refusal(lambda: pbd.Particles().clamp(0), IndexError) == "segment is 0: there are no rod segments yet"


def test_a_graphics_card_refuses_rods_that_it_would_bend_too_much(monkeypatch):
    # It projects elements one after another, and then a coil spring is off by its radius after 0.2 s.
    monkeypatch.setattr(tables, "on_cpu", lambda: False)
    particles = pbd.Particles()
    build.rod(particles, POINTS, **RUBBER)
    with pytest.raises(ValueError, match="a graphics card with rods: expected a processor"):
        pbd.ParticleSystem(particles)
