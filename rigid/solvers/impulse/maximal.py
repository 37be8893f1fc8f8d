"""What an impulse along a row does to bodies in maximal coordinates, each on its own: `s.space` of rigid/solvers/sequential.

The velocities of two bodies are held as twelve numbers: v_i, ω_i, v_j, ω_j. The ground's never change.
"""

import taichi as ti

from rigid.constraints.rows import BODY_I, BODY_K, DIRECTION, LOCK, TURN_I, TURN_J
from rigid.kernels.columns import put_triple, triple
from rigid.kernels.motion import ANGULAR, INVERSE_MASS, PSEUDO, answer
from rigid.solvers.sequential.data import BEYOND

# Columns of a row, behind those of rigid/solvers/sequential: M⁻¹Jᵀ of both bodies' angular parts.
PUSH_I, PUSH_J = BEYOND, BEYOND + 3
COLUMNS = PUSH_J + 3

# Bodies that turn by more than so much in a step have other matrices J M⁻¹ Jᵀ where it ends [rad].
TURNED = 0.1


@ti.func
def hold(s: ti.template(), i, j, stage, world):
    """Velocities of two bodies, linear and angular (12,)."""
    v = ti.static(s.motion.velocities)
    at = PSEUDO * stage
    return together(
        triple(v, i, at, world), triple(v, i, at + 3, world), triple(v, j, at, world), triple(v, j, at + 3, world)
    )


@ti.func
def together(v_i, spin_i, v_j, spin_j):
    """Four vectors as one (12,)."""
    return ti.Vector([v_i[0], v_i[1], v_i[2], spin_i[0], spin_i[1], spin_i[2],
                      v_j[0], v_j[1], v_j[2], spin_j[0], spin_j[1], spin_j[2]])  # fmt: skip


@ti.func
def part(held, k: ti.template()):
    """One of the four vectors that are held."""
    return ti.Vector([held[3 * k], held[3 * k + 1], held[3 * k + 2]])


@ti.func
def rate(s: ti.template(), row, i, j, held, stage, world):
    """J V of a row."""
    n = ti.static(s.rows.numbers)
    linear = triple(n, row, DIRECTION, world).dot(part(held, 0) - part(held, 2))
    return linear + triple(n, row, TURN_I, world).dot(part(held, 1)) + triple(n, row, TURN_J, world).dot(part(held, 3))


@ti.func
def push(s: ti.template(), row, i, j, change, held, stage, world):
    """Velocities as an impulse along a row leaves them."""
    n = ti.static(s.rows.numbers)
    d = change * triple(n, row, DIRECTION, world)
    v_i = part(held, 0) + s.motion.masses[world, i, INVERSE_MASS] * d
    v_j = part(held, 2) - s.motion.masses[world, j, INVERSE_MASS] * d
    spin_i = part(held, 1) + change * triple(n, row, PUSH_I, world)
    spin_j = part(held, 3) + change * triple(n, row, PUSH_J, world)
    return together(v_i, spin_i, v_j, spin_j)


@ti.func
def release(s: ti.template(), i, j, held, stage, world):
    """Write the velocities of two bodies."""
    at = PSEUDO * stage
    for k in ti.static(range(2)):
        put_triple(s.motion.velocities, i, at + 3 * k, part(held, k), world)
        put_triple(s.motion.velocities, j, at + 3 * k, part(held, 2 + k), world)


@ti.func
def renew(s: ti.template(), row, i, j, world):
    """M⁻¹Jᵀ of a row that has been written: the angular velocities that an impulse of one gives its bodies."""
    n = ti.static(s.rows.numbers)
    put_triple(n, row, PUSH_I, answer(s.motion, i, triple(n, row, TURN_I, world), world), world)
    put_triple(n, row, PUSH_J, answer(s.motion, j, triple(n, row, TURN_J, world), world), world)


@ti.func
def follow(s: ti.template(), row, i, j, world):
    """The same where bodies have moved on: rows are as they lie then."""
    renew(s, row, i, j, world)


@ti.func
def matrix(s: ti.template(), row, other, i, j, world):
    """An entry of J M⁻¹ Jᵀ: what an impulse of one along the other row does to this one's J V."""
    n = ti.static(s.rows.numbers)
    w = s.motion.masses[world, i, INVERSE_MASS] + s.motion.masses[world, j, INVERSE_MASS]
    linear = w * triple(n, row, DIRECTION, world).dot(triple(n, other, DIRECTION, world))
    turning = triple(n, row, TURN_I, world).dot(triple(n, other, PUSH_I, world))
    return linear + turning + triple(n, row, TURN_J, world).dot(triple(n, other, PUSH_J, world))


@ti.func
def gear_matrix(s: ti.template(), group, first, world):
    """J M⁻¹ Jᵀ of a gear: over its four ends, those on one body taken together."""
    n = ti.static(s.rows.numbers)
    total = 0.0
    for a in range(4):
        for b in range(4):
            body = s.rows.groups[world, group, end_of_gear(a)]
            if body == s.rows.groups[world, group, end_of_gear(b)]:
                row, other, side, given = first + a // 2, first + b // 2, 3 * (a % 2), 3 * (b % 2)
                w = s.motion.masses[world, body, INVERSE_MASS]
                if side != given:  # d acts on body i, -d on body j
                    w = -w
                total += w * triple(n, row, DIRECTION, world).dot(triple(n, other, DIRECTION, world))
                total += triple(n, row, TURN_I + side, world).dot(triple(n, other, PUSH_I + given, world))
    return total


@ti.func
def end_of_gear(a):
    """The column of a gear's group that has the body at its end a: i and j of the first row, then of the second."""
    result = BODY_I + a
    if a >= 2:
        result = BODY_K + a - 2
    return result


@ti.func
def afresh(s: ti.template(), kind, i, j, world):
    """Whether a group wants another matrix where positions are mended.

    Joints whose bodies have hardly turned go on with those of the step's start: these steer the sweeps, but do not
    decide where they end. Of bodies that have turned far they would make the sweeps diverge, and of a limit that was
    far off at the start there is none.
    """
    result = 1
    if kind == LOCK:
        v = ti.static(s.motion.velocities)
        turned = triple(v, i, ANGULAR, world).norm() + triple(v, j, ANGULAR, world).norm()
        if s.h * turned <= TURNED:
            result = 0
    return result
