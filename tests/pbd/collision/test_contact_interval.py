"""One search for contacts between particles serves several substeps."""

import numpy as np
import pytest

import pbd
from pbd.data import REPORT

c, h, EVERY = 0.1, 1 / 480, 4  # contact distance [m], substep [s], substeps for each search


def two(speed):
    """Two particles on a line. One flies towards the other and reaches it within EVERY substeps."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 0, 0), radius=c / 2)
    particles.add_particle((c + 0.999 * speed * EVERY * h, 0, 0), velocity=(-speed, 0, 0), radius=c / 2)
    particles.add_particle((5, 0, 0))  # so that distances in the description do not limit the contact distance
    particles.add_particle_contacts()
    return particles


@pytest.mark.parametrize("part", [0.3, 0.9])
def test_slow_contacts_between_searches_are_found(part):
    # Equal masses move apart by equal amounts. After EVERY substeps their distance is c, and their mean has moved.
    speed = part * c / (EVERY * h)
    particles = two(speed)
    system = pbd.ParticleSystem(particles, dt=EVERY * h, substeps=EVERY, iterations=1, contact_interval=EVERY)
    each = pbd.ParticleSystem(particles, dt=EVERY * h, substeps=EVERY, iterations=1)
    for _ in range(3):
        system.step()
        each.step()
        assert np.array_equal(system.positions(), each.positions())
    x = system.positions()[:2, 0]
    assert x[1] - x[0] == pytest.approx(c, rel=1e-12)
    expected = particles.positions()[:2, 0].mean() - 0.5 * speed * 3 * EVERY * h
    assert x.mean() == pytest.approx(expected, rel=1e-12)


def test_each_step_starts_with_a_search():
    particles = two(1.0)
    with pytest.raises(ValueError, match="substeps is 6: expected a multiple of contact_interval, 4"):
        pbd.ParticleSystem(particles, substeps=6, contact_interval=EVERY)
    system = pbd.ParticleSystem(particles, substeps=8, contact_interval=EVERY)
    with pytest.raises(ValueError, match="substeps is 2"):
        system.substeps = 2
    with pytest.raises(ValueError, match="contact_interval"):
        pbd.ParticleSystem(particles, contact_interval=0)


def gas(seed, count=80, side=0.9):
    """Spheres of several radii in a box, which fly about."""
    random = np.random.default_rng(seed)
    particles = pbd.Particles(gravity=(0, 0, -9.81))
    lattice = np.stack(np.meshgrid(*3 * [np.linspace(0.12, side - 0.12, 5)]), axis=-1).reshape(-1, 3)
    starts = lattice[random.permutation(len(lattice))[:count]]
    radii = random.uniform(0.02, c / 2, count)
    particles.add_particles(starts, mass=radii**3, radius=radii, velocity=random.normal(0.0, 1.0, (count, 3)))
    particles.add_box((0, 0, 0), (side, side, side))
    particles.add_particle_contacts()
    return particles


@pytest.mark.parametrize("seed", range(4))
def test_searches_that_are_left_out_would_have_found_nothing(seed):
    # A step of one substep starts with a search, so all pairs are found there. The order in which a particle's
    # corrections are summed up differs, so results do by round-off, which grows from hit to hit.
    substeps, steps, hits = 12, 6, 0
    system = pbd.ParticleSystem(gas(seed), dt=substeps * h, substeps=substeps, iterations=2)
    each = pbd.ParticleSystem(gas(seed), dt=h, substeps=1, iterations=2)
    for _ in range(steps):
        system.step()
        for _ in range(substeps):
            each.step()
            hits += each.statistics().contacts
        assert np.abs(system.positions() - each.positions()).max() < 1e-9
    assert hits > 200


def test_what_rests_is_searched_once_a_step():
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane())
    particles.add_particles([(0, 0, c / 2), (c, 0, c / 2), (0, 0, 5.0)], radius=c / 2)
    particles.add_particle_contacts()
    system = pbd.ParticleSystem(particles, dt=EVERY * h, substeps=EVERY)
    for speed, ahead in [(0.0, EVERY), (0.9 * c / h, 1)]:  # within 3/8 c a search looks ahead
        system.set_velocities(np.array([(0, 0, 0), (0, 0, 0), (0, 0, speed)]))
        system.step()
        assert system._reports.worlds[0, REPORT.search_ahead] == pytest.approx(ahead, rel=0.1)


def test_each_part_of_a_substep_is_searched():
    # A chain that flies about makes the direct solve divide substeps into parts, of which some are tried again. So
    # many steps at once must not count them: each step would begin in another state of the search.
    def system():
        particles = gas(16)
        masses, speeds = [np.inf, 1, 1, 1, 1], 3 * np.random.default_rng(16).normal(size=(5, 3))
        places = [(0.02 * k, 0.5, 0.3) for k in range(5)]
        chain = particles.add_particles(places, mass=masses, velocity=speeds * np.array([0, 1, 1, 1, 1])[:, None])
        particles.add_sticks(list(zip(chain, chain[1:])))
        return pbd.ParticleSystem(particles, dt=1 / 60, substeps=4, iterations=8, solve="direct", direction="start")

    together, each = system(), system()
    for _ in range(4):
        together.step(5)
        for _ in range(5):
            each.step()
        assert (together._reports.worlds[:, REPORT.substeps_to_search] == 0).all()
    assert together.digest() == each.digest()
