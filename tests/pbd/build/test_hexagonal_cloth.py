"""Hexagonal cloth: counts by formula, equal sticks, masses, and equal stiffness in all directions."""

import math

import numpy as np
import pytest

import pbd
from pbd.build import cloth, hexagonal_cloth


def sheet(columns=7, rows=None, **options):
    particles = pbd.Particles(gravity=(0, 0, 0))
    return particles, hexagonal_cloth(particles, (0, 0, 1), (1.3, 0, 0), (0, -0.8, 0), columns, rows, **options)


@pytest.mark.parametrize(("columns", "rows"), [(2, 2), (7, 5), (4, 8)])
def test_counts(columns, rows):
    # R rows of C: R (C - 1) sticks along them, 2 C - 1 between two rows, 2 (C - 1) triangles. V - E + F = 1.
    _, made = sheet(columns, rows)
    assert made.counts == (rows, columns)
    assert len(made.particles) == rows * columns
    assert len(made.sticks) == rows * (columns - 1) + (rows - 1) * (2 * columns - 1)
    assert len(made.triangles) == 2 * (rows - 1) * (columns - 1)
    assert rows * columns - len(made.sticks) + len(made.triangles) == 1
    # Each stick but those on the border is a hinge; the border has two rows and two zigzags.
    assert len(made.hinges) == len(made.sticks) - 2 * (columns - 1) - 2 * (rows - 1)


def test_inner_particles_have_six_equal_sticks_and_rows_are_offset():
    # |right| = (C - 1/2) s and |down| = (R - 1) s √3/2: with these sides all triangles are equilateral.
    particles = pbd.Particles()
    s, columns, rows = 0.1, 8, 6
    made = hexagonal_cloth(
        particles, (0, 0, 0), ((columns - 0.5) * s, 0, 0), (0, 0, -(rows - 1) * s * math.sqrt(0.75)), columns
    )
    assert made.counts == (rows, columns)
    ends = particles.positions()[made.sticks]
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) == pytest.approx(s, abs=1e-15)
    degrees = np.bincount(made.sticks.ravel()).reshape(rows, columns)
    assert (degrees[1:-1, 1:-1] == 6).all()
    x = particles.positions()[:, 0].reshape(rows, columns)
    assert x[1::2] - x[:-1:2] == pytest.approx(s / 2)
    assert x[2::2] - x[:-2:2] == pytest.approx(0)


def test_masses_and_normals():
    # Each particle has a third of the triangles around it: six inside, each of area s · row height / 2.
    particles, made = sheet(7, 5, density=0.5)
    spacing, height = 1.3 / 6.5, 0.8 / 4
    area = 4 * 6 * spacing * height
    assert particles.masses().sum() == pytest.approx(0.5 * area)
    assert particles.masses().reshape(5, 7)[1:-1, 1:-1] == pytest.approx(0.5 * spacing * height)
    a, b, c = (particles.positions()[made.triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    assert normals == pytest.approx(np.tile((0, 0, -spacing * height), (len(normals), 1)))  # right × down


def stretched(build, direction, strain=1e-4, count=16):
    """Elastic energy per particle, far from the border, of a cloth that is stretched along a direction [J]."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    build(particles, count)
    flat = particles.positions()[:, :2]
    middle = flat.mean(axis=0)
    along = np.array([math.cos(direction), math.sin(direction)])
    positions = particles.positions().copy()
    positions[:, :2] += strain * np.outer((flat - middle) @ along, along)
    members, numbers = particles.constraint_sets["stick", True].arrays()
    ends = positions[members]
    change = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) - numbers[:, 0]
    # Half of a stick's energy to each of its particles.
    stored = np.bincount(members.ravel(), np.repeat(change**2 / (4 * numbers[:, 1]), 2), len(positions))
    system = pbd.ParticleSystem(particles)
    system.set_positions(positions)
    assert system.energy().potential == pytest.approx(stored.sum(), rel=1e-6)
    return stored[np.linalg.norm(flat - middle, axis=1) < 0.4].mean()


@pytest.mark.parametrize("direction", [0.2, 0.6, math.pi / 4, 1.2, math.pi / 2])
def test_stretching_takes_the_same_energy_in_every_direction(direction):
    # Small strain ε along n: a stick along e changes by s ε (n·e)². Over the three directions of the lattice, at 60°,
    # Σ (n·e)⁴ = 9/8 for every n. So the energy per particle is 9/16 s² ε²/α, to first order in ε.
    s, alpha, strain = 0.1, 1e-3, 1e-4

    def hexagonal(particles, count):
        sides = ((count - 0.5) * s, 0, 0), (0, -(count - 1) * s * math.sqrt(0.75), 0)
        hexagonal_cloth(particles, (0, 0, 0), *sides, count, compliance=alpha, bending=None, drag=None)

    def woven(particles, count):
        sides = ((count - 1) * s, 0, 0), (0, -(count - 1) * s, 0)
        cloth(particles, (0, 0, 0), *sides, (count, count), compliance=alpha, shear="none", bending=None, drag=None)

    expected = 9 / 16 * (s * strain) ** 2 / alpha
    assert stretched(hexagonal, direction) == pytest.approx(expected, rel=5 * strain)
    # A square lattice without diagonals has Σ (n·e)⁴ = cos⁴ + sin⁴, half as much along a diagonal.
    square = (math.cos(direction) ** 4 + math.sin(direction) ** 4) / 2 * (s * strain) ** 2 / alpha
    assert stretched(woven, direction) == pytest.approx(square, rel=5 * strain)


def test_pins_thickness_and_wind():
    particles, made = sheet(7, 5, pins=("left_top", "bottom"), thickness=0.02, friction=0.3)
    assert np.flatnonzero(np.isinf(particles.masses())).tolist() == [0, *range(28, 35)]
    assert (particles.radii() == 0.01).all()
    assert particles.particle_contacts == 0.3
    assert (particles.triangles() == made.triangles).all()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"columns": 1}, "cloth columns is 1: expected 2 or more"),
        ({"rows": 1}, "cloth rows is 1: expected 2 or more"),
        ({"density": 0}, "density is 0: expected a number above zero"),
        ({"down": (2, 0, 0)}, "expected two that span an area"),
        ({"pins": ("left_topp",)}, "did you mean 'left_top'"),
    ],
)
def test_bad_input_is_refused(given, says):
    particles = pbd.Particles()
    arguments = {"origin": (0, 0, 0), "right": (1, 0, 0), "down": (0, -1, 0), "columns": 4, **given}
    with pytest.raises(ValueError, match=says):
        hexagonal_cloth(particles, **arguments)
    assert particles.count == 0
