"""Sticks that a picture of surfaces leaves out because a surface covers them."""

import numpy as np
import scipy

from pbd.build import Rope
from pbd.core.topology import half_edges, undirected
from pbd.host.edges import edges_among

IN_LINE = 0.2  # a particle this near to the middle of a stick is on it, in lengths of the stick


def uncovered_sticks(particles, solid, triangles, tetrahedra):
    """Sticks that no surface covers (n, 2).

    A surface covers the edges of its triangles, the other diagonals of two triangles that share an edge, and sticks
    along two edges in line, which keep cloth from bending. Sticks within a solid are inside it. Those from each
    particle of a rope to the next but one are beside the rope.

    Args: particles: a pbd.Particles; solid: which solid each particle belongs to (particles,), -1 for none; triangles,
    tetrahedra: that are drawn (n, 3), (n, 4).
    """
    sticks = members_of(particles, "stick", 2)
    sticks = sticks[~one_owner(sticks, solid)]
    ropes = [each.particles for each in particles.built if isinstance(each, Rope)]
    bends = [np.stack([each[:-2], each[2:]], axis=1) for each in ropes]
    for elements in (triangles, tetrahedra, diagonals_of(triangles), *bends):
        if len(sticks) and len(elements):
            covered = np.zeros(len(sticks), bool)
            covered[edges_among(elements, sticks)[1]] = True
            sticks = sticks[~covered]
    return sticks[~along_edges(particles.positions(), triangles, sticks)]


def members_of(particles, kind, count):
    """Particles of all constraints of some types (n, count). Args: kind: how the names of the types begin."""
    found = [each.arrays()[0] for (name, _), each in particles.constraint_sets.items() if str(name).startswith(kind)]
    return np.concatenate([np.zeros((0, count), int), *found])


def one_owner(elements, owner):
    """Which elements (n, k) have all their particles from one owner (n,). Args: owner (particles,), -1 for none."""
    owner = owner[elements]
    return (owner[:, 0] >= 0) & (owner == owner[:, :1]).all(axis=1)


def diagonals_of(triangles):
    """The corners opposite the edge that two triangles share (n, 2)."""
    start, end, opposite = half_edges(triangles)
    key = undirected(start, end)
    order = np.argsort(key, kind="stable")
    shared = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    return np.stack([opposite[order[shared]], opposite[order[shared + 1]]], axis=1)


def along_edges(positions, triangles, sticks):
    """Which sticks (n, 2) lie along two edges of triangles in line (n,). Args: positions (particles, 3) [m]."""
    found = np.zeros(len(sticks), bool)
    if len(sticks) and len(triangles):
        start, end, _ = half_edges(triangles)
        graph = scipy.sparse.coo_array((np.ones(len(start), bool), (start, end)), shape=2 * [len(positions)]).tocsr()
        graph = graph + graph.T
        a, b = sticks.T
        stick, middle = graph[a].multiply(graph[b]).nonzero()  # particles next to both ends
        off = np.linalg.norm(positions[middle] - (positions[a] + positions[b])[stick] / 2, axis=1)
        length = np.linalg.norm(positions[b] - positions[a], axis=1)[stick]
        found[stick[off < IN_LINE * length]] = True
    return found
