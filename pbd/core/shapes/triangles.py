"""Mesh and HeightField: surfaces of triangles, for rigid bodies. Contacts are with the triangles themselves."""

import numpy as np

from pbd.build.mesh import Mesh as Surface
from pbd.build.mesh import closed_surface, open_edges, surface, welded
from pbd.core.messages import shown
from pbd.core.shapes.shape import MESH, Shape
from pbd.core.validate import finite_array, finite_vector, one_of, positive, real_array, unit_quaternion

SIDES = ("both", "outside")
# A triangle has no area if its height is below this part of its longest side: its normal would be round-off.
FLAT = 1e-9


class Mesh(Shape):
    """Surface of triangles that rigid bodies collide with: any mesh, not its convex hull.

    Spheres, capsules, cylinders, boxes and hulls collide with each triangle. Where a surface goes on across an edge,
    the edge stops nothing: contact normals are those of the surface, see rigid/collision/triangles.py.

    Args:
        mesh: (vertices (n, 3) [m], triangles (m, 3)), a pbd.build.mesh.Mesh, a trimesh.Trimesh, or the path of a file.
            Vertices at the same place are joined.
        sides: "both": a body stays on the side of a triangle that its centre is on; the mesh may be open. "outside":
            the mesh is closed, and its triangles push outwards, also a body whose centre is inside.
        scale: factor on the size of the mesh.
        position, rotation: of the mesh's origin and axes (3,) [m], (w, x, y, z).

    Attributes:
        vertices: in the shape's frame (n, 3) [m]. The origin of that frame is the middle of the mesh's bounding box.
        triangles: (m, 3) indices.
        sides: as given.

    Raises: ValueError for a triangle without area, numbers that are not finite, or an open mesh with
    sides="outside"; IndexError for a vertex that is not there.
    """

    kind = MESH

    def __init__(self, mesh, *, sides="both", scale=1.0, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0)):
        self.sides = one_of("sides", sides, SIDES)
        scale = positive("scale", scale)
        position = finite_vector("mesh position", position)
        self.rotation = unit_quaternion("mesh rotation", rotation)
        given = surface(mesh)
        _refuse_flat(given)
        given = welded(given)
        if sides == "outside":
            count = len(open_edges(given.triangles))
            if count:
                raise ValueError(
                    f"the mesh has {count} open edges: expected a closed one with sides='outside'; use sides='both', "
                    "or a rigid.HeightField for a terrain"
                )
            given = closed_surface(given)
        self._place(given.vertices * scale, given.triangles, position)

    def _place(self, vertices, triangles, position):
        """Move the origin to the middle of the bounding box. Args: position: of the old origin (3,) [m]."""
        self.triangles = triangles
        middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        self.vertices = vertices - middle
        self.position = position + _rotated(self.rotation, middle)
        self.mesh = Surface(self.vertices, triangles)

    def __repr__(self):
        return f"{type(self).__name__}({len(self.triangles)} triangles, sides={self.sides!r})"

    def pose(self):
        """See Shape."""
        return self.position, self.rotation

    def numbers(self):
        """One if triangles push to one side alone, otherwise zero."""
        return (float(self.sides != "both"),)

    def bounding_radius(self):
        """See Shape."""
        return float(np.linalg.norm(self.vertices, axis=1).max())


class HeightField(Mesh):
    """Terrain: a grid of heights, as triangles that push upwards. It ends at its border; below it is solid.

    Args:
        heights: (rows, columns) [m]: of the points x[column], y[row], at least two of each.
        size: lengths along x and y (2,) [m]; or spacing.
        spacing: distance of neighbouring points along x and y, a number or (2,) [m]; or size.
        position, rotation: of the middle of the grid at height zero (3,) [m], (w, x, y, z).

    Each cell of the grid is cut from its lowest x and y to its highest ones, into two triangles.
    """

    def __init__(self, heights, size=None, *, spacing=None, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0)):
        heights = finite_array("heights", heights, (None, None))
        rows, columns = heights.shape
        if min(rows, columns) < 2:
            raise ValueError(f"heights have shape {shown(heights.shape)}: expected at least two rows and two columns")
        if (size is None) == (spacing is None):
            given = "neither size nor spacing" if size is None else "both size and spacing"
            raise ValueError(f"{given} of a height field: expected one of size= and spacing= [m]")
        cells = np.array([columns - 1, rows - 1])
        if size is None:
            size = cells * (positive("spacing", spacing) if not np.shape(spacing) else _pair("spacing", spacing))
        size = _pair("size", size)
        position = finite_vector("height field position", position)
        self.sides = "outside"
        self.rotation = unit_quaternion("height field rotation", rotation)
        x, y = (np.linspace(-0.5, 0.5, count) * extent for count, extent in zip((columns, rows), size))
        vertices = np.stack([*np.meshgrid(x, y), heights], axis=-1).reshape(-1, 3)
        first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        right, above = first + 1, first + columns
        lower, upper = np.stack([first, right, above + 1], axis=1), np.stack([first, above + 1, above], axis=1)
        triangles = np.stack([lower, upper], axis=1).reshape(-1, 3)
        self.heights = heights
        self._place(vertices, triangles, position)


def _pair(name, value):
    """Two numbers above zero (2,)."""
    array = real_array(name, value)
    if array.shape != (2,):
        raise ValueError(f"{name} is {shown(value)}: expected two lengths, along x and y [m]")
    return np.array([positive(name, each) for each in array])


def _rotated(rotation, v):
    """A vector (3,), rotated. Args: rotation: (w, x, y, z)."""
    w, axis = rotation[0], rotation[1:]
    across = 2 * np.cross(axis, v)
    return v + w * across + np.cross(axis, across)


def _refuse_flat(mesh):
    """Raise ValueError if a triangle has no area. Args: mesh: a pbd.build.mesh.Mesh."""
    corners = mesh.vertices[mesh.triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    flat = np.flatnonzero(~(2 * mesh.areas > FLAT * longest**2))
    if len(flat):
        raise ValueError(
            f"triangle {flat[0]} of the mesh has no area: expected corners off one line; pbd.build.mesh.sheet leaves "
            f"out such triangles ({len(flat)} of {len(mesh.triangles)})"
        )
