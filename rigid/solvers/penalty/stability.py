"""The longest stable step, for all rows of joints together, because they share bodies.

Semi-implicit Euler takes a mode u of M ẍ + C ẋ + K x = 0 from step to step by a root of

    z² - (2 - h² k - h c) z + 1 - h c = 0,   k = u·K u / u·M u,   c = u·C u / u·M u

Both roots are within the unit circle if and only if h² k + 2 h c < 4. For one row that is h² α* + 2 h β* < 4. For all
of them, K = Jᵀ α J and C = Jᵀ β J, and the largest eigenvalue of W J M⁻¹ Jᵀ W must be below 4. The matrix
W² = h² α + 2 h β has a block for each joint. At 4 a root is -1, whether or not K and C share modes.

The matrix is that of the model at the start. Limits, friction and motors count as if all of them acted, but motors
with a constant torque do not. Servos are no springs and dampers, so they have a second bound: servos.py.
"""

from typing import NamedTuple

import numpy as np

from rigid.constraints.rows import GROUP, Group
from rigid.kernels.motion import MASS
from rigid.solvers.penalty.data import ROW
from rigid.solvers.penalty.servos import MOST_GROWTH, damp, growth

BOUND = 4.0


class Island(NamedTuple):
    """Rows whose bodies are connected."""

    rows: np.ndarray  # their indices (n,)
    matrix: np.ndarray  # J M⁻¹ Jᵀ (n, n)
    alpha: np.ndarray  # α and β (n, n)
    beta: np.ndarray
    own_alpha: np.ndarray  # α* [1/s²] and β* [1/s] of each row, before scaling (n,)
    own_beta: np.ndarray
    groups: np.ndarray  # the group of each row (n,)
    hard: np.ndarray  # masks: equalities, gears and motors without compliance (n,)
    gears: np.ndarray  # gears (n,)
    drives: np.ndarray  # motors and springs of joints (n,)
    servo_gains: np.ndarray  # position gains of servos, 0 for other rows (n,) [1/s]

    def load(self, h):
        """The largest eigenvalue of W J M⁻¹ Jᵀ W, and the row with the largest part in its mode."""
        values, modes = np.linalg.eigh(h * h * self.alpha + 2 * h * self.beta)
        root = modes * np.sqrt(np.maximum(values, 0.0)) @ modes.T
        values, modes = np.linalg.eigh(root @ self.matrix @ root)
        return values[-1], self.rows[np.abs(modes[:, -1]).argmax()]


def find_islands(rows, kinds, groups, mass, inverse_inertia, servo_gains, slipping):
    """Find the islands of one world.

    Args: rows, kinds, groups: of Rows; mass, inverse_inertia: of Bodies; servo_gains: {row: gain}; slipping: rows of
    friction in joints.
    """
    bodies = len(mass) - 1
    heads, jacobians, ends, gains, roles = [], [], [], [], []
    for index, (kind, group) in enumerate(zip(kinds, groups)):
        if kind == Group.IDLE:
            continue
        first, gear = group[GROUP.first], kind == Group.GEAR
        count = 1 if gear else group[GROUP.count]
        own = rows[first : first + count]
        if kind == Group.DRIVE and own[0, ROW.low] == own[0, ROW.high]:
            continue  # a constant effort
        gains.append((own[:, ROW["alpha"]][:, :count], own[:, ROW["beta"]][:, :count]))
        for row in range(first, first + count):
            jacobian = np.zeros((bodies + 1, 6))
            add_row(jacobian, rows[row], group[GROUP.body_i], group[GROUP.body_j])
            if gear:
                add_row(jacobian, rows[row + 1], group[GROUP.body_k], group[GROUP.body_l])
            drive = kind == Group.DRIVE and row not in slipping
            hard = (kind == Group.EQUALITY or gear or drive) and rows[row, ROW.stiffness] == np.inf
            roles.append((hard, gear, drive, servo_gains.get(row, 0.0), index))
            heads.append(row)
            jacobians.append(jacobian[:bodies])
            ends.append(np.flatnonzero(jacobian[:bodies].any(axis=1)))
    island = islands_of_bodies(ends, bodies)
    labels = np.array([island[moved[0]] if len(moved) else bodies for moved in ends], int)
    heads, found = np.array(heads, int), []
    hard, geared, driven, gains_of_servos, group_of = np.reshape(roles, (-1, 5)).T
    alpha, beta = (block_diagonal([pair[k] for pair in gains]) for k in (0, 1))
    inertias = inverse_inertia.reshape(-1, 3, 3)
    for label in dict.fromkeys(labels[labels < bodies]):
        own, moved = labels == label, np.flatnonzero(island == label)
        jacobian = np.array([jacobians[k][moved] for k in np.flatnonzero(own)])
        response = jacobian.copy()
        response[..., :3] *= mass[moved, MASS.inverse_mass, None]
        response[..., 3:] = np.einsum("bik,rbk->rbi", inertias[moved], jacobian[..., 3:])
        count = len(jacobian)
        matrix = jacobian.reshape(count, -1) @ response.reshape(count, -1).T + np.diag(rows[heads[own], ROW.rotor])
        found.append(Island(
            rows=heads[own], matrix=matrix, alpha=alpha[np.ix_(own, own)], beta=beta[np.ix_(own, own)],
            own_alpha=rows[heads[own], ROW.own_stiffness], own_beta=rows[heads[own], ROW.own_damping],
            groups=group_of[own], hard=hard[own] > 0, gears=geared[own] > 0, drives=driven[own] > 0,
            servo_gains=gains_of_servos[own],
        ))  # fmt: skip
    return found


def islands_of_bodies(ends, bodies):
    """The least body of each body's island (bodies,). Args: ends: list of the bodies of each row; bodies: how many."""
    island = np.arange(bodies)
    for moved in filter(len, ends):
        island[np.isin(island, island[moved])] = island[moved].min()
    return island


def block_diagonal(blocks):
    """A matrix of square blocks along the diagonal. Args: list of matrices. (scipy has it, but is slow to import.)"""
    ends = np.cumsum([len(block) for block in blocks], dtype=int)
    matrix = np.zeros((sum(map(len, blocks)),) * 2)
    for block, end in zip(blocks, ends):
        matrix[end - len(block) : end, end - len(block) : end] = block
    return matrix


def add_row(jacobian, row, i, j):
    """Add a row's J to that of all bodies (bodies + 1, 6). Args: jacobian; row; i, j: bodies."""
    jacobian[i] += [*row[ROW["linear"]], *row[ROW["angular_i"]]]
    jacobian[j] += [*-row[ROW["linear"]], *row[ROW["angular_j"]]]


def largest_load(islands, h):
    """The largest load of several islands, and its row; 0 and None if there is no island."""
    loads = [island.load(h) for island in islands]
    return max(loads, key=lambda pair: pair[0], default=(0.0, None))


def largest_growth(islands, h):
    """The largest growth of several islands [1/s], and its servo; 0 and None if there is none."""
    return max((growth(island, h) for island in islands), key=lambda pair: pair[0], default=(0.0, None))


def damped(islands, h):
    """Islands with the damping that servos need, and the least β* of their rows, {row: β*}. Args: islands; h: [s]."""
    found = [damp(island, h, BOUND) for island in islands]
    return [island for island, _ in found], dict(pair for _, least in found for pair in least.items())


def longest_step(islands, h):
    """The longest step at which all islands are stable [s], to four digits; 0 if there is none above 1e-3 h.

    Args: islands: without the damping that servos need; h: a step that is too long.
    """
    shortest, longest = 0.0, h
    while longest - shortest > 1e-4 * longest and longest > 1e-3 * h:
        middle = 0.5 * (shortest + longest)
        found, _ = damped(islands, middle)
        stable = largest_load(found, middle)[0] < BOUND and largest_growth(found, middle)[0] < MOST_GROWTH
        shortest, longest = (middle, longest) if stable else (shortest, middle)
    return shortest
