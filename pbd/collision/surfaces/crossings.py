"""Edges that cross triangles. Plain numpy in 64 bits: it shares no code with the contacts that it measures.

An edge from p to q crosses a triangle a b c if p and q are on different sides of its plane, and the point where the
edge meets the plane is inside of the triangle. Round-off decides the sides of an edge in the plane, as in a flat sheet,
but not whether it meets the triangle. Pairs that share a particle do not count, nor those that nothing can move.

Source: Ericson, Real-Time Collision Detection (2005), section 5.3.
"""

import numpy as np

# Pairs of boxes that are compared at a time, which bounds the memory.
AT_A_TIME = 1 << 20


def crossing_pairs(positions, edges, triangles, pinned=None):
    """Find the edges that cross triangles.

    Args: positions: (particles, 3) [m]; edges: (e, 2) and triangles: (t, 3) indices of particles; pinned: which
    particles nothing moves, or None.

    Returns: (n, 5), the particles of each edge and of the triangle that it crosses.
    """
    found = [np.zeros((0, 5), np.int64)]
    for e, t in pairs_of_boxes(positions[edges], positions[triangles]):
        pair = np.column_stack([edges[e], triangles[t]])
        apart = (pair[:, :2, None] != pair[:, None, 2:]).all(axis=(1, 2))
        pair = pair[apart]
        if pinned is not None:
            pair = pair[~pinned[pair].all(axis=1)]
        found.append(pair[crosses(positions[pair])])
    return np.concatenate(found)


def crosses(x):
    """Whether edges cross triangles (n,). Args: x: positions (n, 5, 3) of an edge's ends and a triangle's corners."""
    p, q, a, b, c = np.moveaxis(x.astype(float), 1, 0)
    normal = np.cross(b - a, c - a)
    above, below = (np.einsum("ij,ij->i", end - a, normal) for end in (p, q))
    apart = above * below < 0
    part = np.where(apart, above, 0) / np.where(apart, above - below, 1)
    x = p + part[:, None] * (q - p)
    around = [np.einsum("ij,ij->i", np.cross(v - u, x - u), normal) for u, v in ((a, b), (b, c), (c, a))]
    return apart & (np.min(around, axis=0) > 0)


def pairs_of_boxes(first, second):
    """Pairs of elements whose boxes overlap, by a sweep along the longest axis.

    Args: first: (n, k, 3) and second: (m, l, 3), positions of their corners.

    Yields: indices into both, as two arrays of one length.
    """
    if not (len(first) and len(second)):
        return
    lower = first.min(axis=1), second.min(axis=1)
    upper = first.max(axis=1), second.max(axis=1)
    axis = int(np.argmax(upper[1].max(axis=0) - lower[1].min(axis=0)))
    order = np.argsort(lower[1][:, axis], kind="stable")
    starts = lower[1][order, axis]
    widest = (upper[1] - lower[1])[:, axis].max()
    begin = np.searchsorted(starts, lower[0][:, axis] - widest, side="left")
    end = np.searchsorted(starts, upper[0][:, axis], side="right")
    counts = end - begin
    which = 0
    while which < len(counts):
        last = which + max(1, int(np.searchsorted(np.cumsum(counts[which:]), AT_A_TIME, side="right")))
        rows = np.repeat(np.arange(which, last), counts[which:last])
        offsets = np.arange(len(rows)) - np.repeat(
            np.cumsum(counts[which:last]) - counts[which:last], counts[which:last]
        )
        others = order[begin[rows] + offsets]
        overlap = (lower[0][rows] <= upper[1][others]).all(axis=1) & (lower[1][others] <= upper[0][rows]).all(axis=1)
        yield rows[overlap], others[overlap]
        which = last


def edges_and_triangles(surfaces):
    """All edges (e, 2) and triangles (t, 3) of surfaces."""
    edges = np.concatenate([np.zeros((0, 2), np.int64), *(each.edges() for each in surfaces)])
    return edges, np.concatenate([np.zeros((0, 3), np.int64), *(each.triangles() for each in surfaces)])


def refuse_crossed(descriptions):
    """Raise ValueError if surfaces of a description cross. Args: descriptions: a list of Particles."""
    for world, description in enumerate(descriptions):
        pinned = np.isinf(description.masses())
        pairs = crossing_pairs(description.positions(), *edges_and_triangles(description.surfaces), pinned)
        if len(pairs):
            where = f" of world {world}" if len(descriptions) > 1 else ""
            more = f" (and {len(pairs) - 1} more pairs)" if len(pairs) > 1 else ""
            raise ValueError(
                f"the edge of particles {pairs[0, 0]} and {pairs[0, 1]}{where} crosses the triangle of "
                f"{', '.join(map(str, pairs[0, 2:]))}{more}: expected surfaces that are apart at the start"
            )
