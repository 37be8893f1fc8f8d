"""Figures of particles tumble down a ramp: the articulated figure of Jakobsen's paper."""

import math

import numpy as np

import pbd
from pbd.build import figure as add_figure
from pbd.core.validate import positive, whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import (
    BLUE,
    GOLD,
    GREEN,
    RED,
    SAND,
    STEEL,
    STONE,
    Camera,
    ColliderVisual,
    ParticleVisual,
    StickVisual,
)

SHIRTS = (RED, BLUE, GREEN, GOLD)
LEGS = ("hip", "knee", "ankle")
SLOPE = math.radians(30)


@register(picture=1.4)
def figure(count: int = 1, height: float = 1.75, drop: float = 0.05, seed: int = 3):
    """A figure of sixteen particles, sticks and angle limits stumbles down a ramp."""
    whole("count", count), positive("height", height), whole("seed", seed, least=0)
    rng = np.random.default_rng(seed)
    particles = pbd.Particles()
    particles.add_collider(pbd.Plane(), friction=0.6)
    spread = 1.1 * height * (count - 1)  # distance of the outermost figures
    long, wide, thick = 5.0, spread + 1.9, 0.3
    along, up = np.array([math.cos(SLOPE), 0, -math.sin(SLOPE)]), np.array([math.sin(SLOPE), 0, math.cos(SLOPE)])
    foot = np.array([0.6, 0, 0])  # where the ramp meets the floor
    turned = (math.cos(SLOPE / 2), 0, math.sin(SLOPE / 2), 0)
    ramp = pbd.Box((long, wide, thick), centre=foot + (0.4 - long / 2) * along - thick / 2 * up, rotation=turned)
    particles.add_collider(ramp, friction=0.3)
    visuals = [ColliderVisual(1, ramp, STONE)]
    for k in range(count):
        place = foot - 3.4 * along + [0, 1.1 * height * k - spread / 2, drop]
        # Each figure starts with a push in the back and a different rotation.
        yaw, push = rng.uniform(-0.6, 0.6), np.array([1.6, *rng.normal(0, 0.15, 2)])
        person = add_figure(
            particles, place, height, rotation=(math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)), velocity=push,
            angular_velocity=(rng.normal(0, 0.4), 1.2, rng.normal(0, 0.4)),
        )  # fmt: skip
        legs = np.isin(person.limbs, [index for name, index in person.parts.items() if name.split()[-1] in LEGS])
        visuals += [StickVisual(person.limbs[mine], person.radii[mine], colour) for mine, colour in
                  ((~legs[:, 1], SHIRTS[k % len(SHIRTS)]), (legs[:, 1], STEEL))]  # fmt: skip
        visuals.append(ParticleVisual([person.parts["head"]], person.head_radius, SAND))
    return Scene(
        particles,
        duration=4.0,
        settings={"verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 5, "solve": "iterative", "damping": 0.01}},
        visuals=visuals,
        camera=Camera((2.4 + 0.4 * spread, -7.0 - 1.1 * spread, 2.9 + 0.4 * spread), (-0.5, 0, 1.35)),
    )
