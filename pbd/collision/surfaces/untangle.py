"""Move surfaces that start crossed apart. Plain numpy, before the first step.

Where two surfaces cross, their intersection is a line, which ends where an edge crosses a triangle. If the edge moves
by D against the triangle, its point in the triangle's plane moves by D - (D·n)/(e·n) e, along the edge's direction e
and with the triangle's normal n. Along r, the direction of the line into a triangle of the edge, the line so becomes
longer by -D·G:

    G = Σ r - (e·r)/(e·n) n        over the triangles of the edge, one or two

So edge and triangle move against one another along G, in inverse proportion to their masses, until all lines are gone.
Where the edges that cross cut a surface in two, as they do with a rope, the line has nowhere to shrink to. There the
smaller part is pulled back along the edges.

Nothing is known of how the surfaces came to cross, so a sheet halfway through another may end on either side. What has
no way out, such as a rope that is pinned on both sides of a pinned sheet, is refused.

Source: Volino, Magnenat-Thalmann, Resolving Surface Collisions through Intersection Contour Minimization (2006),
https://doi.org/10.1145/1141911.1142007. Departures: the displacement of the edge alone is counted once, not twice, and
lengths of edges are relaxed in between (Jakobsen 2001, section 3), so that surfaces keep their shape.
"""

from collections import defaultdict

import numpy as np
import scipy

from pbd.collision.surfaces.crossings import crossing_pairs, edges_and_triangles
from pbd.core.messages import shown

# A pair moves by this part of the shortest edge at most in a round. Then edges are relaxed so often.
STEP, RELAXATIONS = 0.2, 20
# Rounds at most; how often edges are relaxed after them, as long as nothing crosses again.
ROUNDS, SETTLING = 500, 10


def untangled(description):
    """The same description, with positions in which no surfaces cross.

    Args: description: a Particles. Returns: a Particles; the same if nothing crosses.

    Raises: ValueError if surfaces still cross at the end.
    """
    edges, triangles = edges_and_triangles(description.surfaces)
    weights, x = 1.0 / description.masses(), description.positions().copy()
    lengths, pinned = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1), weights == 0
    thickness = 2 * min((each.radius for each in description.surfaces), default=0.0)
    opposite, pairs = opposite_corners(triangles), crossing_pairs(x, edges, triangles, pinned)
    rounds = 0
    while len(pairs) and rounds < ROUNDS:
        direction = directions(x, pairs, opposite, ways_back(pairs, edges, pinned))
        move_pairs(x, weights, pairs, STEP * lengths.min() * direction)
        for _ in range(RELAXATIONS):
            relax(x, weights, edges, lengths)
        last, pairs = pairs, crossing_pairs(x, edges, triangles, pinned)
        rounds += 1
    if len(pairs):
        edge = "1 edge still crosses" if len(pairs) == 1 else f"{len(pairs)} edges still cross"
        raise ValueError(
            f"untangle: {edge} triangles after {ROUNDS} rounds, that of particles {shown(pairs[0, :2])}: expected "
            "surfaces that have a way out, or that do not cross"
        )
    if not rounds:
        return description
    for change in range(1 + SETTLING):
        tried = x.copy()
        if change == 0:
            move_pairs(tried, weights, last, thickness / 2 * direction)  # to keep more than a hair's breadth
        for _ in range(RELAXATIONS if change > 0 else 0):
            relax(tried, weights, edges, lengths)
        if not len(crossing_pairs(tried, edges, triangles, pinned)):
            x = tried
    return description.with_positions(x)


def directions(x, pairs, opposite, back):
    """Along which an edge moves against the triangle that it crosses (n, 3), with a length of up to one.

    Args: x: positions [m]; pairs: (n, 5), see `crossing_pairs`; opposite, back: see `opposite_corners`, `ways_back`.
    """
    p, q, a, b, c = (x[each] for each in pairs.T)
    n, e = unit(np.cross(b - a, c - a)), unit(q - p)
    along = np.einsum("ij,ij->i", e, n)
    result = np.zeros_like(e)
    corners = [(opposite[frozenset(each)] + [-1, -1])[:2] for each in pairs[:, :2].tolist()]
    for corner in np.transpose(corners):
        into = x[corner] - p
        into -= np.einsum("ij,ij->i", into, e)[:, None] * e
        r = unit(np.cross(n, np.cross(e, into)))
        r *= np.sign(np.einsum("ij,ij->i", r, into))[:, None]
        gradient = r - (np.einsum("ij,ij->i", e, r) / along)[:, None] * n
        result += np.where((corner >= 0)[:, None], gradient, 0.0)
    result /= np.sqrt(1 + np.sum(result**2, axis=1, keepdims=True))
    return np.where((back == 0)[:, None], result, back[:, None] * e)


def opposite_corners(triangles):
    """Corners opposite to edges: {edge as a frozenset: list}. Args: triangles: (t, 3)."""
    found = defaultdict(list)
    for triangle in triangles.tolist():
        for k in range(3):
            found[frozenset(triangle[:k] + triangle[k + 1 :])].append(triangle[k])
    return found


def ways_back(pairs, edges, pinned):
    """Where the edges that cross cut a surface in two: along which direction the smaller part is pulled back.

    Args: pairs: (n, 5); edges: (e, 2) of all surfaces; pinned: whether particles are (particles,).

    Returns: (n,): 1 along the edge, -1 against it, 0 for an edge whose ends are still joined by others.
    """
    keys = np.sort(edges, axis=1) @ [len(pinned), 1]
    rest = edges[~np.isin(keys, np.sort(pairs[:, :2], axis=1) @ [len(pinned), 1])]
    graph = scipy.sparse.coo_matrix((np.ones(len(rest)), rest.T), (len(pinned), len(pinned)))
    count, part = scipy.sparse.csgraph.connected_components(graph, directed=False)
    size = np.bincount(part, 1.0 + len(pinned) * pinned, count)
    first, second = part[pairs[:, :2]].T
    return np.where(first == second, 0, np.where(size[first] < size[second], 1, -1))


def move_pairs(x, weights, pairs, displacements):
    """Move edges against triangles where they cross.

    Args: x: positions, which change [m]; weights: inverse masses; pairs: (n, 5); displacements: (n, 3) [m].
    """
    p, q, a, b, c = (x[each] for each in pairs.T)
    n = np.cross(b - a, c - a)
    part = np.einsum("ij,ij->i", a - p, n) / np.einsum("ij,ij->i", q - p, n)
    point = p + part[:, None] * (q - p)
    area = np.einsum("ij,ij->i", n, n)
    inside = [np.einsum("ij,ij->i", np.cross(v - u, point - u), n) / area for u, v in ((b, c), (c, a), (a, b))]
    shares = np.column_stack([1 - part, part, *(-each for each in inside)])
    w = weights[pairs]
    total = np.sum(shares**2 * w, axis=1)
    moved = np.zeros_like(x)
    each = (shares * w / np.where(total > 0, total, 1)[:, None])[:, :, None] * displacements[:, None]
    np.add.at(moved, pairs, each)
    x += moved / np.maximum(np.bincount(pairs.ravel(), minlength=len(x)), 1)[:, None]


def relax(x, weights, edges, lengths):
    """Bring edges nearer to their lengths, all at once. Args: x: changed; weights: inverse masses; lengths (e,) [m]."""
    d = x[edges[:, 1]] - x[edges[:, 0]]
    length = np.linalg.norm(d, axis=1)
    w = weights[edges]
    total = w.sum(axis=1)
    step = ((length - lengths) / (np.where(total > 0, total, 1) * length))[:, None] * d
    moved = np.zeros_like(x)
    np.add.at(moved, edges[:, 0], w[:, :1] * step)
    np.add.at(moved, edges[:, 1], -w[:, 1:] * step)
    x += moved / np.maximum(np.bincount(edges.ravel(), minlength=len(x)), 1)[:, None]


def unit(vectors):
    """Vectors (n, 3) divided by their lengths."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
