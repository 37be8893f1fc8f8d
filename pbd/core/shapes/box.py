"""Box: |x_k| < half_k on each axis of its frame."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
import taichi as ti

from pbd.core.shapes.shape import BOX, Shape
from pbd.core.validate import finite_vector, positive, unit_quaternion


@dataclass(eq=False)
class Box(Shape):
    """Solid box.

    Args:
        size: full edge lengths (3,) [m].
        centre: (3,) [m].
        rotation: of the box's axes (w, x, y, z).
    """

    size: np.ndarray
    _: KW_ONLY
    centre: np.ndarray = (0.0, 0.0, 0.0)
    rotation: np.ndarray = (1.0, 0.0, 0.0, 0.0)
    kind = BOX

    def __post_init__(self):
        self.size = finite_vector("box size", self.size)
        for edge in self.size:
            positive("box size", edge)
        self.centre = finite_vector("box centre", self.centre)
        self.rotation = unit_quaternion("box rotation", self.rotation)

    def pose(self):
        """See Shape."""
        return self.centre, self.rotation

    def numbers(self):
        """Zero and the half edges."""
        return (0.0, *(self.size / 2))

    def bounding_radius(self):
        """See Shape."""
        return float(np.linalg.norm(self.size) / 2)


@ti.func
def sign(x):
    """-1 if x is below zero, otherwise 1."""
    return ti.select(x < 0.0, -1.0, 1.0)


@ti.func
def box_distance(x, half):
    """Signed distance and normal of the box |x_k| < half_k: outside to the nearest point, inside to the face."""
    nearest = ti.min(ti.max(x, -half), half)
    offset = x - nearest
    distance = offset.norm()
    normal = ti.Vector([0.0, 0.0, 1.0])
    if distance > 0.0:
        normal = offset / distance
    else:
        distance = ti.abs(x[0]) - half[0]
        normal = ti.Vector([sign(x[0]), 0.0, 0.0])
        for k in ti.static(range(1, 3)):
            depth = ti.abs(x[k]) - half[k]
            if depth > distance:
                distance = depth
                normal = ti.Vector([sign(x[k]) if ti.static(i == k) else 0.0 for i in ti.static(range(3))])
    return distance, normal
