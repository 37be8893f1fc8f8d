"""Servos, motors with a target position: their stability, and the damping that it needs.

A servo's spring holds the coordinate q to a point that moves to the target p by the error of q, so its stretch x
contains the integral of this error:

    M q̈ = -α x - β ẋ,   ẋ = q̇ - g (p - q)      stable if and only if β (α + β g) > M α g (Routh and Hurwitz)

Unlike springs and dampers it can drive what it moves without end. M is the inertia of all that moves with q: what is
behind gears and joints, too. The gains are those of its own bodies, with the inertia 1/A_rr (forces.py). With
A = J M⁻¹ Jᵀ of all hard rows of an island, row r moves M = (A⁻¹)_rr if all others hold. A gear or joint is as soft as
the servo, and what is behind it swings on it. So if the motion of an island with servos does not fade, it gets damping
for which β (α + β g) is one of MARGINS times M α g: its servos, these and its gears, or all its hard rows, whatever
lets the motion fade fastest.

Motion fades if all eigenvalues of the substep, a linear map of velocities, positions and stretches, are within the unit
circle. All of that is of the model at the start.
"""

import numpy as np

from rigid.constraints.joints.data import DRIVE, MOTOR, DriveKind

# An island is unstable if a motion grows by more than this rate [1/s].
MOST_GROWTH = 1e-3

# Motion fades if it does so at this part of the least position gain.
FADES = 0.1

# β (α + β g), in parts of the least that is stable, M α g.
MARGINS = 2.0, 1.4

# Eigenvalues of A below this part of the largest one are those of rows that repeat others.
REDUNDANT = 1e-9


def servo_gains(drives, numbers):
    """Gains of servos, {row: position gain [1/s]}. Args: drives (drives, DRIVE); numbers (drives, MOTOR)."""
    acting = (drives[:, DRIVE.kind] == DriveKind.SERVO) & (numbers[:, MOTOR.effort] > 0)
    return dict(zip(drives[acting, DRIVE.row].tolist(), numbers[acting, MOTOR.gain].tolist()))


def damp(island, h, bound):
    """Give an island with servos the damping that it needs.

    Args: island: an Island; h: length of a substep [s]; bound: on the load.

    Returns: an Island, and the least β* of its rows, {row: β*} [1/s]; the same one and {} if its motion fades.
    """
    gains = island.servo_gains[island.servo_gains > 0]
    if not len(gains) or growth(island, h)[0] < -FADES * gains.min():
        return island, {}
    tried = [(island, {})]
    for margin in MARGINS:
        needed = needed_damping(island, margin)
        for rows in (island.servo_gains > 0, (island.servo_gains > 0) | island.gears, island.hard):
            own = np.where(rows, np.maximum(island.own_beta, needed), island.own_beta)
            scale = np.sqrt(own / np.where(island.own_beta > 0, island.own_beta, 1.0))
            found = island._replace(beta=island.beta * np.outer(scale, scale), own_beta=own)
            tried.append((found, dict(zip(island.rows[rows], needed[rows]))))
    return min(tried, key=lambda pair: (pair[0].load(h)[0] >= bound, growth(pair[0], h)[0]))


def needed_damping(island, margin):
    """The β* of all rows for which β (α + β g) = margin M α g (rows,) [1/s].

    The rows of a joint have the largest ratio of inertias of any of them, as they rotate with its bodies.
    """
    matrix = island.matrix[np.ix_(island.hard, island.hard)]
    ratios = np.ones(len(island.rows))  # M A_rr
    ratios[island.hard] = np.diag(matrix) * np.diag(np.linalg.pinv(matrix, REDUNDANT, hermitian=True))
    for group in set(island.groups):
        ratios[island.groups == group] = ratios[island.groups == group].max()
    alpha, g = island.own_alpha, island.servo_gains.max()
    return (np.sqrt(alpha**2 + 4 * margin * ratios * alpha * g**2) - alpha) / (2 * g)


def growth(island, h):
    """The rate of the motion of an island that grows most, 0 for none [1/s], and the servo with the largest part in it.

    Limits and friction are left out, because they do not act all the time.

    Args: island: an Island; h: length of a substep [s].
    """
    hard = np.flatnonzero(island.hard)
    gains = island.servo_gains[hard]
    servos, drives = np.flatnonzero(gains), np.flatnonzero(island.drives[hard])
    if not len(servos):
        return 0.0, None
    # The rows' w = B y and dw/dt = B dy/dt, without directions in which rows repeat others. Columns are those of the
    # state before: dy/dt, y and the stretches x of servos.
    values, modes = np.linalg.eigh(island.matrix[np.ix_(hard, hard)])
    B = (modes * np.sqrt(np.maximum(values, 0.0)))[:, values > REDUNDANT * values[-1]]
    n, size = B.shape[1], 2 * B.shape[1] + len(servos)
    velocity, stretch, before = np.zeros((len(hard), size)), np.zeros((len(hard), size)), np.eye(size)
    velocity[:, :n] = stretch[:, n : 2 * n] = B
    velocity += (gains / (1 + h * gains))[:, None] * stretch
    stretch[servos] = before[2 * n :]
    stretch[drives] += h * velocity[drives]
    alpha, beta = (of[np.ix_(hard, hard)] for of in (island.alpha, island.beta))
    speed = before[:n] - h * B.T @ (alpha @ stretch + beta @ velocity)
    factors, motions = np.linalg.eig(np.vstack([speed, before[n : 2 * n] + h * speed, stretch[servos]]))
    fastest = np.abs(factors).argmax()
    part = np.abs(motions[2 * n :, fastest]).argmax()
    return np.log(np.abs(factors[fastest])) / h, island.rows[hard[servos[part]]]
