"""Free particles: Verlet is exact for constant acceleration, and damping is a geometric sequence."""

import numpy as np
import pytest

import pbd

GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.mark.parametrize("velocity", [(0, 0, 0), (3.0, -1.5, 12.0)])
def test_a_thrown_particle_follows_its_parabola_to_round_off(velocity):
    # x(t) = x0 + v0 t + g t²/2; Verlet with x* = x0 - v0 h + g h²/2 at the start has no truncation error.
    particles = pbd.Particles(gravity=GRAVITY)
    particles.add_particle((1, 2, 3), mass=0.3, velocity=velocity)
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(300)
    t = system.time
    assert t == pytest.approx(3.0, abs=1e-12)
    exact = np.array([1, 2, 3]) + np.array(velocity) * t + GRAVITY * t * t / 2
    assert np.abs(system.positions()[0] - exact).max() < 1e-10


@pytest.mark.parametrize("substeps", [1, 4])
def test_damping_reduces_the_velocity_by_a_constant_factor(substeps):
    # x' - x = (1 - d)(x - x*): displacements per step are a geometric sequence with ratio 1 - d, to round-off.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 0, 0), velocity=(5.0, 1.0, -2.0))
    system = pbd.ParticleSystem(particles, dt=0.01, damping=0.02, substeps=substeps)
    speeds = []
    for _ in range(50):
        system.step()
        speeds.append(system.velocities()[0])
    ratios = np.array(speeds[1:]) / np.array(speeds[:-1])
    assert np.abs(ratios - 0.98).max() < 1e-12


def test_a_constant_force_acts_from_time_zero():
    # a = g + F/m is constant from time zero: a parabola, to round-off.
    particles = pbd.Particles()
    particles.add_particle((0, 0, 0), mass=2.0, velocity=(1, 0, 0))
    system = pbd.ParticleSystem(particles, dt=0.01)
    force = np.array([[3.0, -4.0, 10.0]])
    system.set_forces(force)
    system.step(100)
    exact = np.array([1.0, 0, 0]) + (GRAVITY + force[0] / 2.0) / 2
    assert np.abs(system.positions()[0] - exact).max() < 1e-12


def test_a_changed_step_keeps_the_velocity():
    # x - x* is scaled by h_new/h_old; without acceleration the motion stays uniform to round-off.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((0, 0, 0), velocity=(2.0, 0, 0))
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step(10)
    system.dt = 0.004
    system.step(25)
    assert system.time == pytest.approx(0.2, abs=1e-15)
    assert system.positions()[0, 0] == pytest.approx(0.4, abs=1e-14)


def test_energy_of_a_thrown_particle_is_constant_to_round_off():
    # At the middle of a step ½ m ((x - x*)/h)² + m g (z + z*)/2 is an invariant of Verlet under constant acceleration.
    # Round-off: m v ε |x|/h ≈ 2 · 20 · 2e-16 · 20 / 0.01 = 2e-11 J in each step, accumulated like a random walk.
    particles = pbd.Particles()
    particles.add_particle((0, 0, 1), mass=2.0, velocity=(1, 0, 5))
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step()
    first = system.energy().total
    for _ in range(20):
        system.step(10)
        assert system.energy().total == pytest.approx(first, abs=3e-10)


def test_a_driven_particle_is_on_its_path_after_every_step():
    particles = pbd.Particles()
    i = particles.add_particle((1, 0, 0))

    def path(time):
        return np.cos(3 * time), np.sin(3 * time), 0.0

    particles.add_path([i], path)
    system = pbd.ParticleSystem(particles, dt=0.01, substeps=3)
    for count in (1, 7, 100):
        system.step(count)
        assert np.abs(system.positions()[i] - path(system.time)).max() < 1e-13
