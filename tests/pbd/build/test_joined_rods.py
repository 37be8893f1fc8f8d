"""Rods that begin or end at particles that are there already."""

import numpy as np
import pytest

import pbd
from pbd import build

MATERIAL = {"radius": 0.004, "density": 1000, "young": 2e7}
OPTIONS = {"dt": 1 / 60, "substeps": 4, "iterations": 4, "damping": 0.02}
CORNER, LEFT, RIGHT = (0.5, 0, 0), 20, 16


def total_mass(particles):
    """Of all particles that can move [kg]."""
    masses = particles.masses()
    return masses[np.isfinite(masses)].sum()


def test_two_rods_joined_at_a_corner_are_one_rod_with_a_corner():
    """The same masses, and to round-off the same shape under its own weight."""
    one, two = pbd.Particles(), pbd.Particles()
    along, across = np.linspace((0, 0, 0), CORNER, LEFT + 1), np.linspace(CORNER, (0.5, 0.4, 0), RIGHT + 1)
    whole = build.rod(one, np.concatenate([along, across[1:]]), natural="given", clamps="start", **MATERIAL)
    first = build.rod(two, along, clamps="start", **MATERIAL)
    second = build.rod(two, across, start=first.particles[-1], **MATERIAL)
    assert second.particles[0] == first.particles[-1]
    assert total_mass(two) == pytest.approx(total_mass(one), rel=1e-14)
    tips = []
    for particles, rod in ((one, whole), (two, second)):
        system = pbd.ParticleSystem(particles, **OPTIONS)
        system.step(400)
        tips.append(system.positions()[rod.particles[-1]])
    assert tips[0][2] < -0.5
    assert np.abs(tips[0] - tips[1]).max() < 1e-9


def test_a_rod_ends_at_a_particle_of_another_kind():
    """It pulls a particle of 1 kg down on a stick: the rod has the mass of its half segment at that node."""
    particles = pbd.Particles()
    weight = particles.add_particle((1, 0, 0), 1.0)
    rod = build.rod(particles, [(0, 0, 0), (1, 0, 0)], 10, pins="start", end=weight, **MATERIAL)
    assert rod.particles[-1] == weight
    half = 1000 * np.pi * 0.004**2 * 0.1 / 2
    assert particles.masses()[weight] == pytest.approx(1 + half * (1 - 1 / 100), rel=1e-12)
    assert particles.masses()[weight] * particles.gravity_scales()[weight] == pytest.approx(1 + half, rel=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"start": 0}, "start of the rod is 1 m from particle 0"),
        ({"end": 7}, "end"),
        ({"start": 0, "closed": True}, "closed rod"),
    ],
)
def test_bad_joins_are_refused(given, message):
    """One line says which particle, and leaves the description as it was."""
    particles = pbd.Particles()
    particles.add_particle((0, 0, 1))
    with pytest.raises((ValueError, IndexError), match=message):
        build.rod(particles, [(0, 0, 0), (1, 0, 0), (0, 1, 0)], **MATERIAL, **given)
    assert len(particles) == 1


def test_a_wire_along_an_edge_of_a_cloth_holds_it_out():
    """A cloth hangs from two corners of its upper edge: it sags there, but by the beam's deflection with a wire."""
    drops = []
    for wired in (False, True):
        particles = pbd.Particles()
        sheet = build.cloth(particles, (0, 0, 1), (1, 0, 0), (0, 0, -0.5), (9, 17), pins=("left_top", "right_top"))
        edge = sheet.particles[:17]
        if wired:
            rod = build.rod(particles, along=edge, radius=0.004, density=1000, young=2e11)
            assert (rod.particles == edge).all()
        assert np.ptp(particles.positions()[edge, 2]) == 0
        system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=8, iterations=10, damping=0.05)
        system.step(200)
        drops.append(1 - system.positions()[edge[8], 2])
    # Simply supported under w: 5 w L⁴/384 EI = 0.1 mm for the wire's own weight and that of 75 g of cloth.
    assert drops[0] > 10 * drops[1]
    assert 0 < drops[1] < 1e-3


def test_a_rod_needs_points_or_particles():
    """One of them, and no number of segments beside particles."""
    particles = pbd.Particles()
    line = particles.add_particles([(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    for given in ({}, {"points": [(0, 0, 0), (1, 0, 0)], "along": line}, {"along": line, "segments": 4}):
        with pytest.raises(TypeError, match="along"):
            build.rod(particles, **given, **MATERIAL)
