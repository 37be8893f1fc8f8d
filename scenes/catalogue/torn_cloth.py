"""A ball flies through a cloth between two rails, which tears."""

import pbd
import rigid
from pbd.build import cloth
from pbd.core.validate import whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, SAND, STEEL, BodyVisual, Camera, ClothVisual, StickVisual


@register(small={"count": 16}, slow=True, picture=0.47)
def torn_cloth(count: int = 48, tear: float = 1.2, speed: float = 7.0, mass: float = 8.0):
    """A ball flies through a cloth between two rails, which tears."""
    whole("count", count, least=3)
    side, top = 2.0, 2.4
    particles = pbd.Particles()
    curtain = cloth(
        particles, (0, -side / 2, top), (0, side, 0), (0, 0, -side), (count, count), density=0.3, compliance=1e-3,
        shear_compliance=1e-3, bending=2e-5, thickness=0.3 * side / count, friction=0.3, contacts="surface", tear=tear,
        pins=("top", "bottom"),
    )  # fmt: skip
    model = rigid.Model()
    model.add_ground(friction=0.6)
    model.add_sphere(0.25, mass=mass, position=(-1.8, 0.1, 1.35), velocity=(speed, 0, 1.0), friction=0.4)
    rails = curtain.particles.reshape(count, count)[[[0], [-1]], [[0, -1]]]
    return Scene(
        particles,
        model,
        duration=3.0,
        settings={"verlet": {"dt": 1 / 120, "substeps": 8, "iterations": 5, "solve": "iterative", "damping": 0.002}},
        visuals=[
            ClothVisual(curtain.triangles, BLUE, SAND), StickVisual(rails, 0.03, STEEL),
            BodyVisual(model, GOLD, STEEL),
        ],
        camera=Camera((-3.3, -3.3, 2.2), (0.35, 0, 1.2)),
    )
