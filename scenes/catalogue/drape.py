"""A cloth falls over a ball; cloth and ball can be replaced by meshes from files."""

import numpy as np

import pbd
from pbd import build
from scenes.catalogue.parts.mesh_files import Unit, UpAxis
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import Camera, ClothVisual, ColliderVisual

DENSITY = 0.25  # of the cloth [kg/m²]


@register
def drape(
    count: int = 100, size: float = 1.9, collider: str = "", cloth: str = "", units: Unit = "m", up: UpAxis = "",
    friction: float = 0.25, bending: float = 1e-4, thickness: float = 0.016, shear: float = 1e-2,
):  # fmt: skip
    """A cloth falls over a ball; --param collider=FILE and cloth=FILE take your own meshes."""
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=0.6)
    reading = {"units": units, "up": up or None}
    solid = pbd.Sphere(0.5, centre=(0, 0, 0.55))
    if collider:
        solid = pbd.MeshCollider(stood_on_floor(build.load_mesh(collider, **reading)))
    particles.add_collider(solid, friction=friction)
    top = solid.mesh.vertices[:, 2].max() if collider else 1.05
    if cloth:
        mesh = build.load_mesh(cloth, **reading)
        lowest = mesh.vertices.min(axis=0)
        middle = (mesh.vertices.max(axis=0) + lowest) / 2
        mesh.vertices += np.array([0, 0, top + 0.05]) - [middle[0], middle[1], lowest[2]]
        sheet = build.cloth_from_mesh(
            particles, mesh, density=DENSITY, bending=bending, thickness=thickness, friction=0.3
        )
    else:
        corner = (-0.5 * size, -0.5 * size, top + 0.05)
        sheet = build.cloth(
            particles, corner, (size, 0, 0), (0, size, 0), (count, count),
            density=DENSITY, shear_compliance=shear, bending=bending, thickness=thickness, friction=0.3,
        )  # fmt: skip
    # Threads stretch by 0.5 % on average if the substeps grow with the number of particles along a side. One iteration
    # per substep is better than half the substeps with two (Macklin et al., Small Steps in Physics Simulation, 2019).
    # Contacts are sought every 1/240 s, in which particles must not move by more than the thickness: 3.8 m/s. With half
    # as many searches triangles pass through one another. One thread runs it all, because sharing the phases of each
    # substep among threads costs more than it gains.
    substeps = 28 if cloth else 4 * max(2, round(0.07 * count))
    return Scene(
        particles,
        duration=4.0,
        settings={
            "verlet": {
                "dt": 1 / 60, "substeps": substeps, "iterations": 1, "solve": "iterative", "damping": 0.01,
                "contact_interval": substeps // 4, "clusters": 1,
                "bending_interval": 1 if cloth else bending_interval(bending, size / count, 1 / 60 / substeps),
            },
        },
        visuals=[ClothVisual(sheet.triangles), ColliderVisual(1, solid)],
        camera=None if collider or cloth else Camera((1.7, -3.0, 1.75), (0, 0, 0.48)),
    )


def bending_interval(bending, spacing, substep):
    """Substeps from one projection of bending to the next: four or two if the shortest bends are slow enough, else one.

    They swing at about ω = 10 (B/ρ)^½ / d². An impulse every T gains energy from ω T = 2 on; measured at 100 x 100
    particles: seven substeps (2.3) crumple the cloth, four (1.3) leave strain and smoothness as they are.

    Args: bending: B [N m]; spacing: d of the particles [m]; substep: [s].
    """
    swing = 10 * np.sqrt(bending / DENSITY) / spacing**2
    return next((n for n in (4, 2) if n * substep * swing < 1.4), 1)


def stood_on_floor(mesh):
    """Move a mesh so that it stands on z = 0 above the origin."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    mesh.vertices -= [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]]
    return mesh
