"""An arm pushes a curtain aside. It is a mesh whose points are given over time, so it meets the cloth as a surface."""

import numpy as np

import pbd
from pbd import build
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import RED, SAND, STEEL, Camera, ClothVisual

WIDTH, HEIGHT, RAIL = 1.2, 1.3, 1.5  # of the curtain, and of its rail above the ground [m]
GATHERED = 0.75  # part of its width that is left once the rings have been pushed together
ARM = 0.05  # radius of the arm [m]


@register(small={"count": 11}, slow=True, picture=2.6)
def curtain(count: int = 31, thickness: float = 0.008, friction: float = 0.3):
    """An arm pushes a curtain aside, rubs along it, and lets it swing back."""
    import trimesh  # takes a while, and other scenes do not need it

    particles = pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=0.5)
    rows = round((count - 1) * HEIGHT / WIDTH) + 1
    sheet = build.cloth(
        particles, (-WIDTH / 2, 0, RAIL), (WIDTH, 0, 0), (0, 0, -HEIGHT), (rows, count), density=0.25,
        shear_compliance=5e-3, bending=1e-4, thickness=thickness, friction=friction, contacts="surface",
    )  # fmt: skip
    rings = sheet.particles[:count][:: max(1, (count - 1) // 12)]  # of the first row
    particles.add_path(rings, pushed_together(particles.positions()[rings].copy()))
    mesh = trimesh.creation.capsule(0.6, ARM, count=(16, 16))
    arm = pbd.DeformingMesh(mesh.faces, reaching(turned_to_y(mesh.vertices)))
    surface = particles.surfaces[particles.add_collider(arm, friction=friction)]
    return Scene(
        particles,
        duration=5.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 12, "iterations": 4, "solve": "iterative", "damping": 0.05}},
        visuals=[ClothVisual(sheet.triangles, RED, SAND), ClothVisual(surface.members, STEEL, STEEL)],
        camera=Camera((0.9, -2.3, 1.5), (0, 0, 0.85)),
    )


def pushed_together(start):
    """The path of rings on the rail: in the first second they come nearer, and every other one steps aside.

    Args: start: (n, 3) [m].
    """
    aside = 0.02 * np.where(np.arange(len(start)) % 2, 1.0, -1.0)

    def path(time):
        part = smooth(time)
        x, y, z = start.T
        return np.stack([x * (1.0 + part * (GATHERED - 1.0)), y + part * aside, z], axis=1)

    return path


def turned_to_y(points):
    """A capsule along z as one along y, with its tip in the origin. Args: points (n, 3) [m]."""
    x, y, z = points.T
    return np.stack([y, z - z.max(), x], axis=1)


def reaching(points):
    """The path of an arm's points: it pushes into the curtain, then aside, and is drawn back.

    Args: points: of an arm with its tip in the origin (n, 3) [m].
    """

    def path(time):
        reach = smooth((time - 1.0) / 0.8) - smooth((time - 3.2) / 0.6)
        aside = smooth((time - 1.8) / 1.2)
        bend = 0.25 * aside * (points[:, 1] + 0.6) ** 2  # the arm bends as it pushes
        tip = np.array([0.25 - 0.4 * aside, -0.35 + 0.55 * reach, 0.8])
        return points + tip - bend[:, None] * (1.0, 0.0, 0.0)

    return path


def smooth(part):
    """A smooth way from 0 to 1 as a part goes from 0 to 1."""
    part = min(max(part, 0.0), 1.0)
    return part * part * (3.0 - 2.0 * part)
