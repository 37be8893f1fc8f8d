"""Neighbours in a surface: what is near them because the surface joins them, and how far it may bend."""

import numpy as np
import pytest
from sheets import add_line, add_sheet

import pbd
from pbd.collision.surfaces.neighbours import have_neighbours

d = 0.04  # thickness [m]


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, 9, 14])
@pytest.mark.parametrize(("turn", "moves"), [(np.pi, False), (1.5 * np.pi, True)])
def test_a_rope_bends_to_a_radius_of_half_its_thickness(count, turn, moves):
    # With its middle on a circle of diameter d, k sticks have the chord d sin(k x), and are k d sin(x) long when they
    # are straight. The ratio sin(k x)/(k sin(x)) is above 2/π up to half a turn, k x = π/2, so nothing is nearer than
    # it keeps. After three quarters the ends are nearer than d, and move apart.
    angle = np.linspace(0, turn, count)
    bent = d / 2 * np.stack([np.sin(angle), -np.cos(angle), 0 * angle], axis=1)
    particles, length = pbd.Particles(gravity=(0, 0, 0)), (count - 1) * d * np.sin(turn / (count - 1) / 2)
    add_line(particles, (0, 0, 0), (length, 0, 0), count, radius=d / 2)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=5)
    system.set_positions(bent)
    system.set_velocities(0 * bent)
    system.step()
    moved = np.abs(system.positions() - bent).max()
    assert moved > 0.01 * d if moves else moved < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.3 * d, 0.9 * d, 1.3 * d])
def test_a_sheet_that_is_described_folded_keeps_its_gap(gap):
    # Two layers that move together keep min(gap, d) as layers of two surfaces do, not 2/π of it as neighbours.
    spacing, count = 1.2 * d, 15
    flat = pbd.Particles()
    _, triangles = add_sheet(flat, count, (count - 1) * spacing)
    x = flat.positions()
    side = np.sign(np.round(x[:, 0] / spacing))
    x[:, 0], x[:, 2] = -np.abs(x[:, 0]), side * gap / 2
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(x, 0.01, -0.1 * side[:, None] * [0, 0, 1])
    particles.add_surface(triangles, thickness=d, friction=0)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=20)
    least = np.inf
    for _ in range(20):
        system.step()
        layers = system.positions()[:, 2].reshape(count, count)
        least = min(least, np.abs(layers[:, : count // 2 - 2] - layers[:, : count // 2 + 2 : -1]).min())
    assert least == pytest.approx(min(gap, d), rel=1e-3)


def test_flat_sheets_and_straight_ropes_have_neighbours_unless_they_are_coarse():
    # Elements have neighbours where their least height is below half a turn, π d/2.
    for spacing, expected in ((1.2 * d, True), (3 * d, False)):
        particles = pbd.Particles()
        add_sheet(particles, 9, 8 * spacing, thickness=d)
        add_line(particles, (0, 0, 1), (8 * spacing, 0, 1), 9, radius=d / 2)
        for surface in particles.surfaces:
            assert (have_neighbours(surface, particles.positions()) == expected).all()
