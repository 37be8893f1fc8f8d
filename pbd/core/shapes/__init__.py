"""Shapes: a class and a distance function each, for the colliders of particles and for rigid bodies.

Every shape has a frame (position and rotation). In its frame a shape has this normal form:

    plane.py      half space z < 0
    rounded.py    sphere |x| < radius; capsule: all points within a radius of the segment ±half_length on z
    box.py        |x_k| < half_k
    cylinder.py   radius about z, between ±half_length
    hull.py       convex hull of its vertices
    mesh.py       closed mesh, as a grid of signed distances
    triangles.py  mesh or height field, as triangles; for rigid bodies alone, without a distance function

shape.py has the base class and numbers the kinds, rod.py is the common base of capsule and cylinder, and distance.py
chooses the distance function by the kind. The signed distance is negative inside. Its gradient is the outward unit
normal.
"""

from pbd.core.shapes.box import Box
from pbd.core.shapes.cylinder import Cylinder
from pbd.core.shapes.distance import INTEGERS, NUMBERS, signed_distance, solid_distance
from pbd.core.shapes.hull import ConvexHull
from pbd.core.shapes.mesh import MeshCollider
from pbd.core.shapes.plane import Plane
from pbd.core.shapes.rounded import Capsule, Sphere
from pbd.core.shapes.shape import BOX, CAPSULE, CYLINDER, GRID, HULL, MESH, PLANE, SPHERE, Shape
from pbd.core.shapes.triangles import HeightField, Mesh

__all__ = [
    "BOX",
    "CAPSULE",
    "CYLINDER",
    "GRID",
    "HULL",
    "INTEGERS",
    "MESH",
    "NUMBERS",
    "PLANE",
    "SPHERE",
    "Box",
    "Capsule",
    "ConvexHull",
    "Cylinder",
    "HeightField",
    "Mesh",
    "MeshCollider",
    "Plane",
    "Shape",
    "Sphere",
    "signed_distance",
    "solid_distance",
]
