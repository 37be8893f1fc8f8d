"""A ragdoll falls onto the floor."""

import math

import rigid
from pbd.core.validate import positive
from rigid import build
from rigid.rotation import from_axis_angle
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, BodyVisual, Camera, ragdoll_colours


@register(slow=True, picture=0.5)
def ragdoll(height: float = 1.0, tilt: float = 25.0, spin: float = 1.5, friction: float = 0.5, feet: bool = True):
    """A ragdoll falls onto the floor from a height of one metre."""
    positive("height", height)
    model = rigid.Model()
    model.add_ground(friction=friction)
    person = build.ragdoll(
        model, position=(0, 0, height), rotation=from_axis_angle((0.4, 1.0, 0.0), math.radians(tilt)),
        angular_velocity=(0.2 * spin, spin, 0.1 * spin), feet=feet, friction=friction,
    )  # fmt: skip
    return Scene(
        model=model,
        duration=4.0,
        settings={
            "verlet": {
                "dt": 1 / 60, "substeps": 2, "iterations": 128, "tolerance": 1e-5, "solve": "direct", "damping": 0.003,
            },
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 20},
        },
        visuals=[BodyVisual(model, ragdoll_colours(model, [person], [GOLD], BLUE))],
        camera=Camera((2.3, -4.9, 2.9), (0.4, 0, 1.15)),
    )
