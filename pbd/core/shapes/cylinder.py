"""Cylinder: a radius about the z axis of its frame, between two flat ends."""

import math

import numpy as np
import taichi as ti

from pbd.core.shapes.hull import ConvexHull
from pbd.core.shapes.rod import Rod
from pbd.core.shapes.shape import CYLINDER
from pbd.core.validate import whole

MOST_SIDES = 10_000  # of the prism in place of a cylinder


class Cylinder(Rod):
    """Solid cylinder with flat ends.

    Args:
        radius: above zero [m].
        length: along the z axis of the shape's frame [m].
        start, end: centres of the end discs (3,) [m], in place of length, centre and rotation.
        centre: (3,) [m]; the origin if None.
        rotation: of the shape's frame (w, x, y, z); none if None.
    """

    kind = CYLINDER

    def bounding_radius(self):
        """See Shape."""
        return math.hypot(self.radius, self.length / 2)

    def hull(self, sides=32):
        """A ConvexHull in the normal form: a prism with its corners on the cylinder. Args: sides: number of sides."""
        radius, half = self.numbers()
        angle = 2 * np.pi * np.arange(whole("sides", sides, least=3, most=MOST_SIDES)) / sides
        rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides, half)], axis=1)
        return ConvexHull(np.concatenate([rim, rim * (1, 1, -1)]))


@ti.func
def cylinder_distance(x, radius, half_length):
    """Signed distance and normal of the cylinder about z between ±half_length: inside to the nearest face."""
    across = ti.sqrt(x[0] * x[0] + x[1] * x[1])
    outwards = ti.Vector([1.0, 0.0, 0.0])
    if across > 0.0:
        outwards = ti.Vector([x[0] / across, x[1] / across, 0.0])
    along = ti.Vector([0.0, 0.0, 1.0])
    if x[2] < 0.0:
        along[2] = -1.0
    side, end = across - radius, ti.abs(x[2]) - half_length
    distance, normal = side, outwards
    if side > 0.0 and end > 0.0:  # nearest to the rim
        distance = ti.sqrt(side * side + end * end)
        normal = (side * outwards + end * along) / distance
    elif end > side:
        distance, normal = end, along
    return distance, normal
