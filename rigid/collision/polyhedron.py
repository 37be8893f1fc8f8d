"""Boxes, cylinders and convex hulls as polyhedra: corners, flat faces and the edges between them (numpy)."""

from dataclasses import dataclass

import numpy as np

from pbd.core.shapes import BOX, CYLINDER, HULL

# Sides of the prism that replaces a cylinder, except against planes and spheres. Its corners are on the cylinder, its
# sides inside it by r (1 - cos(π/sides)): 1.9 % of the radius. Twice as many sides would be inside by 0.5 %, and would
# take three times as long.
SIDES = 16

POLYHEDRA = (BOX, CYLINDER, HULL)


@dataclass
class Polyhedron:
    """A convex polyhedron in its shape's frame.

    Attributes:
        vertices: (v, 3) [m].
        faces: for each face the indices of its corners, counter-clockwise as seen from outside.
        planes: (f, 4), outward unit normal and offset [m] of each face.
        edges: (e, 4), two corners, and the faces left and right of the way from the first corner to the second, as seen
            from outside.
    """

    vertices: np.ndarray
    faces: list
    planes: np.ndarray
    edges: np.ndarray


def polyhedron(shape):
    """The Polyhedron of a Box, Cylinder or ConvexHull; None for another shape."""
    if shape.kind == HULL:
        return Polyhedron(shape.vertices, shape.faces, shape.planes, edges_of(shape.faces))
    if shape.kind == BOX:
        # The corners in the order of a prism's outline.
        half = np.array(shape.numbers()[1:])
        corners = np.array([(1, -1), (1, 1), (-1, 1), (-1, -1)]) * half[:2]
        return prism(corners, half[2])
    if shape.kind == CYLINDER:
        radius, half = shape.numbers()
        angle = 2 * np.pi * np.arange(SIDES) / SIDES
        return prism(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1), half)
    return None


def prism(outline, half):
    """The prism over an outline (n, 2) [m], counter-clockwise, between ±half on z."""
    n = len(outline)
    vertices = np.concatenate([np.column_stack([outline, np.full(n, z)]) for z in (half, -half)])
    ring = np.arange(n)
    after = np.roll(ring, -1)
    faces = [ring, n + ring[::-1], *np.stack([n + ring, n + after, after, ring], axis=1)]
    planes = np.zeros((n + 2, 4))
    for plane, face in zip(planes, faces):
        a, b, c = vertices[face[:3]]
        normal = np.cross(b - a, c - b)
        plane[:3] = normal / np.linalg.norm(normal)
        plane[3] = (vertices[face] @ plane[:3]).max()
    return Polyhedron(vertices, faces, planes, edges_of(faces))


def edges_of(faces):
    """Edges between faces (e, 4), see Polyhedron."""
    left = {(int(a), int(b)): k for k, face in enumerate(faces) for a, b in zip(face, np.roll(face, -1))}
    return np.array([(a, b, k, left[b, a]) for (a, b), k in left.items() if a < b], np.int32)
