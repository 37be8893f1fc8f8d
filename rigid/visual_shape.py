"""The look of bodies, beside the shapes with which they collide. Solvers do not read it."""

from dataclasses import dataclass

import numpy as np

from pbd.build.mesh import surface
from pbd.core.shapes import Shape
from pbd.core.validate import finite_array, finite_vector, unit_quaternion
from rigid.rotation import multiply, rotate


@dataclass(eq=False, kw_only=True)
class VisualShape:
    """Shape or mesh that is drawn on a body or on the ground. It has no mass and collides with nothing.

    Args:
        shape: of rigid, whose `position` and `rotation` are below, or a pbd.build.Mesh.
        body: index of the body, or rigid.GROUND.
        position, rotation: in the body's frame (3,) [m], (w, x, y, z).
        colour: (3,) sRGB from 0 to 1; None for the colour of the body.
    """

    shape: object
    body: int
    position: np.ndarray
    rotation: np.ndarray
    colour: object = None

    def __post_init__(self):
        if self.colour is not None:
            self.colour = finite_array("colour", self.colour, (3,))
            if self.colour.min() < 0 or self.colour.max() > 1:
                raise ValueError(f"colour is {self.colour}: expected numbers from 0 to 1")


def posed(shape, position, rotation):
    """A shape, or a pbd.build.Mesh of any kind of mesh, with its pose.

    Args: shape: a Shape, or a mesh as `pbd.build.surface` takes it; position, rotation: of the frame in which it is
    given (3,) [m], (w, x, y, z).

    Returns: the shape or Mesh; its position and rotation.
    """
    position, rotation = finite_vector("position", position), unit_quaternion("rotation", rotation)
    if not isinstance(shape, Shape):
        return surface(shape), position, rotation
    own = shape.pose()
    return shape, position + rotate(rotation, own[0]), multiply(rotation, own[1])
