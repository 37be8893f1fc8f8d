"""Soft bodies: the tetrahedra that fill a mesh, their masses and springs, and a bounce."""

import math

import numpy as np
import pytest
import trimesh
from marks import slow

import pbd
from pbd.build import closed_surface, soft_body, soft_body_from_tetrahedra
from pbd.build.mesh import signed_distance
from pbd.build.soft_body import spring_compliances
from pbd.build.tetrahedra import barycentric, fill, lattice, volumes
from pbd.core.topology import boundary_of, edges_of_tetrahedra

TURN = trimesh.transformations.euler_matrix(0.4, 0.7, -0.3)
MESHES = {
    "ball": (trimesh.creation.icosphere(subdivisions=4), 2),
    "turned box": (trimesh.creation.box((1, 0.8, 0.6)).apply_transform(TURN), 2),
    "torus": (trimesh.creation.torus(1, 0.4, 64, 32), 0),
}


def dihedral_angles(points, tetrahedra):
    """The six angles between faces of each tetrahedron, (6, n) [degrees]."""
    found = []
    for i, j, k, m in ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2), (1, 2, 0, 3), (1, 3, 0, 2), (2, 3, 0, 1)):
        a, b, c, d = (points[tetrahedra[:, corner]] for corner in (i, j, k, m))
        first, second = np.cross(b - a, c - a), np.cross(b - a, d - a)
        cosine = (first * second).sum(axis=1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
        found.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    return np.array(found)


def test_the_lattice_is_the_body_centred_one():
    points, tetrahedra = lattice(np.zeros(3), np.ones(3), 0.5)
    # The volume of each is spacing³/12. Two angles are 90°, at the long edges, and four are 60°.
    volume = volumes(points, tetrahedra)
    assert np.abs(volume) == pytest.approx(0.5**3 / 12)
    angles = np.sort(dihedral_angles(points, tetrahedra), axis=0)
    assert angles[:4] == pytest.approx(60)
    assert angles[4:] == pytest.approx(90)
    # They do not overlap and leave no gap: the volume within their surface is the sum of their volumes.
    upright = np.where((volume < 0)[:, None], tetrahedra[:, [0, 1, 3, 2]], tetrahedra)
    outside = trimesh.Trimesh(points, boundary_of(upright), process=False)
    assert outside.is_watertight
    assert outside.volume == pytest.approx(len(tetrahedra) * 0.5**3 / 12)


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("resolution", [12, 20])
def test_tetrahedra_follow_the_mesh(name, resolution):
    """Their surface is closed, has the topology of the mesh, is on the mesh, and its volume has an error of O(s²)."""
    mesh, euler = MESHES[name]
    mesh = closed_surface(mesh)
    spacing = np.ptp(mesh.vertices, axis=0).max() / resolution
    points, tetrahedra = fill(mesh, spacing)
    volume = volumes(points, tetrahedra)
    assert (volume > 0).all()
    outside = trimesh.Trimesh(points, boundary_of(tetrahedra), process=False)
    assert outside.is_watertight
    assert outside.is_winding_consistent
    assert outside.euler_number == euler
    assert outside.volume == pytest.approx(volume.sum())
    # Corners are on the surface, at most s apart. Over a triangle the surface bulges on average by less than s²/4 times
    # the larger curvature. A chord of at most s cuts off a sharp edge; its right triangle has at most s²/4.
    area = trimesh.Trimesh(mesh.vertices, mesh.triangles).area
    curvature = {"ball": 1.0, "turned box": 0.0, "torus": 1 / 0.4}[name]
    edges = 4 * (1 + 0.8 + 0.6) if name == "turned box" else 0.0
    missing = mesh.volume - volume.sum()
    assert 0 <= missing <= spacing**2 / 4 * curvature * area + edges * spacing**2 / 4
    # The paper bounds the angles by 10.7° and 164.8°.
    angles = dihedral_angles(points, tetrahedra)
    assert angles.min() > 10.7
    assert angles.max() < 164.8
    on = np.unique(boundary_of(tetrahedra))
    assert np.abs(signed_distance(mesh, points[on])[0]).max() < 1e-12


@pytest.mark.parametrize("count", [8, slow(16)])
def test_volume_converges_at_second_order(count):
    mesh = closed_surface(MESHES["ball"][0])
    missing = [mesh.volume - volumes(*fill(mesh, 2 / n)).sum() for n in (count, 2 * count)]
    assert missing[0] / missing[1] > 3


def test_a_box_along_the_lattice_is_filled_exactly():
    points, tetrahedra = fill(closed_surface(trimesh.creation.box((1, 1, 1))), 1 / 6)
    assert volumes(points, tetrahedra).sum() == pytest.approx(1)


def test_barycentric_weights_reproduce_the_place():
    points, tetrahedra = fill(closed_surface(MESHES["ball"][0]), 0.25)
    places = np.random.default_rng(0).normal(size=(500, 3))
    places *= np.random.default_rng(1).uniform(0, 0.85, (500, 1)) / np.linalg.norm(places, axis=1, keepdims=True)
    chosen, weights = barycentric(points, tetrahedra, places)
    assert weights.sum(axis=1) == pytest.approx(1)
    assert (weights > -1e-12).all()  # inside the body each point is in the chosen tetrahedron
    assert np.einsum("nk,nkj->nj", weights, points[tetrahedra[chosen]]) == pytest.approx(places)


def test_a_body_has_the_mass_and_the_skin_of_its_mesh():
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.5)
    particles = pbd.Particles()
    particles.add_particle((7, 7, 7))
    body = soft_body(particles, ball, 8, density=400, position=(0, 0, 2), velocity=(1, 0, 0), radius=0.01, drag=0.7)
    total = volumes(particles.positions(), body.tetrahedra).sum()
    assert particles.masses()[1:].sum() == pytest.approx(400 * total)
    assert (particles.velocities()[1:] == (1, 0, 0)).all()
    assert particles.radii()[1:] == pytest.approx(0.01)
    assert (particles.triangles() == body.triangles).all()
    assert set(np.unique(body.tetrahedra)) == set(body.particles)
    _, numbers = particles.constraint_sets["volume", False].arrays()
    assert numbers.sum() == pytest.approx(total)
    # At rest the skin is the mesh. It moves with the body.
    moved = ball.vertices + np.array([0, 0, 2])
    assert body.skin.vertices(particles.positions()) == pytest.approx(moved)
    turned = particles.positions() @ TURN[:3, :3].T
    assert body.skin.vertices(turned) == pytest.approx(moved @ TURN[:3, :3].T)
    assert (body.skin.triangles == ball.faces).all()


def test_springs_have_the_stiffness_of_the_material():
    """Stretched by ε along x, with free contraction by Poisson's 1/4, the material stores E ε²/2 per m³."""
    modulus, strain = 2e4, 1e-4
    points, tetrahedra = fill(closed_surface(trimesh.creation.box((1, 1, 1))), 1 / 8)
    sticks, which = edges_of_tetrahedra(tetrahedra)
    compliance = spring_compliances(points, sticks, which, volumes(points, tetrahedra), modulus)
    energies = []
    for axis in range(3):
        scale = np.full(3, 1 - strain / 4)
        scale[axis] = 1 + strain
        before, after = (np.linalg.norm(x[sticks[:, 1]] - x[sticks[:, 0]], axis=1) for x in (points, points * scale))
        energies.append(((after - before) ** 2 / (2 * compliance)).sum())
    # The lattice is not quite isotropic: its edges are along the axes and the diagonals only.
    assert np.mean(energies) == pytest.approx(modulus * strain**2 / 2, rel=0.15)


@pytest.mark.slow
def test_a_dropped_body_recovers_its_shape():
    particles = pbd.Particles()
    body = soft_body(particles, trimesh.creation.icosphere(subdivisions=2, radius=0.3), 6, position=(0, 0, 0.5))
    particles.add_collider(pbd.Plane(), friction=0.5)
    volume = volumes(particles.positions(), body.tetrahedra).sum()
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=10, substeps=4, damping=0.002)
    heights, kept = [], []
    for _ in range(60):
        system.step(2)
        positions = system.positions()
        heights.append(positions[:, 2].mean())
        kept.append(volumes(positions, body.tetrahedra).sum() / volume)
    touch = int(np.argmin(heights))
    assert heights[touch] < 0.3  # flattened: the middle is below the radius
    assert max(heights[touch:]) > heights[touch] + 0.05  # and it rises again
    assert min(kept) > 0.97
    assert max(kept) < 1.03
    system.step(900)
    assert volumes(system.positions(), body.tetrahedra).sum() / volume == pytest.approx(1, abs=0.01)
    assert (volumes(system.positions(), body.tetrahedra) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.3, 0.02])
def test_surfaces_of_soft_bodies_do_not_pass_through_one_another(width):
    """A block, or a needle between the particles of a coarse ball, meets the ball at 4 m/s.

    Contacts, sticks and volumes push with opposite forces. So Σ m v changes by round-off alone: some 1e-16 of 8 kg at
    4 m/s in each of some 500 projections in 120 substeps, far below 1e-10.
    """
    particles = pbd.Particles(gravity=(0, 0, 0))
    touching = {"density": 300, "stiffness": 1e5, "radius": 0.002, "friction": 0.0}
    ball = soft_body(particles, trimesh.creation.icosphere(subdivisions=3, radius=0.2), 4, **touching)
    block = trimesh.creation.box((width, width, 0.3)).apply_translation((0.03, 0.02, 0.38))
    points, tetrahedra = fill(closed_surface(block), 0.15) if width > 0.1 else needle(block.bounds)
    other = soft_body_from_tetrahedra(particles, points, tetrahedra, velocity=(0, 0, -4.0), **touching)
    system = pbd.ParticleSystem(particles, dt=1 / 60, substeps=8, iterations=4, direction="current")
    masses = [particles.masses()[each.particles] for each in (ball, other)]

    def momenta():
        return [mass @ system.velocities()[each.particles] for mass, each in zip(masses, (ball, other))]

    before = sum(momenta())
    for _ in range(15):
        system.step()
        assert system.crossings() == 0
    assert sum(momenta()) == pytest.approx(before, abs=1e-10)
    speeds = [momentum[2] / mass.sum() for momentum, mass in zip(momenta(), masses)]
    together = before[2] / np.concatenate(masses).sum()
    assert speeds[0] < together < speeds[1]  # the ball was pushed down, and they part
    middles = [system.positions()[each.particles, 2].mean() for each in (ball, other)]
    assert middles[1] > middles[0] + 0.15


def needle(bounds):
    """A long box as six tetrahedra around a diagonal. Args: bounds: (2, 3). Returns: points, tetrahedra."""
    points = np.array([[bounds[k >> axis & 1, axis] for axis in range(3)] for k in range(8)])
    return points, [(0, 1, 3, 7), (0, 1, 5, 7), (0, 2, 3, 7), (0, 2, 6, 7), (0, 4, 5, 7), (0, 4, 6, 7)]


def test_given_tetrahedra_are_turned_to_positive_volume():
    particles = pbd.Particles()
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
    body = soft_body_from_tetrahedra(particles, corners, [(0, 2, 1, 3), (1, 2, 3, 4)], density=6, stiffness=math.inf)
    assert (volumes(particles.positions(), body.tetrahedra) > 0).all()
    assert particles.masses() == pytest.approx(np.array([1, 3, 3, 3, 2]) / 4)  # volumes 1/6, 2/6; a quarter each
    assert list(particles.constraint_sets) == [("stick", False), ("volume", False)]
    assert len(body.sticks) == 9
    assert len(body.triangles) == 6
    assert body.skin is None


@pytest.mark.parametrize(
    ("points", "tetrahedra", "says"),
    [
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2, 3)], "tetrahedron 0 is flat"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (5, 5, 5)], [(0, 1, 2, 3)], "point 4 belongs to none"),
        ([(0, 0, 0)], np.zeros((0, 4), int), "no tetrahedra"),
    ],
)
def test_invalid_tetrahedra_are_refused(points, tetrahedra, says):
    with pytest.raises(ValueError, match=says):
        soft_body_from_tetrahedra(pbd.Particles(), points, tetrahedra)


def test_bad_input_is_refused():
    ball = trimesh.creation.icosphere(subdivisions=2)
    particles = pbd.Particles()
    with pytest.raises(ValueError, match="open edges"):
        soft_body(particles, (ball.vertices, ball.faces[1:]))
    with pytest.raises(ValueError, match=r"resolution .* is too coarse: .*fill .*% of the mesh.*expected [0-9]+$"):
        soft_body(particles, trimesh.creation.box((1, 1, 0.01)), 8)
    # A ball on a rod that is far thinner than the lattice, as one surface. The error says that it would be in pieces.
    profile = [(0, -1), (0.8, -0.6), (1, 0), (0.8, 0.6), (0.04, 1), (0.04, 3), (0.8, 3.4), (1, 4), (0.8, 4.6), (0, 5)]
    with pytest.raises(ValueError, match="in 2 pieces instead of 1"):
        soft_body(particles, trimesh.creation.revolve(profile, sections=24), 16)
    with pytest.raises(ValueError, match="stiffness is 0"):
        soft_body(particles, ball, stiffness=0)
    with pytest.raises(ValueError, match="density is -1"):
        soft_body(particles, ball, density=-1)
    with pytest.raises(ValueError, match=r"friction is 0\.3 and radius 0: expected a radius"):
        soft_body(particles, ball, friction=0.3)
    with pytest.raises(ValueError, match=r"thickness 0\.8 with an edge of"):
        soft_body(particles, ball, radius=0.4, friction=0.3)
    assert len(particles) == 0
