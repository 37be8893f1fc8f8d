"""Rod: what capsules and cylinders have in common, a radius and a segment of the z axis."""

from dataclasses import dataclass

import numpy as np

from pbd.core.messages import shown
from pbd.core.rotation import IDENTITY, rotation_between
from pbd.core.shapes.shape import Shape
from pbd.core.validate import finite_vector, positive, unit_quaternion


@dataclass(eq=False, init=False)
class Rod(Shape):
    """Base of Capsule and Cylinder: a radius around a segment on the z axis of the shape's frame."""

    radius: float
    length: float
    centre: np.ndarray
    rotation: np.ndarray
    hint = ""  # what to use instead if both ends coincide

    def __init__(self, radius, length=None, *, start=None, end=None, centre=None, rotation=None):
        name = type(self).__name__.lower()
        self.radius = positive(f"{name} radius", radius)
        if start is None and end is None:
            if length is None:
                raise ValueError(f"{name} without length, start and end: expected length, or start and end")
            self.length = positive(f"{name} length", length)
            self.centre = finite_vector(f"{name} centre", (0.0, 0.0, 0.0) if centre is None else centre)
            self.rotation = unit_quaternion(f"{name} rotation", IDENTITY if rotation is None else rotation)
            return
        if start is None or end is None:
            raise ValueError(f"{name} with {'start' if end is None else 'end'} alone: expected both, or length")
        others = {"length": length, "centre": centre, "rotation": rotation}
        given = [key for key, value in others.items() if value is not None]
        if given:
            raise ValueError(f"{name} with start, end and {' and '.join(given)}: expected start and end alone")
        start, end = finite_vector(f"{name} start", start), finite_vector(f"{name} end", end)
        if np.array_equal(start, end):
            raise ValueError(f"{name} from {shown(start)} to itself: expected two points{self.hint}")
        self.length = positive(f"{name} length from start to end", np.linalg.norm(end - start))
        self.centre, self.rotation = (start + end) / 2, rotation_between((0, 0, 1), end - start)

    def pose(self):
        """See Shape."""
        return self.centre, self.rotation

    def numbers(self):
        """Radius and half the length."""
        return self.radius, self.length / 2
