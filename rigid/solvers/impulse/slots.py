"""A slot of a pack: one contact in each lane, from its rows to its impulses. See packs.py.

Its general rows would be 114 numbers. The iterations read 45 of them, so `prepare_slot` writes each slot's rows to one
place, and keeps these (SLOT). The functions below have the arithmetic of rigid/solvers/sequential/solve.py, and so the
same bits. M⁻¹Jᵀ is kept, because to compute it in each iteration takes longer than to read it; the directions of the
rows are computed from the arms.
"""

import taichi as ti

from pbd.core.kernels import load_vector, store_vector
from rigid.collision.data import ABSENT, POINT
from rigid.constraints.contact_rows import CONTACT_GROUPS, CONTACT_ROWS, contact_arms, write_contact
from rigid.kernels.matrices import inverse_or_zero
from rigid.solvers.impulse.data import ROW, SLOT
from rigid.solvers.impulse.maximal import change_velocities, compute_response, matrix_entry, velocity_along
from rigid.solvers.sequential.prepare import invert_friction
from rigid.solvers.sequential.solve import within_cone


def in_pack(s):
    """The data of a step with the bodies and points of packs, and rows of one slot, in place of the world's."""
    return s._replace(
        bodies=s.packs.bodies, rows=s.packs.rows,
        points=s.points._replace(numbers=s.packs.points, integers=s.packs.pairs),
        step=s.step._replace(first_contact_row=0, first_contact_group=0),
    )  # fmt: skip


@ti.func
def prepare_slot(s: ti.template(), slot, i, j, thread, world):
    """Find the numbers of a slot: as `write_contact`, and `prepare_group` for both groups, whose rows are hard.

    Args: slot; i, j: bodies of its pack; thread: whose rows are used meanwhile.
    """
    t, n, numbers = ti.static(in_pack(s), s.packs.rows.numbers, s.packs.slots)
    row = CONTACT_ROWS * thread
    write_contact(t, slot, row, CONTACT_GROUPS * thread, world)
    arm_i, arm_j = contact_arms(t, slot, i, j, world)
    store_vector(numbers, slot, SLOT.arm_i, arm_i, world)
    store_vector(numbers, slot, SLOT.arm_j, arm_j, world)
    store_vector(numbers, slot, SLOT.normal, load_vector(n, row, ROW.linear, world), world)
    store_vector(numbers, slot, SLOT.tangent, load_vector(n, row + 1, ROW.linear, world), world)
    impulse = load_vector(s.packs.impulses, slot, 0, world)
    for k in range(CONTACT_ROWS):
        compute_response(t, row + k, i, j, world)
        for m in range(6):
            numbers[world, slot, SLOT.responses + 6 * k + m] = n[world, row + k, ROW.response_i + m]
        numbers[world, slot, SLOT.impulse + k] = impulse.dot(load_vector(n, row + k, ROW.linear, world))
        numbers[world, slot, SLOT.bias + k] = -n[world, row + k, ROW.target]
    numbers[world, slot, SLOT.impulse] = ti.max(numbers[world, slot, SLOT.impulse], 0.0)
    gap = n[world, row, ROW.error]
    numbers[world, slot, SLOT.bias] = numbers[world, slot, SLOT.bias] + (gap - ti.min(gap, 0.0)) / s.step.h
    numbers[world, slot, SLOT.correction_bias] = gap
    numbers[world, slot, SLOT.inverse] = inverse_or_zero(matrix_entry(t, row, row, i, j, world))
    invert_friction(t, row + 1, i, j, world)
    for k in ti.static(range(4)):
        numbers[world, slot, SLOT.friction_inverse + k] = n[world, row + 1 + k // 2, ROW.inverse + k % 2]
    numbers[world, slot, SLOT.friction_step] = n[world, row + 1, ROW.inverse + 3]
    numbers[world, slot, SLOT.friction] = n[world, row + 1, ROW.high]
    if s.packs.points[world, slot, POINT.gap] >= ABSENT:
        for k in range(SLOT.impulse, SLOT.friction_step):  # and the inverses
            numbers[world, slot, k] = 0.0


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
def solve_slot(s: ti.template(), slot, i, j, velocities, turn_of_gap, stage: ti.template(), world):
    """As `solve_contact`: solve the gap, then the friction, or the other way round in reverse order."""
    largest, changed = 0.0, velocities
    for turn in range(2):
        if turn == turn_of_gap:
            change, changed = solve_gap(s, slot, i, j, changed, stage, world)
            largest = ti.max(largest, change)
        elif ti.static(stage == 0):
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
        first = ti.static(SLOT.friction_inverse + 2 * k)
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
