"""Substeps in parts: what a long step of a fast chain gives, and that nothing but time is divided."""

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import taichi as ti
from described import momenta_of_particles

import pbd
from pbd.direct.structures import EVALUATION, MEASURES, SEARCH, structure

g = 9.81
SEGMENT, COUNT = 0.2, 5  # of the chain [m]
MASS = np.array([1.0, 1.0, 0.5, 2.0, 1.0, 1.0])  # of its particles [kg]
FRAME = 1 / 60


def level_chain(path=None, velocity=0.0, pinned=True, gravity=g, masses=1.0):
    """A level chain along x, whose first particle is pinned or follows a path."""
    particles = pbd.Particles(gravity=(0, 0, -gravity))
    particles.add_particles(np.outer(SEGMENT * np.arange(COUNT + 1), (1, 0, 0)), masses, velocity)
    if path is not None:
        particles.add_path([0], path)
    elif pinned:
        particles.pin([0])
    particles.add_sticks(np.stack([np.arange(COUNT), np.arange(1, COUNT + 1)], axis=1))
    return particles


def system(particles, **options):
    given = {"dt": FRAME, "direction": "start", "solve": "direct", "iterations": 2}
    return pbd.ParticleSystem(particles, **given | options)


def halvings(one):
    """A substep has 2^halvings parts now, the largest number of all worlds."""
    return one.state().direct[:, 0].max()


def step_in_parts(one, count, halvings=3):
    """Make steps that begin with parts of h/8 and go on, if nothing is fast, with parts of h/8, h/4 and h/2."""
    for _ in range(count):
        state = one.state()
        direct = state.direct.copy()
        direct[:, 0] = halvings
        one.set_state(replace(state, direct=direct))
        one.step(1)


def step_until_parts(one):
    """Step until a substep ends in parts."""
    count = 0
    while halvings(one) == 0:
        one.step(1)
        count += 1
        assert count < 200, "the chain never whips"
    return count


def test_whipping_chain_keeps_its_energy():
    # The end of a chain that falls from level passes the pin at some 10 m/s, 40 degrees in a frame. SHAKE has no
    # solution there in a whole step. The bound is that of issue 14 for a whip at 1/60 s.
    one = system(level_chain())
    energies, most = [one.energy().total], 0
    for _ in range(300):
        one.step(1)
        energies.append(one.energy().total)
        most = max(most, halvings(one))
    change = (np.array(energies) - energies[0]) / (COUNT * g * COUNT * SEGMENT)
    assert most > 0
    assert np.abs(change).max() < 0.1
    assert np.max(change - np.minimum.accumulate(change)) < 0.05


def test_free_flight_is_exact():
    # x = x0 + v t - g t²/2, to round-off, although x* belongs to another length in each part.
    velocity = np.array([2.0, -1.0, 3.0])
    one = system(level_chain(velocity=velocity, pinned=False))
    start = one.positions()
    step_in_parts(one, 30)
    t = 30 * FRAME
    fall = np.array([0, 0, -g * t * t / 2])
    assert one.positions() == pytest.approx(start + velocity * t + fall, abs=1e-12)


def test_free_chain_keeps_both_momenta():
    # Impulses ±λ n at x along the line between two particles keep Σ m v and Σ m x × v, and x and v stay what they are
    # where parts change their length. Round-off of 1e-15 for each of some 1000 parts.
    velocity = 2.0 * np.random.default_rng(0).normal(size=(COUNT + 1, 3))
    one = system(level_chain(velocity=velocity, pinned=False, gravity=0.0, masses=MASS), iterations=4)
    one.step(1)
    before = np.concatenate(momenta_of_particles(one))
    step_in_parts(one, 200)
    assert np.concatenate(momenta_of_particles(one)) == pytest.approx(before, abs=1e-10)


def test_state_in_the_middle_of_a_whip_continues():
    one = system(level_chain())
    step_until_parts(one)
    state = one.state()
    one.step(20)
    digest = one.digest()
    one.set_state(state)
    one.step(20)
    assert one.digest() == digest
    other = system(level_chain())
    other.set_state(state)
    other.step(20)
    assert other.digest() == digest


@pytest.mark.slow
def test_worlds_have_the_bits_of_one():
    # They whip at different times, so their parts differ.
    starts = [level_chain(velocity=(0, 0, speed)) for speed in (0.0, -2.0, 1.0)]
    several, alone = system(starts), system(starts[1])
    lengths = np.zeros(3, bool)
    for _ in range(100):
        several.step(1)
        alone.step(1)
        lengths |= np.ptp(several.state().direct[:, 0]) > 0
    assert lengths.any()
    assert (several.positions()[1] == alone.positions()).all()


def path(t):
    """How the first particle is driven."""
    return np.array([0.15 * math.sin(9 * t), 0, 0.1 * (1 - math.cos(13 * t))])


@pytest.mark.slow
def test_driven_chain_is_of_second_order():
    # Paths are linear within a substep, off by at most a h²/8, and each part is a step of SHAKE. So halving h divides
    # the error by four.
    def end(substeps):
        one = system(level_chain(path), dt=FRAME / substeps)
        step_in_parts(one, 30 * substeps)
        return one.positions()

    exact = end(32)
    errors = [np.abs(end(substeps) - exact).max() for substeps in (1, 2, 4)]
    assert errors[0] < 0.02
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx([4, 4], abs=0.8)


@pytest.mark.slow
def test_driven_chain_of_several_worlds_has_the_bits_of_one():
    # Each world writes its own rows of the inputs.
    driven = [level_chain(path, masses=mass) for mass in (1.0, 2.0, MASS)]
    several, alone = system(driven), system(driven[2])
    for one in (several, alone):
        one.step(90)
        step_in_parts(one, 5)
    assert (several.positions()[2] == alone.positions()).all()


@pytest.mark.slow
@pytest.mark.parametrize("changing", [False, True])
def test_moving_floor_is_where_it_should_be(changing):
    # A particle lies on a floor that rises at constant speed, beside a chain. The quaternion of the floor may change
    # its sign: q and -q are the same rotation.
    speed = 0.5

    def motion(t):
        sign = -1.0 if changing and round(t / FRAME) % 2 else 1.0
        return (0, 0, -1 + speed * t), (sign * math.cos(math.pi / 4), sign * math.sin(math.pi / 4), 0, 0)

    particles = level_chain()
    particles.add_particles([(3, 0, 0)], 1.0, (0, 0, speed))
    particles.add_collider(pbd.Box((20, 2, 20)), motion=motion)
    one = system(particles, iterations=3)
    for k in range(6):
        step_in_parts(one, 1)
        assert one.positions()[-1][2] == pytest.approx(speed * (k + 1) * FRAME, abs=1e-9)


@pytest.mark.slow
def test_force_of_a_grab_is_in_newtons():
    # A chain hangs at rest from a soft grab spring: the force is its weight, however long the last part was. Where
    # parts change their length, the velocity changes by at most g h/2, as x* has only the acceleration of free flight.
    # This moves the spring by less than g h²/2 in a step.
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles(np.outer(-SEGMENT * np.arange(COUNT + 1), (0, 0, 1)), MASS)
    particles.add_sticks(np.stack([np.arange(COUNT), np.arange(1, COUNT + 1)], axis=1))
    one = system(particles, iterations=20, grabs=1)
    weight, stiffness = MASS.sum() * g, 100.0
    one.grab(0, 0, (0, 0, weight / stiffness), stiffness)
    step_in_parts(one, 1)
    assert one.grab_forces()[0] == pytest.approx([0, 0, weight], abs=stiffness * g * FRAME**2 / 2)


def run_in_32_bits():
    """Run in a process of its own: the largest change of a whipping chain's energy, and the longest stretch."""
    one = system(level_chain())
    start, change, stretch = one.energy().total, 0.0, 0.0
    for _ in range(200):
        one.step(1)
        change = max(change, abs(one.energy().total - start))
        stretch = max(stretch, np.abs(np.linalg.norm(np.diff(one.positions(), axis=0), axis=1) / SEGMENT - 1).max())
    return change / (COUNT * g * COUNT * SEGMENT), stretch


@pytest.mark.slow
def test_32_bits():
    # Sticks keep their lengths to the limit of the error, 1e-5, and the energy stays as in 64 bits.
    root = Path(__file__).parents[3]
    code = (
        "import taichi as ti; ti.init(arch=ti.cpu, default_fp=ti.f32, opt_level=0, log_level=ti.ERROR, "
        "cpu_max_num_threads=1); import sys; sys.path[:0] = ['tests', 'tests/pbd/direct', '.']; import test_parts; "
        "print(*test_parts.run_in_32_bits())"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    change, stretch = map(float, found.stdout.split("\n")[-2].split())
    assert change < 0.1
    assert stretch < 2e-5


@pytest.mark.parametrize("members", [EVALUATION, MEASURES, SEARCH])
def test_structures_of_kernels_have_the_precision_of_taichi(members):
    # pbd is imported before Taichi starts, when `float` in a structure means 32 bits.
    assert structure(members).members[members[0]] == ti.f64
