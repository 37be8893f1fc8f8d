"""Topology of triangle meshes and tetrahedra."""

import math

import numpy as np
import scipy

# The three sides of a triangle, as places of its corners, and the corner opposite each.
SIDES = ((0, 1), (1, 2), (2, 0))
OPPOSITE = (2, 0, 1)
SHARP = 40.0  # an edge looks sharp if its triangles are turned by more than this against one another [degrees]


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
    first, second = sides_in_common(start, end)
    return np.stack([start[first], end[first], opposite[first], opposite[second]], axis=1)


def sides_in_common(start, end):
    """Find pairs of sides that are one edge. Args: start, end: of each side, see `half_edges`.

    Returns: two arrays (n,) of indices of sides. Raises: see `hinges_of`.
    """
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
    return order[shared], order[shared + 1]


def split_sharp_edges(vertices, triangles):
    """Split vertices at sharp edges, so that a smooth picture of the mesh keeps these edges.

    A vertex is split into one for each fan of triangles around it that no sharp edge, and no border, cuts in two.

    Args: vertices (n, 3) [m]; triangles (m, 3), neighbours of the same orientation.

    Returns: which old vertex each new vertex is (k,), in the order of the old ones; triangles (m, 3) of new vertices.
    """
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-150)
    start, end, _ = half_edges(triangles)
    order = np.argsort(undirected(start, end), kind="stable")
    one, two = order[:-1], order[1:]  # those of a pair that share an edge are neighbours
    cosine = np.einsum("ij,ij->i", np.tile(normals, (3, 1))[one], np.tile(normals, (3, 1))[two])
    smooth = (start[one] == end[two]) & (end[one] == start[two]) & (cosine > math.cos(math.radians(SHARP)))
    one, two = one[smooth], two[smooth]
    starts, ends, _ = half_edges(np.arange(triangles.size).reshape(-1, 3))  # corners of triangles, not vertices
    pairs = np.concatenate([starts[one], ends[one]]), np.concatenate([ends[two], starts[two]])
    graph = scipy.sparse.coo_array((np.ones(len(pairs[0])), pairs), shape=(triangles.size, triangles.size))
    count, fan = scipy.sparse.csgraph.connected_components(graph, directed=False)
    key = triangles.ravel().astype(np.int64) * count + fan
    _, first, split = np.unique(key, return_index=True, return_inverse=True)
    return triangles.ravel()[first], split.reshape(-1, 3)


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
