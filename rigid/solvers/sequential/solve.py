"""The solution of a group of rows. Each group is solved for the impulses that fulfil its equation:

    Δλ = -(J V + b + γ λ) / (J M⁻¹ Jᵀ + γ),   the accumulated λ clamped to its bounds,   V += M⁻¹ Jᵀ Δλ

A group is solved in stage 0 for V, or in stage 1 for the pseudo-velocities V' that correct positions. These have their
own b and λ, in the next columns, and no softness, friction or motors. All functions return the largest |Δλ|.

Sources: Catto, Iterative Dynamics with Temporal Coherence (2005), equation 20; [1], [3] of docs/solvers.md for V'.
"""

import taichi as ti

from pbd.core.kernels import load_vector
from rigid.constraints.rows import GROUP, Form, Group, bodies_of
from rigid.solvers.sequential.data import ROW


@ti.func
def solve_group(s: ti.template(), group, stage: ti.template(), world):
    """Solve a group, if it is to be solved in a stage."""
    change = 0.0
    if is_solved(s, group, s.rows.kinds[world, group], stage, world):
        change = solve_listed(s, group, stage, world)
    return change


@ti.func
def is_solved(s: ti.template(), group, kind, stage: ti.template(), world):
    """Whether a group is to be solved in a stage."""
    result = kind != Group.IDLE
    if ti.static(stage == 1):
        result = needs_correction(s, group, kind, world)
    return result


@ti.func
def solve_listed(s: ti.template(), group, stage: ti.template(), world):
    """Solve a group that is to be solved."""
    form, change = s.rows.groups[world, group, GROUP.form], 0.0
    if form == Form.PAIR:
        change = solve_gear(s, group, stage, world)
    elif form == Form.SLIP:
        if ti.static(stage == 0):
            change = solve_friction(s, group, world)
    elif s.rows.kinds[world, group] == Group.EQUALITY:
        change = solve_equality(s, group, stage, world)
    else:
        change = solve_bounded(s, group, stage, world)
    return change


@ti.func
def needs_correction(s: ti.template(), group, kind, world):
    """Whether position errors of a group are corrected: limits, gears, and equalities whose first rows (against
    translation) or last rows (against rotation) are hard."""
    result = False
    if kind == Group.EQUALITY or kind == Group.LIMIT or kind == Group.GEAR:
        first = s.rows.groups[world, group, GROUP.first]
        last = first + s.rows.groups[world, group, GROUP.count] - 1
        softness = ti.min(s.rows.numbers[world, first, ROW.softness], s.rows.numbers[world, last, ROW.softness])
        result = softness == 0.0
    return result


@ti.func
def residual(s: ti.template(), row, velocity, stage: ti.template(), world):
    """J V + b + γ λ of a row. Args: velocity: J V."""
    n = ti.static(s.rows.numbers)
    result = velocity + n[world, row, ROW.bias + stage]
    if ti.static(stage == 0):
        result += n[world, row, ROW.softness] * n[world, row, ROW.impulse]
    return result


@ti.func
def solve_equality(s: ti.template(), group, stage: ti.template(), world):
    """Solve all rows of an equality together, by the inverse of their matrix, or one by one."""
    n = ti.static(s.rows.numbers)
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
    velocities = s.formulation.load_velocities(s, i, j, stage, world)
    largest = 0.0
    if ti.static(s.features.block):
        for row in range(first, first + count):
            velocity = s.formulation.row_velocity(s, row, i, j, velocities, stage, world)
            n[world, row, ROW.residual] = residual(s, row, velocity, stage, world)
    for row in range(first, first + count):
        change = 0.0
        if ti.static(s.features.block):
            for k in range(count):
                change -= n[world, row, ROW.inverse + k] * n[world, first + k, ROW.residual]
        else:
            velocity = s.formulation.row_velocity(s, row, i, j, velocities, stage, world)
            change = -n[world, row, ROW.inverse] * residual(s, row, velocity, stage, world)
        n[world, row, ROW.impulse + stage] = n[world, row, ROW.impulse + stage] + change
        velocities = s.formulation.apply_impulse(s, row, i, j, change, velocities, stage, world)
        largest = ti.max(largest, ti.abs(change))
    s.formulation.store_velocities(s, i, j, velocities, stage, world)
    return largest


@ti.func
def solve_bounded(s: ti.template(), group, stage: ti.template(), world):
    """Solve one row with bounds."""
    n = ti.static(s.rows.numbers)
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    row = s.rows.groups[world, group, GROUP.first]
    velocities = s.formulation.load_velocities(s, i, j, stage, world)
    before = n[world, row, ROW.impulse + stage]
    velocity = s.formulation.row_velocity(s, row, i, j, velocities, stage, world)
    new = before - n[world, row, ROW.inverse] * residual(s, row, velocity, stage, world)
    new = ti.min(ti.max(new, s.step.h * n[world, row, ROW.low]), s.step.h * n[world, row, ROW.high])
    change = new - before
    if change != 0.0:
        n[world, row, ROW.impulse + stage] = new
        velocities = s.formulation.apply_impulse(s, row, i, j, change, velocities, stage, world)
        s.formulation.store_velocities(s, i, j, velocities, stage, world)
    return ti.abs(change)


@ti.func
def solve_friction(s: ti.template(), group, world):
    """Solve the rows of friction, whose impulse is bounded as a vector.

    The impulse that stops the slip is taken if it is within the bound, for all rows together. Otherwise the impulse
    takes a step against the slip and is projected onto the bound: λ = P(λ - u/r). This comes to rest only if λ is
    exactly opposite to u: the cone, for any direction of slip. r is an upper bound of the matrix J M⁻¹ Jᵀ, so that the
    steps contract (de Saxcé and Feng, The bipotential method, 1998, for one contact point).
    """
    n = ti.static(s.rows.numbers)
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
    normal = s.rows.groups[world, group, GROUP.normal]
    bound = s.step.h * n[world, first, ROW.high]
    if normal >= 0:
        bound = n[world, first, ROW.high] * n[world, normal, ROW.impulse]
    velocities = s.formulation.load_velocities(s, i, j, 0, world)
    for row in range(first, first + count):
        velocity = s.formulation.row_velocity(s, row, i, j, velocities, 0, world)
        n[world, row, ROW.residual] = velocity + n[world, row, ROW.bias]
    slip, before = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(3)):
        if k < count:
            slip[k], before[k] = n[world, first + k, ROW.residual], n[world, first + k, ROW.impulse]
    new = before
    for k in ti.static(range(3)):
        if k < count:
            new[k] -= load_vector(n, first + k, ROW.inverse, world).dot(slip)
    if new.norm_sqr() > bound * bound:
        new = before - n[world, first, ROW.inverse + 3] * slip
        size = new.norm()
        if size > bound:
            new *= bound / size
    change = new - before
    largest = change.norm()
    if largest > 0.0:
        for k in ti.static(range(3)):
            if k < count:
                n[world, first + k, ROW.impulse], n[world, first + k, ROW.residual] = new[k], change[k]
        for row in range(first, first + count):
            impulse = n[world, row, ROW.residual]
            velocities = s.formulation.apply_impulse(s, row, i, j, impulse, velocities, 0, world)
        s.formulation.store_velocities(s, i, j, velocities, 0, world)
    return largest


@ti.func
def solve_gear(s: ti.template(), group, stage: ti.template(), world):
    """Solve two rows with one impulse. Each has its own bodies, of which they may share some."""
    n = ti.static(s.rows.numbers)
    change = 0.0
    if ti.static(s.features.gears):
        first, velocity = s.rows.groups[world, group, GROUP.first], 0.0
        for k in range(2):
            i, j = bodies_of(s.rows, group, k, world)
            velocities = s.formulation.load_velocities(s, i, j, stage, world)
            velocity += s.formulation.row_velocity(s, first + k, i, j, velocities, stage, world)
        change = -n[world, first, ROW.inverse] * residual(s, first, velocity, stage, world)
        n[world, first, ROW.impulse + stage] = n[world, first, ROW.impulse + stage] + change
        for k in range(2):
            i, j = bodies_of(s.rows, group, k, world)
            add_impulse(s, first + k, i, j, change, stage, world)
    return ti.abs(change)


@ti.func
def add_impulse(s: ti.template(), row, i, j, impulse, stage: ti.template(), world):
    """Apply an impulse along a row to its bodies."""
    velocities = s.formulation.load_velocities(s, i, j, stage, world)
    velocities = s.formulation.apply_impulse(s, row, i, j, impulse, velocities, stage, world)
    s.formulation.store_velocities(s, i, j, velocities, stage, world)
