"""Shape: the base of all shapes, and the integers by which kernels tell their kinds apart."""

import numpy as np

PLANE, SPHERE, CAPSULE, BOX, GRID, CYLINDER, HULL, MESH = range(8)


class Shape:
    """Base of all shapes. `kind` is one of the integers above."""

    kind = None

    def pose(self):
        """Position (3,) [m] and rotation (w, x, y, z) of the shape's frame."""
        raise NotImplementedError

    def numbers(self):
        """Parameters in the normal form, at most six numbers."""
        raise NotImplementedError

    def samples(self):
        """Further numbers that kernels read: planes of a hull, distances of a mesh; else empty."""
        return np.zeros(0)

    def bounding_radius(self):
        """Radius [m] of the ball about the frame's origin that contains the shape."""
        raise NotImplementedError
