"""Effects of impulses along rows on velocities in maximal coordinates: `s.formulation` of rigid/solvers/sequential.

The velocities of two bodies are twelve numbers: v_i, ω_i, v_j, ω_j. The ground's never change.
"""

import taichi as ti

from pbd.core.kernels import load_vector, store_vector, three_of
from rigid.constraints.rows import GROUP, Group
from rigid.kernels.motion import ANGULAR, MASS, PSEUDO, VELOCITY, multiply_inverse_inertia
from rigid.solvers.impulse.data import ROW

# If bodies rotate by more than this in a step, position correction needs their J M⁻¹ Jᵀ at the step's end [rad].
LARGE_ROTATION = 0.1


@ti.func
def load_velocities(s: ti.template(), i, j, stage: ti.template(), world):
    """Linear and angular velocities of two bodies (12,)."""
    v, column = ti.static(s.bodies.velocity, PSEUDO * stage)
    return joined(
        load_vector(v, i, column, world), load_vector(v, i, column + ANGULAR, world),
        load_vector(v, j, column, world), load_vector(v, j, column + ANGULAR, world),
    )  # fmt: skip


@ti.func
def store_velocities(s: ti.template(), i, j, velocities, stage: ti.template(), world):
    """Write the velocities of two bodies."""
    column = ti.static(PSEUDO * stage)
    for k in ti.static(range(2)):
        store_vector(s.bodies.velocity, i, column + ANGULAR * k, three_of(velocities, 3 * k), world)
        store_vector(s.bodies.velocity, j, column + ANGULAR * k, three_of(velocities, 6 + 3 * k), world)


@ti.func
def joined(v_i, w_i, v_j, w_j):
    """Four vectors as one (12,)."""
    return ti.Vector([v_i[0], v_i[1], v_i[2], w_i[0], w_i[1], w_i[2],
                      v_j[0], v_j[1], v_j[2], w_j[0], w_j[1], w_j[2]])  # fmt: skip


@ti.func
def row_velocity(s: ti.template(), row, i, j, velocities, stage: ti.template(), world):
    """J V of a row."""
    n = ti.static(s.rows.numbers)
    linear = load_vector(n, row, ROW.linear, world)
    angular_i, angular_j = load_vector(n, row, ROW.angular_i, world), load_vector(n, row, ROW.angular_j, world)
    return velocity_along(linear, angular_i, angular_j, velocities)


@ti.func
def velocity_along(linear, angular_i, angular_j, velocities):
    """J V. Args: linear, angular_i, angular_j: d, a_i and a_j of a row."""
    along = linear.dot(three_of(velocities, 0) - three_of(velocities, 6))
    return along + angular_i.dot(three_of(velocities, 3)) + angular_j.dot(three_of(velocities, 9))


@ti.func
def apply_impulse(s: ti.template(), row, i, j, impulse, velocities, stage: ti.template(), world):
    """V + M⁻¹ Jᵀ λ: the velocities after an impulse along a row."""
    n = ti.static(s.rows.numbers)
    linear = load_vector(n, row, ROW.linear, world)
    response_i, response_j = load_vector(n, row, ROW.response_i, world), load_vector(n, row, ROW.response_j, world)
    return change_velocities(s.bodies, i, j, linear, response_i, response_j, impulse, velocities, world)


@ti.func
def change_velocities(bodies: ti.template(), i, j, linear, response_i, response_j, impulse, velocities, world):
    """V + M⁻¹ Jᵀ λ. Args: linear: d of a row; response_i, response_j: the angular part of its M⁻¹Jᵀ."""
    p = impulse * linear
    v_i = three_of(velocities, 0) + bodies.mass[world, i, MASS.inverse_mass] * p
    v_j = three_of(velocities, 6) - bodies.mass[world, j, MASS.inverse_mass] * p
    return joined(
        v_i, three_of(velocities, 3) + impulse * response_i, v_j, three_of(velocities, 9) + impulse * response_j
    )


@ti.func
def compute_response(s: ti.template(), row, i, j, world):
    """The angular part of M⁻¹Jᵀ: the angular velocities that an impulse of one along the row gives its bodies."""
    n = ti.static(s.rows.numbers)
    response_i = multiply_inverse_inertia(s.bodies, i, load_vector(n, row, ROW.angular_i, world), world)
    store_vector(n, row, ROW.response_i, response_i, world)
    response_j = multiply_inverse_inertia(s.bodies, j, load_vector(n, row, ROW.angular_j, world), world)
    store_vector(n, row, ROW.response_j, response_j, world)


@ti.func
def update_response(s: ti.template(), row, i, j, world):
    """The same for position correction, after rows were written at the new poses."""
    compute_response(s, row, i, j, world)


@ti.func
def matrix_entry(s: ti.template(), row, other, i, j, world):
    """An entry of J M⁻¹ Jᵀ: the J V of one row that an impulse of one along the other causes."""
    n = ti.static(s.rows.numbers)
    w = s.bodies.mass[world, i, MASS.inverse_mass] + s.bodies.mass[world, j, MASS.inverse_mass]
    linear = w * load_vector(n, row, ROW.linear, world).dot(load_vector(n, other, ROW.linear, world))
    angular_i = load_vector(n, row, ROW.angular_i, world).dot(load_vector(n, other, ROW.response_i, world))
    angular_j = load_vector(n, row, ROW.angular_j, world).dot(load_vector(n, other, ROW.response_j, world))
    return linear + angular_i + angular_j


@ti.func
def gear_matrix_entry(s: ti.template(), group, first, world):
    """J M⁻¹ Jᵀ of a gear: the sum over its four ends, two by two if they are on one body."""
    n = ti.static(s.rows.numbers)
    total = 0.0
    for a in range(4):
        for b in range(4):
            body = s.rows.groups[world, group, gear_column(a)]
            if body == s.rows.groups[world, group, gear_column(b)]:
                row, other, side, other_side = first + a // 2, first + b // 2, 3 * (a % 2), 3 * (b % 2)
                w = s.bodies.mass[world, body, MASS.inverse_mass]
                if side != other_side:  # d acts on body i, -d on body j
                    w = -w
                total += w * load_vector(n, row, ROW.linear, world).dot(load_vector(n, other, ROW.linear, world))
                turn = load_vector(n, row, ROW.angular_i + side, world)
                total += turn.dot(load_vector(n, other, ROW.response_i + other_side, world))
    return total


@ti.func
def gear_column(end):
    """The column of GROUP that has the body at an end of a gear: i and j of the first row, then of the second."""
    result = GROUP.body_i + end
    if end >= 2:
        result = GROUP.body_k + end - 2
    return result


@ti.func
def needs_new_matrix(s: ti.template(), kind, i, j, world):
    """Whether position correction needs a new J M⁻¹ Jᵀ of a group.

    Joints whose bodies hardly rotate keep that of the step's start. It affects the rate of convergence, but not
    the result. After a large rotation it would make iterations diverge; and a limit that was far away has none yet.
    """
    result = True
    if kind == Group.EQUALITY:
        v = ti.static(s.bodies.velocity)
        rotation = load_vector(v, i, VELOCITY.angular, world).norm() + load_vector(v, j, VELOCITY.angular, world).norm()
        result = s.step.h * rotation > LARGE_ROTATION
    return result
