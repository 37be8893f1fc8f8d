"""The sparse factor, and the choice of independent rows."""

import numpy as np
import pytest
import scipy.sparse as sparse

from pbd.direct.factor import Eliminations, factor_pattern, least_degree_order, pairs_within
from pbd.direct.independent import LARGEST_COEFFICIENT, combinations, independent_rows, products_of_rows


def random_matrix(size, seed):
    """A symmetric positive definite sparse matrix with a dominant diagonal."""
    generator = np.random.default_rng(seed)
    matrix = sparse.random(size, size, density=min(1.0, 2 / size), random_state=generator)
    matrix = matrix + matrix.T
    return sparse.csc_matrix(matrix + sparse.diags(1.0 + np.abs(matrix).sum(axis=1).A1))


@pytest.mark.parametrize("size", [1, 2, 5, 60])
def test_products_make_the_factor(size):
    # A = L D Lᵀ with a unit diagonal of L: S_ij = A_ij - Σ_k L_ik D_k L_jk, column after column.
    matrix = random_matrix(size, seed=size)
    order = least_degree_order(matrix)
    assert sorted(order) == list(range(size))
    matrix = matrix[order][:, order].toarray()
    pattern = factor_pattern(sparse.csc_matrix(matrix))
    columns = np.repeat(np.arange(size), np.diff(pattern.first))
    values = matrix[pattern.rows, columns]
    targets, a, b = pattern.updates()
    for column, own in enumerate(np.split(np.arange(len(targets)), np.cumsum(pattern.products)[:-1])):
        values[targets[own]] -= values[a[own]] * values[b[own]] / values[pattern.first[column]]
    pivots = values[pattern.first[:-1]]
    lower = np.zeros((size, size))
    lower[pattern.rows, columns] = values / pivots[columns]
    assert lower @ np.diag(pivots) @ lower.T == pytest.approx(matrix, abs=1e-12)
    assert pattern.multiply_adds == len(targets)


def test_pairs_within_ranges():
    a, b = pairs_within(np.array([3, 7, 9]), np.array([2, 0, 1]))
    assert list(zip(a, b)) == [(3, 3), (4, 3), (4, 4), (9, 9)]


def test_chains_and_trees_have_no_fill():
    # A tree is eliminated from its leaves: each column of L has at most one entry below the diagonal.
    size = 200
    parents = np.array([np.random.default_rng(k).integers(0, k) for k in range(1, size)])
    edges = sparse.coo_matrix((np.ones(size - 1), (np.arange(1, size), parents)), (size, size))
    pattern = sparse.csc_matrix(edges + edges.T + sparse.identity(size))
    order = least_degree_order(pattern)
    assert len(factor_pattern(pattern[order][:, order]).rows) == 2 * size - 1


def jacobian(sticks, positions):
    """Rows of sticks of unit masses, sparse (sticks, 3 particles)."""
    rows = np.zeros((len(sticks), *positions.shape))
    for row, (a, b) in zip(rows, sticks):
        normal = (positions[b] - positions[a]) / np.linalg.norm(positions[b] - positions[a])
        row[a], row[b] = -normal, normal
    return sparse.csr_matrix(rows.reshape(len(sticks), -1))


def choose(sticks, positions):
    moved = positions + np.random.default_rng(1).uniform(-0.3, 0.3, positions.shape)
    return independent_rows(jacobian(sticks, positions), jacobian(sticks, moved), Eliminations())[0]


TETRAHEDRON = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float)
EDGES = [(a, b) for b in range(4) for a in range(b)]


def test_frame_with_particles_is_rigid_without_redundant_sticks():
    # n points in space have 3n - 6 distances that are independent: 6 + 3 + 3 of the 6 + 4 + 4 sticks. One particle is
    # nearly in a plane of three corners, so its sticks to these three alone would imply the fourth badly.
    near_a_face = TETRAHEDRON[:3].mean(axis=0) + 1e-3 * TETRAHEDRON[:3].mean(axis=0)
    positions = np.concatenate([TETRAHEDRON, [(0.2, 0.5, 1.5)], [near_a_face + (0.3, 0.1, 0.0)]])
    sticks = [*EDGES, *[(k, 4) for k in range(4)], *[(k, 5) for k in range(4)]]
    chosen = choose(sticks, positions)
    rows = jacobian(sticks, positions)
    assert chosen.sum() == 12
    assert np.linalg.matrix_rank(rows[np.flatnonzero(chosen)].toarray()) == 12
    for _, coefficients, left in combinations(products_of_rows(rows), chosen):
        assert np.abs(coefficients).max() <= LARGEST_COEFFICIENT + 1e-9
        assert np.abs(left).max() < 1e-13  # round-off of products of length one


def test_rows_that_depend_at_one_position_alone_are_kept():
    # A straight rope between two pins: n sticks and 3 (n - 1) unknowns. The sticks depend along the line alone.
    count = 6
    positions = np.zeros((count + 1, 3))
    positions[:, 0] = np.arange(count + 1)
    sticks = [(k, k + 1) for k in range(count)]
    moved = positions + np.random.default_rng(0).uniform(-0.2, 0.2, positions.shape)

    def of_free_particles(x):
        return jacobian(sticks, x)[:, 3:-3]

    assert np.linalg.matrix_rank(of_free_particles(positions).toarray()) == count - 1
    chosen, dependent = independent_rows(of_free_particles(positions), of_free_particles(moved), Eliminations())
    assert chosen.all()
    assert dependent.sum() == 1
