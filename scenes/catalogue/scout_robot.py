"""A scout robot with wheels on sprung arms on rough ground; the vehicle of [0] in docs/solvers/sources.md.

Each wheel turns on an arm, and each arm on a hinge of the chassis. The front arms have torsion springs in their hinges.
The rear arms have springs between arm and chassis, with the same stiffness at the wheel. At rest the chassis sinks by
m g/4 divided by that stiffness.
"""


import numpy as np

import pbd
import rigid
from pbd.core.validate import not_negative, positive, whole
from scenes.catalogue.components.wheel import RADIUS, add_wheel
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, STEEL, STONE, BodyVisual, Camera, FollowingCamera, SpringVisual

ARM, CHASSIS = 0.24, (0.86, 0.34, 0.12)  # [m]
SETTLING = 0.9  # distance to the rough ground [m]


@register(small={"bumps": 20}, slow=True, picture=3)
def scout_robot(
    stiffness: float = 3000.0, damping: float = 90.0, speed: float = 1.4, bumps: int = 60, chassis_mass: float = 16.0,
    seed: int = 5,
):  # fmt: skip
    """A robot on sprung arms drives over rough ground."""
    positive("stiffness", stiffness), not_negative("damping", damping), positive("chassis_mass", chassis_mass)
    whole("bumps", bumps, least=0), whole("seed", seed, least=0)
    model = rigid.Model()
    model.add_ground(friction=0.9)
    for stone in rough_ground(bumps, seed):
        model.add_shape(rigid.GROUND, stone, friction=0.9)
    level = RADIUS  # of the hubs
    chassis = model.add_box(CHASSIS, mass=chassis_mass, position=(0, 0, level + 0.06), name="chassis")
    for seen in (  # a mast and a camera, without mass and contact
        rigid.Box((0.4, 0.26, 0.12), centre=(-0.1, 0, level + 0.18)),
        rigid.Capsule(0.02, start=(0.2, 0, level + 0.12), end=(0.2, 0, level + 0.4)),
        rigid.Sphere(0.055, centre=(0.2, 0, level + 0.43)),
    ):
        model.add_shape(chassis, seen, mask=0)
    colours = [GOLD]
    for end, name in ((1, "front"), (-1, "rear")):
        for side, where in ((1, "left"), (-1, "right")):
            pivot = np.array([0.18 * end, side * (CHASSIS[1] / 2 + 0.03), level])
            hub = pivot + (ARM * end, 0, 0)
            arm = model.add_box((ARM, 0.03, 0.04), mass=0.4, position=(pivot + hub) / 2, name=f"{name} {where} arm")
            bar = rigid.Spring(stiffness * ARM**2, damping * ARM**2) if end > 0 else None
            model.add_hinge(chassis, arm, pivot, (0, 1, 0), limits=(-0.6, 0.6), spring=bar, name=f"{name} {where} axle")
            if end < 0:
                above = hub + (0, 0, 0.16)
                model.add_spring(chassis, arm, above, hub, stiffness=stiffness, damping=damping)
            add_wheel(model, arm, hub + (0, side * 0.09, 0), speed, 12.0, f"{name} {where} wheel")
            colours += [STEEL, BLUE]
    for k in range(len(model.bodies)):  # wheels do not collide with the chassis and other arms
        for other in range(k):
            model.exclude_contact(k, other)
    return Scene(
        model=model,
        duration=8.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 4, "iterations": 20},
            # Solved directly, joints close to 0.03 µm (iterated: 6.6 mm). But wheels grip less, as friction iterates
            # around the solve: with 4 substeps of 15, 1.4 times the cost, the robot is 0.6 m off after 4 s (0.13 m).
            "verlet": {"dt": 1 / 60, "substeps": 16, "iterations": 15, "solve": "iterative"},
            # The arms are thin and light, and carry wheels at their side.
            "penalty": {"dt": 1 / 60, "substeps": 128, "stiffness": 5e6, "damping": 800.0, "angular_stiffness": 1e7,
                        "angular_damping": 800.0},
        },
        visuals=[BodyVisual(model, np.array(colours), STONE), SpringVisual(model)],
        camera=FollowingCamera(chassis, Camera((1.5, -2.5, 1.25), (0.15, 0, 0.2))),
    )


def rough_ground(count, seed):
    """Make shapes of stones that lie half buried along x."""
    rng = np.random.default_rng(seed)
    stones = []
    for k in range(count):
        x, y = SETTLING + 0.18 * k + rng.uniform(-0.05, 0.05), rng.uniform(-0.5, 0.5)
        radius, height = rng.uniform(0.12, 0.3), rng.uniform(0.02, 0.06)
        if k % 3:
            stones.append(pbd.Sphere(radius, centre=(x, y, height - radius)))
        else:
            along = np.array([rng.uniform(-0.3, 0.3), rng.uniform(0.3, 0.6), 0])
            middle = np.array([x, y, height - 0.5 * radius])
            stones.append(pbd.Capsule(0.5 * radius, start=middle - along / 2, end=middle + along / 2))
    return stones
