"""Soft bodies that were crushed, flattened or hit recover: their volume and the orientation of all tetrahedra."""

import numpy as np
import pytest
import trimesh
from marks import slow

import pbd
from pbd.build import soft_body, soft_body_from_tetrahedra
from pbd.build.mesh import closed_surface
from pbd.build.tetrahedra import fill, volumes

MESHES = {
    "ball": trimesh.creation.icosphere(subdivisions=2, radius=0.2),
    "ring": trimesh.creation.torus(0.24, 0.105, major_sections=32, minor_sections=16),
    "box": trimesh.creation.box((0.3, 0.2, 0.25)).subdivide().subdivide(),
}
RADIUS = 0.005


def crush(name, resolution, share, stiffness, speed, **options):
    """Squeeze a body between the ground and a plate to a share of its height, hold it for half a second, let go.

    Returns: positions, rest volumes and volumes of tetrahedra 1 s later, the height at rest, the smallest volume met.
    """
    mesh, particles = MESHES[name], pbd.Particles()
    lowest, height = mesh.vertices[:, 2].min(), np.ptp(mesh.vertices[:, 2])
    body = soft_body(
        particles, mesh, resolution, stiffness=stiffness, position=(0, 0, RADIUS - lowest), radius=RADIUS
    )
    particles.add_collider(pbd.Plane(), friction=0.5)
    duration = height * (1 - share) / speed

    def lower_face(t):
        """Height of the plate's lower face: down at the speed, then half a second still, then up at 1 m/s."""
        return 2 * RADIUS + height - speed * min(t, duration) + max(t - duration - 0.5, 0.0)

    plate = pbd.Box((2, 2, 0.2), centre=(0, 0, 1))
    particles.add_collider(plate, motion=lambda t: (0, 0, lower_face(t) + 0.1), friction=0.5)
    rest = volumes(particles.positions(), body.tetrahedra)
    system = pbd.ParticleSystem(particles, dt=1 / 60, **options)
    least = rest.min()
    for _ in range(round(60 * (duration + 1.5) / 6)):
        system.step(6)
        least = min(least, volumes(system.positions(), body.tetrahedra).min())
    return system.positions(), rest, volumes(system.positions(), body.tetrahedra), height, least


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "resolution", "share", "stiffness", "speed", "options"),
    [
        ("ball", 5, 0.1, 1e4, 0.4, {"substeps": 10, "iterations": 10}),
        ("ring", 6, 0.15, 1e4, 1.0, {"substeps": 8, "iterations": 8}),
        ("box", 4, 0.1, 1e5, 2.0, {"substeps": 10, "iterations": 10}),
        slow("ball", 8, 0.1, 1e4, 0.4, {"substeps": 10, "iterations": 10}, id="fine ball"),
        slow("ball", 6, 0.1, 1e4, 3.0, {"substeps": 10, "iterations": 10, "direction": "start"}, id="start"),
    ],
)  # fmt: skip
def test_a_crushed_body_recovers(name, resolution, share, stiffness, speed, options):
    """V = V0 and no tetrahedron inside out after a squeeze that turned some; the body stands on the ground."""
    x, rest, volume, height, least = crush(name, resolution, share, stiffness, speed, **options)
    assert least < 0  # otherwise the test shows nothing
    assert volume.sum() == pytest.approx(rest.sum(), rel=0.01)
    assert (volume > 0).all()
    # Its weight flattens it by about ρ g H²/2E, half of it at the lowest stiffness here.
    assert 0.6 * height < np.ptp(x[:, 2]) < 1.15 * height
    assert x[:, 2].min() > 0


@pytest.mark.slow
@pytest.mark.parametrize("flattened", [0.0, 1e-6, -0.5])
def test_a_flattened_block_recovers(flattened):
    """A block whose heights are multiplied by a factor, zero or below, gets the volume of each tetrahedron back."""
    points, tetrahedra = fill(closed_surface(MESHES["box"]), 0.1)
    particles = pbd.Particles(gravity=(0, 0, 0))
    body = soft_body_from_tetrahedra(particles, points, tetrahedra, stiffness=1e5)
    rest = volumes(points, body.tetrahedra)
    system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=10, substeps=10, damping=0.1)
    # A hair of noise: exactly flat springs have no direction out of their plane.
    noise = np.random.default_rng(4).normal(scale=1e-4, size=points.shape)
    system.set_positions(points * (1, 1, flattened) + noise)
    system.step(180)
    assert volumes(system.positions(), body.tetrahedra) == pytest.approx(rest, rel=0.02)


def test_a_volume_of_zero_keeps_points_in_a_plane():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.3, 0.3, 0.4)])
    particles.add_volumes([(0, 1, 2, 3)], volume=0.0)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=20)
    system.step()
    assert volumes(system.positions(), np.array([[0, 1, 2, 3]])) == pytest.approx(0, abs=1e-12)


def test_limited_projections_keep_momentum_and_converge():
    """A tetrahedron at a third of its volume: Σ m Δx = 0 for all masses, and C = 0 after enough iterations."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.0)])
    masses = np.array([1.0, 2.0, 3.0, 4.0])
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles(corners, mass=masses)
    particles.add_volumes([(0, 1, 2, 3)], volume=0.5)
    system = pbd.ParticleSystem(particles, dt=0.01, iterations=30)
    system.step()
    x = system.positions()
    assert masses @ (x - corners) == pytest.approx(np.zeros(3), abs=1e-12)
    assert volumes(x, np.array([[0, 1, 2, 3]])) == pytest.approx(0.5, rel=1e-12)
