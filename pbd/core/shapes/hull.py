"""Convex hulls: corners, flat faces and planes of the smallest convex body around some points."""

import numpy as np
import taichi as ti
from scipy.spatial import ConvexHull as Qhull
from scipy.spatial import QhullError

from pbd.core.rotation import IDENTITY
from pbd.core.shapes.shape import HULL, Shape
from pbd.core.validate import finite_array


class ConvexHull(Shape):
    """Solid convex hull of points.

    Arguments: points (n, 3) [m], at least four of them, not all in a plane.

    Attributes: centre (3,), the mean of the corners, where the shape's frame stands. In that frame:
        vertices: the corners only, (v, 3) [m].
        triangles: (t, 3) indices of corners.
        faces: for each flat face the indices of its corners, in order.
        planes: outward unit normal and offset of each face, (f, 4); x is inside where normal · x <= offset for all.
    Triangles and faces run counter-clockwise seen from outside.

    Raises: ValueError for points that span no volume.

    Source: Barber, Dobkin, Huhdanpaa, The Quickhull algorithm for convex hulls (1996), through scipy.
    """

    kind = HULL

    def __init__(self, points):
        points = finite_array("hull points", points, (None, 3))
        extent = np.ptp(points, axis=0) if len(points) else np.zeros(3)
        try:
            hull = Qhull((points - points.mean(axis=0)) / extent.max()) if len(points) > 3 and extent.any() else None
        except QhullError:
            hull = None
        if hull is None or hull.volume < 1e-12:
            raise ValueError(f"hull of {len(points)} points in a box of {extent.tolist()} m: expected some volume")
        corners = points[hull.vertices]
        self.centre = corners.mean(axis=0)
        self.vertices = corners - self.centre
        place = np.zeros(len(points), np.int64)
        place[hull.vertices] = np.arange(len(corners))
        # Triangles of one facet share its equation, bit for bit.
        equations, facet = np.unique(hull.equations, axis=0, return_inverse=True)
        triangles = place[hull.simplices]
        a, b, c = (self.vertices[triangles[:, k]] for k in range(3))
        inwards = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0
        self.triangles = np.where(inwards[:, None], triangles[:, ::-1], triangles)
        normals = equations[:, :3]
        self.faces = [_loop(self.vertices, np.unique(triangles[facet == k]), n) for k, n in enumerate(normals)]
        offsets = [(self.vertices[face] @ n).max() for face, n in zip(self.faces, normals)]
        self.planes = np.column_stack([normals, offsets])

    def __repr__(self):
        return f"ConvexHull({len(self.vertices)} vertices, {len(self.faces)} faces)"

    def pose(self):
        """Position (3,) and rotation (w, x, y, z) of the shape's frame."""
        return self.centre, IDENTITY

    def numbers(self):
        """Parameters in the normal form: none but the planes."""
        return ()

    def bounding_radius(self):
        return float(np.linalg.norm(self.vertices, axis=1).max())

    def samples(self):
        """What kernels read besides: the planes (f, 4)."""
        return self.planes


def _loop(vertices, face, normal):
    """The corners of a face, counter-clockwise about its normal."""
    arms = vertices[face] - vertices[face].mean(axis=0)
    angle = np.arctan2(np.cross(arms[0], arms) @ normal, arms @ arms[0])
    return face[np.argsort(angle)]


@ti.func
def hull_distance(planes: ti.template(), begin, count, x):
    """Signed distance and normal of the body behind planes: the largest distance of any of them.

    Inside and over a face that is exact. Outside, past an edge or a corner, it is less than the true distance, and the
    normal is the face's: surfaces offset by a radius have sharp edges there rather than round ones.

    Arguments: planes: flat, four numbers (normal and offset) for each; begin: the first one's place; count of them.
    """
    distance = -1e30
    normal = ti.Vector([0.0, 0.0, 1.0])
    for k in range(count):
        place = begin + 4 * k
        face = ti.Vector([planes[place], planes[place + 1], planes[place + 2]])
        height = face.dot(x) - planes[place + 3]
        if height > distance:
            distance, normal = height, face
    return distance, normal
