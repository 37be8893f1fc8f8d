"""The sparse factor A = L D Lᵀ as lists of indices, made once on the host (plain numpy and scipy).

The rows of A are eliminated in an order of least degree, so that the factor of a tree has hardly more entries than A.
Its entries stand column after column, the diagonal first in each column, and are computed in this order:

    S_ij = A_ij - Σ_k L_ik S_jk   (k < j <= i),   D_j = S_jj,   L_ij = S_ij/D_j

Source: Davis, Direct Methods for Sparse Linear Systems (2006), chapters 4 and 7.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy


@dataclass
class Pattern:
    """Which entries of L are not zero.

    Attributes: first: where each column begins in `rows` (n + 1,); rows: row of each entry of L (entries,).
    """

    first: np.ndarray
    rows: np.ndarray

    @cached_property
    def keys(self):
        """An ascending number for each entry (entries,)."""
        size = len(self.first) - 1
        return np.repeat(np.arange(size), np.diff(self.first)) * size + self.rows

    def entry(self, row, column):
        """Where L holds (row, column), row >= column. Args: arrays of one shape."""
        return np.searchsorted(self.keys, np.asarray(column, np.int64) * (len(self.first) - 1) + row)

    def updates(self):
        """All products of a factorisation, column after column: the entry that each changes, and its two entries."""
        a, b = pairs_within(self.first[:-1] + 1, np.diff(self.first) - 1)
        return self.entry(self.rows[a], self.rows[b]), a, b

    @property
    def products(self):
        """How many products each column takes (n,)."""
        below = np.diff(self.first) - 1
        return below * (below + 1) // 2

    @property
    def multiply_adds(self):
        """How many multiplications and additions a factorisation takes."""
        return int(self.products.sum())


@dataclass
class Elimination:
    """How the rows of a matrix are eliminated.

    Attributes: pattern: symmetric sparse matrix (n, n) with a full diagonal.
    """

    pattern: "scipy.sparse.csc_matrix"

    @cached_property
    def order(self):
        """See `least_degree_order`."""
        return least_degree_order(self.pattern)

    @cached_property
    def factor(self):
        """The Pattern of L, in this order."""
        return factor_pattern(self.pattern[self.order][:, self.order])


class Eliminations:
    """Makes an Elimination once for equal patterns, such as those of many ragdolls."""

    def __init__(self):
        self._made = {}

    def __call__(self, pattern):
        """The Elimination of a pattern."""
        pattern.sort_indices()
        key = pattern.indptr.tobytes(), pattern.indices.tobytes()
        return self._made.setdefault(key, Elimination(pattern))


def ranges(begins, sizes):
    """The numbers begin, ... begin + size - 1 of several ranges, one after the other. Args: arrays (n,)."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins - (ends - sizes), sizes)


def pairs_within(begins, sizes):
    """All pairs (a, b), b <= a, of numbers in the same range, range after range. Args: see `ranges`."""
    of_group, numbers = np.repeat(begins, sizes), ranges(begins, sizes)
    partners = numbers - of_group + 1
    return np.repeat(numbers, partners), ranges(of_group, partners)


def least_degree_order(pattern):
    """An order of elimination with little fill: order[k] is the row that is eliminated in place k.

    Args: pattern: symmetric sparse matrix (n, n) with a full diagonal. SuperLU orders by multiple minimum degree.
    """
    size = pattern.shape[0]
    if size < 3:
        return np.arange(size)
    adjacency = scipy.sparse.csc_matrix((np.full(pattern.nnz, -1.0), pattern.indices, pattern.indptr), pattern.shape)
    adjacency.setdiag(2.0 * np.diff(pattern.indptr))  # a dominant diagonal: SuperLU also factors the matrix
    options = {"SymmetricMode": True}
    factor = scipy.sparse.linalg.splu(adjacency, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return np.argsort(factor.perm_c)


def factor_pattern(pattern):
    """The Pattern of L. Args: pattern: symmetric sparse matrix in the order of elimination."""
    size = pattern.shape[0]
    lower = scipy.sparse.csc_matrix(scipy.sparse.tril(pattern))
    lower.sort_indices()
    below = [[] for _ in range(size)]  # for each column, those of its children's entries that are below it
    columns = []
    for j in range(size):
        own = lower.indices[lower.indptr[j] : lower.indptr[j + 1]]
        found = np.unique(np.concatenate([[j], own, *below[j]]))
        columns.append(found)
        below[j] = None
        if len(found) > 1:
            below[found[1]].append(found[1:])  # its parent in the elimination tree
    first = np.concatenate([[0], np.cumsum([len(column) for column in columns])]).astype(np.int64)
    return Pattern(first, np.concatenate([np.zeros(0, np.int64), *columns]))
