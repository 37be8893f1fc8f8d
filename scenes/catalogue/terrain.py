"""Ragdolls fall onto a rolling terrain of triangles."""

import math

import numpy as np

import rigid
from pbd.core.validate import not_negative, positive, whole
from rigid import build
from rigid.rotation import from_axis_angle, multiply
from scenes.catalogue.components.hills import hills
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, GREEN, RED, STEEL, BodyVisual, Camera, ragdoll_colours

GRASS = (0.45, 0.58, 0.36)


@register(small={"count": 1, "points": 41}, slow=True, picture=1.6)
def terrain(
    count: int = 10, points: int = 225, size: float = 12.0, height: float = 0.35, friction: float = 0.7, seed: int = 2
):
    """Ten ragdolls fall onto hills of a hundred thousand triangles."""
    whole("count", count), whole("points", points, least=2), whole("seed", seed, least=0)
    positive("size", size), not_negative("height", height)
    rng = np.random.default_rng(seed)
    model = rigid.Model()
    ground = hills(size, points, height, rng)
    model.add_shape(rigid.GROUND, rigid.HeightField(ground, (size, size)), friction=friction)
    people = []
    for k in range(count):
        heading = from_axis_angle((0, 0, 1), rng.uniform(0, 2 * math.pi))
        tilt = from_axis_angle((0, 1, 0), rng.uniform(0.6, 1.6))
        angle = 2 * math.pi * k / count
        middle = 0.24 * size * np.array([math.cos(angle), math.sin(angle), 0.0]) * (count > 1)
        people.append(
            build.ragdoll(
                model, position=middle + (0, 0, ground.max() + 0.4), rotation=multiply(heading, tilt),
                friction=friction, angular_velocity=rng.normal(0, 0.5, 3),
            )
        )  # fmt: skip
    shirts = [(RED, GOLD, GREEN, CHALK, BLUE)[k % 5] for k in range(count)]
    return Scene(
        model=model,
        duration=5.0,
        settings={
            "verlet": {
                "dt": 1 / 60, "substeps": 8, "iterations": 10, "solve": "iterative", "direction": "current",
                "damping": 0.03,
            },
            "impulse": {"dt": 1 / 60, "substeps": 8, "iterations": 20},
            "penalty": {"dt": 1 / 60, "substeps": 32, "stiffness": 8e4, "damping": 100.0, "angular_stiffness": 1.6e5,
                        "angular_damping": 100.0},
        },
        visuals=[BodyVisual(model, ragdoll_colours(model, people, shirts, STEEL), GRASS)],
        camera=Camera((0.62 * size, -0.75 * size, 0.5 * size), (0, 0, 0.3)),
    )
