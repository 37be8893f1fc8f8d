"""Many ragdolls fall into a pit: many contacts and many joints."""

import math

import numpy as np

import pbd
import rigid
from pbd.core.validate import whole
from rigid import build
from rigid.rotation import from_axis_angle, multiply, rotate
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, GREEN, RED, STEEL, STONE, BodyVisual, Camera, ragdoll_colours

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


@register(small={"count": 3}, slow=True, picture=1.6)
def ragdoll_pile(count: int = 50, pit: float = 3.4, wall: float = 0.6, friction: float = 0.5, seed: int = 1):
    """Fifty ragdolls fall into a pit, or onto the ground if the wall has no height."""
    whole("count", count), whole("seed", seed, least=0)
    rng = np.random.default_rng(seed)
    model = rigid.Model()
    model.add_ground(friction=friction)
    for k in range(4 if wall else 0):
        turn = from_axis_angle((0, 0, 1), k * math.pi / 2)
        middle = rotate(turn, np.array([pit / 2 + 0.1, 0.1, wall / 2]))
        size = (0.2, pit + 0.2, wall) if k % 2 == 0 else (pit + 0.2, 0.2, wall)
        model.add_shape(rigid.GROUND, pbd.Box(size, centre=middle), friction=friction)
    people = []
    for k in range(count):
        # They lie in layers of two; each layer is rotated by the golden angle.
        heading = from_axis_angle((0, 0, 1), GOLDEN_ANGLE * (k // 2))
        lying = multiply(heading, from_axis_angle((0, 1, 0), math.pi / 2))
        middle = rotate(heading, np.array([-0.9, 0.52 if k % 2 else -0.52, 0.0]))
        people.append(
            build.ragdoll(
                model, position=middle + (0, 0, 0.9 + 0.3 * (k // 2)), rotation=lying, friction=friction,
                angular_velocity=rng.normal(0, 0.4, 3),
            )
        )  # fmt: skip
    shirts = [(RED, GOLD, GREEN, CHALK, BLUE)[k % 5] for k in range(count)]
    return Scene(
        model=model,
        duration=6.0,
        settings={
            # In the first 2.5 s joints open by up to 20 mm and bodies overlap by up to 5 cm. Solved directly, joints
            # close to 0.6 µm, but bodies overlap by 19 cm, because contacts iterate around the solve, and 4 substeps
            # of 4 cost twice as much. With 10 iterations joints open by 54 mm, and close again within a step, which
            # gains 0.14 % of the energy.
            "verlet": {
                "dt": 1 / 60, "substeps": 8, "iterations": 20, "solve": "iterative", "direction": "current",
                "damping": 0.03,
            },
            "impulse": {"dt": 1 / 60, "substeps": 2, "iterations": 10},
        },
        visuals=[BodyVisual(model, ragdoll_colours(model, people, shirts, STEEL), STONE)],
        camera=Camera((4.2, -6.6, 4.6), (0, 0, 0.8)),
    )
