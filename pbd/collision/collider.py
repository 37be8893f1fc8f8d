"""Collider: a shape that particles cannot enter, with its surface and motion."""

from dataclasses import dataclass, field

import numpy as np

from pbd.core.validate import pose


@dataclass
class Collider:
    """Shape that particles cannot enter.

    Args:
        shape: any shape of pbd/core/shapes.
        friction: Coulomb coefficient.
        restitution: Newton coefficient, from 0 to 1.
        motion: None for a collider at rest; or a function of time [s] that returns the position of the shape's frame
            (3,) [m], or (position, rotation (w, x, y, z)). Velocities are computed from it.
    """

    shape: object
    friction: float = 0.0
    restitution: float = 0.0
    motion: object = field(default=None, repr=False)

    def same(self, other):
        """Whether another collider has the same shape, pose and surface."""
        return (
            self.shape.kind == other.shape.kind
            and np.array_equal(self.shape.numbers(), other.shape.numbers())
            and np.array_equal(self.shape.samples(), other.shape.samples())
            and all(map(np.array_equal, self.shape.pose(), other.shape.pose()))
            and (self.friction, self.restitution) == (other.friction, other.restitution)
        )

    def pose(self, time):
        """Position and rotation (7,) at a time [s]."""
        position, rotation = self.shape.pose()
        if self.motion is not None:
            return pose("given by a collider's motion", self.motion(time), rotation)
        return np.concatenate([position, rotation])
