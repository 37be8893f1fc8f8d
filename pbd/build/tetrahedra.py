"""Tetrahedra that fill a closed surface: isosurface stuffing on a body-centred cubic lattice.

The lattice's tetrahedra are equal and nearly regular. If the surface passes close to a lattice point, the point moves
onto the surface. Tetrahedra that the surface still crosses are cut there.

Source: Labelle, Shewchuk, Isosurface Stuffing: Fast Tetrahedral Meshes with Good Dihedral Angles (2007),
https://doi.org/10.1145/1276377.1276448, with two departures. A cut quadrilateral is split from its inner corner with
the smaller index, instead of by the paper's parity rule, so the paper's bounds on angles hold only approximately. And
points on the surface move to its nearest point.

No existing tetrahedraliser can be a dependency: TetGen is AGPL, Gmsh is GPL, pytetwild and wildmeshing have no wheels
for macOS or Windows, and a Delaunay triangulation of surface and inner points is full of slivers.
"""

import numpy as np

from pbd.build.mesh import signed_distance
from pbd.core.topology import edges_of_tetrahedra

# A lattice point is moved where the surface cuts one of its edges nearer than this part of the edge's length: the
# lattice's long edges (of the cubes) and short ones (to their centres).
LONG_PULL, SHORT_PULL = 0.24999, 0.41189

# Tetrahedra of less than this part of a lattice tetrahedron's volume are left out: slivers in the skin.
SLIVER = 1e-2

# How many of the nearest tetrahedra are looked at for one that holds a point, and for how many points at a time.
CANDIDATES = 12
CHUNK = 1 << 15


def fill(mesh, spacing):
    """Fill a closed surface with tetrahedra, whose outermost corners lie on it.

    Args: mesh: a Mesh from `closed_surface`; spacing: of the lattice's cubes [m].

    Returns: points (n, 3) [m]; tetrahedra (m, 4) of positive volume; none if no lattice point is inside.
    """
    points, tetrahedra = lattice(mesh.vertices.min(axis=0), mesh.vertices.max(axis=0), spacing)
    distance, _ = signed_distance(mesh, points)
    points, tetrahedra, kept = compact(points, tetrahedra[(distance < 0)[tetrahedra].any(axis=1)])
    distance = distance[kept]
    _warp(points, tetrahedra, distance, spacing)
    tetrahedra = tetrahedra[(distance < 0)[tetrahedra].any(axis=1)]
    inner, _, cuts = _crossings(points, tetrahedra, distance)
    tetrahedra = _cut(tetrahedra, distance, inner, len(points))
    points = np.concatenate([points, cuts])
    on_surface = np.append(distance == 0, np.ones(len(cuts), bool))
    if on_surface.any():
        points[on_surface] = signed_distance(mesh, points[on_surface])[1]
    volume = volumes(points, tetrahedra)
    tetrahedra = np.where((volume < 0)[:, None], tetrahedra[:, [0, 1, 3, 2]], tetrahedra)
    return compact(points, tetrahedra[np.abs(volume) > SLIVER * spacing**3 / 12])[:2]


def volumes(points, tetrahedra):
    """Signed volumes of tetrahedra [m³]."""
    a, b, c = (points[tetrahedra[:, k]] - points[tetrahedra[:, 0]] for k in (1, 2, 3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6


def compact(points, tetrahedra):
    """Leave out unused points. Returns: the used points, the tetrahedra with new indices, the old indices."""
    used = np.zeros(len(points), bool)
    used[tetrahedra] = True
    return points[used], (np.cumsum(used) - 1)[tetrahedra], np.flatnonzero(used)


def lattice(lower, upper, spacing):
    """Body-centred cubic lattice around a box: points (n, 3), tetrahedra (m, 4).

    The centres of two neighbouring cubes and an edge of the face between them make a tetrahedron, four for each face.
    """
    counts = np.ceil((upper - lower) / spacing).astype(int) + 3  # cubes
    origin = (lower + upper - counts * spacing) / 2
    corner = np.arange(np.prod(counts + 1)).reshape(counts + 1)
    centre = np.arange(np.prod(counts)).reshape(counts) + corner.size
    grid = np.concatenate([np.indices(counts + 1).reshape(3, -1).T, np.indices(counts).reshape(3, -1).T + 0.5])
    pieces = []
    for axis in range(3):
        # The axis first; then the face's four corners go round.
        c, k = np.moveaxis(centre, axis, 0), np.moveaxis(corner, axis, 0)[1:-1]
        rim = k[:, :-1, :-1], k[:, 1:, :-1], k[:, 1:, 1:], k[:, :-1, 1:]
        for side in range(4):
            piece = c[:-1], c[1:], rim[side], rim[(side + 1) % 4]
            pieces.append(np.stack([part.ravel() for part in piece], axis=1))
    return origin + spacing * grid, np.concatenate(pieces)


def _crossings(points, tetrahedra, distance):
    """Edges from inside to outside (n, 2), the inner part of each (n,), and the crossing points (n, 3)."""
    edges, _ = edges_of_tetrahedra(tetrahedra)
    edges = edges[distance[edges[:, 0]] * distance[edges[:, 1]] < 0]
    edges = np.where((distance[edges[:, 0]] > 0)[:, None], edges[:, ::-1], edges)
    start, end = distance[edges].T
    part = start / (start - end)
    return edges, part, points[edges[:, 0]] + part[:, None] * (points[edges[:, 1]] - points[edges[:, 0]])


def _warp(points, tetrahedra, distance, spacing):
    """Move each lattice point that is too near the surface to the nearest crossing on its edges."""
    edges, part, cuts = _crossings(points, tetrahedra, distance)
    length = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
    pull = np.where(length > 0.95 * spacing, LONG_PULL, SHORT_PULL)
    point, cut = edges.T.ravel(), np.tile(np.arange(len(cuts)), 2)
    away = np.concatenate([part, 1 - part])
    close = np.flatnonzero(away < np.tile(pull, 2))
    close = close[np.argsort(-(away * np.tile(length, 2))[close], kind="stable")]
    points[point[close]] = cuts[cut[close]]  # farthest first, so that the nearest stays
    distance[point[close]] = 0.0


def _cut(tetrahedra, distance, edges, first):
    """The inner parts of tetrahedra, of either orientation. The crossing point of edges[k] is point first + k."""
    key = edges[:, 0] * first + edges[:, 1]
    order = np.argsort(key)

    def crossing(inside, outside):
        return first + order[np.searchsorted(key[order], inside * first + outside)]

    sign = np.sign(distance).astype(int)
    # Corners inside come first, then those on the surface, then those outside; by number where they are alike.
    rank = np.argsort(sign[tetrahedra] * first + tetrahedra, axis=1)
    tetrahedra = np.take_along_axis(tetrahedra, rank, axis=1)
    inside, outside = (sign[tetrahedra] < 0).sum(axis=1), (sign[tetrahedra] > 0).sum(axis=1)
    pieces = [tetrahedra[outside == 0]]

    def chosen(*numbers):
        return tetrahedra[(inside == numbers[0]) & (outside == numbers[1])].T

    for out in (1, 2, 3):  # one corner inside: a smaller tetrahedron
        p, *others = chosen(1, out)
        others = others[: 3 - out] + [crossing(p, m) for m in others[3 - out :]]
        pieces.append(np.stack([p, *others], axis=1))
    p, q, zero, m = chosen(2, 1)  # a pyramid
    pm, qm = crossing(p, m), crossing(q, m)
    pieces += [np.stack(corners, axis=1) for corners in ((zero, p, q, qm), (zero, p, qm, pm))]
    p, q, m, n = chosen(2, 2)  # a prism with triangles p pm pn and q qm qn
    pieces += _prism(p, crossing(p, m), crossing(p, n), q, crossing(q, m), crossing(q, n))
    p, q, r, m = chosen(3, 1)  # a prism with triangles p q r and pm qm rm
    pieces += _prism(p, q, r, crossing(p, m), crossing(q, m), crossing(r, m))
    return np.concatenate(pieces)


def _prism(a, b, c, d, e, f):
    """Three tetrahedra of a prism with triangles a b c and d e f: its sides are split along a-e, a-f and b-f."""
    return [np.stack(corners, axis=1) for corners in ((a, b, c, f), (a, b, e, f), (a, d, e, f))]


def barycentric(points, tetrahedra, places):
    """Find the tetrahedron that contains each place, and the place's weights in it.

    Args: points: (n, 3) [m]; tetrahedra: (m, 4); places: (k, 3) [m].

    Returns: indices of tetrahedra (k,), weights (k, 4) with the sum one. A place outside of all tetrahedra gets a near
    one, with a negative weight as close to zero as possible.
    """
    from scipy.spatial import cKDTree  # slow to import

    corner = points[tetrahedra]
    # Weights 1 to 3 are this matrix times the place from corner 0.
    inverse = np.linalg.inv(np.moveaxis(corner[:, 1:] - corner[:, :1], 1, 2))
    tree = cKDTree(corner.mean(axis=1))
    count = min(CANDIDATES, len(tetrahedra))
    chosen, weights = np.empty(len(places), np.int64), np.empty((len(places), 4))
    for k in range(0, len(places), CHUNK):
        part = places[k : k + CHUNK]
        near = tree.query(part, k=count)[1].reshape(-1, count)
        three = np.einsum("pcij,pcj->pci", inverse[near], part[:, None] - corner[near, 0])
        four = np.concatenate([1 - three.sum(axis=2, keepdims=True), three], axis=2)
        best = four.min(axis=2).argmax(axis=1)
        row = np.arange(len(part))
        chosen[k : k + CHUNK], weights[k : k + CHUNK] = near[row, best], four[row, best]
    return chosen, weights
