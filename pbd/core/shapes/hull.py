"""Convex hull of points: vertices, faces and planes."""

import numpy as np
import taichi as ti

from pbd.core.messages import shown
from pbd.core.rotation import IDENTITY
from pbd.core.segments import from_segment
from pbd.core.shapes.shape import HULL, Shape
from pbd.core.validate import finite_array

# A point is over a face if it is outside the planes beside it by at most this part of its distance.
ON_FACE = 1e-6


class ConvexHull(Shape):
    """Solid convex hull of points.

    Args: points: (n, 3) [m], at least four points that are not in one plane.

    Attributes:
        centre: mean of the vertices, the origin of the shape's frame (3,) [m].
        vertices: points on the hull, in the shape's frame (v, 3) [m].
        triangles: indices of vertices (t, 3), counter-clockwise seen from outside.
        faces: for each flat face the indices of its vertices, counter-clockwise seen from outside.
        planes: outward unit normal and offset of each face (f, 4); x is inside if normal · x <= offset for all.

    Raises: ValueError for points that span no volume.

    Source: Barber, Dobkin, Huhdanpaa, The Quickhull algorithm for convex hulls (1996), through scipy.
    """

    kind = HULL

    def __init__(self, points):
        from scipy.spatial import ConvexHull as Qhull  # a third of a second, which those without hulls need not spend
        from scipy.spatial import QhullError

        points = finite_array("hull points", points, (None, 3))
        extent = np.ptp(points, axis=0) if len(points) else np.zeros(3)
        try:
            hull = Qhull((points - points.mean(axis=0)) / extent.max()) if len(points) > 3 and extent.any() else None
        except QhullError:
            hull = None
        if hull is None or hull.volume < 1e-12:
            raise ValueError(f"hull of {len(points)} points with extents {shown(extent)} m: expected some volume")
        corners = points[hull.vertices]
        self.centre = corners.mean(axis=0)
        self.vertices = corners - self.centre
        place = np.zeros(len(points), np.int64)
        place[hull.vertices] = np.arange(len(corners))
        # Triangles of one face have the same equation, bit for bit.
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
        """See Shape."""
        return self.centre, IDENTITY

    def numbers(self):
        """Nothing: the planes are in samples()."""
        return ()

    def bounding_radius(self):
        """See Shape."""
        return float(np.linalg.norm(self.vertices, axis=1).max())

    def samples(self):
        """How many faces there are, their planes (4 numbers each), and each edge's start and way to its end (6)."""
        sides = [(a, b) for face in self.faces for a, b in zip(face, np.roll(face, -1)) if a < b]  # each edge once
        start, end = self.vertices[np.transpose(sides)]
        edges = np.concatenate([start, end - start], axis=1)
        return np.concatenate([[len(self.planes)], self.planes.ravel(), edges.ravel()])


def _loop(vertices, face, normal):
    """Vertices of a face, counter-clockwise about its normal."""
    arms = vertices[face] - vertices[face].mean(axis=0)
    angle = np.arctan2(np.cross(arms[0], arms) @ normal, arms @ arms[0])
    return face[np.argsort(angle)]


@ti.func
def hull_distance(samples: ti.template(), begin, size, x):
    """Signed distance [m] and outward unit normal of a convex hull.

    The plane that is farthest below x is that of the nearest face. If x, moved down to it, is outside the hull, the
    nearest point is on an edge.

    Args: samples: flat array, see `ConvexHull.samples`; begin, size: where the hull's numbers begin, and how many; x.
    """
    planes, edges = begin + 1, begin + 1 + 4 * ti.cast(samples[begin], ti.i32)
    distance, normal, nearest = -1e30, ti.Vector([0.0, 0.0, 1.0]), 0
    for k in range((edges - planes) // 4):
        outwards = vector_at(samples, planes + 4 * k)
        height = outwards.dot(x) - samples[planes + 4 * k + 3]
        if height > distance:
            distance, normal, nearest = height, outwards, k
    if distance > 0.0:
        below, is_on_face = x - distance * normal, True
        for k in range((edges - planes) // 4):
            height = vector_at(samples, planes + 4 * k).dot(below) - samples[planes + 4 * k + 3]
            if k != nearest and height > ON_FACE * distance:
                is_on_face = False
        if not is_on_face:
            distance = 1e30
            for k in range((begin + size - edges) // 6):
                start, way = vector_at(samples, edges + 6 * k), vector_at(samples, edges + 6 * k + 3)
                arm = from_segment(start, way, x)
                length = arm.norm()
                if 0.0 < length < distance:
                    distance, normal = length, arm / length
    return distance, normal


@ti.func
def vector_at(samples: ti.template(), place):
    """Three numbers of a flat array as a vector. Args: place: of the first."""
    return ti.Vector([samples[place], samples[place + 1], samples[place + 2]])
