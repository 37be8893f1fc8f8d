"""Which constraints to leave out of the direct solve, because others imply them.

A body's frame has more sticks than it needs: a joint particle has four to the corners, and three fix it. The rows of
such sticks depend on the others, and the matrix J W Jᵀ would be singular. So a largest set of independent rows is
chosen at the positions of the description. Rows that depend on others at these positions alone, like those of a rope
that hangs between two points without slack or of a linkage in a plane, are chosen, too: the solve makes them a little
soft (rows.py, SOFTNESS).

The chosen rows imply the others well: each of the others is a combination of them with coefficients of at most
`LARGEST_COEFFICIENT`, so its error is no larger than theirs. Without that, three of the four sticks might lie in a
plane almost, and the fourth would be off by many times their error. Such a choice has the largest volume of all, up to
that factor: Goreinov and others, How to find a good submatrix (2010).
"""

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from pbd.direct.factor import factor_pattern, least_degree_order

# A row depends on others if less than this part of its square is left beside them. Round-off leaves 1e-13.
DEPENDENT = 1e-8

# Displacement of particles, in parts of the lengths of their constraints, at which rows must also depend.
DISPLACEMENT = 0.2

LARGEST_COEFFICIENT = 1.2
MOST_EXCHANGES = 50

# Rows that are treated together, for memory.
BATCH = 500


def independent_rows(jacobian, elsewhere):
    """Choose a largest set of independent rows.

    Args:
        jacobian: sparse (rows, 3 particles), each entry times the square root of the particle's inverse mass.
        elsewhere: the same at other positions, which are far from all special ones.

    Returns: masks of the chosen rows, and of those among them that depend on others at the given positions (rows,).
    """
    jacobian = normalised(jacobian)
    chosen = independent_here(jacobian)
    exchange(jacobian, chosen)
    elsewhere = normalised(elsewhere)
    dependent = np.zeros(len(chosen), bool)
    for part, _, remainders in combinations(elsewhere, chosen, np.flatnonzero(~chosen)):
        dependent[part] = remainders > DEPENDENT
    return chosen | dependent, dependent


def normalised(jacobian):
    """A Jacobian whose rows have length one."""
    lengths = np.sqrt(np.asarray(jacobian.multiply(jacobian).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1.0 / np.maximum(lengths, 1e-300)) @ jacobian)


def independent_here(jacobian):
    """Rows that do not depend on rows eliminated before them. Args: jacobian. Returns: mask (rows,)."""
    matrix = sparse.csc_matrix(jacobian @ jacobian.T)
    order = least_degree_order(matrix)
    matrix = sparse.coo_matrix(sparse.tril(matrix[order][:, order]))
    factor = factor_pattern(matrix)
    values = np.zeros(len(factor.rows))
    values[factor.entry(matrix.row, matrix.col)] = matrix.data
    chosen = np.zeros(len(order), bool)
    for column, (targets, a, b) in enumerate(factor.updates()):
        pivot = values[factor.first[column]]
        if pivot > DEPENDENT:
            chosen[order[column]] = True
            values[targets] -= values[a] * values[b] / pivot
    return chosen


def exchange(jacobian, chosen):
    """Exchange chosen rows for others until all coefficients are small. Args: jacobian; chosen: mask, changed."""
    for _ in range(MOST_EXCHANGES):
        basis, others, exchanged = np.flatnonzero(chosen), np.flatnonzero(~chosen), False
        touched = np.zeros(len(chosen), bool)
        for part, coefficients, _ in combinations(jacobian, chosen, others):
            largest = np.abs(coefficients).argmax(axis=0)
            for column, row in enumerate(part):
                depends_on = basis[np.abs(coefficients[:, column]) > 1e-6]
                if abs(coefficients[largest[column], column]) > LARGEST_COEFFICIENT and not touched[depends_on].any():
                    chosen[row], chosen[basis[largest[column]]] = True, False
                    touched[depends_on], exchanged = True, True
        if not exchanged:
            return


def combinations(jacobian, chosen, others):
    """Other rows as combinations of the chosen ones, in batches.

    Args: jacobian: of rows of length one; chosen: mask; others: indices.

    Yields: a batch of `others`; coefficients (chosen, batch); squares of what is left of each row (batch,).
    """
    basis = jacobian[np.flatnonzero(chosen)]
    if not len(others):
        return
    solver = splu(sparse.csc_matrix(basis @ basis.T))
    for begin in range(0, len(others), BATCH):
        part = others[begin : begin + BATCH]
        coefficients = solver.solve((basis @ jacobian[part].T).toarray())
        yield part, coefficients, np.square(jacobian[part].toarray().T - basis.T @ coefficients).sum(axis=0)
