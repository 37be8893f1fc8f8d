"""One group of rows solved: the impulses that make its velocities what they are to be, and are applied at once.

    Δλ = -(J V + b + γ λ) / (J M⁻¹ Jᵀ + γ),   λ clamped to its bounds as accumulated,   V += M⁻¹ Jᵀ Δλ

A group is solved in stage 0 for V, or in stage 1 for the pseudo-velocities V' that mend positions, which have b and λ
of their own, in the columns behind, and nothing soft, no friction and no motors. All return the largest |Δλ|.

Sources: Catto, Iterative Dynamics with Temporal Coherence (2005), equation 20; [1], [3] of docs/solvers.md for V'.
"""

import taichi as ti

from rigid.constraints.rows import (
    BODY_I,
    BODY_J,
    COUNT,
    DISC,
    DRIVE,
    FIRST,
    GEAR,
    HIGH,
    KIND,
    LEADER,
    LIMIT,
    LOCK,
    LOW,
    bodies_of,
)
from rigid.kernels.columns import triple
from rigid.solvers.sequential.data import BIAS, IMPULSE, INVERSE, RESIDUAL, SOFTNESS


@ti.func
def solve_group(s: ti.template(), group, stage, world):
    """Solve a group; return the largest |Δλ|."""
    kind = s.rows.groups[world, group, KIND]
    worst = 0.0
    if stage == 0 or mends(s, group, kind, world) == 1:
        if kind == LOCK:
            worst = solve_lock(s, group, stage, world)
        elif kind == LIMIT or kind == DRIVE:
            worst = solve_bounded(s, group, stage, world)
        elif kind == DISC:
            worst = solve_disc(s, group, world)
        elif kind == GEAR:
            worst = solve_gear(s, group, stage, world)
    return worst


@ti.func
def mends(s: ti.template(), group, kind, world):
    """Whether a group has errors of position that are to be mended: a limit, a gear, a lock whose first rows, shifts,
    or last ones, turns, are hard."""
    result = 0
    if kind == LOCK or kind == LIMIT or kind == GEAR:
        first = s.rows.groups[world, group, FIRST]
        last = first + s.rows.groups[world, group, COUNT] - 1
        if ti.min(s.rows.numbers[world, first, SOFTNESS], s.rows.numbers[world, last, SOFTNESS]) == 0.0:
            result = 1
    return result


@ti.func
def left(s: ti.template(), row, velocity, stage, world):
    """What is left of a row's equation: J V + b + γ λ. Arguments: velocity: J V."""
    n = ti.static(s.rows.numbers)
    result = velocity + n[world, row, BIAS + stage]
    if stage == 0:
        result += n[world, row, SOFTNESS] * n[world, row, IMPULSE]
    return result


@ti.func
def solve_lock(s: ti.template(), group, stage, world):
    """All rows of a lock together, by the inverse of their matrix; or one after another."""
    n = ti.static(s.rows.numbers)
    impulse = IMPULSE + stage
    i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
    first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
    held = s.space.hold(s, i, j, stage, world)
    worst = 0.0
    if ti.static(s.features.block):
        for row in range(first, first + count):
            velocity = s.space.rate(s, row, i, j, held, stage, world)
            n[world, row, RESIDUAL] = left(s, row, velocity, stage, world)
    for row in range(first, first + count):
        change = 0.0
        if ti.static(s.features.block):
            for k in range(count):
                change -= n[world, row, INVERSE + k] * n[world, first + k, RESIDUAL]
        else:
            velocity = s.space.rate(s, row, i, j, held, stage, world)
            change = -n[world, row, INVERSE] * left(s, row, velocity, stage, world)
        n[world, row, impulse] = n[world, row, impulse] + change
        held = s.space.push(s, row, i, j, change, held, stage, world)
        worst = ti.max(worst, ti.abs(change))
    s.space.release(s, i, j, held, stage, world)
    return worst


@ti.func
def solve_bounded(s: ti.template(), group, stage, world):
    """One row with bounds."""
    n = ti.static(s.rows.numbers)
    impulse = IMPULSE + stage
    i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
    row = s.rows.groups[world, group, FIRST]
    held = s.space.hold(s, i, j, stage, world)
    before = n[world, row, impulse]
    residual = left(s, row, s.space.rate(s, row, i, j, held, stage, world), stage, world)
    new = before - n[world, row, INVERSE] * residual
    new = ti.min(ti.max(new, s.h * n[world, row, LOW]), s.h * n[world, row, HIGH])
    change = new - before
    if change != 0.0:
        n[world, row, impulse] = new
        held = s.space.push(s, row, i, j, change, held, stage, world)
        s.space.release(s, i, j, held, stage, world)
    return ti.abs(change)


@ti.func
def solve_disc(s: ti.template(), group, world):
    """Friction: two or three rows, whose impulse as a vector is bounded.

    What stops the slip, if that is within the bound: all rows together. Else a step against the slip and back to the
    bound, λ = P(λ - u/r), which comes to rest only where λ lies against u, exactly: the cone, on any heading. r is a
    bound on the matrix J M⁻¹ Jᵀ from above, so that the steps contract (de Saxcé, Feng, The bipotential method,
    1998, for one point).
    """
    n = ti.static(s.rows.numbers)
    i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
    first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
    leader = s.rows.groups[world, group, LEADER]
    bound = s.h * n[world, first, HIGH]
    if leader >= 0:
        bound = n[world, first, HIGH] * n[world, leader, IMPULSE]
    held = s.space.hold(s, i, j, 0, world)
    for row in range(first, first + count):
        n[world, row, RESIDUAL] = s.space.rate(s, row, i, j, held, 0, world)
    residual, before = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(3)):
        if k < count:
            residual[k], before[k] = n[world, first + k, RESIDUAL], n[world, first + k, IMPULSE]
    new = before
    for k in ti.static(range(3)):
        if k < count:
            new[k] -= triple(n, first + k, INVERSE, world).dot(residual)
    if new.norm_sqr() > bound * bound:
        new = before - n[world, first, INVERSE + 3] * residual
        size = new.norm()
        if size > bound:
            new *= bound / size
    change = new - before
    worst = change.norm()
    if worst > 0.0:
        for k in ti.static(range(3)):
            if k < count:
                n[world, first + k, IMPULSE], n[world, first + k, RESIDUAL] = new[k], change[k]
        for row in range(first, first + count):
            held = s.space.push(s, row, i, j, n[world, row, RESIDUAL], held, 0, world)
        s.space.release(s, i, j, held, 0, world)
    return worst


@ti.func
def push(s: ti.template(), row, i, j, change, stage, world):
    """Apply an impulse along a row to its bodies."""
    held = s.space.hold(s, i, j, stage, world)
    held = s.space.push(s, row, i, j, change, held, stage, world)
    s.space.release(s, i, j, held, stage, world)


@ti.func
def solve_gear(s: ti.template(), group, stage, world):
    """Two rows with one impulse, each on its own bodies, of which they may share some."""
    n = ti.static(s.rows.numbers)
    impulse = IMPULSE + stage
    first, velocity = s.rows.groups[world, group, FIRST], 0.0
    for k in range(2):
        i, j = bodies_of(s.rows, group, k, world)
        velocity += s.space.rate(s, first + k, i, j, s.space.hold(s, i, j, stage, world), stage, world)
    change = -n[world, first, INVERSE] * left(s, first, velocity, stage, world)
    n[world, first, impulse] = n[world, first, impulse] + change
    for k in range(2):
        i, j = bodies_of(s.rows, group, k, world)
        push(s, first + k, i, j, change, stage, world)
    return ti.abs(change)
