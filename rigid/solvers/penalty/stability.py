"""The step up to which penalties are stable: of all rows of joints together, as they share bodies.

Semi-implicit Euler takes a mode u of M ẍ + C ẋ + K x = 0 from step to step by a root of

    z² - (2 - h² k - h c) z + 1 - h c = 0,   k = u·K u / u·M u,   c = u·C u / u·M u,

and both lie within the unit circle just where h² k + 2 h c < 4. For one row that is h² α* + 2 h β* < 4. For all of
them, K = Jᵀ α J and C = Jᵀ β J, and what has to be below 4 is the largest eigenvalue of W J M⁻¹ Jᵀ W, with the matrix
W² = h² α + 2 h β, which has a block for each joint: where it is 4, a root is -1, whether or not K and C share modes.

The matrix is that of the model as it starts. Limits, friction and motors count as if all of them acted.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from rigid.constraints.rows import BODY_I, BODY_K, COUNT, DIRECTION, FIRST, GEAR, IDLE, KIND, TURN_I, TURN_J
from rigid.kernels.motion import INVERSE_MASS
from rigid.solvers.penalty.data import ALPHA, STRETCH

BOUND = 4.0


class Island(NamedTuple):
    """Rows whose bodies hang together: their indices, J M⁻¹ Jᵀ of all of them, and their matrices α and β."""

    rows: np.ndarray
    matrix: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray

    def load(self, h):
        """The largest eigenvalue of W J M⁻¹ Jᵀ W, and the row that has the largest part in its mode."""
        values, modes = np.linalg.eigh(h * h * self.alpha + 2 * h * self.beta)
        root = modes * np.sqrt(np.maximum(values, 0.0)) @ modes.T
        values, modes = np.linalg.eigh(root @ self.matrix @ root)
        return values[-1], self.rows[np.abs(modes[:, -1]).argmax()]


def islands(rows, groups, motion):
    """The islands of one world. Arguments: Rows.numbers, Rows.groups and a Motion in numpy, all of that world."""
    bodies = len(motion.masses) - 1
    heads, jacobians, ends, blocks = [], [], [], []
    for group in groups[groups[:, KIND] != IDLE]:
        count = 1 if group[KIND] == GEAR else group[COUNT]
        blocks.append(rows[group[FIRST] : group[FIRST] + count, ALPHA:STRETCH].reshape(count, 2, -1)[..., :count])
        for k in range(count):
            row = group[FIRST] + k
            jacobian = np.zeros((bodies + 1, 6))
            add(jacobian, rows[row], group[BODY_I:])
            if group[KIND] == GEAR:
                add(jacobian, rows[row + 1], group[BODY_K:])
            heads.append(row)
            jacobians.append(jacobian[:bodies])
            ends.append(np.flatnonzero(jacobian[:bodies].any(axis=1)))
    # Rows and the bodies that they move, as a graph.
    pairs = np.array([(k, len(heads) + body) for k, found in enumerate(ends) for body in found]).reshape(-1, 2)
    size = len(heads) + bodies
    graph = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(size, size))
    labels = connected_components(graph, directed=False)[1]
    heads, found = np.array(heads, int), []
    gains = [block_diag(*(block[:, k] for block in blocks)) for k in (0, 1)]
    inertias = motion.answers.reshape(-1, 3, 3)
    for label in np.unique(labels[: len(heads)]):
        own, moved = labels[: len(heads)] == label, np.flatnonzero(labels[len(heads) :] == label)
        if not len(moved):
            continue
        jacobian = np.array([jacobians[k][moved] for k in np.flatnonzero(own)])
        answer = jacobian.copy()
        answer[..., :3] *= motion.masses[moved, INVERSE_MASS, None]
        answer[..., 3:] = np.einsum("bik,rbk->rbi", inertias[moved], jacobian[..., 3:])
        count = len(jacobian)
        matrix = jacobian.reshape(count, -1) @ answer.reshape(count, -1).T
        found.append(Island(heads[own], matrix, *(gain[np.ix_(own, own)] for gain in gains)))
    return found


def add(jacobian, row, bodies):
    """Add a row's J to that of all bodies. Arguments: bodies: i, j, and so on."""
    i, j = bodies[:2]
    jacobian[i] += [*row[DIRECTION:TURN_I], *row[TURN_I:TURN_J]]
    jacobian[j] += [*-row[DIRECTION:TURN_I], *row[TURN_J : TURN_J + 3]]


def worst(found, h):
    """The largest load of several islands, and its row; 0 and None where there is none."""
    loads = [island.load(h) for island in found]
    return max(loads, key=lambda pair: pair[0], default=(0.0, None))


def longest_step(found, h):
    """The step up to which all islands are stable [s], to four digits. Arguments: h: one that is too long."""
    shortest, longest = 0.0, h
    while longest - shortest > 1e-4 * longest:
        middle = 0.5 * (shortest + longest)
        shortest, longest = (middle, longest) if worst(found, middle)[0] < BOUND else (shortest, middle)
    return shortest
