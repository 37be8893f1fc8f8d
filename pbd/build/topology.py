"""Topology of triangle meshes and tetrahedra."""

import numpy as np

# The three sides of a triangle, as places of its corners, and the corner opposite each.
SIDES = ((0, 1), (1, 2), (2, 0))
OPPOSITE = (2, 0, 1)


def half_edges(triangles):
    """The sides of triangles as they wind, each with the corner opposite: three arrays (3 n,), start, end, opposite."""
    start, end = (np.concatenate([triangles[:, side[k]] for side in SIDES]) for k in (0, 1))
    return start, end, np.concatenate([triangles[:, corner] for corner in OPPOSITE])


def undirected(start, end):
    """A number for each edge, the same for both directions."""
    key = np.minimum(start, end).astype(np.int64)
    key *= int(max(start.max(initial=0), end.max(initial=0))) + 1
    key += np.maximum(start, end)
    return key


def edges_of(triangles):
    """Edges of triangles (n, 3), each once: (edges, 2), sorted, the smaller index first."""
    start, end, _ = half_edges(triangles)
    _, first = np.unique(undirected(start, end), return_index=True)
    return np.sort(np.stack([start[first], end[first]], axis=1), axis=1)


def hinges_of(triangles):
    """Find pairs of triangles that share an edge, for bending.

    Args: triangles: (n, 3). An edge of one triangle has no hinge.

    Returns: (hinges, 4), edge start, edge end and the two opposite corners. In the triangle of the first corner, the
    edge runs from start to end. If both triangles have the same orientation, the angle is positive where the surface
    folds away from its normal, as on a convex body.

    Raises: ValueError for an edge of three or more triangles, which is ambiguous.
    """
    start, end, opposite = half_edges(triangles)
    key = undirected(start, end)
    order = np.argsort(key, kind="stable").astype(np.int32)
    key = key[order]
    shared = np.flatnonzero(key[1:] == key[:-1])
    del key  # a million particles have six million sides
    crowded = np.flatnonzero(np.diff(shared) == 1)
    if len(crowded):
        at = order[shared[crowded[0]]]
        raise ValueError(
            f"the edge from {start[at]} to {end[at]} belongs to three triangles or more: expected a surface, "
            f"where an edge has two at most ({len(crowded)} such; without bending, none of them matters)"
        )
    first, second = order[shared], order[shared + 1]
    return np.stack([start[first], end[first], opposite[first], opposite[second]], axis=1)


def boundary_of(tetrahedra):
    """Triangles that belong to one tetrahedron only, wound outwards where volumes are positive; (n, 3)."""
    faces = np.concatenate([tetrahedra[:, corners] for corners in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))])
    low, middle, high = np.sort(faces, axis=1).T
    count = high.max(initial=0) + 1
    _, first, times = np.unique((low * count + middle) * count + high, return_index=True, return_counts=True)
    return faces[np.sort(first[times == 1])]


def edges_of_tetrahedra(tetrahedra):
    """Edges of tetrahedra, each once, and which they are of each: (edges, 2), (n, 6)."""
    corners = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    pairs = np.sort(tetrahedra[:, corners].reshape(-1, 2), axis=1)
    _, first, which = np.unique(undirected(*pairs.T), return_index=True, return_inverse=True)
    return pairs[first], which.reshape(-1, 6)
