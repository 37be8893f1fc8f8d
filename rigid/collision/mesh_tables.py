"""Meshes for contact detection, in numpy: a tree of boxes about the triangles, and what lies beside each edge.

The tree is a bounding volume hierarchy. Triangles are halved at the median of their centres along the longest axis,
until few are left. Nodes are in depth-first order, each with the node that follows its subtree, so that kernels need no
stack (Smits, Efficiency Issues for Ray Tracing, 1998, https://doi.org/10.1080/10867651.1998.10487488).
"""

import numpy as np

from pbd.core.shapes import MESH
from pbd.core.topology import half_edges, undirected
from rigid.collision.data import NODE, TRIANGLE

# Triangles in a leaf. With more, fewer boxes and more triangles are tested.
LEAF = 4
# Two triangles are flat against one another if the sine of their angle is below this. Then their edge is inside a face.
FLAT = 1e-4

# Bits of TRIANGLE.flags, each for three sides or corners. The least triangle at an edge or vertex tests it for all.
TESTS_EDGE = 1  # of an edge that is not flat
TESTS_VERTEX = 8  # of a vertex with an edge that is not flat
NOT_FLAT = 64  # edges
FIRST_OF_VERTEX = 512  # whether the triangle is the first at a vertex


def mesh_tables(model):
    """The contents of Meshes, and where each mesh is. Args: model: a rigid.Model.

    Returns: {name: numpy array}; {index of a shape: its first node and the end of its nodes}.
    """
    tables = {
        "vertices": np.zeros((0, 3)), "planes": np.zeros((0, 4)), "triangles": np.zeros((0, TRIANGLE.total), int),
        "bounds": np.zeros((0, 6)), "nodes": np.zeros((0, NODE.total), int),
    }  # fmt: skip
    starts, neighbours, places, known = [0], [], {}, {}
    for index, piece in enumerate(model.shapes):
        if piece.shape.kind != MESH:
            continue
        if id(piece.shape) not in known:
            one, counts, ring = table_of_mesh(piece.shape.vertices, piece.shape.triangles)
            vertex, triangle, node = (len(tables[name]) for name in ("vertices", "triangles", "nodes"))
            one["triangles"][:, TRIANGLE["corner"]] += vertex
            opposite = one["triangles"][:, TRIANGLE["opposite"]]
            opposite[opposite >= 0] += vertex
            one["nodes"][:, NODE.skip] += node
            one["nodes"][:, NODE.first] += triangle
            tables = {name: np.concatenate([tables[name], one[name]]) for name in tables}
            starts = np.concatenate([starts, starts[-1] + np.cumsum(counts)])
            neighbours = np.concatenate([neighbours, ring + vertex])
            known[id(piece.shape)] = node, node + len(one["nodes"])
        places[index] = known[id(piece.shape)]
    rings = np.concatenate([np.array(starts) + len(starts), neighbours]) if places else np.zeros(0)
    return {**tables, "rings": rings.astype(int)}, places


def table_of_mesh(vertices, triangles):
    """The tables of one mesh, counted from zero. Args: vertices (n, 3) [m]; triangles (m, 3).

    Returns: {name: numpy array}; how many neighbours each vertex has (n,); the neighbours of all vertices.
    """
    order, bounds, nodes = tree_of(vertices[triangles])
    triangles = triangles[order]
    rows = np.zeros((len(triangles), TRIANGLE.total), int)
    rows[:, TRIANGLE["corner"]] = triangles
    planes = planes_of(vertices, triangles)
    rows[:, TRIANGLE["opposite"]], rows[:, TRIANGLE.flags] = sides_of(vertices, triangles, planes[:, :3])
    counts, ring = rings_of(len(vertices), triangles)
    return {"vertices": vertices, "planes": planes, "triangles": rows, "bounds": bounds, "nodes": nodes}, counts, ring


def planes_of(vertices, triangles):
    """Unit normal and offset [m] of each triangle (m, 4)."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return np.column_stack([normals, np.einsum("ij,ij->i", normals, (a + b + c) / 3)])


def sides_of(vertices, triangles, normals):
    """What lies beside the sides of triangles.

    Returns: the vertex opposite each side in the neighbour (m, 3), -1 at a border or where more than two meet; flags
    of each triangle (m,).
    """
    count = len(triangles)
    start, end, own = half_edges(triangles)
    triangle = np.tile(np.arange(count), 3)
    order = np.argsort(undirected(start, end), kind="stable")
    key = undirected(start, end)[order]
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    pairs = first[times == 2]
    one, two = order[pairs], order[pairs + 1]
    other = np.full(3 * count, -1)
    other[one], other[two] = two, one
    opposite = np.where(other >= 0, own[other], -1)
    neighbour = np.where(other >= 0, triangle[other], -1)
    inwards = vertices[opposite] - vertices[start]
    along = vertices[end] - vertices[start]
    inwards -= along * (np.einsum("ij,ij->i", inwards, along) / np.einsum("ij,ij->i", along, along))[:, None]
    rise = np.einsum("ij,ij->i", inwards, normals[triangle]) / np.maximum(np.linalg.norm(inwards, axis=1), 1e-300)
    folded = np.einsum("ij,ij->i", inwards, own_inwards(vertices, start, along, own)) > 0  # sharper than a right angle
    uneven = (neighbour < 0) | (np.abs(rise) > FLAT) | folded
    tests = uneven & ((neighbour < 0) | (neighbour > triangle))
    corner = np.full(len(vertices), count)
    np.minimum.at(corner, start[uneven], triangle[uneven])
    np.minimum.at(corner, end[uneven], triangle[uneven])
    flags, first = np.zeros(count, int), np.full(len(vertices), count)
    np.minimum.at(first, triangles, np.arange(count)[:, None])
    for k in range(3):
        side = slice(k * count, (k + 1) * count)
        flags += (TESTS_EDGE << k) * tests[side] + (NOT_FLAT << k) * uneven[side]
        flags += (TESTS_VERTEX << k) * (corner[triangles[:, k]] == np.arange(count))
        flags += (FIRST_OF_VERTEX << k) * (first[triangles[:, k]] == np.arange(count))
    return opposite.reshape(3, count).T, flags


def own_inwards(vertices, start, along, own):
    """Directions from each side into its own triangle (3 m, 3)."""
    inwards = vertices[own] - vertices[start]
    return inwards - along * (np.einsum("ij,ij->i", inwards, along) / np.einsum("ij,ij->i", along, along))[:, None]


def rings_of(count, triangles):
    """Neighbours of each vertex: how many (count,), and all of them one after another."""
    start, end, _ = half_edges(triangles)
    pairs = np.unique(np.concatenate([np.stack([start, end], axis=1), np.stack([end, start], axis=1)]), axis=0)
    return np.bincount(pairs[:, 0], minlength=count), pairs[:, 1]


def tree_of(corners):
    """The tree of triangles. Args: corners (m, 3, 3) [m].

    Returns: the order of the triangles in its leaves (m,), boxes of the nodes (n, 6) [m], nodes (n, NODE).
    """
    low, high = corners.min(axis=1), corners.max(axis=1)
    centres = 0.5 * (low + high)
    order, ends = np.arange(len(corners)), np.array([0, len(corners)])
    while (np.diff(ends) > LEAF).any():
        sizes = np.diff(ends)
        part = np.repeat(np.arange(len(sizes)), sizes)
        here = centres[order]
        extent = np.maximum.reduceat(here, ends[:-1]) - np.minimum.reduceat(here, ends[:-1])
        along = here[np.arange(len(order)), np.argmax(extent, axis=1)[part]]
        order = order[np.lexsort((along, part))]
        middles = (ends[:-1] + (sizes + 1) // 2)[sizes > LEAF]
        ends = np.sort(np.concatenate([ends, middles]))
    spans, nodes = nodes_of(len(corners))
    bounds = np.empty((len(nodes), 6))
    bounds[:, :3], bounds[:, 3:] = low[order[0]], high[order[0]]
    low, high = low[order], high[order]
    for k, (begin, end) in reversed(list(enumerate(spans))):
        if nodes[k, NODE.count]:
            bounds[k, :3], bounds[k, 3:] = low[begin:end].min(axis=0), high[begin:end].max(axis=0)
        else:
            right = nodes[k + 1, NODE.skip]
            bounds[k, :3] = np.minimum(bounds[k + 1, :3], bounds[right, :3])
            bounds[k, 3:] = np.maximum(bounds[k + 1, 3:], bounds[right, 3:])
    return order, bounds, nodes


def nodes_of(count):
    """The nodes above so many triangles, in depth-first order. Returns: spans of triangles; nodes (n, NODE)."""
    spans, nodes, open_nodes, pending = [], [], [], [(0, count)]
    while pending:
        span = pending.pop()
        if span is None:
            nodes[open_nodes.pop()][NODE.skip] = len(nodes)
            continue
        begin, end = span
        spans.append(span)
        leaf = end - begin <= LEAF
        nodes.append([len(nodes) + 1, begin, end - begin if leaf else 0])
        if not leaf:
            middle = begin + (end - begin + 1) // 2
            open_nodes.append(len(nodes) - 1)
            pending += [None, (middle, end), (begin, middle)]
    return spans, np.array(nodes)
