"""Segments of rods tear at a tension."""

import numpy as np
import pytest

import pbd
from pbd import build

STRENGTH, WEIGHT = 30.0, 1.0


def hanging():
    """A rod of 100 g on which 1 kg hangs, and that tears at 30 N. Returns: system, rod."""
    particles = pbd.Particles()
    weight = particles.add_particle((0, 0, 0), WEIGHT)
    rod = build.rod(
        particles, [(0, 0, 1), (0, 0, 0)], 10, radius=0.004, density=0.1 / (np.pi * 0.004**2), young=2e7, pins="start",
        end=weight, strength=STRENGTH,
    )  # fmt: skip
    return pbd.ParticleSystem(particles, dt=1 / 60, substeps=8, iterations=8, damping=0.05), rod


def test_a_rod_tears_where_its_tension_is_above_its_strength():
    """At the pin it carries (1 + 0.1 - 0.005) g + F, the half segment there hangs on the pin itself."""
    system, rod = hanging()
    forces = np.zeros((system.count, 3))
    beyond = STRENGTH - (WEIGHT + 0.095) * 9.81
    system.step(200)
    for part in np.linspace(0, 0.97, 60):  # slowly: what is loaded at once swings to twice the tension
        forces[rod.particles[-1], 2] = -beyond * part
        system.set_forces(forces)
        system.step(10)
    assert not system.events
    forces[rod.particles[-1], 2] = -beyond * 1.03
    system.set_forces(forces)
    system.step(60)
    first = system.events[0]
    assert first.kind == "tear"
    assert set(first.members) <= set(rod.particles.tolist())
    assert np.isfinite(system.positions()).all()


def test_what_tore_falls_freely_and_goes_on_from_a_state():
    """Below the tear v = g t, to 1e-4: the node of 5 g weighs 1 % too much there. From a state it has the same bits."""
    system, rod = hanging()
    forces = np.zeros((system.count, 3))
    forces[rod.particles[-1], 2] = -2 * STRENGTH
    system.set_forces(forces)
    while not system.events:
        system.step(1)
    system.set_forces(0 * forces)
    system.damping = 0.0
    system.step(1)
    before, state = system.velocities()[rod.particles[-1], 2], system.state()
    system.step(6)
    assert system.velocities()[rod.particles[-1], 2] - before == pytest.approx(-9.81 * 0.1, rel=1e-4)
    later = system.digest()
    system.set_state(state)
    system.step(6)
    assert system.digest() == later
