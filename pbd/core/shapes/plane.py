"""Plane: the half space z < 0 of its frame."""

from dataclasses import dataclass

import numpy as np

from pbd.core.rotation import rotation_between
from pbd.core.shapes.shape import PLANE, Shape
from pbd.core.validate import finite_vector, unit_vector


@dataclass(eq=False, kw_only=True)
class Plane(Shape):
    """Half space below a plane.

    Args:
        point: any point on the plane (3,) [m].
        normal: direction out of the solid side (3,), of any length but zero.
    """

    point: np.ndarray = (0.0, 0.0, 0.0)
    normal: np.ndarray = (0.0, 0.0, 1.0)
    kind = PLANE

    def __post_init__(self):
        self.point = finite_vector("plane point", self.point)
        self.normal = unit_vector("plane normal", self.normal)

    def pose(self):
        """See Shape."""
        return self.point, rotation_between((0, 0, 1), self.normal)

    def numbers(self):
        """Nothing: a plane has no size."""
        return ()

    def bounding_radius(self):
        """See Shape."""
        return np.inf
