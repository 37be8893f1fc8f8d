"""Preparation of each group for the iterations of a step: its rows, M⁻¹Jᵀ, softness, bias, effective mass; and warm
starting, from impulses that the step before has left.

Soft rows [0]: a spring of stiffness k and damping c, integrated by implicit Euler, is a row with

    γ = 1/(h (h k + c)),   β = h k/(h k + c),   b = β G/h

for any k and c of which one is above zero: k -> ∞ gives β -> 1, γ -> 0, a hard row. With a target velocity u it has
b = β G/h - (1 - β) u. Rows of rotors have γ = 1/a (rigid/constraints/joints/rotors.py) and b = -u. Hard rows have γ = 0
and b = 0; their G is corrected by pseudo-velocities, with b' = (error reduction) G/h, or without the split by b itself.
"""

import taichi as ti

from pbd.core.kernels import compiled_once, load_vector, store_vector
from rigid.collision.contact_cache import CACHED
from rigid.constraints.joints.data import DRIVE, DriveKind
from rigid.constraints.joints.rotors import push_rotor
from rigid.constraints.joints.rows import write_joint_rows
from rigid.constraints.rows import GROUP, Form, Group, bodies_of, position_error
from rigid.kernels.matrices import inverse_or_zero, invert
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.data import ROW
from rigid.solvers.sequential.solve import add_impulse, is_awake, needs_correction

# Contacts correct this part of what joints correct, so that bodies that start inside one another part without a jump.
OVERLAP_CORRECTION = 0.2


@compiled_once("bodies", "joints", "rows", "step", "features")
def write_rows(s: ti.template(), world):
    """Write the rows of joints at the current poses."""
    if ti.static(s.features.joints):
        write_joint_rows(s, world)


def has_groups(s):
    """Whether anything is in groups: packs have all contacts, so without joints nothing is."""
    return s.features.joints or not s.features.packs


@ti.func
def prepare_groups(s: ti.template(), groups, world):
    """Prepare all groups for the iterations over velocities. Packs have been prepared where they were written."""
    if ti.static(has_groups(s)):
        for group in range(groups):
            if is_awake(s, group, world):
                prepare_group(s, group, world)


@ti.func
def prepare_group(s: ti.template(), group, world):
    """Prepare a group for the iterations over velocities."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.kinds[world, group]
    first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
    if kind == Group.IDLE:
        for row in range(first, first + count):
            n[world, row, ROW.impulse], n[world, row, ROW.inverse] = 0.0, 0.0
    else:
        for row in range(first, first + count):
            i, j = bodies_of(s.rows, group, row - first, world)
            s.formulation.compute_response(s, row, i, j, world)
            compute_softness(s, row, i, j, world)
            compute_bias(s, row, kind, world)
        compute_effective_mass(s, group, world)


@ti.func
def warm_start(s: ti.template(), groups, world):
    """Apply the impulses of the last step."""
    if ti.static(has_groups(s)):
        for group in range(groups):
            if is_awake(s, group, world):
                warm_start_group(s, group, world)
    if ti.static(s.features.packs):
        s.formulation.warm_start_packs(s, world)


@ti.func
def warm_start_group(s: ti.template(), group, world):
    """Apply the impulses that the rows of a group have from the last step."""
    n = ti.static(s.rows.numbers)
    kind = s.rows.kinds[world, group]
    first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
    if kind != Group.IDLE:
        for row in range(first, first + count):
            i, j = bodies_of(s.rows, group, row - first, world)
            impulse = n[world, row, ROW.impulse]
            # The row may have been that of another limit, or of none.
            if kind == Group.LIMIT or (kind == Group.EQUALITY and count == 1):
                impulse = ti.min(ti.max(impulse, s.step.h * n[world, row, ROW.low]), s.step.h * n[world, row, ROW.high])
            elif kind == Group.GEAR:
                impulse = n[world, first, ROW.impulse]
            if ti.static(not s.features.warm_start):
                impulse = 0.0
            n[world, row, ROW.impulse] = impulse
            add_impulse(s, row, i, j, impulse, 0, world)


@ti.func
def prepare_corrections(s: ti.template(), groups, world):
    """Prepare all groups for position correction, see `prepare_correction`. Returns: the largest |b'| of an error."""
    largest = 0.0
    if ti.static(has_groups(s)):
        for group in range(groups):
            if is_awake(s, group, world):
                largest = ti.max(largest, prepare_correction(s, group, world))
    if ti.static(s.features.packs):
        s.formulation.prepare_corrections_of_packs(s, world)
        largest = ti.max(largest, s.packs.change[world, 0])
    s.report[world, REPORT.position_error] = largest * s.step.h
    return largest


@ti.func
def prepare_correction(s: ti.template(), group, world):
    """Prepare a group for position correction, at the poses to which the velocities have led.

    Rows of joints have been written there; a contact's gap is advanced by h J V. Soft rows of a joint that is hard
    otherwise have b' = 0: correction does not change their value. A limit or contact that is still apart may use up its
    gap: with b' = 0 it would keep joints from closing. Without joints it has b' = 0.

    Returns: the largest |b'| of an error.
    """
    n = ti.static(s.rows.numbers)
    kind = s.rows.kinds[world, group]
    largest = 0.0
    if needs_correction(s, group, kind, world):
        first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
        i, j = bodies_of(s.rows, group, 0, world)
        part = s.step.error_reduction
        if group >= s.step.first_contact_group:
            part *= OVERLAP_CORRECTION
            velocities = s.formulation.load_velocities(s, i, j, 0, world)
            speed = s.formulation.row_velocity(s, first, i, j, velocities, 0, world)
            n[world, first, ROW.error] = n[world, first, ROW.error] + s.step.h * speed
        else:
            for row in range(first, first + count):
                i_row, j_row = bodies_of(s.rows, group, row - first, world)
                s.formulation.update_response(s, row, i_row, j_row, world)
            if s.formulation.needs_new_matrix(s, kind, i, j, world):
                compute_effective_mass(s, group, world)
        for row in range(first, first + count):
            bias = 0.0
            if n[world, row, ROW.softness] == 0.0:
                bias = part * position_error(s.rows, row, kind, world) / s.step.h
            largest = ti.max(largest, ti.abs(bias))
            if ti.static(s.features.joints):
                if kind == Group.LIMIT:
                    error = n[world, row, ROW.error]
                    bias += (error - position_error(s.rows, row, kind, world)) / s.step.h
            n[world, row, ROW.bias + 1], n[world, row, ROW.impulse + 1] = bias, 0.0
    return largest


@ti.func
def compute_effective_mass(s: ti.template(), group, world):
    """Invert J M⁻¹ Jᵀ + γ of a group, or its diagonal."""
    n = ti.static(s.rows.numbers)
    first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    form = s.rows.groups[world, group, GROUP.form]
    together = form == Form.SLIP
    if ti.static(s.features.block):
        together = together or form == Form.BLOCK
    if form == Form.PAIR:
        if ti.static(s.features.gears):
            n[world, first, ROW.inverse] = inverse_or_zero(s.formulation.gear_matrix_entry(s, group, first, world))
    else:
        for a in range(count):
            begin, diagonal = a, ROW.inverse
            if together:
                begin, diagonal = 0, ROW.inverse + a
            for b in range(begin, a + 1):
                entry = s.formulation.matrix_entry(s, first + a, first + b, i, j, world)
                if a == b:
                    n[world, first + a, diagonal] = entry + n[world, first + a, ROW.softness]
                else:
                    n[world, first + a, ROW.inverse + b] = entry
                    n[world, first + b, ROW.inverse + a] = entry
        if together:
            largest = largest_row_sum(s, first, count, world)
            invert(n, first, count, ROW.inverse, ROW.residual, world)
            if form == Form.SLIP:
                n[world, first, ROW.inverse + 3] = inverse_or_zero(largest)
        else:
            for row in range(first, first + count):
                n[world, row, ROW.inverse] = inverse_or_zero(n[world, row, ROW.inverse])


@ti.func
def compute_softness(s: ti.template(), row, i, j, world):
    """Compute γ of a row, and leave β in its bias; 0 and 0 for a hard row."""
    n = ti.static(s.rows.numbers)
    stiffness, damping = n[world, row, ROW.stiffness], n[world, row, ROW.damping]
    softness, part = n[world, row, ROW.rotor], 0.0
    if stiffness < ti.math.inf:
        if n[world, row, ROW.per_mass] > 0.0:
            mass = inverse_or_zero(s.formulation.matrix_entry(s, row, row, i, j, world))
            stiffness, damping = mass * stiffness, mass * damping
        compliant = ti.max(s.step.h * stiffness + damping, 1e-30)  # of a free joint, so that γ is not infinite
        softness, part = 1.0 / (s.step.h * compliant), s.step.h * stiffness / compliant
    n[world, row, ROW.softness] = softness
    n[world, row, ROW.bias] = part


@ti.func
def compute_bias(s: ti.template(), row, kind, world):
    """Compute b of a row. `compute_softness` left β in its place."""
    n = ti.static(s.rows.numbers)
    error, part = n[world, row, ROW.error], n[world, row, ROW.bias]
    corrected = position_error(s.rows, row, kind, world)
    bias = -n[world, row, ROW.target]
    if n[world, row, ROW.softness] > 0.0:
        bias = (1.0 - part) * bias + part * error / s.step.h
    elif kind == Group.LIMIT:
        bias += (error - corrected) / s.step.h  # inside its limit, a value may come as far as the limit in this step
    if ti.static(not s.features.split_impulse):
        if n[world, row, ROW.softness] == 0.0:
            bias += s.step.error_reduction * corrected / s.step.h
    n[world, row, ROW.bias] = bias


@ti.func
def largest_row_sum(s: ti.template(), first, count, world):
    """The largest sum of magnitudes in a row of a group's matrix: no eigenvalue exceeds it (Gershgorin)."""
    n = ti.static(s.rows.numbers)
    largest = 0.0
    for a in range(count):
        total = 0.0
        for b in range(count):
            total += ti.abs(n[world, first + a, ROW.inverse + b])
        largest = ti.max(largest, total)
    return largest


@ti.func
def push_rotors(s: ti.template(), world):
    """Change the speeds of rotors by the impulses of their rows. Those of sleeping bodies stop."""
    if ti.static(s.features.rotors):
        n, drives = ti.static(s.rows.numbers, s.joints.drives)
        for drive in range(drives.shape[0]):
            if drives[drive, DRIVE.kind] == DriveKind.ROTOR:
                row = drives[drive, DRIVE.row]
                if is_awake(s, drives[drive, DRIVE.group], world):
                    push_rotor(s, row, n[world, row, ROW.impulse], world)
                else:
                    n[world, row, ROW.target], n[world, row, ROW.impulse] = 0.0, 0.0


@ti.func
def scale_impulses(s: ti.template(), factor, world):
    """Scale the impulses of the last step, which are efforts times the length of a substep."""
    n = ti.static(s.rows.numbers)
    for row in range(s.rows.numbers.shape[1]):
        n[world, row, ROW.impulse] = factor * n[world, row, ROW.impulse]
    if ti.static(s.features.contacts):
        for c in range(s.cache.numbers.shape[1]):
            for column in ti.static((CACHED.vector, CACHED.angular)):
                impulse = factor * load_vector(s.cache.numbers, c, column, world)
                store_vector(s.cache.numbers, c, column, impulse, world)
