"""A ragdoll falls on a trampoline: limbs thinner than the distance of the cloth's particles do not pass through it."""

import pbd
import rigid
from pbd.build import cloth
from pbd.core.validate import whole
from rigid import build
from rigid.rotation import from_axis_angle
from scenes.catalogue.components.frame_of_cloth import add_legs, hoop
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, SAND, STEEL, BodyVisual, Camera, ClothVisual, StickVisual, ragdoll_colours


@register(small={"count": 9}, slow=True, picture=0.75)
def trampoline(count: int = 17, height: float = 1.0, compliance: float = 1.5e-4, thickness: float = 0.01):
    """A ragdoll falls on a trampoline whose triangles touch it."""
    whole("count", count, least=3)
    side, level = 2.6, 0.9
    particles = pbd.Particles()
    sheet = cloth(
        particles, (-side / 2, -side / 2, level), (side, 0, 0), (0, side, 0), (count, count), density=0.8,
        compliance=compliance, shear_compliance=3 * compliance, bending=3e-4, thickness=thickness, friction=0.4,
        contacts="surface", pins=("top", "bottom", "left", "right"),
    )  # fmt: skip
    model = rigid.Model()
    model.add_ground(friction=0.6)
    turn = from_axis_angle((0.3, 1, 0.2), 1.2)
    person = build.ragdoll(model, position=(-0.3, 0.1, level + height), rotation=turn, friction=0.4)
    add_legs(model, side, level)
    return Scene(
        particles,
        model,
        duration=5.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 16, "iterations": 8, "solve": "iterative"}},
        visuals=[
            ClothVisual(sheet.triangles, BLUE, SAND), StickVisual(hoop(sheet, count), 0.035, STEEL),
            BodyVisual(model, ragdoll_colours(model, [person], [GOLD], CHALK), STEEL),
        ],
        camera=Camera((2.6, -5.4, 2.7), (0, 0, 0.95)),
    )  # fmt: skip
