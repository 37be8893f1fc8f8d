"""Soft bodies fall onto blocks: tetrahedra with springs along the edges and constant volume."""

import itertools

import numpy as np

import pbd
from pbd import build
from scenes.catalogue.components.mesh_files import Fit, OwnMesh, Reading, Unit, UpAxis
from scenes.catalogue.components.placing import subject_of
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, GREEN, RED, Camera, ColliderVisual, SkinVisual

CORNERS = np.array(list(itertools.product((-1, 1), repeat=3)))  # of a cube
FITTED = 0.7  # longest side of a fitted mesh [m]


@register(small={"resolution": 7}, picture=1.6)
def soft_body(
    mesh: str = "", resolution: int = 11, stiffness: float = 6e3, units: Unit = "m", up: UpAxis = "",
    scale: float | None = None, fit: Fit = "auto", repair: bool = False,
):  # fmt: skip
    """Three soft bodies fall onto blocks; --param mesh=FILE makes one of your own mesh."""
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=0.6)
    blocks = [pbd.Box((0.5, 0.9, 0.3), centre=(0.05, 0, 0.15)), pbd.Box((0.44, 0.9, 0.14), centre=(-0.42, 0, 0.07))]
    for block in blocks:
        particles.add_collider(block, friction=0.5)
    notes, subject = [], None
    if mesh:
        own = OwnMesh("mesh", mesh, Reading(units, up, scale, fit, repair))
        own.fit(FITTED, 0.2, 1.5, "the blocks 0.5 x 0.9 x 0.3 m")
        fall = 0.5 * min(FITTED, own.extent.max())  # a tiny body would not survive a deep fall
        own.stand_at(0.3 + fall)
        corners = np.concatenate([np.add(block.centre, np.multiply(0.5, block.size) * CORNERS) for block in blocks])
        subject = subject_of(own.mesh.vertices, np.concatenate([own.mesh.vertices - (0, 0, fall), corners]))
        shapes, notes = [(own.mesh, (0, 0, 0), GOLD)], own.notes
    else:
        import trimesh  # slow to import

        ball = trimesh.creation.icosphere(subdivisions=4, radius=0.24)
        ring = trimesh.creation.torus(major_radius=0.24, minor_radius=0.105, major_sections=64, minor_sections=32)
        cube = trimesh.creation.box((0.34, 0.34, 0.34)).subdivide().subdivide().subdivide()
        cube.apply_transform(trimesh.transformations.rotation_matrix(0.6, (1, 2, 0.3)))
        shapes = [(cube, (-0.1, -0.05, 0.75), BLUE), (ring, (0.12, 0.05, 1.2), RED), (ball, (-0.05, 0, 1.75), GREEN)]
    visuals = []
    for surface, position, colour in shapes:
        radius = 0.36 * np.ptp(surface.vertices, axis=0).max() / resolution
        body = build.soft_body(
            particles, surface, resolution, density=300.0, stiffness=stiffness, position=position, radius=radius
        )
        visuals.append(SkinVisual(body.skin, colour))
    particles.add_particle_contacts(friction=0.4)
    return Scene(
        particles,
        duration=5.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 10, "iterations": 4, "solve": "iterative", "damping": 0.005}},
        visuals=[*visuals, *(ColliderVisual(k + 1, block, (0.62, 0.64, 0.68)) for k, block in enumerate(blocks))],
        camera=None if mesh else Camera((1.7, -2.7, 1.45), (0.15, 0, 0.36)),
        subject=subject,
        notes=notes,
    )
