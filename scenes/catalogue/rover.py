"""A rover with six wheels on rockers and bogies drives over a terrain of triangles.

A rocker on each side of the chassis carries the front wheel and, on a hinge, a bogie with the other two wheels. A gear
turns the rockers against one another, so that the chassis leans by half as much as each side: all wheels stay on the
ground, without springs. Rovers on Mars are built so (Bickler, Articulated Suspension System, patent US 4840394, 1989).
"""

import numpy as np

import rigid
from pbd.core.validate import not_negative, positive, whole
from scenes.catalogue.components.hills import hills
from scenes.catalogue.components.wheel import RADIUS, add_wheel
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, GOLD, STEEL, BodyVisual, Camera, FollowingCamera

SAND = (0.72, 0.52, 0.38)
CHASSIS, WIDTH = (0.6, 0.34, 0.12), 0.24  # of the chassis; from its middle to the rockers [m]
FRONT, MIDDLE, REAR, PIVOT = 0.42, 0.0, -0.42, (-0.21, 0.13)  # wheels along x; hinge of a bogie along x and z [m]


@register(small={"points": 33}, slow=True, picture=4)
def rover(
    speed: float = 0.6, points: int = 129, size: float = 12.0, height: float = 0.35, friction: float = 0.9,
    seed: int = 4,
):  # fmt: skip
    """A rover on rockers and bogies drives over hills."""
    positive("speed", speed), positive("size", size), not_negative("height", height)
    whole("points", points, least=2), whole("seed", seed, least=0)
    ground = hills(size, points, height, np.random.default_rng(seed))
    model = rigid.Model()
    model.add_shape(rigid.GROUND, rigid.HeightField(ground, (size, size)), friction=friction)
    base = np.array([-0.3 * size, 0.0, 0.0])
    base[2] = height_below(ground, size, base[0]) + RADIUS + 0.02  # of the hubs
    chassis = model.add_box(CHASSIS, mass=12.0, position=base + (0, 0, 0.24), name="chassis")
    colours = [GOLD]
    for side, where in ((1, "left"), (-1, "right")):
        beside = base + (0, side * WIDTH, 0)
        pivot = beside + (PIVOT[0], 0, PIVOT[1])
        rocker = bar(model, pivot, beside + (FRONT, 0, 0), f"{where} rocker")
        model.add_hinge(chassis, rocker, beside + (0, 0, 0.2), (0, 1, 0), limits=(-0.6, 0.6), name=f"{where} axle")
        bogie = bar(model, beside + (REAR, 0, 0), beside + (MIDDLE, 0, 0), f"{where} bogie")
        model.add_hinge(rocker, bogie, pivot, (0, 1, 0), limits=(-0.8, 0.8), name=f"{where} pivot")
        colours += [STEEL, STEEL]
        for x, carrier, which in ((FRONT, rocker, "front"), (MIDDLE, bogie, "middle"), (REAR, bogie, "rear")):
            add_wheel(model, carrier, beside + (x, side * 0.09, 0), speed, 8.0, f"{where} {which} wheel")
            colours.append(BLUE)
    model.add_gear("left axle", "right axle", -1.0, name="differential")
    for k in range(len(model.bodies)):
        for other in range(k):
            model.exclude_contact(k, other)
    return Scene(
        model=model,
        duration=8.0,
        settings={
            "impulse": {"dt": 1 / 60, "substeps": 8, "iterations": 20},
            "verlet": {"dt": 1 / 60, "substeps": 8, "iterations": 10, "solve": "direct", "direction": "current"},
            "penalty": {"dt": 1 / 60, "substeps": 128, "stiffness": 5e6, "damping": 800.0, "angular_stiffness": 1e7,
                        "angular_damping": 800.0},
        },
        visuals=[BodyVisual(model, np.array(colours), SAND)],
        camera=FollowingCamera(chassis, Camera((1.6, -2.5, 1.9), (0.1, 0, 0.75))),
    )


def bar(model, start, end, name):
    """Add a bar of 1 kg between two points. Returns: its body."""
    along = end - start
    length, angle = np.linalg.norm(along), -np.arctan2(along[2], along[0])
    return model.add_box(
        (length, 0.03, 0.04), mass=1.0, position=(start + end) / 2,
        rotation=rigid.rotation.from_axis_angle((0, 1, 0), angle), name=name,
    )  # fmt: skip


def height_below(ground, size, x):
    """The highest point of the terrain below a rover at (x, 0) [m]."""
    line = np.linspace(-size / 2, size / 2, len(ground))
    spacing = line[1] - line[0]
    return ground[np.ix_(np.abs(line) <= max(0.5, spacing), np.abs(line - x) <= max(0.7, spacing))].max()
