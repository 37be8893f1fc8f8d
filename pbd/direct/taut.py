"""Whether constraints are taut: gravity moves them along a flex that would stretch them to second order.

A straight chain between two walls cannot sag without stretching, so nothing bounds its tension, and the stiffer it is
held, the faster it vibrates. A linkage in a plane also has rows that depend on others, but it moves freely.

With a self-stress s (Jᵀ s = 0) and a flex v (J v = 0), a motion x + v t + a t²/2 keeps the constraints to second order
only if J a + C''[v, v] = 0, hence only if s·C''[v, v] = 0. For a stick of length L, C''[v, v] = |Δv|²/L across it.

Source: Connelly, Whiteley, Second-order rigidity and prestress stability for tensegrity frameworks (1996).
"""

import numpy as np
import scipy

# What is below this part of the largest is round-off, or an error of the description.
NEGLIGIBLE = 1e-3


def is_taut(rows, dependent, positions, mobile, gravity):
    """Whether the flex along which gravity moves some constraints stretches their sticks to second order.

    Other constraints than sticks count as straight: C'' = 0.

    Args: rows: a Rows; dependent: those that depend on the others, mask (rows,); positions (particles, 3) [m]; mobile:
    mask (particles,); gravity of each (particles, 3) [m/s²].
    """
    lengths = rows.steepness
    jacobian = scipy.sparse.csr_matrix(scipy.sparse.diags(1.0 / lengths) @ rows.jacobian(rows.gradients, mobile))
    basis, others = jacobian[~dependent], jacobian[dependent]
    solver = scipy.sparse.linalg.splu(scipy.sparse.csc_matrix(basis @ basis.T))
    fall = np.ravel(mobile[:, None] * gravity)
    flex = fall - basis.T @ solver.solve(basis @ fall)
    if np.linalg.norm(flex) <= NEGLIGIBLE * np.linalg.norm(fall):
        return False
    stresses = np.zeros((len(rows), dependent.sum()))
    stresses[dependent] = np.eye(dependent.sum())
    stresses[~dependent] = -solver.solve((basis @ others.T).toarray())
    sticks = np.flatnonzero(np.diff(rows.first) == 2)
    first = rows.particles[rows.first[sticks]]
    second = rows.particles[rows.first[sticks] + 1]
    along, change = positions[second] - positions[first], flex.reshape(-1, 3)[second] - flex.reshape(-1, 3)[first]
    size = np.linalg.norm(along, axis=1)
    across = np.square(change).sum(axis=1) - np.square((change * along).sum(axis=1) / size)
    terms = stresses[sticks] * (across / (size * lengths[sticks]))[:, None]
    return bool((np.abs(terms.sum(axis=0)) > NEGLIGIBLE * np.abs(terms).sum(axis=0).max()).any())
