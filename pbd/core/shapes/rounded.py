"""Sphere and capsule: all points within a radius of a point, or of a segment of the z axis."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
import taichi as ti

from pbd.core.rotation import IDENTITY
from pbd.core.shapes.rod import Rod
from pbd.core.shapes.shape import CAPSULE, SPHERE, Shape
from pbd.core.validate import finite_vector, positive


@dataclass(eq=False)
class Sphere(Shape):
    """Solid sphere.

    Args:
        radius: above zero [m].
        centre: (3,) [m].
    """

    radius: float
    _: KW_ONLY
    centre: np.ndarray = (0.0, 0.0, 0.0)
    kind = SPHERE

    def __post_init__(self):
        self.radius = positive("sphere radius", self.radius)
        self.centre = finite_vector("sphere centre", self.centre)

    def pose(self):
        """See Shape."""
        return self.centre, IDENTITY

    def numbers(self):
        """Radius."""
        return (self.radius,)

    def bounding_radius(self):
        """See Shape."""
        return self.radius


class Capsule(Rod):
    """All points within a radius of a segment.

    Args:
        radius: above zero [m].
        length: of the segment, which lies on the z axis of the shape's frame [m].
        start, end: ends of the segment (3,) [m], in place of length, centre and rotation.
        centre: middle of the segment (3,) [m]; the origin if None.
        rotation: of the shape's frame (w, x, y, z); none if None.
    """

    kind = CAPSULE
    hint = "; did you mean Sphere?"

    def bounding_radius(self):
        """See Shape."""
        return self.radius + self.length / 2


@ti.func
def rounded_distance(x, radius, half_length):
    """Signed distance and normal of a capsule on z; of a sphere if half_length is zero."""
    offset = x
    offset[2] -= ti.min(ti.max(x[2], -half_length), half_length)
    length = offset.norm()
    # On the segment every direction across it is a normal, but z is not.
    normal = ti.Vector([1.0, 0.0, 0.0])
    if length > 0.0:
        normal = offset / length
    return length - radius, normal
