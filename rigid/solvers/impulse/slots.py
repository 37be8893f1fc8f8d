"""A slot of a pack: one contact in each lane, from its rows to its impulses. See packs.py.

Its general rows would be 114 numbers. The iterations read 44 of them (SLOT). The functions below have the arithmetic of
rows, and so the same bits. M⁻¹Jᵀ is kept, because to compute it in each iteration takes longer than to read it; the
directions of the rows are computed from the arms.
"""

import taichi as ti

from pbd.core.kernels import load_vector, store_vector
from rigid.collision.data import ABSENT, POINT
from rigid.constraints.contact_rows import (
    CONTACT_ROWS,
    carried_velocity,
    carrier_turn,
    contact_arms,
    gap_and_target,
    tangents,
)
from rigid.kernels.matrices import inverse_of_two, inverse_or_zero
from rigid.kernels.motion import MASS, multiply_inverse_inertia
from rigid.solvers.impulse.data import SLOT, SOFT
from rigid.solvers.impulse.maximal import change_velocities, load_velocities, velocity_along
from rigid.solvers.impulse.softness import of_substep, softness_of
from rigid.solvers.sequential.solve import within_cone


def in_pack(s):
    """The data of a step with the bodies and points of packs in place of the world's."""
    return s._replace(bodies=s.packs.bodies, points=s.points._replace(numbers=s.packs.points))


@ti.func
def prepare_slot(s: ti.template(), slot, i, j, world):
    """Find the numbers of a slot: as `write_contact`, and `prepare_group` for both groups, whose rows are hard.

    Args: slot; i, j: bodies of its pack.
    """
    t, numbers, whole = ti.static(in_pack(s), s.packs.slots, of_substep(s))
    normal = load_vector(t.points.numbers, slot, POINT.normal, world)
    arm_i, arm_j = contact_arms(t, slot, i, j, world)
    store_vector(numbers, slot, SLOT.normal, normal, world)
    store_vector(numbers, slot, SLOT.tangent, tangents(normal)[0], world)
    store_vector(numbers, slot, SLOT.arm_i, arm_i, world)
    store_vector(numbers, slot, SLOT.arm_j, arm_j, world)
    carried = carried_velocity(t, i, j, normal, carrier_turn(t, i, j, world), whole.step.h, world)
    impulse, directions = load_vector(s.packs.impulses, slot, 0, world), directions_of(s, slot, world)
    # Of the normal and both tangents: a_i and a_j of their rows, and the angular parts of M⁻¹ Jᵀ.
    a_n, a_t, a_u = [arm_i.cross(direction) for direction in ti.static(directions)]
    b_n, b_t, b_u = [-arm_j.cross(direction) for direction in ti.static(directions)]
    c_n, c_t, c_u = [multiply_inverse_inertia(t.bodies, i, a, world) for a in ti.static((a_n, a_t, a_u))]
    d_n, d_t, d_u = [multiply_inverse_inertia(t.bodies, j, b, world) for b in ti.static((b_n, b_t, b_u))]
    for k, response in ti.static(enumerate((c_n, d_n, c_t, d_t, c_u, d_u))):
        store_vector(numbers, slot, ti.static(SLOT.responses + 3 * k), response, world)
    for k, direction in ti.static(enumerate(directions)):
        numbers[world, slot, SLOT.impulse + k] = impulse.dot(direction)
        numbers[world, slot, SLOT.bias + k] = -carried.dot(direction)
    gap, target = gap_and_target(t, slot, i, j, normal, arm_i, arm_j, world)
    numbers[world, slot, SLOT.impulse] = ti.max(numbers[world, slot, SLOT.impulse], 0.0)
    numbers[world, slot, SLOT.bias] = -target + (gap - ti.min(gap, 0.0)) / s.step.h
    numbers[world, slot, SLOT.correction_bias] = gap
    # Entries of K = J M⁻¹ Jᵀ.
    w = t.bodies.mass[world, i, MASS.inverse_mass] + t.bodies.mass[world, j, MASS.inverse_mass]
    n, t_1, t_2 = directions
    of_gap = w * n.dot(n) + a_n.dot(c_n) + b_n.dot(d_n)
    xx = w * t_1.dot(t_1) + a_t.dot(c_t) + b_t.dot(d_t)
    xy = w * t_2.dot(t_1) + a_u.dot(c_t) + b_u.dot(d_t)
    yy = w * t_2.dot(t_2) + a_u.dot(c_u) + b_u.dot(d_u)
    store_vector(numbers, slot, SLOT.friction_inverse, inverse_of_two(xx, xy, yy), world)
    numbers[world, slot, SLOT.inverse] = inverse_or_zero(of_gap)
    largest = ti.max(ti.abs(xx) + ti.abs(xy), ti.abs(xy) + ti.abs(yy))  # no eigenvalue exceeds it (Gershgorin)
    numbers[world, slot, SLOT.friction_step] = inverse_or_zero(largest)
    numbers[world, slot, SLOT.friction] = t.points.numbers[world, slot, POINT.friction]
    if ti.static(s.features.small_steps):
        begin_small_steps(s, slot, of_gap, i, j, world)
    if t.points.numbers[world, slot, POINT.gap] >= ABSENT:
        for k in range(SLOT.impulse, SLOT.friction_step):  # and the inverses
            numbers[world, slot, k] = 0.0
        if ti.static(s.features.small_steps):
            for k in range(SOFT.inverse, SOFT.softness):
                s.packs.soft[world, slot, k] = 0.0


@ti.func
def begin_small_steps(s: ti.template(), slot, of_gap, i, j, world):
    """As `begin_contacts` and `soften` of soft.py: find what a slot keeps in a substep. Args: of_gap: K of its gap."""
    t, soft = ti.static(in_pack(s), s.packs.soft)
    turn, damping = softness_of(True)
    softness = of_gap / (turn * (turn + 2.0 * damping))
    soft[world, slot, SOFT.inverse] = inverse_or_zero(of_gap)
    soft[world, slot, SOFT.overlap_softness] = softness
    soft[world, slot, SOFT.overlap_inverse] = inverse_or_zero(of_gap + softness)
    normal = load_vector(s.packs.slots, slot, SLOT.normal, world)
    soft[world, slot, SOFT.start_velocity] = velocity_of(s, slot, normal, load_velocities(t, i, j, 0, world), world)
    soft[world, slot, SOFT.largest] = 0.0
    for k in range(CONTACT_ROWS):
        soft[world, slot, SOFT.earlier + k] = 0.0


@ti.func
def directions_of(s: ti.template(), slot, world):
    """The normal and both tangents of a slot, the directions of its rows."""
    normal = load_vector(s.packs.slots, slot, SLOT.normal, world)
    tangent = load_vector(s.packs.slots, slot, SLOT.tangent, world)
    return normal, tangent, normal.cross(tangent)


@ti.func
def velocity_of(s: ti.template(), slot, direction, velocities, world):
    """J V of the row along a direction."""
    arm_i = load_vector(s.packs.slots, slot, SLOT.arm_i, world)
    arm_j = load_vector(s.packs.slots, slot, SLOT.arm_j, world)
    return velocity_along(direction, arm_i.cross(direction), -arm_j.cross(direction), velocities)


@ti.func
def add_impulse(s: ti.template(), slot, k: ti.template(), i, j, direction, impulse, velocities, world):
    """V + M⁻¹ Jᵀ λ for row k of a slot. Args: direction: of the row."""
    first = ti.static(SLOT.responses + 6 * k)
    response_i = load_vector(s.packs.slots, slot, first, world)
    response_j = load_vector(s.packs.slots, slot, first + 3, world)
    return change_velocities(s.packs.bodies, i, j, direction, response_i, response_j, impulse, velocities, world)


@ti.func
def warm_start_slot(s: ti.template(), slot, i, j, velocities, world):
    """Apply the impulses that a slot has from the last step. Returns: the velocities then."""
    changed = velocities
    if s.packs.points[world, slot, POINT.gap] < ABSENT:
        normal, t, u = directions_of(s, slot, world)
        for k, direction in ti.static(enumerate((normal, t, u))):
            impulse = s.packs.slots[world, slot, SLOT.impulse + k]
            changed = add_impulse(s, slot, k, i, j, direction, impulse, changed, world)
    return changed


@ti.func
def solve_slot(s: ti.template(), slot, i, j, velocities, stage: ti.template(), world):
    """As `solve_contact`: solve the gap, then the friction."""
    largest, changed = solve_gap(s, slot, i, j, velocities, stage, world)
    if ti.static(stage == 0):
        change, changed = solve_slip_of_slot(s, slot, i, j, changed, world)
        largest = ti.max(largest, change)
    return largest, changed


@ti.func
def solve_gap(s: ti.template(), slot, i, j, velocities, stage: ti.template(), world):
    """As `solve_row` for the gap, whose impulse is a push. Returns: |Δλ|, and the velocities then."""
    numbers = ti.static(s.packs.slots)
    bias = ti.static(SLOT.correction_bias if stage else SLOT.bias)
    column = ti.static(SLOT.correction_impulse if stage else SLOT.impulse)
    normal, changed = load_vector(numbers, slot, SLOT.normal, world), velocities
    before = numbers[world, slot, column]
    residual = velocity_of(s, slot, normal, velocities, world) + numbers[world, slot, bias]
    if ti.static(s.features.small_steps):
        residual += s.packs.soft[world, slot, SOFT.softness] * before
    new = ti.max(before - numbers[world, slot, SLOT.inverse] * residual, 0.0)
    change = new - before
    if change != 0.0:
        numbers[world, slot, column] = new
        changed = add_impulse(s, slot, 0, i, j, normal, change, velocities, world)
    return ti.abs(change), changed


@ti.func
def solve_slip_of_slot(s: ti.template(), slot, i, j, velocities, world):
    """As `solve_slip`. Returns: |Δλ|, and the velocities then."""
    numbers = ti.static(s.packs.slots)
    _, t, u = directions_of(s, slot, world)
    changed, slip, before = velocities, ti.Vector([0.0, 0.0]), ti.Vector([0.0, 0.0])
    for k, direction in ti.static(enumerate((t, u))):
        velocity = velocity_of(s, slot, direction, velocities, world)
        slip[k] = velocity + numbers[world, slot, SLOT.bias + 1 + k]
        before[k] = numbers[world, slot, SLOT.impulse + 1 + k]
    stopped = before
    for k in ti.static(range(2)):
        first = ti.static(SLOT.friction_inverse + k)
        stopped[k] -= numbers[world, slot, first] * slip[0] + numbers[world, slot, first + 1] * slip[1]
    bound = numbers[world, slot, SLOT.friction] * numbers[world, slot, SLOT.impulse]
    new = within_cone(stopped, before, numbers[world, slot, SLOT.friction_step] * slip, bound)
    change = new - before
    largest = change.norm()
    if largest > 0.0:
        for k, direction in ti.static(enumerate((t, u))):
            numbers[world, slot, SLOT.impulse + 1 + k] = new[k]
            changed = add_impulse(s, slot, 1 + k, i, j, direction, change[k], changed, world)
    return largest, changed


@ti.func
def impulse_of(s: ti.template(), slot, world):
    """The impulses of a slot as a vector in the world (3,)."""
    result = ti.Vector([0.0, 0.0, 0.0])
    normal, t, u = directions_of(s, slot, world)
    for k, direction in ti.static(enumerate((normal, t, u))):
        result += s.packs.slots[world, slot, SLOT.impulse + k] * direction
    return result
