"""A crate falls on a trampoline: a rigid body and a cloth in contact."""

import numpy as np

import pbd
import rigid
from pbd.build import cloth
from pbd.core.validate import whole
from rigid.rotation import from_axis_angle
from scenes.catalogue.components.frame_of_cloth import add_legs, hoop
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, SAND, STEEL, BodyVisual, Camera, ClothVisual, StickVisual


@register(small={"count": 15}, slow=True)
def crate_on_trampoline(
    count: int = 32, mass: float = 6.0, height: float = 1.2, compliance: float = 1.5e-3, tilt: float = 12.0
):
    """A crate falls on a cloth in a frame, and bounces."""
    whole("count", count, least=3)
    side, level = 2.0, 0.9
    particles = pbd.Particles()
    sheet = cloth(
        particles, (-side / 2, -side / 2, level), (side, 0, 0), (0, side, 0), (count, count), density=0.5,
        compliance=compliance, shear_compliance=3 * compliance, bending=3e-4, thickness=0.8 * side / count,
        friction=0.4, pins=("top", "bottom", "left", "right"),
    )  # fmt: skip
    model = rigid.Model()
    model.add_ground(friction=0.6)
    turn = from_axis_angle((1, 0.6, 0.3), np.radians(tilt))
    model.add_box((0.45, 0.45, 0.45), mass=mass, position=(0.05, -0.05, level + height), rotation=turn, friction=0.4)
    add_legs(model, side, level)
    return Scene(
        particles,
        model,
        duration=5.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 6, "solve": "iterative"}},
        visuals=[
            ClothVisual(sheet.triangles, BLUE, SAND), StickVisual(hoop(sheet, count), 0.035, STEEL),
            BodyVisual(model, GOLD, STEEL),
        ],
        camera=Camera((2.3, -5.0, 2.7), (0, 0, 0.95)),
    )
