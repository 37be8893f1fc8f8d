"""Hinges that crease: the law of their rest angles, the moment at which they yield, worlds, lanes and snapshots."""

import math

import numpy as np
import pytest
from marks import needs_lanes

import pbd
from pbd.build import cloth

YIELD, COMPLIANCE, ARM = 0.4, 0.5, 1.0


def folded(angle):
    """Two triangles with an edge along y, folded by an angle (4, 3)."""
    corner = (math.cos(angle) * ARM, 0, math.sin(angle) * ARM)
    return np.array([(0, -0.5, 0), (0, 0.5, 0), (-ARM, 0, 0), corner])


def hinge(yield_angle=YIELD, pins=(0, 1, 2)):
    """A hinge that is flat, and whose last corner may be free."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(folded(0.0), 1.0)
    particles.add_sticks([(0, 3), (1, 3)])
    particles.add_bending([(0, 1, 2, 3)], 0.0, COMPLIANCE, yield_angle)
    particles.pin(list(pins))
    return particles


def rest_angles(system):
    return 2 * np.arcsin(system.state().creased)


def sign():
    """1 if a fold upwards is a positive angle, else -1."""
    system = pbd.ParticleSystem(hinge(pins=range(4)), dt=0.01)
    system.set_positions(folded(1.0))
    system.step()
    return np.sign(rest_angles(system)[0])


def test_rest_angles_follow_beyond_the_yield_angle():
    # The play operator of ideal plasticity: θ0 := min(max(θ0, θ - y), θ + y), to round-off. 3.5 rad is -2.78, and the
    # shorter way there from 3.0 is through π.
    system, expected = pbd.ParticleSystem(hinge(pins=range(4)), dt=0.01), 0.0
    for angle in (0.3, 0.8, 1.5, 1.2, -0.5, 0.1, 1.5, 2.5, 3.0, 3.5, 3.0):
        system.set_positions(folded(sign() * angle))
        system.step()
        expected = min(max(expected, angle - YIELD), angle + YIELD)
        wrapped = (expected + math.pi) % (2 * math.pi) - math.pi
        assert rest_angles(system)[0] == pytest.approx(wrapped, abs=1e-12)


@pytest.mark.parametrize("part", [0.97, 1.03])
def test_a_hinge_yields_at_its_moment(part):
    # The energy C²/2α has the moment sin(θ - θ0)/α. A force F at right angles to the flat sheet has the moment
    # F l cos θ, so θ = y at F = tan(y)/(α l). Slowly, because a sudden force overshoots.
    largest = part * math.tan(YIELD) / (COMPLIANCE * ARM)
    system = pbd.ParticleSystem(hinge(), dt=0.05, iterations=20, damping=0.12)
    for force in [*np.linspace(0, largest, 300), *[largest] * 100]:
        system.set_forces([(0, 0, 0)] * 3 + [(0, 0, force)])
        system.step()
    assert (rest_angles(system)[0] != 0) == (part > 1)
    # Without the force it springs back to its rest angle.
    system.set_forces(np.zeros((4, 3)))
    system.step(500)
    x = system.positions()[3]
    assert math.atan2(x[2], x[0]) == pytest.approx(sign() * rest_angles(system)[0], abs=1e-6)


def test_until_it_yields_a_hinge_moves_as_one_that_cannot():
    digests = []
    for yield_angle in (None, 3.0):
        system = pbd.ParticleSystem(hinge(yield_angle), dt=0.02)
        system.set_forces([(0, 0, 0)] * 3 + [(0, 0, 1.0)])
        system.step(50)
        digests.append(system.digest())
    assert digests[0] == digests[1]


def sheet(**options):
    """A system of a cloth that falls from level, and folds."""
    particles = pbd.Particles()
    cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (24, 24), yield_angle=0.05, pins=("left_top", "right_top"))
    return pbd.ParticleSystem(particles, dt=1 / 60, iterations=4, **options)


@needs_lanes
def test_lanes_and_snapshots_crease_alike():
    whole, single = sheet(), sheet(lanes=1)
    assert whole.has_bands
    whole.step(20)
    middle = whole.state()
    whole.step(10)
    for _ in range(30):
        single.step()
    assert single.digest() == whole.digest()
    assert (single.state().creased == whole.state().creased).all()
    assert 0 < np.count_nonzero(middle.creased) < np.count_nonzero(whole.state().creased)
    single.set_state(middle)
    single.step(10)
    assert single.digest() == whole.digest()


def test_worlds_crease_alone():
    forces = np.zeros((3, 4, 3))
    forces[:, 3, 2] = 0.5, 2.0, 5.0
    worlds = pbd.ParticleSystem(hinge(), dt=0.02, worlds=3)
    worlds.set_forces(forces)
    worlds.step(50)
    for world in range(3):
        alone = pbd.ParticleSystem(hinge(), dt=0.02)
        alone.set_forces(forces[world])
        alone.step(50)
        assert alone.positions().tobytes() == worlds.positions()[world].tobytes()
        assert alone.state().creased.tobytes() == worlds.state().creased[world].tobytes()
    assert (worlds.state().creased[:, 0] != 0).tolist() == [False, True, True]


@pytest.mark.parametrize("given", [0.0, -1.0, 4.0, float("nan")])
def test_refused(given):
    particles = pbd.Particles()
    particles.add_particles(folded(0.0), 1.0)
    with pytest.raises(ValueError, match=r"yield_angle is .*: expected"):
        particles.add_bending([(0, 1, 2, 3)], 0.0, COMPLIANCE, given)
    with pytest.raises(ValueError, match=r"yield_angle is .*, with bending=None: expected some"):
        cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (4, 4), bending=None, yield_angle=0.5)
    assert not particles.constraint_sets
