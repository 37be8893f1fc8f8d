"""Cloth: counts by formula, masses, rest lengths, bending rigidity, and how cloth hangs."""

import inspect
import math

import numpy as np
import pytest
import trimesh

import pbd
from pbd.build import cloth, cloth_from_mesh
from pbd.build.cloth import bending_compliance
from pbd.core.topology import hinges_of
from pbd.description.rest_values import dihedral_angle


def sheet(rows=5, columns=7, **options):
    particles = pbd.Particles()
    return particles, cloth(particles, (0, 0, 1), (1.2, 0, 0), (0, -0.8, 0), (rows, columns), **options)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (5, 7), (8, 3)])
@pytest.mark.parametrize(("shear", "of_a_cell"), [("both", 2), ("one", 1), ("none", 0)])
def test_counts(rows, columns, shear, of_a_cell):
    _, made = sheet(rows, columns, shear=shear)
    cells = (rows - 1) * (columns - 1)
    threads = rows * (columns - 1) + columns * (rows - 1)
    assert len(made.particles) == rows * columns
    assert len(made.sticks) == threads + of_a_cell * cells
    assert len(made.triangles) == 2 * cells
    # E is the number of edges inside the border: V - E + F = 1 counts all edges.
    edges = rows * columns + 2 * cells - 1
    assert len(made.hinges) == edges - 2 * (rows + columns - 2)
    assert len({tuple(sorted(pair)) for pair in made.sticks.tolist()}) == len(made.sticks)


def test_sticks_are_as_long_as_the_geometry_and_softer_across():
    particles, made = sheet(compliance=1e-6, shear_compliance=1e-2)
    members, numbers = particles.constraint_sets["stick", True].arrays()
    assert (members == made.sticks).all()
    ends = particles.positions()[members]
    assert numbers[:, 0] == pytest.approx(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))
    straight = (np.abs(ends[:, 1] - ends[:, 0]) > 1e-9).sum(axis=1) == 1
    assert numbers[straight, 1] == pytest.approx(1e-6)
    assert numbers[~straight, 1] == pytest.approx(1e-2)


def test_masses_are_proportional_to_the_area_around_each_particle():
    particles, _ = sheet(5, 7, density=0.5)
    assert particles.masses().sum() == pytest.approx(0.5 * 1.2 * 0.8)
    masses = particles.masses().reshape(5, 7)
    inner = 0.5 * 0.2 * 0.2
    assert masses[1:-1, 1:-1] == pytest.approx(inner)
    assert masses[0, 1:-1] == pytest.approx(inner / 2)
    assert masses[0, 0] == pytest.approx(inner / 4)


def test_cloth_of_sticks_is_cotton_by_default():
    # By its density, its flexural rigidities, and its shear: diagonals of compliance c have the stiffness 1/c, because
    # an angle γ makes them longer and shorter by γ a/√2 in cells of side a, and γ² a²/2c = a² S γ²/2.
    cotton = pbd.FABRICS["cotton"]
    usual = {name: each.default for name, each in inspect.signature(cloth).parameters.items()}
    assert usual["density"] == pytest.approx(cotton.density, rel=0.01)
    assert usual["shear_compliance"] == pytest.approx(1 / cotton.shear, rel=0.02)
    assert min(cotton.rigidities()) < usual["bending"] < max(cotton.rigidities())


def test_normals_are_right_cross_down_and_diagonals_alternate():
    particles, made = sheet()
    a, b, c = (particles.positions()[made.triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    assert normals[:, 2] == pytest.approx(-0.2 * 0.2)  # (1, 0, 0) × (0, -1, 0), twice the area of a triangle
    assert np.abs(normals[:, :2]).max() == 0
    slants = []
    for triangle in made.triangles[::2]:
        sides = [particles.positions()[triangle[k]] - particles.positions()[triangle[k - 1]] for k in range(3)]
        longest = max(sides, key=np.linalg.norm)
        slants.append(np.sign(longest[0] * longest[1]))
    assert sum(slants) == 0


def test_a_flat_cloth_has_a_flat_rest_shape():
    particles, made = sheet()
    _, numbers = particles.constraint_sets["flat bending", True].arrays()
    # Σ k_i x_i = 0, which is 2 sin(θ/2), and Σ k_i = 0.
    assert np.abs(np.einsum("nk,nkx->nx", numbers[:, :4], particles.positions()[made.hinges])).max() < 1e-12
    assert np.abs(numbers[:, :4].sum(axis=1)).max() < 1e-11
    assert dihedral_angle(particles.positions()[made.hinges]) == pytest.approx(0, abs=1e-12)


def equilateral(count, side):
    """A flat patch of equilateral triangles, (vertices (n, 2), triangles)."""
    i, j = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    vertices = side * np.stack([j + 0.5 * i, math.sqrt(0.75) * i], axis=-1).reshape(-1, 2)
    k = (i * count + j)[:-1, :-1].ravel()
    triangles = np.concatenate([np.stack([k, k + 1, k + count], 1), np.stack([k + 1, k + count + 1, k + count], 1)])
    return vertices, triangles


@pytest.mark.parametrize("direction", [0.0, 0.3, math.pi / 6, 1.0])
def test_bending_has_the_rigidity_of_a_plate_in_every_direction(direction):
    """A plate of rigidity B that is bent around a cylinder of radius R stores B/2R² per square metre."""
    rigidity, radius, side = 2e-3, 50.0, 0.1
    flat, triangles = equilateral(12, side)
    along = flat @ (math.cos(direction), math.sin(direction))
    across = flat @ (-math.sin(direction), math.cos(direction))
    bent = np.stack([radius * np.sin(along / radius), across, radius * np.cos(along / radius)], axis=1)
    hinges = hinges_of(triangles)
    # Only hinges count around which the six triangles of the lattice are complete, each with the area of its edge.
    compliance = bending_compliance(hinges, bent, rigidity)
    energy = dihedral_angle(bent[hinges]) ** 2 / (2 * compliance)
    slant = (flat[hinges[:, 1]] - flat[hinges[:, 0]]) @ np.array([[1, 0], [0, 1]])
    kinds = np.round(np.arctan2(slant[:, 1], slant[:, 0]) % math.pi, 3)
    # The mean over the three kinds of edge. Two triangles of area √3/4 side² have three edges.
    mean = sum(energy[kinds == kind].mean() for kind in np.unique(kinds))
    assert len(np.unique(kinds)) == 3
    assert mean / (math.sqrt(0.75) * side**2) == pytest.approx(
        rigidity / (2 * radius**2), rel=(side / radius) ** 2 + 1e-4
    )


def test_rigidity_of_a_woven_cloth_does_not_depend_on_its_particles():
    """Bent along the threads, each cross thread rotates by s/R on an area s²: α = 1/B exactly."""
    for counts in ((3, 3), (9, 9)):
        particles, made = sheet(*counts, bending=5e-4)
        _, numbers = particles.constraint_sets["flat bending", True].arrays()
        ends = particles.positions()[made.hinges[:, :2]]
        straight = (np.abs(ends[:, 1] - ends[:, 0]) > 1e-9).sum(axis=1) == 1
        square = np.array([1.2, 0.8]) / (np.array(counts) - 1)
        across = np.abs(ends[:, 1] - ends[:, 0])[straight, 0] > 1e-9
        # α = w/(B l), for a strip as wide as one side of the cell, and an edge as long as the other side.
        expected = np.where(across, square[1] / square[0], square[0] / square[1]) / 5e-4
        assert numbers[straight, 4] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("pins", "pinned"),
    [
        ("left_top", [0]),
        (("left_top", "right_top"), [0, 6]),
        (("left_bottom", "right_bottom"), [28, 34]),
        ("top", range(7)),
        ("bottom", range(28, 35)),
        ("left", range(0, 35, 7)),
        ("right", range(6, 35, 7)),
        (("right_top", 17), [6, 17]),
        (np.array([3, 4]), [3, 4]),
        ((), []),
    ],
)
def test_pins(pins, pinned):
    particles = pbd.Particles()
    particles.add_particle((0, 0, 0))
    cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (5, 7), pins=pins)
    assert np.flatnonzero(np.isinf(particles.masses())).tolist() == [1 + pin for pin in pinned]


def test_thickness_and_wind():
    particles, made = sheet(thickness=0.02, friction=0.3, drag=1.3)
    assert particles.radii() == pytest.approx(0.01)
    assert particles.particle_contacts == 0.3
    assert (particles.triangles() == made.triangles).all()
    assert particles.drag_coefficients() == pytest.approx(1.3)
    plain, _ = sheet(drag=None, bending=None)
    assert plain.particle_contacts is None
    assert len(plain.triangles()) == 0
    assert not any("bending" in kind for kind, _ in plain.constraint_sets)


def test_cloth_from_a_mesh_rests_in_the_shape_of_the_mesh():
    ball = trimesh.creation.icosphere(subdivisions=2, radius=0.5)
    particles = pbd.Particles()
    particles.add_particle((0, 0, 5))
    made = cloth_from_mesh(particles, ball, density=0.3, compliance=1e-6, pins=[7])
    assert len(made.sticks) == len(ball.edges_unique)
    assert len(made.hinges) == len(ball.edges_unique)
    assert np.isinf(particles.masses()[8])
    _, numbers = particles.constraint_sets["bending", True].arrays()
    assert numbers[:, 0] == pytest.approx(np.sin(dihedral_angle(particles.positions()[made.hinges]) / 2))
    assert (numbers[:, 0] > 0).all()  # convex
    free = pbd.Particles()
    cloth_from_mesh(free, ball, density=0.3)
    assert free.masses().sum() == pytest.approx(0.3 * ball.area)


@pytest.mark.parametrize(
    ("mesh", "says"),
    [
        (([(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 1, 3)]), "triangle 0 has no area"),
        (([(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 5, 5)], [(0, 1, 2)]), "vertex 3 belongs to no triangle"),
        (
            ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)], [(0, 1, 2), (1, 0, 3), (0, 1, 4)]),
            "three triangles or more",
        ),
    ],
)
def test_meshes_that_cannot_be_cloth_are_refused(mesh, says):
    particles = pbd.Particles()
    with pytest.raises(ValueError, match=says):
        cloth_from_mesh(particles, mesh)
    assert len(particles) == 0


def test_an_edge_of_three_triangles_is_allowed_without_bending():
    seam = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)], [(0, 1, 2), (1, 0, 3), (0, 1, 4)]
    made = cloth_from_mesh(pbd.Particles(), seam, bending=None)
    assert len(made.sticks) == 7


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"counts": (1, 5)}, "rows in counts is 1: expected 2 or more"),
        ({"right": (0, 2, 0)}, "expected two that span an area"),
        ({"density": 0}, "density is 0"),
        ({"thickness": -1}, "thickness is -1"),
        ({"shear": "bothh"}, "did you mean 'both'"),
        ({"pins": "top_left"}, "pin is 'top_left': expected one of 'left_top'"),
        ({"origin": (0, math.inf, 0)}, "inf"),
    ],
)
def test_bad_input_is_refused(options, says):
    particles = pbd.Particles()
    given = {"origin": (0, 0, 0), "right": (1, 0, 0), "down": (0, 1, 0), "counts": (5, 5), **options}
    with pytest.raises(ValueError, match=says):
        cloth(particles, **given)
    assert len(particles) == 0


def test_a_cloth_with_two_pinned_corners_comes_to_rest():
    particles = pbd.Particles()
    made = cloth(particles, (-0.5, 0, 1), (1, 0, 0), (0, 1, 0), (13, 13), pins=("left_top", "right_top"))
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=20, substeps=2, damping=0.03)
    system.step(900)
    before = system.positions()
    system.step(30)
    after = system.positions()
    assert np.abs(after - before).max() < 1e-3  # half a second later nothing has moved by a millimetre: no jitter
    assert after[:, 2].max() == 1.0  # its pins
    # It hangs below its pins. 40 iterations per step leave a part of the threads' length.
    assert after[made.particles[-13:], 2] == pytest.approx(0, abs=0.25)
    length = np.linalg.norm(after[made.sticks[:, 1]] - after[made.sticks[:, 0]], axis=1)
    threads = 2 * 13 * 12
    assert length[:threads].max() < 1.05 / 12
