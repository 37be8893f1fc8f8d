"""A tablecloth is pulled away from under a laid table: triangles touch the dishes, so no particle is a bump to them."""

from itertools import product

import numpy as np

import pbd
import rigid
from pbd.build import cloth
from pbd.core.validate import positive
from rigid.rotation import from_axis_angle
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import BLUE, CHALK, GOLD, RED, SAND, STEEL, BodyVisual, Camera, ClothVisual

TABLE = np.array((1.5, 0.9, 0.04))  # [m]
LEVEL = 0.75  # of its top [m]
WAY = 1.4  # of the hands [m]
WAIT = 0.3  # before they pull [s]


@register(small={"count": 13}, slow=True, picture=0.48)
def tablecloth(count: int = 25, acceleration: float = 40.0, friction: float = 0.15, thickness: float = 0.002):
    """A tablecloth is pulled away from under plates, cups and bread."""
    positive("acceleration", acceleration, 1e3)
    model, particles = rigid.Model(), pbd.Particles()
    model.add_ground(friction=0.6)
    add_table(model)
    lay(model, LEVEL + thickness, friction)
    width, depth = 1.1, 0.8
    sheet = cloth(
        particles, (-width / 2, -depth / 2, LEVEL + thickness / 2), (width, 0, 0), (0, depth, 0),
        (count, round(0.7 * count)), density=0.2, friction=0.3, thickness=thickness, bending=1e-5, compliance=1e-6,
        shear_compliance=3e-6, contacts="surface",
    )  # fmt: skip
    start = particles.positions()
    hem = np.flatnonzero(start[:, 0] > width / 2 - 1e-9)

    def pulled(time):
        return start[hem] + (min(0.5 * acceleration * max(time - WAIT, 0.0) ** 2, WAY), 0, 0)

    particles.add_path(hem, pulled)
    colours = [{"bread": GOLD, "cup": BLUE}.get(body.name.rstrip("012"), CHALK) for body in model.bodies]
    return Scene(
        particles,
        model,
        duration=1.5,
        settings={"verlet": {"dt": 1 / 60, "substeps": 24, "iterations": 12, "solve": "iterative"}},
        visuals=[ClothVisual(sheet.triangles, RED, SAND), BodyVisual(model, colours, STEEL)],
        camera=Camera((1.2, -2.4, 1.6), (0.45, 0, 0.62)),
    )


def add_table(model):
    """Put a table on the ground."""
    model.add_shape(rigid.GROUND, pbd.Box(TABLE, centre=(0, 0, LEVEL - TABLE[2] / 2)), friction=0.3)
    height = LEVEL - TABLE[2]
    for x, y in product((-1, 1), (-1, 1)):
        centre = (x * (TABLE[0] / 2 - 0.04), y * (TABLE[1] / 2 - 0.04), height / 2)
        model.add_shape(rigid.GROUND, pbd.Box((0.06, 0.06, height), centre=centre))


def lay(model, level, friction):
    """Lay a table. Args: model; level: of the cloth's upper side [m]; friction: of the dishes."""
    for k, (x, y) in enumerate([(-0.25, -0.2), (0.2, -0.2), (-0.03, 0.22)]):
        put(model, f"plate{k}", prism(0.11, 0.02), (x, y, level), 0.45, friction)
        put(model, f"cup{k}", prism(0.035, 0.08), (x + 0.17, y + 0.1 * np.sign(y), level), 0.2, friction)
    turn = from_axis_angle((0, 0, 1), 0.4)
    bread = model.add_body(name="bread")
    model.add_shape(bread, pbd.Box((0.24, 0.1, 0.09), centre=(-0.33, 0.15, level + 0.045), rotation=turn), mass=0.5,
                    friction=friction)  # fmt: skip


def put(model, name, points, place, mass, friction):
    """Add a dish. Args: points: of its hull (n, 3) [m], on z = 0; place: (3,) [m]; mass [kg]."""
    model.add_shape(model.add_body(name=name), pbd.ConvexHull(points + np.array(place)), mass=mass, friction=friction)


def prism(radius, height, sides=12):
    """Corners of a prism on z = 0 (2 sides, 3) [m]."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], axis=1)
    return np.concatenate([ring, ring + (0, 0, height)])
