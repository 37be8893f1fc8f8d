"""Which constraints to leave out of the direct solve, because others imply them.

A body's frame has more sticks than it needs: a joint particle has four to the corners, and three fix it. The rows of
such sticks depend on the others, and the matrix J W Jᵀ would be singular. So a largest set of independent rows is
chosen at the positions of the description. Rows that depend on others at these positions alone, like those of a rope
that hangs between two points without slack or of a linkage in a plane, are chosen, too: the solve makes them a little
soft (rows.py, SOFTNESS). Masses have no part in the choice, unless they are infinite.

The chosen rows imply the others well: each of the others is a combination of them with coefficients of at most
`LARGEST_COEFFICIENT`, so its error is no larger than theirs. Without that, three of the four sticks might lie in a
plane almost, and the fourth would be off by many times their error. Such a choice has the largest volume of all, up to
that factor: Goreinov and others, How to find a good submatrix (2010).
"""

import numpy as np
import scipy

# A row depends on others if less than this part of its square is left beside them. Round-off leaves 1e-13.
DEPENDENT = 1e-8

# Displacement of particles, in parts of the lengths of their constraints, at which rows must also depend.
DISPLACEMENT = 0.2

LARGEST_COEFFICIENT = 1.2
MOST_EXCHANGES = 200  # of one block

# Smaller coefficients are round-off.
NEGLIGIBLE = 1e-6

# Rows that are treated together, for memory.
BATCH = 500


def independent_rows(jacobian, elsewhere, eliminate):
    """Choose a largest set of independent rows.

    Args:
        jacobian: J of particles that can move, sparse (rows, 3 particles).
        elsewhere: the same at other positions, which are far from all special ones.
        eliminate: an Eliminations.

    Returns: masks of the chosen rows, and of those among them that depend on others at the given positions (rows,).
    """
    products = products_of_rows(jacobian)
    chosen = independent_here(products, eliminate)
    dependent = np.zeros(len(chosen), bool)
    if not chosen.all():
        exchange(products, chosen)
        _, block = dependences(products, chosen)
        for part, _, remainders in combinations(within(products_of_rows(elsewhere), block), chosen):
            dependent[part] = remainders > DEPENDENT
    return chosen | dependent, dependent


def products_of_rows(jacobian):
    """Products J Jᵀ of rows, scaled to length one, sparse (rows, rows)."""
    lengths = np.sqrt(np.asarray(jacobian.multiply(jacobian).sum(axis=1)).ravel())
    jacobian = scipy.sparse.csr_matrix(scipy.sparse.diags(1.0 / np.maximum(lengths, 1e-300)) @ jacobian)
    return scipy.sparse.csc_matrix(jacobian @ jacobian.T).sorted_indices()


def independent_here(products, eliminate):
    """Rows that do not depend on rows eliminated before them. Args: see `exchange`, Eliminations. Returns: mask."""
    elimination = eliminate(products)
    order, factor = elimination.order, elimination.factor
    matrix = scipy.sparse.coo_matrix(scipy.sparse.tril(products[order][:, order]))
    values = np.zeros(len(factor.rows))
    values[factor.entry(matrix.row, matrix.col)] = matrix.data
    chosen = np.zeros(len(order), bool)
    targets, a, b = factor.updates()
    sizes = factor.products
    for column, (end, size) in enumerate(zip(np.cumsum(sizes), sizes)):
        pivot = values[factor.first[column]]
        if pivot > DEPENDENT:
            chosen[order[column]] = True
            own = slice(end - size, end)
            values[targets[own]] -= values[a[own]] * values[b[own]] / pivot
    return chosen


def dependences(products, chosen):
    """Other rows as combinations of chosen ones, without round-off, and the blocks that they make.

    Others that are combinations of the same chosen rows, as those of a body are, form a block.

    Args: products: of rows of length one, sparse (rows, rows); chosen: mask (rows,).

    Returns: coefficients, sparse (rows, rows), [chosen, other]; the number of each row's block (rows,).
    """
    basis, places, columns, values = np.flatnonzero(chosen), [], [], []
    for part, coefficients, _ in combinations(products, chosen):
        place, column = np.nonzero(np.abs(coefficients) > NEGLIGIBLE)
        places.append(basis[place])
        columns.append(part[column])
        values.append(coefficients[place, column])
    entries = np.concatenate(values), (np.concatenate(places), np.concatenate(columns))
    table = scipy.sparse.csr_matrix(entries, products.shape)
    return table, scipy.sparse.csgraph.connected_components(table, directed=False)[1]


def exchange(products, chosen):
    """Exchange chosen rows for others of their block until all coefficients are small.

    Args: products: of rows of length one, sparse (rows, rows); chosen: mask (rows,), changed.
    """
    table, label = dependences(products, chosen)
    large = scipy.sparse.coo_matrix(abs(table) > LARGEST_COEFFICIENT)
    for block in np.unique(label[large.row]):
        inside, outside = np.flatnonzero((label == block) & chosen), np.flatnonzero((label == block) & ~chosen)
        exchange_in_block(table[inside][:, outside].toarray(), inside, outside, chosen)


def within(products, block):
    """Products of rows of the same block, sparse (rows, rows). Args: products; block: number of each row's (rows,).

    At other positions a row must depend on its own block. All rows together may imply it there by chance: those of a
    linkage that is driven leave nothing free to move.
    """
    products = scipy.sparse.coo_matrix(products)
    same = block[products.row] == block[products.col]
    return scipy.sparse.csc_matrix((products.data[same], (products.row[same], products.col[same])), products.shape)


def exchange_in_block(coefficients, inside, outside, chosen):
    """Exchange rows of one block: that with the largest coefficient takes the place of the chosen one.

    The coefficients follow by elimination.

    Args: coefficients (inside, outside); inside, outside: chosen and other rows; chosen: mask (rows,), changed.
    """
    inside, outside = inside.copy(), outside.copy()
    for _ in range(MOST_EXCHANGES):
        sizes = np.abs(coefficients)
        largest = sizes.max()
        if largest <= LARGEST_COEFFICIENT:
            break
        # The first of equal ones, so that round-off does not decide.
        place, column = np.unravel_index(np.argmax(sizes > largest - NEGLIGIBLE), sizes.shape)
        pivot = coefficients[place, column]
        chosen[outside[column]], chosen[inside[place]] = True, False
        inside[place], outside[column] = outside[column], inside[place]
        row, others = coefficients[place] / pivot, coefficients[:, column].copy()
        row[column] = 1.0 / pivot
        others[place] = 0.0
        coefficients[:, column] = 0.0
        coefficients[place] = 0.0
        coefficients -= np.outer(others, row)
        coefficients[place] = row


def combinations(products, chosen):
    """Other rows as combinations of the chosen ones, in batches.

    Args: products, chosen: see `exchange`.

    Yields: a batch of other rows; coefficients (chosen, batch); squares of what is left of each row (batch,).
    """
    basis, others = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    of_basis = products[:, basis]
    solver = scipy.sparse.linalg.splu(scipy.sparse.csc_matrix(of_basis[basis]))
    for begin in range(0, len(others), BATCH):
        part = others[begin : begin + BATCH]
        right = of_basis[part].toarray().T
        coefficients = solver.solve(right)
        yield part, coefficients, products.diagonal()[part] - (right * coefficients).sum(axis=0)
