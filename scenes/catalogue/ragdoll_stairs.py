"""A ragdoll tumbles down a flight of stairs."""

import math

import pbd
import rigid
from pbd.core.validate import positive, whole
from rigid import build
from rigid.rotation import from_axis_angle
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, RED, BodyVisual, Camera, ragdoll_colours


@register(small={"steps": 5}, slow=True, picture=1.6)
def ragdoll_stairs(
    steps: int = 9, rise: float = 0.19, tread: float = 0.3, push: float = 1.6, friction: float = 0.4,
    feet: bool = True,
):  # fmt: skip
    """A ragdoll is pushed at the top of the stairs and tumbles down."""
    whole("steps", steps), positive("rise", rise), positive("tread", tread)
    model = rigid.Model()
    model.add_ground(friction=friction)
    landing, width = 1.2, 1.8
    for k in range(steps):
        # Each step is a block on the floor; the highest is the landing.
        depth, height = (landing, steps * rise) if k == 0 else (tread, (steps - k) * rise)
        back = 0.0 if k == 0 else landing + (k - 1) * tread
        block = pbd.Box((depth, width, height), centre=(back + depth / 2, 0, height / 2))
        model.add_shape(rigid.GROUND, block, friction=friction)
    person = build.ragdoll(
        model, position=(landing - 0.25, 0, steps * rise + 0.02), rotation=from_axis_angle((0, 1, 0), math.radians(12)),
        velocity=(push, 0.1, 0), angular_velocity=(0, 0.9, 0.25), feet=feet, friction=friction,
    )  # fmt: skip
    foot = landing + (steps - 1) * tread
    return Scene(
        model=model,
        duration=5.0,
        settings={
            "verlet": {
                "dt": 1 / 60, "substeps": 4, "iterations": 4, "solve": "direct", "direction": "current",
                "damping": 0.01,
            },
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 20},
            # Soft contacts, because the feet start 13 mm inside the ground, and stiff springs would throw them out.
            "penalty": {"dt": 1 / 60, "substeps": 32, "stiffness": 8e4, "damping": 100.0, "angular_stiffness": 1.6e5,
                        "angular_damping": 100.0},
        },
        visuals=[BodyVisual(model, ragdoll_colours(model, [person], [RED], BLUE))],
        camera=Camera((foot + 2.4, -6.9, 3.6), (0.68 * foot, 0, 1.2)),
    )
