"""A ribbon of cloth is lowered onto the floor and folds onto itself."""

import pbd
from pbd.build import cloth
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, SAND, Camera, ClothVisual


@register(small={"columns": 8}, picture=4.6)
def fold(columns: int = 24, length: float = 2.4, thickness: float = 0.014, friction: float = 0.4, speed: float = 0.55):
    """A ribbon is lowered onto the floor and folds onto itself."""
    particles = pbd.Particles()
    width = 0.36
    rows = round(length / width * (columns - 1)) + 1
    sheet = cloth(
        particles, (-width / 2, 0, length + 0.02), (width, 0, 0), (0, 0, -length), (rows, columns),
        density=0.25, shear_compliance=1e-2, bending=4e-4, thickness=thickness, friction=friction,
    )  # fmt: skip
    particles.add_collider(pbd.Plane(), friction=0.6)
    top = sheet.particles[:columns]
    start = particles.positions()[top].copy()
    lowest = 10 * thickness

    def path(time):
        fall = min(speed * time, length - lowest)
        return start - [0.0, 0.0, fall]

    particles.add_path(top, path)
    # A small initial velocity decides to which side it folds first.
    particles.velocities()[:, 1] += 0.02 * (particles.masses() < float("inf"))
    return Scene(
        particles,
        duration=5.5,
        settings={
            "verlet": {
                "dt": 1 / 60, "substeps": 32, "iterations": 1, "solve": "iterative", "damping": 0.02,
                "contact_interval": 4,
            },
        },
        visuals=[ClothVisual(sheet.triangles, BLUE, SAND)],
        camera=Camera((1.25, -1.35, 0.85), (0, 0, 0.3), field_of_view=33),
    )
