"""A crate falls on a trampoline: a rigid body and a cloth in contact."""

import numpy as np

import pbd
import rigid
from pbd.build import cloth
from pbd.core.validate import whole
from rigid.rotation import from_axis_angle
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
        compliance=compliance, shear_compliance=3 * compliance, thickness=0.8 * side / count, friction=0.4,
        pins=("top", "bottom", "left", "right"),
    )  # fmt: skip
    model = rigid.Model()
    model.add_ground(friction=0.6)
    turn = from_axis_angle((1, 0.6, 0.3), np.radians(tilt))
    model.add_box((0.45, 0.45, 0.45), mass=mass, position=(0.05, -0.05, level + height), rotation=turn, friction=0.4)
    rows = sheet.particles.reshape(count, count)
    border = np.concatenate([rows[0], rows[1:, -1], rows[-1, -2::-1], rows[-2:0:-1, 0]])
    hoop = np.stack([border, np.roll(border, -1)], axis=1)
    # The legs are shapes of the ground, below each corner.
    reach = side / 2 + 0.02
    for x in (-reach, reach):
        for y in (-reach, reach):
            model.add_shape(rigid.GROUND, pbd.Capsule(0.03, start=(x, y, 0.03), end=(x, y, level - 0.05)))
    return Scene(
        particles,
        model,
        duration=5.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 6, "solve": "iterative"}},
        visuals=[
            ClothVisual(sheet.triangles, BLUE, SAND), StickVisual(hoop, 0.035, STEEL), BodyVisual(model, GOLD, STEEL),
        ],
        camera=Camera((2.3, -5.0, 2.7), (0, 0, 0.95)),
    )
