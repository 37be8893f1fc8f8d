"""Elements that are near others in the description because the surface joins them. Plain numpy and scipy.

Such neighbours come nearer where the surface bends. What lies beside them only because the surface is described folded,
or a rope in a knot, is no neighbour.

Something of thickness d can be bent to a radius of d/2 in its middle, so that an arc s has the chord d sin(s/d). That
is d at half a turn, s = πd/2, and 2 s/π at least before.
"""

import numpy as np
import scipy


def have_neighbours(surface, positions):
    """Whether all that is near each element of a surface, in the description, is joined to it there.

    An element whose own size keeps others away for half a turn has no neighbours.

    Args: surface: a pbd.description.surfaces.Surface; positions: of all particles (n, 3) [m].

    Returns: (elements,).
    """
    half_turn = np.pi * surface.radius
    result = least_heights(surface.members, positions) < half_turn
    if surface.self_contact and result.any():
        result &= ~described_beside_others(surface, positions, half_turn)[surface.members].any(axis=1)
    return result


def least_heights(members, positions):
    """Least height of each triangle, or the length of each segment (n,) [m]."""
    corners = positions[members]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    if members.shape[1] == 2:
        return sides
    return np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / sides


def described_beside_others(surface, positions, distance):
    """Whether each particle is near a part of the surface to which no way along edges leads that stays near it.

    Args: distance: between two elements that are near [m].

    Returns: (particles,).
    """
    particles, edges = np.unique(surface.edges(), return_inverse=True)
    edges = edges.reshape(-1, 2)
    points, count = positions[particles], len(particles)
    longest = np.zeros(count)
    np.maximum.at(longest, edges, np.linalg.norm(np.diff(points[edges], axis=1)[:, 0], axis=1)[:, None])
    # No point of a triangle is farther from its nearest corner than 1/√3 of its longest edge.
    reach = distance + 2 / np.sqrt(3) * longest
    found = scipy.spatial.KDTree(points).query_ball_point(points, reach)
    owners = np.repeat(np.arange(count), [len(each) for each in found])
    near = both_ways(owners, np.concatenate(found).astype(int), count)
    step = both_ways(*edges.T, count)
    joined, before = scipy.sparse.identity(count, dtype=bool, format="csr"), 0
    while joined.nnz > before:
        before = joined.nnz
        joined = (joined @ step + joined).multiply(near).tocsr()
    beside = np.zeros(len(positions), bool)
    beside[particles] = near.getnnz(axis=1) > joined.getnnz(axis=1)
    return beside


def both_ways(rows, columns, count):
    """A sparse symmetric matrix (count, count) of truths."""
    one_way = scipy.sparse.csr_matrix((np.ones(len(rows), bool), (rows, columns)), (count, count))
    return one_way + one_way.T
