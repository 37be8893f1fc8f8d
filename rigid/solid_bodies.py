"""Bodies with one solid shape, and the methods of Model that add them."""

from dataclasses import replace

import numpy as np

from pbd.build.mesh import surface
from pbd.core.shapes import Box, Capsule, ConvexHull, Cylinder, Sphere
from pbd.core.validate import boolean, one_of
from rigid import mass as mass_properties
from rigid.body import Body, BodyShape
from rigid.names import fresh_name

# Their options: those of add_body and those of add_shape.
PLACEMENT = ("position", "rotation", "velocity", "angular_velocity", "name", "path", "gravity_scale")
SURFACE = ("friction", "restitution", "rolling_friction", "spinning_friction", "group", "mask", "visible")

# A body on a path has this density if no other is given, see rigid/model.py.
PLACEHOLDER_DENSITY = 1000.0


def add_box(model, size, *, mass=None, density=None, **options):
    """Add a solid box. Args: size: full edge lengths (3,) [m]; others: see Model. Returns: index of the body."""
    return add_solid(model, "box", Box(size), mass, density, options)


def add_sphere(model, radius, *, mass=None, density=None, **options):
    """Add a solid sphere. Args: radius: [m]; others: see Model. Returns: index of the body."""
    return add_solid(model, "sphere", Sphere(radius), mass, density, options)


def add_capsule(model, radius, length=None, *, start=None, end=None, mass=None, density=None, **options):
    """Add a solid capsule on the z axis of the body's frame.

    Args:
        radius: [m].
        length: of the segment between the centres of the half balls [m].
        start, end: ends of that segment in the world (3,) [m], in place of length, position and rotation.
        others: see Model.

    Returns: index of the body.
    """
    shape = rod(Capsule, radius, length, start, end, options)
    return add_solid(model, "capsule", shape, mass, density, options)


def add_cylinder(model, radius, length=None, *, start=None, end=None, mass=None, density=None, **options):
    """Add a solid cylinder on the z axis of the body's frame.

    Args:
        radius: [m].
        length: [m].
        start, end: centres of the end discs in the world (3,) [m], in place of length, position and rotation.
        others: see Model.

    Returns: index of the body.
    """
    shape = rod(Cylinder, radius, length, start, end, options)
    return add_solid(model, "cylinder", shape, mass, density, options)


def add_mesh(model, mesh, *, convex=True, mass=None, density=None, **options):
    """Add a solid given by a mesh. It collides as its convex hull.

    For a hollow shape make a body of several convex hulls with add_shape.

    Args:
        mesh: a pbd.build.mesh.Mesh, (vertices, triangles), a trimesh.Trimesh, or the path of a file.
        convex: whether the mass fills the convex hull; otherwise it fills the mesh, which must be closed.
        others: see Model. position, rotation and velocity are those of the mesh's origin; the origin of the body's
            frame is the centre of mass.

    Returns: index of the body.
    """
    mesh, convex = surface(mesh), boolean("convex", convex)
    hull = ConvexHull(mesh.vertices[np.unique(mesh.triangles)])
    part = None if convex else mass_properties.mesh(mesh, mass, density)
    return add_solid(model, "mesh", hull, mass, density, options, part)


def add_solid(model, kind, shape, mass, density, options, part=None):
    """Add a body with one shape, given in its frame. Args: part: MassProperties; None for the shape's."""
    for name in options:
        one_of(f"option of add_{kind}", name, PLACEMENT + SURFACE)
    position, rotation = shape.pose()
    if options.get("path") is not None and mass is None and density is None:
        density = PLACEHOLDER_DENSITY
    if part is None:
        part = mass_properties.of_shape(shape, mass, density).moved(position, rotation)
    index = len(model.bodies)
    surface_options = {name: options[name] for name in SURFACE if name in options}
    piece = BodyShape(shape=shape, body=index, position=position, rotation=rotation, **surface_options)
    placement = {name: options[name] for name in PLACEMENT if name in options}
    placement["name"] = fresh_name(kind, placement.get("name"), model.bodies)
    path = placement.pop("path", None)
    if path is not None and not part.centre.any():
        Body(**placement, path=path)  # refuses a wrong path before the model changes
    model.add_body(**placement)
    model.shapes.append(piece)
    model._add_mass(index, part)
    if path is not None:
        model.bodies[index] = replace(model.bodies[index], path=path)
    return index


def rod(kind, radius, length, start, end, options):
    """Make a Capsule or Cylinder in its body's frame. Its start and end become position and rotation in `options`."""
    shape = kind(radius, length, start=start, end=end)
    if start is not None:
        for name in ("position", "rotation"):
            if name in options:
                raise ValueError(f"{kind.__name__.lower()} with start, end and {name}: expected start and end alone")
        options["position"], options["rotation"] = shape.pose()
    return kind(radius, shape.length)
