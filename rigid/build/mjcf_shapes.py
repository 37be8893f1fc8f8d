"""Shapes of a compiled MuJoCo model, and who touches whom."""

import numpy as np
import trimesh

from pbd.core.shapes import Box, Capsule, ConvexHull, Cylinder, Plane, Sphere
from rigid.rotation import from_matrix

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom
MOST_CLASSES = 31  # bits of a group


def shape_of(compiled, data, geom):
    """A geom where it stands in the world, as a shape; None for a kind that has no counterpart.

    Arguments: compiled: an mjModel; data: an mjData with its kinematics; geom: index.
    """
    kind, size = compiled.geom_type[geom], compiled.geom_size[geom].copy()
    position, R = data.geom_xpos[geom].copy(), data.geom_xmat[geom].reshape(3, 3)
    if kind == PLANE:
        return Plane(point=position, normal=R[:, 2])
    if kind == SPHERE:
        return Sphere(size[0], centre=position)
    if kind in (CAPSULE, CYLINDER):
        along = size[1] * R[:, 2]
        return (Capsule if kind == CAPSULE else Cylinder)(size[0], start=position - along, end=position + along)
    if kind == BOX:
        return Box(2 * size, centre=position, rotation=from_matrix(R))
    if kind == ELLIPSOID:
        ball = trimesh.creation.icosphere(subdivisions=2).vertices
        return ConvexHull(position + (size * ball) @ R.T)
    if kind == MESH:
        mesh = compiled.geom_dataid[geom]
        first = compiled.mesh_vertadr[mesh]
        vertices = compiled.mesh_vert[first : first + compiled.mesh_vertnum[mesh]]
        return ConvexHull(position + vertices.astype(float) @ R.T)  # as MuJoCo has meshes touch
    return None


def contact_bits(compiled):
    """Group and mask (geoms, 2) of all geoms; zero for those that never touch.

    MuJoCo has two geoms touch where the contype of either has a bit of the other's conaffinity; a Model, where each
    group has a bit of the other's mask. With a bit for each pair of contype and conaffinity, a mask names those that
    the pair touches. The lowest bit is that of (1, 1), MuJoCo's default and so that of a Model's shapes.

    Raises: ValueError for more such pairs than there are bits.
    """
    given = [(int(a), int(b)) for a, b in zip(compiled.geom_contype, compiled.geom_conaffinity)]
    classes = [(1, 1), *sorted(set(given) - {(1, 1), (0, 0)})]
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"geoms have {len(classes)} different pairs of contype and conaffinity: expected {MOST_CLASSES} at most"
        )
    bits = {(0, 0): (0, 0)}
    for k, (a, b) in enumerate(classes):
        bits[a, b] = 1 << k, sum(1 << j for j, (c, d) in enumerate(classes) if a & d or c & b)
    return np.array([bits[pair] for pair in given], int).reshape(-1, 2)
