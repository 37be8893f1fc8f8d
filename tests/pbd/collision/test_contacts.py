"""Contacts between particles: the search by hashing, conserved quantities, and particles that must not move."""

import math

import numpy as np
import pytest
from marks import slow

import pbd
from pbd.core.kernels import read
from pbd.data import MOST_NEIGHBOURS

g = 9.81

PATHS = [{"schedule": "serial"}, {"schedule": "clusters", "clusters": 2}, {"schedule": "coloured"}]


STILL = ((0, 0, 0), (0, 0, 0))


def pair(first, second, masses=(1.0, 9.0), radii=(0.1, 0.2), velocities=STILL, friction=0.0, **options):
    """Two particles without gravity."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([first, second], masses, velocities, radii)
    particles.add_particle_contacts(friction)
    return pbd.ParticleSystem(particles, **{"dt": 0.01, **options})


def distances(x):
    """All distances, (n, n), infinite between a particle and itself."""
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(apart, math.inf)
    return apart


# The hash -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", PATHS)
@pytest.mark.parametrize("count", [2, 3, 40, 700])
def test_the_search_finds_the_neighbours_of_brute_force(count, options):
    # Neighbours are pairs whose positions in the middle of the step are nearer than the reach, 1.5 times the largest
    # contact distance. Particles without a radius have none. Coordinates have both signs, buckets have many particles,
    # and all move.
    rng = np.random.default_rng(count)
    side = 0.13 * count ** (1 / 3)
    particles = pbd.Particles(gravity=(0, 0, 0))
    radii = np.where(rng.uniform(size=count) < 0.1, 0.0, rng.uniform(0.02, 0.08, count))
    particles.add_particles(rng.uniform(-side, side, (count, 3)), 1.0, rng.normal(0, 2, (count, 3)), radii)
    particles.add_particle_contacts()
    particles.add_stick(0, 1)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=0, **options)
    for _ in range(3):
        before = system.positions()
        system.step()
        middle = (before + system.positions()) / 2
        met = (distances(middle) < 3 * radii.max()) & (radii > 0) & (radii[:, None] > 0)
        found = np.zeros((count, count), int)
        neighbours = system.arrays.contacts.neighbours.to_numpy()[..., 0]
        counts = system.arrays.contacts.neighbour_count.to_numpy()[:, 0]
        for i in range(count):
            for j in neighbours[i, : counts[i]]:
                found[i, j] += 1
        assert np.array_equal(found, met.astype(int))
    if count == 700:
        assert met.sum() > 1000


def test_too_many_neighbours_are_an_error():
    # At most MOST_NEIGHBOURS others within reach are stored. One more is an error.
    def crowd(count):
        particles = pbd.Particles(gravity=(0, 0, 0))
        angle = np.arange(count) * 2 * np.pi / count
        particles.add_particles(np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1), radius=1.0)
        particles.add_particle_contacts()
        return pbd.ParticleSystem(particles)

    crowd(MOST_NEIGHBOURS + 1).step()
    for options in (1, 3):
        message = rf"{MOST_NEIGHBOURS + 1} others within reach of contact, and {MOST_NEIGHBOURS} are kept"
        with pytest.raises(RuntimeError, match=message):
            crowd(MOST_NEIGHBOURS + 2).step(options)


def test_ends_of_a_stick_are_in_contact_only_if_it_is_cut():
    # Three in a row at a distance of 1 with contacts at 0.9: each is within reach (1.35) of the next one alone.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1, 0, 0), (2, 0, 0)], radius=0.45)
    particles.add_sticks([(0, 1), (1, 2)])
    particles.add_particle_contacts()
    system = pbd.ParticleSystem(particles)
    for cut, candidates in (([], [0, 0, 0]), ([1], [0, 1, 1])):
        system.constraints.cut(cut)
        system.step()
        assert read(system.arrays.contacts.neighbour_count).ravel().tolist() == candidates


@pytest.mark.parametrize("elements", [slow("together"), "iterative"])
def test_ends_of_an_edge_of_fabric_are_not_in_contact(elements):
    # Corners of a square of 1 with contacts at 0.9, and a particle that is within reach (1.35) of all of them.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0.9)], radius=0.45)
    particles.add_membrane([(0, 1, 2), (0, 2, 3)], pbd.FABRICS["denim"], (1, 0, 0))
    particles.add_particle_contacts()
    system = pbd.ParticleSystem(particles, elements=elements)
    system.step()
    assert read(system.arrays.contacts.neighbour_count).ravel().tolist() == [1, 1, 1, 1, 4]


# One pair -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", PATHS)
@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("aside", [0.0, 0.1, 0.2])
def test_a_collision_conserves_momentum_and_keeps_the_distance(options, friction, aside):
    # Masses 1 and 9, central and off centre. Corrections are distributed by inverse mass: Σ m v to round-off.
    masses = np.array([1.0, 9.0])
    velocities = np.array([(3.0, 0.2, 0.0), (-1.0, 0.0, 0.5)])
    system = pair((-0.5, aside, 0), (0.5, 0, 0), velocities=velocities, friction=friction, **options)
    closest = math.inf
    for _ in range(60):
        system.step()
        x = system.positions()
        closest = min(closest, np.linalg.norm(x[1] - x[0]))
        assert np.abs(masses @ system.velocities() - masses @ velocities).max() < 1e-13
    # They do touch. With friction a part of the correction is along the tangent. It is of second order in the relative
    # displacement of a step, 0.04: up to 0.04²/0.3.
    assert 0.3 - 1e-15 <= closest < 0.3 + (0.04**2 / 0.3 if friction else 1e-15)


def test_a_head_on_collision_is_perfectly_plastic():
    # Both continue at the speed of their centre of mass, (3 · 1 - 1 · 9)/10.
    system = pair((-0.5, 0, 0), (0.5, 0, 0), velocities=((3, 0, 0), (-1, 0, 0)))
    system.step(60)
    assert np.abs(system.velocities() - [[-0.6, 0, 0]]).max() < 1e-12
    assert system.statistics().contacts == 0 or np.ptp(system.positions()[:, 0]) == pytest.approx(0.3, abs=1e-15)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("speed", [20.0, 29.9, 30.0, 58.0])
def test_two_particles_that_pass_through_one_another_are_stopped(speed, side):
    # The contact distance is 0.3 and the gap 0.01. The particle ends on the far side of the other one, or, at 30.0, at
    # its position. Up to 0.58 in the step, their middle is at most 0.29/2 away, within the reach of 0.45.
    velocities = np.array([(side * speed, 0, 0), (0, 0, 0)])
    system = pair((-0.3 * side, 0, 0), (0, 0, 0), masses=(1.0, 9.0), velocities=velocities)
    system.step()
    x = system.positions()
    assert side * (x[1, 0] - x[0, 0]) == pytest.approx(0.3, abs=1e-14)
    assert x[:, 0] @ [1.0, 9.0] == pytest.approx(-0.3 * side + 0.01 * side * speed, abs=1e-14)


@pytest.mark.parametrize("way", [0.05, 0.15, 0.29])
@pytest.mark.parametrize("part", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("aside", [0.0, 0.2])
def test_every_contact_is_found_up_to_the_stated_relative_way(way, part, aside):
    # The search finds pairs whose relative displacement is below the contact distance c = 0.3 (particle_contacts.py).
    # The pair touches after `part` of the step, and continues into or through one another.
    contact = np.array([math.sqrt(0.3**2 - aside**2), aside, 0])
    start = contact + np.array([part * way, 0, 0])
    system = pair(start, (0, 0, 0), velocities=((-way / 0.01, 0, 0), (0, 0, 0)))
    system.step()
    x = system.positions()
    assert np.linalg.norm(x[1] - x[0]) == pytest.approx(0.3, abs=1e-14)


def test_two_particles_that_pass_each_other_do_not_touch():
    # They are on opposite sides after the step, and never nearer than 0.31: no contact, to the last bit.
    velocities = ((40.0, 0, 0), (0, 0, 0))
    system = pair((-0.2, 0.31, 0), (0, 0, 0), velocities=velocities)
    system.step()
    assert system.positions()[0] == pytest.approx([0.2, 0.31, 0], abs=1e-15)
    assert system.positions()[1].tolist() == [0, 0, 0]
    assert system.statistics().contacts == 0


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.5, 3.0])
@pytest.mark.parametrize("iterations", [1, 8])
def test_friction_between_particles_follows_coulomb(friction, iterations):
    # Approach at 1 m/s, tangential motion at 2 m/s, from contact. The normal correction is p, about 0.01 m, and the
    # tangential displacement is s, about 0.02 m. Friction removes min(μ p, s) of it.
    masses = np.array([1.0, 9.0])
    velocities = np.array([(1.0, 2.0, 0.0), (0, 0, 0)])
    system = pair((-0.3, 0, 0), (0, 0, 0), velocities=velocities, friction=friction, iterations=iterations)
    system.step()
    x = system.positions()
    # The normal of the contact is that at the end of the step, from (-0.29, 0.02).
    normal = np.array([-0.29, 0.02, 0]) / math.hypot(0.29, 0.02)
    depth = 0.3 - math.hypot(0.29, 0.02)
    slip = np.array([0.01, 0.02, 0])
    slip -= slip @ normal * normal
    taken = min(friction * depth, np.linalg.norm(slip))
    after = x[0] - x[1]
    expected = np.array([-0.29, 0.02, 0]) + depth * normal - taken * slip / np.linalg.norm(slip)
    assert np.abs(after - expected).max() < (1e-15 if iterations == 1 else 2 * taken**2 / 0.3 + 1e-14)
    # Friction only slows the tangential motion, for any coefficient, and never reverses it.
    tangential = system.velocities()[0] - system.velocities()[1]
    tangential -= tangential @ normal * normal
    assert 0 <= tangential @ slip <= np.linalg.norm(slip) ** 2 / 0.01 * (1 + 1e-12)
    assert np.abs(masses @ (x - [(-0.3, 0, 0), (0, 0, 0)]) - [0.01, 0.02, 0]).max() < 1e-15


def test_particles_described_closer_keep_their_described_distance():
    # Two neighbours of a cloth are 0.1 apart and 0.15 thick. At rest they do not move, and they stay 0.1 apart when
    # pushed together. A third particle, which starts further away, stays at the sum of the radii.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0.1, 0, 0), (1.0, 0, 0)], [1.0, 3.0, 2.0], radius=0.15)
    particles.add_particle_contacts()
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=50)
    before = system.positions()
    system.step(5)
    assert np.array_equal(system.positions(), before)
    system.set_velocities([(1.0, 0, 0), (-2.0, 0, 0), (0, 0, 0)])
    system.step(5)
    x = system.positions()[:, 0]
    assert x[1] - x[0] == pytest.approx(0.1, abs=1e-14)
    system.set_velocities([(0, 0, 0), (0, 0, 0), (-10.0, 0, 0)])
    system.step(30)
    x = system.positions()[:, 0]
    assert x[1] - x[0] >= 0.1 - 1e-12
    assert x[2] - x[1] >= 0.3 - 1e-12


def test_a_pinned_particle_is_an_obstacle():
    system = pair((-0.5, 0, 0), (0, 0, 0), masses=(1.0, math.inf), velocities=((2.0, 0, 0), (0, 0, 0)))
    system.step(60)
    assert system.positions().tolist()[1] == [0, 0, 0]
    assert system.positions()[0, 0] == pytest.approx(-0.3, abs=1e-15)


def test_a_kinematic_particle_pushes_others():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0.5, 0, 0)], 1.0, radius=[0.1, 0.2])
    particles.add_particle_contacts()
    particles.add_path(0, lambda time: (2.0 * time, 0, 0))
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(40)
    assert system.positions()[:, 0] == pytest.approx([0.8, 1.1], abs=1e-14)
    assert system.velocities()[1] == pytest.approx([2.0, 0, 0], abs=1e-12)


def test_particles_without_radius_have_no_contacts():
    system = pair((-0.5, 0, 0), (0.5, 0, 0), radii=(0.0, 0.2), velocities=((2.0, 0, 0), (-2.0, 0, 0)))
    system.step(100)
    assert np.abs(system.positions() - [[1.5, 0, 0], [-1.5, 0, 0]]).max() < 1e-13


# Many ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_momentum_of_many_contacts_is_conserved_to_round_off(friction):
    # Each pair divides its correction by one number, so that Σ m Δx is zero pair by pair.
    rng = np.random.default_rng(9)
    particles = pbd.Particles(gravity=(0, 0, 0))
    masses = rng.uniform(1, 9, 200)
    x = rng.uniform(-0.5, 0.5, (200, 3))
    particles.add_particles(x, masses, -2 * x, radius=0.08)
    particles.add_particle_contacts(friction)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=10)
    before, touching = masses @ particles.velocities(), 0
    for _ in range(50):
        system.step()
        touching = max(touching, system.statistics().contacts)
        # Round-off: 200 particles of up to 9 kg, ε · 1 m / h each in an iteration.
        assert np.abs(masses @ system.velocities() - before).max() < 200 * 9 * 2.2e-16 / 0.01 * 10
    assert touching > 100


def test_contacts_are_counted_only_after_iterations():
    system = pair((0, 0, 0), (0.2, 0, 0), iterations=0)
    system.step()
    assert system.statistics().contacts == 0


def pile(dt):
    """300 grains of 2 cm, released a little apart in a box of 16 x 16 cm, without friction: about five layers."""
    rng = np.random.default_rng(10)
    places = np.array([(i, j, k) for k in range(7) for i in range(7) for j in range(7)], float)[:300]
    lean = places[:, 2:] * np.array([0.0012, -0.0008, 0])
    x = 0.0215 * places + lean + rng.uniform(-7e-4, 7e-4, (300, 3)) + [-0.065, -0.065, 0.02]
    particles = pbd.Particles(gravity=(0, 0, -g))
    particles.add_particles(x, rng.uniform(0.005, 0.02, 300), radius=0.01)
    particles.add_particle_contacts()
    particles.add_box((-0.08, -0.08, 0), (0.08, 0.08, 1.0))
    return pbd.ParticleSystem(particles, dt=dt, iterations=30)


def overlap(system):
    """The largest overlap of two grains, in diameters."""
    return 1 - distances(system.positions()).min() / 0.02


@pytest.mark.slow
def test_a_pile_of_grains_comes_to_rest():
    system = pile(1 / 250)
    system.step(1000)
    settled = system.positions()
    assert settled[:, 2].max() < 0.1
    assert settled.min(axis=0) == pytest.approx([-0.07, -0.07, 0.01], abs=1e-15)
    # At rest a second more moves them by less than a hundredth of their radius. The exceptions are a few loose grains,
    # which slide without friction until they lean on something.
    system.step(250)
    moved = np.linalg.norm(system.positions() - settled, axis=1)
    assert np.quantile(moved, 0.95) < 1e-4
    assert moved.max() < 1e-3


@pytest.mark.slow
def test_a_pile_of_grains_overlaps_little_and_less_with_a_shorter_step():
    # In each step all grains fall by g h², 0.16 mm at 4 ms, and the lowest carry five times that. 30 Jacobi iterations
    # leave a few g h²: 6 % of a diameter is 7.5 g h². Half the step leaves a quarter in the same pile, and less than
    # half in any pile.
    coarse, fine = pile(1 / 250), pile(1 / 500)
    coarse.step(250)
    assert overlap(coarse) < 0.06
    fine.step(500)
    assert overlap(fine) < overlap(coarse) / 2


@pytest.mark.parametrize(("count", "worlds"), [(1, 1), (2, 1), slow(100, 3), (1_000, 1)])
def test_threads_sort_particles_as_one_thread_does(count, worlds):
    # Both sort by bucket, and by index in a bucket. Some particles share a bucket, and some have no contacts.
    x = np.random.default_rng(count).uniform(-0.3, 0.3, (count, 3))
    found = []
    for schedule in ("serial", "coloured"):
        p = pbd.Particles()
        p.add_particles(x, radius=np.where(np.arange(count) % 7 == 3, 0.0, 0.004))
        p.add_particle_contacts()
        system = pbd.ParticleSystem(p, dt=1 / 60, substeps=1, iterations=1, worlds=worlds, schedule=schedule, lanes=1)
        system.step(1)
        contacts = system.arrays.contacts
        found.append([contacts.first_in_bucket.to_numpy(), contacts.sorted_position.to_numpy()])
    assert np.array_equal(found[0][0], found[1][0])
    assert found[0][0].max() == np.count_nonzero(np.arange(count) % 7 != 3)
    assert np.array_equal(found[0][1], found[1][1])
