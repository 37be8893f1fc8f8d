"""Elements of a surface that contain given edges. Plain numpy, without Taichi."""

import numpy as np


def edges_among(members, pairs):
    """Find the rows of members that contain both particles of a pair, for each pair. Args: (n, k) and (m, 2) indices.

    Returns: rows of members and rows of pairs, as two arrays of one length.
    """
    count = members.shape[1]
    between = [(a, b) for a in range(count) for b in range(a + 1, count)]
    edges = np.sort(members[:, between].reshape(-1, 2), axis=1).astype(np.int64)
    wanted = np.sort(pairs, axis=1).astype(np.int64)
    most = max(edges.max(initial=0), wanted.max(initial=0)) + 1
    keys, sought = edges @ (most, 1), wanted @ (most, 1)
    order = np.argsort(sought, kind="stable")
    first, last = (np.searchsorted(sought[order], keys, side=side) for side in ("left", "right"))
    rows = np.repeat(np.arange(len(keys)), last - first)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
    return rows // len(between), order[first[rows] + offsets]


def have_both(members, pairs):
    """Mask (n,) of the rows of members that contain both particles of any pair. Args: (n, k) and (m, 2) indices."""
    found = np.zeros(len(members), bool)
    found[edges_among(members, pairs)[0]] = True
    return found
