"""Mass, centre of mass and inertia of shapes, meshes and compounds.

Inertia tensors are about the centre of mass (3, 3) [kg m²]. The second moment S = ∫ x xᵀ dm has the same information:
I = tr(S) E - S. A body is flat along an axis if S is zero along it.
"""

import math
from dataclasses import dataclass

import numpy as np

from pbd.build.mesh import closed_surface, open_edges
from pbd.core.messages import shown
from pbd.core.shapes import BOX, CAPSULE, CYLINDER, GRID, HULL, MESH, SPHERE, ConvexHull
from pbd.core.validate import derived, finite_array, positive, real_array
from rigid.rotation import from_matrix, to_matrix

ROUND_OFF = 1e-9  # relative error allowed for an inertia that was computed or read from a file


@dataclass
class MassProperties:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m²]."""

    mass: float
    centre: np.ndarray
    inertia: np.ndarray

    def moved(self, position, rotation=(1.0, 0.0, 0.0, 0.0)):
        """The same in a parent frame. Args: position, rotation: of this frame in the parent (3,) [m], (w, x, y, z)."""
        R = to_matrix(rotation)
        return MassProperties(self.mass, position + R @ self.centre, R @ self.inertia @ R.T)


def combined(parts):
    """Combine MassProperties given in one frame, by the parallel-axis theorem. Args: parts: at least one with mass."""
    mass = sum(part.mass for part in parts)
    centre = sum(part.mass * part.centre for part in parts) / mass
    inertia = sum(part.inertia + part.mass * steiner(part.centre - centre) for part in parts)
    return checked_properties("shapes of a body", MassProperties(mass, centre, inertia))


def steiner(offset):
    """Inertia (3, 3) of a unit mass at an offset d (3,) [m]: |d|² E - d dᵀ [m²]."""
    return offset @ offset * np.eye(3) - np.outer(offset, offset)


def second_moment(inertia):
    """S = ∫ x xᵀ dm = tr(I)/2 E - I about the centre of mass (..., 3, 3) [kg m²]. Args: inertia: I (..., 3, 3)."""
    inertia = np.asarray(inertia, dtype=float)
    return np.trace(inertia, axis1=-2, axis2=-1)[..., None, None] / 2 * np.eye(3) - inertia


def principal_axes(inertia):
    """Principal moments (3,) [kg m²] in ascending order, and the rotation (w, x, y, z) of x, y, z to their axes."""
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 0] *= np.linalg.det(axes)  # right-handed
    return moments, from_matrix(axes)


def checked_inertia(inertia, name="inertia"):
    """Check that a body can have this inertia.

    Args: inertia: principal moments about x, y, z (3,), or a tensor (3, 3) [kg m²].

    Returns: the tensor (3, 3).

    Raises: ValueError if it is not symmetric, not positive definite, or one principal moment is above the sum of the
    other two. A moment equal to that sum is allowed: the body is flat.
    """
    given = real_array(name, inertia)
    given = finite_array(name, given, (3,) if given.ndim == 1 else (3, 3))
    tensor = np.diag(given) if given.ndim == 1 else given
    skew = np.abs(tensor - tensor.T).max()
    if skew > ROUND_OFF * np.abs(tensor).max():
        raise ValueError(f"{name} is {shown(given)}: expected a symmetric tensor, its asymmetry is {skew:g}")
    tensor = (tensor + tensor.T) / 2
    a, b, c = np.linalg.eigvalsh(tensor)
    if a <= ROUND_OFF * abs(c):
        raise ValueError(f"{name} has principal moments {a:g}, {b:g}, {c:g}: expected all above zero")
    if c > (a + b) * (1 + ROUND_OFF):
        raise ValueError(
            f"{name} has principal moments {a:g}, {b:g}, {c:g}: expected none above the sum of the other two, but "
            f"{c:g} > {a + b:g} (triangle inequality)"
        )
    return tensor


# Shapes, each in its own frame. Give mass [kg] or density [kg/m³]. ----------------------------------------------------


def sphere(radius, mass=None, density=None):
    """MassProperties of a solid sphere. Args: radius: [m]; mass [kg] or density [kg/m³]."""
    r = positive("radius", radius)
    return _solid("radius", 4 / 3 * np.pi * r**3, np.full(3, 2 / 5 * r**2), mass, density)


def box(size, mass=None, density=None):
    """MassProperties of a solid box. Args: size: full edge lengths (3,) [m]; mass [kg] or density [kg/m³]."""
    size = finite_array("size", size, (3,))
    for edge in size:
        positive("size", edge)
    return _solid("size", size.prod(), (size @ size - size**2) / 12, mass, density)


def cylinder(radius, length, mass=None, density=None):
    """MassProperties of a solid cylinder on z. Args: radius, length: [m]; mass [kg] or density [kg/m³]."""
    r, h = positive("radius", radius), positive("length", length)
    across = r**2 / 4 + h**2 / 12
    return _solid("radius and length", np.pi * r**2 * h, np.array([across, across, r**2 / 2]), mass, density)


def capsule(radius, length, mass=None, density=None):
    """MassProperties of a solid capsule on z: a cylinder between two half balls.

    A half ball of mass m has its centre of mass at 3r/8 from the centre of the ball, and the inertia 2/5 m r² about any
    axis through that centre. By the parallel-axis theorem both halves have 2 m (2/5 r² + (h/2)² + 3/8 h r) about x.

    Args: radius: [m]; length: of the cylinder, h [m]; mass [kg] or density [kg/m³].
    """
    r, h = positive("radius", radius), positive("length", length)
    tube, ends = np.pi * r**2 * h, 4 / 3 * np.pi * r**3
    across = tube * (r**2 / 4 + h**2 / 12) + ends * (2 / 5 * r**2 + h**2 / 4 + 3 / 8 * h * r)
    along = tube * r**2 / 2 + ends * 2 / 5 * r**2
    inertia = np.array([across, across, along]) / (tube + ends)
    return _solid("radius and length", tube + ends, inertia, mass, density)


def mesh(surface, mass=None, density=None):
    """MassProperties of the solid inside a closed mesh, in the mesh's frame.

    Args: surface: see pbd.build.mesh.closed_surface; mass [kg] or density [kg/m³].

    Raises: ValueError for a mesh that is open or has no volume.
    """
    closed = closed_surface(surface)
    return _from_triangles(closed.vertices, closed.triangles, mass, density)


def convex_hull(points, mass=None, density=None):
    """MassProperties of the convex hull of points. Args: points: (n, 3) [m]; mass [kg] or density [kg/m³]."""
    hull = ConvexHull(points)
    return _from_triangles(hull.vertices, hull.triangles, mass, density).moved(hull.centre)


def of_shape(shape, mass=None, density=None):
    """MassProperties of a shape in its own frame.

    Args: shape: a Sphere, Capsule, Box, Cylinder, ConvexHull, MeshCollider or closed Mesh; mass [kg] or density
    [kg/m³].

    Raises: ValueError for a Plane, or a Mesh with open edges.
    """
    numbers = shape.numbers()
    if shape.kind == SPHERE:
        return sphere(*numbers, mass, density)
    if shape.kind == CAPSULE:
        return capsule(numbers[0], 2 * numbers[1], mass, density)
    if shape.kind == CYLINDER:
        return cylinder(numbers[0], 2 * numbers[1], mass, density)
    if shape.kind == BOX:
        return box(2 * np.array(numbers[1:]), mass, density)
    if shape.kind == HULL:
        return _from_triangles(shape.vertices, shape.triangles, mass, density)
    if shape.kind == GRID:
        return _from_triangles(shape.mesh.vertices, shape.mesh.triangles, mass, density)
    if shape.kind == MESH:
        count = len(open_edges(shape.triangles))
        if count:
            raise ValueError(
                f"mass of a {type(shape).__name__} with {count} open edges: expected a closed mesh, or mass= and "
                "inertia= of add_body and a shape without mass"
            )
        return mesh(shape.mesh, mass, density)
    raise ValueError(f"mass of a {type(shape).__name__}: expected a bounded shape")


def _from_triangles(vertices, triangles, mass, density):
    """MassProperties of the solid inside outward triangles: a sum over tetrahedra from an inner point.

    A tetrahedron (0, a, b, c) has V = a · (b × c)/6, ∫ x dV = V (a + b + c)/4 and, with s = a + b + c,
    ∫ x xᵀ dV = V/20 (s sᵀ + a aᵀ + b bᵀ + c cᵀ).

    Source: Blow, Binstock, How to find the inertia tensor of a 3D solid body represented by a triangle mesh (2004).
    """
    origin = vertices.mean(axis=0)
    corners = (vertices - origin)[triangles]
    a, b, c = np.moveaxis(corners, 1, 0)
    volumes = (a * np.cross(b, c)).sum(axis=1) / 6
    sums = corners.sum(axis=1)
    volume = volumes.sum()
    centre = volumes @ sums / 4 / volume
    moment = np.einsum("t,ti,tj->ij", volumes, sums, sums) + np.einsum("t,tki,tkj->ij", volumes, corners, corners)
    second = moment / 20 / volume - np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    return _solid("mesh or hull", volume, inertia, mass, density).moved(origin + centre)


def _solid(name, volume, inertia, mass, density):
    """MassProperties centred at the origin.

    Args: name: of the argument that gives the size; volume: [m³]; inertia: of a unit mass, (3,) or (3, 3) [m²].
    """
    if (mass is None) == (density is None):
        given = "neither mass nor density" if mass is None else f"mass {shown(mass)} and density {shown(density)}"
        raise ValueError(f"{given}: expected one of mass= [kg] and density= [kg/m³]")
    mass = positive("mass", mass) if density is None else positive("density", density) * float(volume)
    inertia = mass * (np.diag(inertia) if inertia.ndim == 1 else inertia)
    return checked_properties(name, MassProperties(mass, np.zeros(3), inertia))


def checked_properties(name, properties):
    """MassProperties whose mass and principal moments are finite and above zero. Args: name: of what they follow from.

    Raises: ValueError for others.
    """
    derived(name, properties.mass, "a mass of", math.inf)
    derived(name, properties.inertia.trace(), "a trace of the inertia of", math.inf)  # infinite or NaN if a moment is
    derived(name, np.linalg.eigvalsh(properties.inertia), "a principal moment of", math.inf)
    return properties
