"""Sticks that tear: when, which, in which world; what they leave; and what is refused."""

import numpy as np
import pytest
from marks import needs_lanes, slow

import pbd
from pbd.build import cloth

LENGTH, COMPLIANCE, TEAR = 0.5, 1e-4, 1.02


def rope(tear, masses=(1.0, 1.0, 1.0, 1.0, 1.0), gravity=(0, 0, 0), pins=(0,), compliance=COMPLIANCE):
    """A rope along x whose sticks tear at a tension of (tear - 1) LENGTH/compliance."""
    particles = pbd.Particles(gravity=gravity)
    ends = particles.add_particles([(LENGTH * k, 0, 0) for k in range(len(masses))], masses)
    particles.add_sticks(np.stack([ends[:-1], ends[1:]], axis=1), compliance=compliance, tear=tear)
    particles.pin(list(pins))
    return particles


def curtain(tear, thickness=0.0):
    """A cloth that hangs from its upper side, and falls from level."""
    particles = pbd.Particles(wind=(0.5, 0, 0))
    cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (24, 24), compliance=1e-2, thickness=thickness, tear=tear,
          pins=("top",))  # fmt: skip
    return particles


@pytest.mark.parametrize("solve", ["iterative", slow("direct")])
def test_a_stick_tears_at_its_tension(solve):
    # At rest the tension T of a compliant stick is (length - L)/α. It tears when T > (tear - 1) L/α = 100 N.
    particles = rope(TEAR, masses=(1.0, 1.0))
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=20, solve=solve, damping=0.5)
    for force in [*np.linspace(0, 99.9, 200), 99.9, 100.1]:  # slowly, because a sudden force overshoots
        assert system.events == []
        system.set_forces([(0, 0, 0), (force, 0, 0)])
        system.step(20 if force > 99 else 1)
    assert len(system.events) == 1
    event = system.events[0]
    assert (event.kind, event.world, event.members) == ("tear", 0, (0, 1))
    assert event.position == pytest.approx((TEAR * LENGTH / 2, 0, 0), rel=1e-3)
    # The free particle moves as Verlet moves it without constraints: x_{n+1} = x_n + k (x_n - x_{n-1}) + a h².
    system.damping = 0.0
    x = [system.positions()[1]]
    for _ in range(3):
        system.step()
        x.append(system.positions()[1])
    assert x[3] - 2 * x[2] + x[1] == pytest.approx((100.1e-4, 0, 0), abs=1e-12)


def test_the_weakest_stick_tears_and_momentum_stays():
    # Two free halves fly apart. Internal forces change no momentum, torn or not: to round-off.
    particles = rope((1.5, 1.5, 1.01, 1.5), masses=(1.0, 2.0, 3.0, 1.0, 2.0), pins=())
    particles.velocities()[:] = [(-4, 0, 0)] * 3 + [(8 * 6 / 3 / 2, 0, 0)] * 2
    system = pbd.ParticleSystem(particles, dt=0.005, iterations=20)
    masses = particles.masses()
    before = masses @ system.velocities()
    system.step(30)
    assert [event.members for event in system.events] == [(2, 3)]
    assert masses @ system.velocities() == pytest.approx(before, abs=1e-12)


def test_until_it_tears_a_stick_moves_as_one_that_cannot():
    digests = []
    for tear in (None, 1e6):
        system = pbd.ParticleSystem(curtain(tear), dt=1 / 60, iterations=4)
        system.step(20)
        digests.append(system.digest())
        assert system.events == []
    assert digests[0] == digests[1]


def torn_curtain(**options):
    """A system of a curtain after 40 steps, in which it tears."""
    system = pbd.ParticleSystem(curtain(1.05), dt=1 / 60, substeps=2, iterations=3, **options)
    system.step(40)
    assert 3 < len(system.events) < len(system.sticks()[0])
    return system


@pytest.fixture(scope="module")
def torn():
    return torn_curtain(lanes=1)


def test_events_do_not_depend_on_how_steps_are_made(torn):
    system = pbd.ParticleSystem(curtain(1.05), dt=1 / 60, substeps=2, iterations=3, lanes=1)
    for _ in range(40):
        system.step()
    assert system.events == torn.events
    assert system.digest() == torn.digest()
    times = [event.time for event in torn.events]
    assert times == sorted(times)
    assert np.multiply(times, 60) == pytest.approx(np.rint(np.multiply(times, 60)), abs=1e-9)  # at ends of steps


@needs_lanes
def test_bands_tear_as_one_after_another(torn):
    banded = torn_curtain()
    assert banded.has_bands
    assert banded.events == torn.events
    assert banded.digest() == torn.digest()


@needs_lanes
def test_worlds_tear_alone():
    # Each world has the events and bits that it has alone, also in lanes.
    forces = (60.0, 150.0, 20.0, 400.0)
    alone = []
    for force in forces:
        system = pbd.ParticleSystem(rope(TEAR), dt=0.01, iterations=10, damping=0.1)
        system.set_forces([(0, 0, 0)] * 4 + [(force, 0, 0)])
        system.step(30)
        alone.append(system)
    for lanes in (1, 4):
        worlds = pbd.ParticleSystem(rope(TEAR), dt=0.01, iterations=10, damping=0.1, worlds=4, lanes=lanes)
        worlds.set_forces([[(0, 0, 0)] * 4 + [(force, 0, 0)] for force in forces])
        worlds.step(30)
        assert [len(each.events) for each in alone] != [0] * 4
        for k, each in enumerate(alone):
            assert [event._replace(world=0) for event in worlds.events if event.world == k] == each.events
            assert worlds.positions()[k].tobytes() == each.positions().tobytes()


def test_a_snapshot_continues_with_what_is_torn(torn, tmp_path):
    state = torn.state()
    state.save(tmp_path / "torn.npz")
    other = pbd.ParticleSystem(curtain(1.05), dt=1 / 60, substeps=2, iterations=3, lanes=1)
    fresh = other.state()
    other.set_state(pbd.State.load(tmp_path / "torn.npz"))
    torn.step(10)
    other.step(10)
    assert other.digest() == torn.digest()
    # And back: nothing is torn in the fresh state, so the run is as the first.
    other.set_state(fresh)
    other.events.clear()
    other.step(40)
    assert other.events == torn.events[: len(other.events)]
    assert other.state().torn.sum() == len(other.events)
    torn.set_state(state)


def test_bending_and_wind_end_at_a_tear():
    system = pbd.ParticleSystem(curtain(1.05), dt=1 / 60, lanes=1)
    tearing, constraints = system._tearing, system.constraints
    before = constraints.arrays.parameters.to_numpy().copy(), constraints.drag_coefficient.to_numpy().copy()
    mask = np.zeros_like(tearing.torn)
    mask[5] = True
    tearing.set_torn(mask)
    edge = set(tearing.pairs[5].tolist())
    triangles = [k for k, corners in enumerate(system.particles.triangles()) if edge <= set(corners.tolist())]
    drag = constraints.drag_coefficient.to_numpy()
    assert len(triangles) in (1, 2)
    assert np.flatnonzero(drag != before[1]).tolist() == triangles
    assert (drag[triangles] == 0).all()
    changed = constraints.arrays.parameters.to_numpy() - before[0]
    assert 2 <= np.count_nonzero(changed) <= 6  # the limit, and the compliances of the hinges at the stick
    tearing.set_torn(0 * mask > 0)
    assert (constraints.arrays.parameters.to_numpy() == before[0]).all()
    assert (constraints.drag_coefficient.to_numpy() == before[1]).all()


def test_the_wind_ends_at_the_tears_of_each_world():
    # Worlds with other velocities tear elsewhere. Each has the bits that it has alone.
    def sheet(speeds, worlds=1):
        particles = pbd.Particles(wind=(0, 3, 0))
        cloth(particles, (0, 0, 1), (0.5, 0, 0), (0, 0, -0.5), (6, 6), pins=("top",), tear=1.02, drag=1.0)
        system = pbd.ParticleSystem(particles, worlds=worlds, dt=1 / 60, substeps=2, iterations=2)
        velocities = np.zeros((len(speeds), 36, 3))
        velocities[:, 30:, 1] = np.transpose([speeds])
        system.set_velocities(velocities if worlds > 1 else velocities[0])
        system.step(40)
        return system

    speeds = (12.0, -6.0)
    together = sheet(speeds, 2)
    for world, speed in enumerate(speeds):
        alone = sheet([speed])
        assert len(alone.events) > 3
        np.testing.assert_array_equal(together.positions()[world], alone.positions())


@needs_lanes
def test_the_wind_ends_at_cuts_of_a_cloth_in_bands():
    # A cut leaves the bands, whose arrays kernels no longer read then.
    def sheet(**options):
        particles = pbd.Particles(wind=(0, 5, 0))
        cloth(particles, (0, 0, 1), (1, 0, 0), (0, 0, -1), (24, 24), pins=("top",), drag=1.0)
        system = pbd.ParticleSystem(particles, dt=1 / 60, **options)
        system.step(2)
        before = system.has_bands
        system.cut(np.arange(50))
        system.step(10)
        return system, before

    (banded, had_bands), (plain, _) = sheet(), sheet(lanes=1)
    assert had_bands
    assert banded.digest() == plain.digest()
    drag = banded.arrays.wind.drag_coefficient.to_numpy()
    assert 0 < np.count_nonzero(drag == 0) < drag.size


def test_a_stick_that_was_cut_does_not_tear():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1, 0, 0)], velocity=[(0, 0, 0), (1, 0, 0)])
    particles.add_stick(0, 1, tear=1.5, compliance=0.1)
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.cut([0])
    system.step(100)  # they are 2 m apart then
    assert system.events == []
    assert not system.state().torn.any()


def test_what_was_cut_stays_so_when_tears_are_undone():
    # A triangle with a torn stick and one that was cut. A state from before the tear brings back that stick alone.
    particles = pbd.Particles(gravity=(0, 0, 0), wind=(0, 0, 5))
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0.5, 1, 0), (0.5, -1, 0)], mass=0.1)
    particles.add_sticks([(0, 1), (0, 2)], tear=1.2, compliance=1e3)
    particles.add_stick(1, 2, compliance=1e3)
    particles.add_triangles([(0, 1, 2)])
    particles.add_bending([(1, 2, 0, 3)], compliance=1e-3)
    system = pbd.ParticleSystem(particles, dt=0.01)
    start = system.state()

    def tear():
        x = system.positions()
        x[0] = -0.6, -0.1, 0.0
        system.set_positions(x)
        system.step(1)
        assert len(system.events) >= 1

    tear()
    system.set_state(start)
    pairs = np.sort(system.sticks()[0], axis=1).tolist()
    system.cut([pairs.index([1, 2])])
    cut = system.constraints.arrays.parameters.to_numpy()
    tear()
    system.set_state(start)
    assert (system.constraints.arrays.parameters.to_numpy() == cut).all()
    system.step(20)
    assert (system.positions()[:, 2] == 0).all()  # no wind, which alone would lift it


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tear": 1.0}, "tear is 1: expected more than one"),
        ({"tear": [1.5, 0.5]}, "tear is 0.5: expected more than one"),
        ({"tear": float("nan")}, "tear is nan: expected a finite number"),
        ({"tear": 1.5, "bound": "at_most"}, 'tear with bound="at_most": expected bound="equal"'),
        ({"tear": 1.5, "length": 0.0}, "tear of a stick of length zero"),
    ],
)
def test_refused(given, message):
    particles = pbd.Particles()
    particles.add_particles([(0, 0, 0), (1, 0, 0), (2, 0, 0)], 1.0)
    with pytest.raises(ValueError, match=message):
        particles.add_sticks([(0, 1), (1, 2)], **given)
    assert not particles.constraint_sets
