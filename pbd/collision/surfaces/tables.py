"""Triangles and segments of all surfaces as arrays, and the tree of boxes over them. Plain numpy.

Elements lie along a space-filling curve (Morton), and the tree halves their range again and again. Its nodes are in
depth-first order, so whoever visits nodes from one on, and skips those below a box that is too far, needs no stack.

Each vertex and each edge belongs to one element, so that a pair of elements finds each pair of features once.

Sources: Ericson, Real-Time Collision Detection (2005), section 6.6.2; Lauterbach and others, Fast BVH Construction on
GPUs (2009), https://doi.org/10.1111/j.1467-8659.2009.01377.x; Curtis, Tamstorf, Manocha, Fast Collision Detection for
Deformable Models Using Representative-Triangles (2008), https://doi.org/10.1145/1342250.1342260.
"""

import numpy as np

from pbd.collision.surfaces.neighbours import have_neighbours
from pbd.core.kernels import allocate
from pbd.data import SURFACE, SURFACE_NUMBER, PairArrays

NO_PARTICLE = -1  # in place of the third corner of a segment
EDGES = ((0, 1), (1, 2), (2, 0))  # of an element, as places of its corners
BITS = 10  # of each axis of the curve
# There is room for so many pairs at first, for each vertex and edge and in all.
CANDIDATES_OF_FEATURE, LEAST_CANDIDATES = 24, 4096


def surface_tables(surfaces, positions):
    """Values of SurfaceArrays.

    Args: surfaces: a list of pbd.description.surfaces.Surface; positions: of all particles (n, 3) [m].

    Returns: a dictionary of arrays.
    """
    members = np.concatenate([
        np.pad(each.members, ((0, 0), (0, 3 - each.members.shape[1])), constant_values=NO_PARTICLE) for each in surfaces
    ])  # fmt: skip
    of_surface = np.repeat(np.arange(len(surfaces)), [len(each.members) for each in surfaces])
    neighbours = np.concatenate([have_neighbours(each, positions) for each in surfaces])
    order = along_curve(middles(members, positions))
    members, of_surface, neighbours = members[order], of_surface[order], neighbours[order]
    elements = np.zeros((len(members), SURFACE.total), np.int32)
    elements[:, SURFACE["members"]] = members
    elements[:, SURFACE["owned"]] = owned_features(members)
    elements[:, SURFACE["surface"]] = of_surface
    elements[:, SURFACE["self_contact"]] = np.array([each.self_contact for each in surfaces])[of_surface]
    elements[:, SURFACE["neighbours"]] = neighbours
    numbers = np.zeros((len(members), SURFACE_NUMBER.total))
    numbers[:, SURFACE_NUMBER["radius"]] = np.array([each.radius for each in surfaces])[of_surface]
    numbers[:, SURFACE_NUMBER["friction"]] = np.array([each.friction for each in surfaces])[of_surface]
    radius = np.full(len(positions), np.inf)
    for corner in members.T:
        present = corner >= 0
        np.minimum.at(radius, corner[present], numbers[present, SURFACE_NUMBER["radius"]])
    edges = np.concatenate([each.edges() for each in surfaces])
    lengths, shortest = np.linalg.norm(np.diff(positions[edges], axis=1)[:, 0], axis=1), np.zeros(len(positions))
    shortest[edges] = np.inf
    np.minimum.at(shortest, edges, lengths[:, None])
    return {
        "length": shortest,
        "elements": elements,
        "rings": rings_of(edges, len(positions)),
        "numbers": numbers,
        "nodes": tree_over(len(members)),
        "particles": np.flatnonzero(np.isfinite(radius)),
        "radius": np.where(np.isfinite(radius), radius, 0.0),
    }


def middles(members, positions):
    """Middle of the first two corners of each element (n, 3) [m], which is near enough to all of it."""
    return positions[members[:, :2]].mean(axis=1)


def along_curve(points):
    """The order of points (n, 3) along a space-filling curve."""
    size = np.ptp(points, axis=0).max(initial=0.0) or 1.0
    cells = ((points - points.min(axis=0)) / size * ((1 << BITS) - 1)).astype(np.int64)
    code = np.zeros(len(points), np.int64)
    for bit in range(BITS):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return np.argsort(code, kind="stable")


def owned_features(members):
    """Bits for the vertices (0 to 2) and edges (3 to 5) that each element owns: it is the first to have them."""
    owned = np.zeros(len(members), np.int64)
    corners = members.ravel()
    _, first = np.unique(corners, return_index=True)
    first = first[corners[first] >= 0]
    np.bitwise_or.at(owned, first // 3, 1 << (first % 3))
    edges = np.sort(members[:, EDGES], axis=2).reshape(-1, 2)
    keys = edges[:, 0] * (members.max() + 1) + edges[:, 1]
    keys[edges[:, 0] < 0] = -1
    _, first = np.unique(keys, return_index=True)
    first = first[keys[first] >= 0]
    np.bitwise_or.at(owned, first // 3, 8 << (first % 3))
    return owned


def rings_of(edges, count):
    """Particles that edges join to each particle: `count` + 1 places where the lists begin, then the lists.

    Args: edges: (n, 2), an edge of two surfaces twice; count: of all particles.
    """
    both = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    first = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=count))])
    return np.concatenate([first + count + 1, both[:, 1]])


def tree_over(count):
    """Nodes of a tree over a range of elements, in depth-first order.

    Returns: (2 count - 1, 2): the element of a leaf or -1, and the first node that is not below this one.
    """
    nodes = np.zeros((2 * count - 1, 2), np.int32)
    waiting = [(0, 0, count)]
    while waiting:
        node, begin, end = waiting.pop()
        nodes[node] = begin if end - begin == 1 else -1, node + 2 * (end - begin) - 1
        if end - begin > 1:
            middle = (begin + end) // 2
            waiting += [(node + 1, begin, middle), (node + 2 * (middle - begin), middle, end)]
    return nodes


def surface_lengths(tables, count):
    """Lengths of the axes of SurfaceArrays. Args: tables: see `surface_tables`, or none; count: of all particles."""
    if not tables:
        return dict.fromkeys(
            ("elements_of_surfaces", "nodes", "rings", "particles_on_surfaces", "surface_particles", "candidates"), 0
        )
    features = int(sum((tables["elements"][:, SURFACE.owned] >> bit & 1).sum() for bit in range(6)))
    return {
        "elements_of_surfaces": len(tables["elements"]),
        "nodes": len(tables["nodes"]),
        "rings": len(tables["rings"]),
        "particles_on_surfaces": len(tables["particles"]),
        "surface_particles": count,
        "candidates": max(LEAST_CANDIDATES, CANDIDATES_OF_FEATURE * features),
    }


def room_of(arrays):
    """For how many pairs of features there is room in each world. Args: arrays: a SurfaceArrays."""
    return arrays.pairs.members.shape[0]


def with_room(arrays, pairs, worlds):
    """The same SurfaceArrays with room for more pairs. Each step begins with a search, so none are kept."""
    return arrays._replace(pairs=allocate(PairArrays, worlds=worlds, candidates=pairs))
