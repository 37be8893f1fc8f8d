"""One search for contacts between particles serves several substeps."""

import numpy as np
import pytest

import pbd

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
