"""Surfaces of the shapes that particles and bodies collide with."""

import numpy as np

from pbd.build import Mesh
from pbd.build.mesh import open_edges
from pbd.core.shapes import BOX, CAPSULE, CYLINDER, GRID, HULL, MESH, SPHERE
from pbd.core.topology import split_sharp_edges
from rigid.mass import principal_axes, second_moment
from scenes.visuals.colours import CHALK
from scenes.visuals.geometry import Surface
from scenes.visuals.primitives import box, capsule, cylinder, sphere


def shape_surface(shape, colour=CHALK):
    """Make the surface of a shape, in the frame of the shape.

    Args: shape: of pbd.core.shapes, or a pbd.build.Mesh; colour.

    Returns:
        A Surface; None for a plane, which is infinite.
    """
    if isinstance(shape, Mesh):
        drawn, triangles = split_sharp_edges(shape.vertices, shape.triangles)
        return Surface(shape.vertices[drawn], triangles, colour)
    numbers = shape.numbers()
    if shape.kind == SPHERE:
        return sphere(shape.radius, colour)
    if shape.kind == CAPSULE:
        return capsule(shape.radius, 2 * numbers[1], colour)
    if shape.kind == CYLINDER:
        return cylinder(shape.radius, 2 * numbers[1], colour)
    if shape.kind == BOX:
        return box(shape.size, colour)
    if shape.kind in (GRID, MESH):
        drawn, triangles = split_sharp_edges(shape.mesh.vertices, shape.mesh.triangles)
        solid = shape.kind == GRID or not len(open_edges(shape.mesh.triangles))
        return Surface(shape.mesh.vertices[drawn], triangles, colour, solid=solid)
    if shape.kind == HULL:
        return Surface(shape.vertices, shape.triangles, colour, smooth=False, solid=True)
    return None


def inertia_box(body):
    """Make the surface of the uniform box that has the mass and inertia of a body, in its principal axes.

    Args: body: a rigid.Body.
    """
    moments, _ = principal_axes(body.inertia)
    # A box with edges a has second moments m a²/12 along them.
    return box(np.sqrt(12 * np.diagonal(second_moment(np.diag(moments))) / body.mass).clip(1e-3), CHALK)
