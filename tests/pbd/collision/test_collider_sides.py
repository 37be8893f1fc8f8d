"""Particles leave a collider on the side from which they came, also from beyond its middle."""

import numpy as np
import pytest

import pbd
from pbd import build

SIDE = 0.2  # size of colliders [m]
SHAPES = {
    "box": pbd.Box((1, 1, SIDE)),
    "sphere": pbd.Sphere(SIDE / 2),
    "capsule": pbd.Capsule(SIDE / 2, start=(-1, 0, 0), end=(1, 0, 0)),
    "cylinder": pbd.Cylinder(0.5, SIDE),
    "hull": pbd.ConvexHull([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-SIDE / 2, SIDE / 2)]),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_fast_particle_stays_on_its_side(shape, restitution):
    """A particle above is at z = (0.1 + h) m and falls by 0.05 m to 0.19 m beyond the upper side in the first step."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_collider(SHAPES[shape], restitution=restitution)
    deep = np.linspace(0.05, 0.19, 15)
    heights, dt = 0.5 * SIDE + np.linspace(0.01, 0.05, 15), 0.01
    speeds = (heights - 0.5 * SIDE + deep) / dt
    velocities = np.stack([0 * speeds, 0 * speeds, -speeds], axis=1)
    particles.add_particles(np.stack([0 * heights, 0 * heights, heights], axis=1), velocity=velocities)
    system = pbd.ParticleSystem(particles, dt=dt)
    system.step()
    z = system.positions()[:, 2]
    assert z == pytest.approx(np.full(15, 0.5 * SIDE), abs=1e-9)
    # Newton's e: the speed after is e times that before. With e = 0 the next step ends the motion of the first.
    system.step(2)
    assert system.velocities()[:, 2] == pytest.approx(restitution * speeds, abs=1e-6)


@pytest.mark.parametrize("speed", [4.0, 9.0, 11.0])
def test_a_fast_plate_takes_particles_along(speed):
    """A plate that moves by 7 to 18 cm per step meets resting particles: they stay in front of it."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(np.random.default_rng(1).uniform((0.05, -0.3, -0.3), (0.14, 0.3, 0.3), (20, 3)))
    particles.add_collider(pbd.Box((SIDE, 1, 1)), motion=lambda t: (-SIDE / 2 + speed * t, 0, 0))
    system = pbd.ParticleSystem(particles, dt=1 / 60)
    system.step(10)
    assert (system.positions()[:, 0] >= speed * system.time - 1e-9).all()


def test_a_cloth_that_is_pressed_into_a_box_comes_out_above():
    """Forces press a cloth into a box by 12 cm per substep, beyond its middle. It stays above."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    cloth = build.cloth(particles, (-0.2, -0.2, 0.101), (0.4, 0, 0), (0, 0.4, 0), (8, 8))
    particles.add_collider(pbd.Box((1, 1, SIDE)), friction=0.3)
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=10)
    # The displacement in a substep is F h²/m.
    system.set_forces(particles.masses()[:, None] * np.array((0, 0, -0.12 * 60**2)))
    system.step(30)
    assert system.positions()[np.ravel(cloth.particles), 2].min() >= SIDE / 2 - 1e-9
