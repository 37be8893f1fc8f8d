"""A wrecking ball: a heavy ball on a light chain, and a wall that only weight and friction hold together."""

import math

import numpy as np

import rigid
from pbd.core.validate import not_negative, positive, whole
from rigid.rotation import from_axis_angle
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, RED, SAND, STEEL, BodyVisual, Camera, JointVisual, StaticVisual, tubes

BRICK = np.array([0.25, 0.5, 0.25])  # thick, wide, high [m]
BRICK_DENSITY, STEEL_DENSITY = 1900.0, 7800.0  # [kg/m³]
LINK = (0.035, 0.12)  # thick and wide [m]
GAP = 0.005  # between the wall and the ball at its lowest point [m]


@register(small={"rows": 4, "columns": 3, "links": 4}, slow=True, picture=1.6)
def wrecking_ball(
    mass: float = 1200.0, rows: int = 8, columns: int = 6, angle: float = 65.0, links: int = 8, length: float = 3.2,
    friction: float = 0.6,
):  # fmt: skip
    """A steel ball on a chain swings into a brick wall; --param angle=0 lets it hang before the wall.

    Links of the chain are bodies on ball joints, so all solvers run the scene. A rope of particles would need "verlet".
    """
    positive("mass", mass), whole("links", links), positive("length", length)
    if not_negative("angle", angle) > 90:
        raise ValueError(f"angle is {angle:g} degrees: expected 0 to 90, at which the chain is taut")
    model = rigid.Model()
    model.add_ground(friction=friction)
    colours = add_wall(model, whole("rows", rows), whole("columns", columns), friction)
    # The ball comes from +x, and its lowest point is just before the middle of the wall.
    radius = (3 * mass / (4 * math.pi * STEEL_DENSITY)) ** (1 / 3)
    level = max(rows * BRICK[2] / 2, 1.1 * radius)
    pivot = np.array([BRICK[0] / 2 + GAP + radius, 0, level + radius + length])
    turn, pitch = math.radians(angle), length / links
    down, rotation = np.array([math.sin(turn), 0, -math.cos(turn)]), from_axis_angle((0, 1, 0), -turn)
    before = rigid.GROUND
    for k in range(links):
        start = pivot + k * pitch * down
        size = (*LINK[:: 1 if k % 2 else -1], 0.9 * pitch)
        link = model.add_box(
            size, density=STEEL_DENSITY, position=start + pitch / 2 * down, rotation=rotation, name=f"link {k + 1}"
        )
        model.add_ball(before, link, start)
        before = link
    end = pivot + length * down
    ball = model.add_sphere(radius, mass=mass, position=end + radius * down, friction=friction, name="ball")
    model.add_ball(before, ball, end)
    colours += [STEEL] * links + [BLUE]
    height, side = pivot[2], columns * BRICK[1] / 2 + 0.8
    mast, tip = np.array([pivot[0], side, 0]), np.array([pivot[0], side, height])
    crane = tubes([mast, tip, tip - (0, 0, 0.9)], [tip, pivot, pivot + (0, 0.35 * side, 0)], 0.08, GOLD)
    return Scene(
        model=model,
        duration=6.0,
        settings={
            "verlet": {"dt": 1 / 60, "substeps": 6, "iterations": 8, "solve": "direct"},
            "impulse": {"dt": 1 / 60, "substeps": 8, "iterations": 20},
            "articulated": {"dt": 1 / 60, "substeps": 4, "iterations": 20},
            "penalty": {
                "dt": 1 / 60, "substeps": 96, "stiffness": 6.4e6, "damping": 2500.0, "angular_stiffness": 1.28e6,
                "angular_damping": 400.0,
            },
        },
        visuals=[
            BodyVisual(model, np.array(colours)), JointVisual(model, 0.055, STEEL, ("ball",)), StaticVisual([crane]),
        ],
        camera=Camera((-1.25 * height, -1.55 * height, 0.85 * height), (-0.6, 0.45, 0.4 * height)),
    )


def add_wall(model, rows, columns, friction):
    """Add a wall in stretcher bond, with half bricks at the ends of every other row. Returns: list of colours."""
    colours, random = [], np.random.default_rng(0)
    for row in range(rows):
        joints = np.arange(columns + 1) * BRICK[1]
        if row % 2:
            joints = np.concatenate([joints[:1], joints[:-1] + BRICK[1] / 2, joints[-1:]])
        for left, right in zip(joints[:-1], joints[1:]):
            place = (0, (left + right - columns * BRICK[1]) / 2, (row + 0.5) * BRICK[2])
            size = BRICK[0], right - left - 0.004, BRICK[2]  # bricks of a row do not touch
            model.add_box(size, density=BRICK_DENSITY, position=place, friction=friction)
            colours.append(np.array(RED) + random.uniform(0.0, 0.8) * (np.array(SAND) - RED))
    return colours
