"""A mobile like those of Calder: balanced rods on strings, with a shape or another rod at each end."""

import math

import numpy as np

import rigid
from pbd.core.validate import whole
from scenes.registry import register
from scenes.scene import Scene
from scenes.visuals import (
    BLUE,
    CHALK,
    GOLD,
    GREEN,
    RED,
    STEEL,
    WOOD,
    BodyVisual,
    Camera,
    JointVisual,
    StaticVisual,
    tubes,
)

COLOURS = (RED, GOLD, BLUE, GREEN, CHALK)
LOAD = 0.25  # mass of a shape [kg]
ROD = 0.6  # of a wooden rod [kg/m]


@register(small={"rods": 3}, slow=True, picture=2)
def mobile(rods: int = 4, spin: float = 0.4, length: float = 1.5, string: float = 0.28):
    """A mobile of balanced rods turns on its strings."""
    whole("rods", rods)
    model, colours = rigid.Model(), []
    top = np.array([0.0, 0.0, 1.0 + rods * (string + 0.12) + string])
    hang_rod(model, colours, rigid.GROUND, top, rods, length, string, spin)
    foot, knee = (0, 1.1 * length, 0), (0, 1.1 * length, top[2] + 0.02)
    stand = tubes([foot, knee], [knee, top + (0, 0, 0.02)], 0.03, WOOD)
    return Scene(
        model=model,
        duration=8.0,
        settings={
            "verlet": {"dt": 1 / 60, "substeps": 2, "iterations": 2, "solve": "direct"},
            "impulse": {"dt": 1 / 60, "substeps": 8, "iterations": 40},
        },
        visuals=[BodyVisual(model, np.array(colours)), JointVisual(model, 0.006), StaticVisual([stand])],
        camera=Camera((1.2, -2.6 * top[2] ** 0.5, 0.9 * top[2]), (0.1, 0, 0.62 * top[2])),
    )


def hang_rod(model, colours, parent, point, rods, length, string, spin, angle=0.0, velocity=(0.0, 0.0, 0.0)):
    """Hang a rod by a string, with a shape at one end and the other rods at the other.

    Args:
        model: a rigid.Model.
        colours: a list, to which the colour of each body is added.
        parent: index of the body.
        point: of the parent (3,) [m].
        rods: how many rods to hang.
        length, string: lengths of this rod and of its string [m].
        spin: [rad/s].
        angle: of the rod about z [rad].
        velocity: of the point (3,) [m/s].
    """
    def velocity_at(place):
        return velocity + np.cross((0, 0, spin), place - end)

    radius = 0.025
    along = np.array([math.cos(angle), math.sin(angle), 0.0])
    end = point - (0, 0, string)
    own = ROD * length
    # Loads at the ends, and the balance point at s along the rod from its middle.
    left, right = load(rods - 1, length), LOAD * (1 + 0.15 * rods)
    balance = (right - left) * length / 2 / (left + right + own)
    middle = end - balance * along - (0, 0, radius)
    rod = model.add_capsule(
        radius, start=middle - length / 2 * along, end=middle + length / 2 * along, mass=own,
        velocity=velocity_at(middle), angular_velocity=(0, 0, spin),
    )  # fmt: skip
    colours.append(STEEL)
    model.add_distance(parent, rod, point, end)
    below = (0, 0, radius)
    tips = middle - length / 2 * along - below, middle + length / 2 * along - below
    hang_shape(model, colours, rod, tips[1], 0.6 * string, right, velocity_at(tips[1]))
    if rods > 1:
        swing = velocity_at(tips[0])
        hang_rod(model, colours, rod, tips[0], rods - 1, 0.78 * length, string, -1.6 * spin, angle + 0.9, swing)
    else:
        hang_shape(model, colours, rod, tips[0], 0.6 * string, left, velocity_at(tips[0]))


def load(rods, length):
    """Mass of a part of the mobile [kg]. Args: rods: in the part; length: of the rod above it [m]."""
    if rods == 0:
        return LOAD
    return load(rods - 1, 0.78 * length) + LOAD * (1 + 0.15 * rods) + ROD * 0.78 * length


def hang_shape(model, colours, parent, point, string, mass, velocity):
    """Hang a ball, a disc, a box or a drop by a string, in turn. Args: see `hang_rod`."""
    number = sum(colour != STEEL for colour in colours)
    colours.append(COLOURS[number % len(COLOURS)])
    end = point - (0, 0, string)
    size = 0.1 * (mass / LOAD) ** (1 / 3)
    at = {"position": end - (0, 0, size), "velocity": velocity, "mass": mass}
    kind = number % 4
    if kind == 0:
        body = model.add_sphere(size, **at)
    elif kind == 1:
        body = model.add_box((1.1 * size, 1.5 * size, 2 * size), **at)
    elif kind == 2:
        body = model.add_cylinder(0.8 * size, 2 * size, **at)
    else:
        ring = np.stack([np.cos(np.arange(6) * math.pi / 3), np.sin(np.arange(6) * math.pi / 3), np.zeros(6)], axis=1)
        points = size * np.concatenate([ring, [(0, 0, 1), (0, 0, -1)]])
        body = model.add_mesh((points, hexagon()), **at)
    model.add_distance(parent, body, point, end)


def hexagon():
    """Triangles of two pyramids on a ring of six vertices, with apexes 6 and 7."""
    return np.array([t for k in range(6) for t in ((k, (k + 1) % 6, 6), ((k + 1) % 6, k, 7))])
