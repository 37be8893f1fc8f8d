"""What a step's sweeps need of each group, found once a step: M⁻¹Jᵀ, inverse matrices, softness, bias.

Soft rows [0]: a spring of stiffness k and damping c, as implicit Euler has it, is a row with

    γ = 1/(h (h k + c)),   β = h k/(h k + c),   b = β G/h

for any k and c of which one is above zero: k -> ∞ gives β -> 1, γ -> 0, a hard row. Hard rows have γ = 0 and b = 0;
their G is mended by pseudo-velocities, b' = (error reduction) G/h, or, without the split, by b itself.
"""

import taichi as ti

from rigid.constraints.rows import (
    BODY_I,
    BODY_J,
    COUNT,
    DAMPING,
    DISC,
    ERROR,
    FIRST,
    GEAR,
    HIGH,
    IDLE,
    KIND,
    LIMIT,
    LOCK,
    LOW,
    PER_MASS,
    STIFFNESS,
    TARGET,
    beyond,
    bodies_of,
)
from rigid.kernels.matrices import invert, one_over
from rigid.solvers.sequential.data import BIAS, IMPULSE, INVERSE, RESIDUAL, SOFTNESS
from rigid.solvers.sequential.relax import mends, push

# Part of a contact's overlap that is mended in a step where a joint's error is mended whole: bodies that start inside
# one another are to part, not to jump.
PARTED = 0.2


@ti.func
def prepare(s: ti.template(), group, world):
    """Prepare one group, and begin with the impulses that its rows have."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.groups[world, group, KIND]
    first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
    if kind == IDLE:
        for row in range(first, first + count):
            n[world, row, IMPULSE], n[world, row, INVERSE] = 0.0, 0.0
    else:
        for row in range(first, first + count):
            i, j = bodies_of(s.rows, group, row - first, world)
            s.space.renew(s, row, i, j, world)
            soften(s, row, i, j, world)
            aim(s, row, kind, world)
            impulse = n[world, row, IMPULSE]
            if kind == LIMIT or (kind == LOCK and count == 1):  # it may have been another limit, or none
                impulse = ti.min(ti.max(impulse, s.h * n[world, row, LOW]), s.h * n[world, row, HIGH])
            elif kind == GEAR:
                impulse = n[world, first, IMPULSE]
            if ti.static(not s.features.warm):
                impulse = 0.0
            n[world, row, IMPULSE] = impulse
            push(s, row, i, j, impulse, 0, world)


@ti.func
def put_inverse(s: ti.template(), group, stage, world):
    """The inverse of a group's J M⁻¹ Jᵀ + γ, or of its diagonal, from the rows, M⁻¹ Jᵀ and γ.

    Where positions are mended, in stage 1, contacts go on with those of the step's start, joints as the space says.
    """
    n = ti.static(s.rows.numbers)
    kind = s.rows.groups[world, group, KIND]
    first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
    i, j = s.rows.groups[world, group, BODY_I], s.rows.groups[world, group, BODY_J]
    together = kind == DISC
    if ti.static(s.features.block):
        together = together or kind == LOCK
    wanted = kind != IDLE
    if stage == 1:
        wanted = group < s.first_group and mends(s, group, kind, world) == 1
        if wanted:
            wanted = s.space.afresh(s, kind, i, j, world) == 1
    if wanted and kind == GEAR:
        n[world, first, INVERSE] = one_over(s.space.gear_matrix(s, group, first, world))
    elif wanted:
        for a in range(count):
            begin, at = a, INVERSE  # of the diagonal alone
            if together:
                begin, at = 0, INVERSE + a
            for b in range(begin, a + 1):
                entry = s.space.matrix(s, first + a, first + b, i, j, world)
                if a == b:
                    n[world, first + a, at] = entry + n[world, first + a, SOFTNESS]
                else:
                    n[world, first + a, INVERSE + b] = entry
                    n[world, first + b, INVERSE + a] = entry
        if together:
            largest = largest_sum(s, first, count, world)
            invert(n, first, count, INVERSE, RESIDUAL, world)
            if kind == DISC:
                n[world, first, INVERSE + 3] = one_over(largest)
        else:
            for row in range(first, first + count):
                n[world, row, INVERSE] = one_over(n[world, row, INVERSE])


@ti.func
def soften(s: ti.template(), row, i, j, world):
    """γ of a row, and in BIAS its β; of a hard row 0 and 0."""
    n = ti.static(s.rows.numbers)
    stiffness, damping = n[world, row, STIFFNESS], n[world, row, DAMPING]
    softness, part = 0.0, 0.0
    if stiffness < ti.math.inf:
        if n[world, row, PER_MASS] > 0.0:
            mass = one_over(s.space.matrix(s, row, row, i, j, world))
            stiffness, damping = mass * stiffness, mass * damping
        give = ti.max(s.h * stiffness + damping, 1e-30)  # of a joint that gives way freely: γ is not infinite
        softness, part = 1.0 / (s.h * give), s.h * stiffness / give
    n[world, row, SOFTNESS] = softness
    n[world, row, BIAS] = part


@ti.func
def aim(s: ti.template(), row, kind, world):
    """b of a row, in whose BIAS `soften` left β."""
    n = ti.static(s.rows.numbers)
    error, part = n[world, row, ERROR], n[world, row, BIAS]
    mended = beyond(s.rows, row, kind, world)
    bias = -n[world, row, TARGET]
    if n[world, row, SOFTNESS] > 0.0:
        bias = part * error / s.h
    elif kind == LIMIT:
        bias += (error - mended) / s.h  # what is not beyond may come as far as the limit in this step
    if ti.static(not s.features.split):
        if n[world, row, SOFTNESS] == 0.0:
            bias += s.error_reduction * mended / s.h
    n[world, row, BIAS] = bias


@ti.func
def aim_positions(s: ti.template(), group, world):
    """b' of a group's rows, where the velocities have led the bodies; returns the largest |b'|.

    Joints have been written anew there; a contact's gap is taken on by h J V. Rows that are soft in a joint that is
    hard otherwise have b' = 0: mending leaves their value as it is.
    """
    n = ti.static(s.rows.numbers)
    kind = s.rows.groups[world, group, KIND]
    worst = 0.0
    if mends(s, group, kind, world) == 1:
        first, count = s.rows.groups[world, group, FIRST], s.rows.groups[world, group, COUNT]
        part = s.error_reduction
        if group >= s.first_group:
            part *= PARTED
            i, j = bodies_of(s.rows, group, 0, world)
            speed = s.space.rate(s, first, i, j, s.space.hold(s, i, j, 0, world), 0, world)
            n[world, first, ERROR] = n[world, first, ERROR] + s.h * speed
        else:
            for row in range(first, first + count):
                i, j = bodies_of(s.rows, group, row - first, world)
                s.space.follow(s, row, i, j, world)
        for row in range(first, first + count):
            mended = 0.0
            if n[world, row, SOFTNESS] == 0.0:
                mended = part * beyond(s.rows, row, kind, world) / s.h
            n[world, row, BIAS + 1], n[world, row, IMPULSE + 1] = mended, 0.0
            worst = ti.max(worst, ti.abs(mended))
    return worst


@ti.func
def largest_sum(s: ti.template(), first, count, world):
    """The largest sum of magnitudes in a row of a group's matrix: no eigenvalue exceeds it (Gershgorin)."""
    n = ti.static(s.rows.numbers)
    largest = 0.0
    for a in range(count):
        total = 0.0
        for b in range(count):
            total += ti.abs(n[world, first + a, INVERSE + b])
        largest = ti.max(largest, total)
    return largest
