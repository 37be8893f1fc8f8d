"""Bars and pins of linkages that move in the plane y = 0, with each bar in its own layer."""

import math

import numpy as np

import rigid
from rigid.rotation import from_axis_angle
from scenes.visuals import CHALK, STONE, Instances, StaticVisual, primitives

THICK, WIDE = 0.016, 0.034  # of a bar: across the plane, and in the plane [m]
LAYER = 0.02  # distance of layers [m]
AXIS = (0, -1, 0)  # of all pins: angles count from x to z

# Settings for a linkage with one loop.
SETTINGS = {
    "impulse": {"dt": 0.01, "iterations": 500, "tolerance": 1e-6},
    "verlet": {"dt": 0.01, "substeps": 2, "iterations": 2, "solve": "direct"},
}


def add_bar(model, start, end, layer, per_metre=2.0, name=None):
    """Add a uniform bar between two points, which collides with nothing.

    Args: model: a rigid.Model; start, end: (x, z) of the centres of its holes [m]; layer: a whole number, larger
        further away; per_metre: mass [kg/m]; name: of the body.

    Returns: index of the body.
    """
    start, end = place(start, layer), place(end, layer)
    along = end - start
    length = np.linalg.norm(along)
    turn = from_axis_angle(AXIS, math.atan2(along[2], along[0]))
    bar = model.add_box(
        (length, THICK, WIDE), mass=per_metre * length, position=(start + end) / 2, rotation=turn, mask=0, name=name
    )
    for eye in (start, end):
        model.add_shape(bar, disc(eye, WIDE / 2, THICK), mask=0)
    return bar


def add_pin(model, parent, child, point, layers, **options):
    """Add a hinge between two bars, with a visible pin.

    Args: model: a rigid.Model; parent, child: bodies, or rigid.GROUND as parent; point: (x, z) [m]; layers: the nearest
        and the furthest layer of the pin; options: of `Model.add_hinge`.

    Returns: index of the joint.
    """
    return model.add_hinge(parent, child, show_pin(model, child, point, layers), AXIS, **options)


def show_pin(model, body, point, layers):
    """Add a visible pin to a body. Args: see `add_pin`. Returns: its middle (3,) [m]."""
    near, far = (place(point, layer + side) for layer, side in zip(layers, (-0.7, 0.7)))
    model.add_shape(body, rigid.Cylinder(0.3 * WIDE, start=near, end=far), mask=0)
    return (near + far) / 2


def add_loose_pin(model, parent, child, point, layers, **options):
    """Add a pin with which the child can tilt out of the plane: a universal joint. Args: see `add_pin`."""
    middle = show_pin(model, child, point, layers)
    along = model.body(child).position - middle
    return model.add_universal(parent, child, middle, AXIS, np.cross(AXIS, along), **options)


def add_round_pin(model, parent, child, point, layers, **options):
    """Add a pin that joins points and no axes: a ball joint. Args: see `add_pin`."""
    return model.add_ball(parent, child, show_pin(model, child, point, layers), **options)


def disc(middle, radius, thick):
    """Make a cylinder across the plane. Args: middle: (3,) [m]; radius [m]; thick: its length [m]."""
    across = np.array([0, thick / 2, 0])
    return rigid.Cylinder(radius, start=middle - across, end=middle + across)


def place(point, layer):
    """Make a point (3,) in the world [m]. Args: point: (x, z) [m]; layer."""
    return np.array([point[0], LAYER * layer, point[1]])


def crossing(a, b, radius_a, radius_b):
    """Intersect two circles, on the left of the line from a to b.

    Args: a, b: centres (x, z) [m]; radius_a, radius_b: [m].

    Raises: ValueError if they do not intersect.
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    between = b - a
    distance = np.linalg.norm(between)
    along = (distance**2 + radius_a**2 - radius_b**2) / (2 * distance)
    if along**2 > radius_a**2:
        raise ValueError(
            f"bars of {radius_a:g} m and {radius_b:g} m from points {distance:g} m apart: expected bars that meet"
        )
    across = math.sqrt(radius_a**2 - along**2)
    return a + (along * between + across * np.array([-between[1], between[0]])) / distance


def board(lower, upper, layer):
    """Make a StaticVisual of a board behind a linkage. Args: lower, upper: corners (x, z) [m]; layer: of its front."""
    lower, upper = np.asarray(lower, float), np.asarray(upper, float)
    middle, size = (lower + upper) / 2, upper - lower
    across = LAYER * layer + 0.02
    foot = np.array([0.06 + 0.1 * size[0], 0.4 * upper[1], 0.03])
    feet = [(middle[0] + side * 0.38 * size[0], across + 0.05, foot[2] / 2) for side in (-1, 1)]
    posts = [(x, across + 0.05, lower[1] / 2 + 0.05) for x, *_ in feet]
    unrotated = (1.0, 0.0, 0.0, 0.0)
    parts = [
        (primitives.box((size[0], 0.04, size[1]), CHALK), [(middle[0], across, middle[1])]),
        (primitives.box(foot, STONE), feet),
        (primitives.box((0.05, 0.05, lower[1] + 0.1), STONE), posts),
    ]
    return StaticVisual([Instances(part, np.array(at), np.tile(unrotated, (len(at), 1))) for part, at in parts])
