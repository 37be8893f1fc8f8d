"""The step in small steps with soft rows: contacts are found once, then each small step h makes two passes over rows.

    1  velocities are integrated, and the impulses of the small step before applied
    2  a pass with softness, which moves errors G towards zero
    3  poses are integrated
    4  a pass without softness, which takes back the velocity that softness has added
    last, what has met rebounds

Softness makes of a hard row a spring and a damper of its own effective mass m = 1/K, K = J M⁻¹ Jᵀ, with k = m ω² and
c = 2 m ζ ω, integrated by implicit Euler:

    J V + b + γ λ = 0,   b = β G/h,   β = h ω/(h ω + 2 ζ),   γ = K/(h ω (h ω + 2 ζ))

A gap is closed without softness, b = G/h. Gaps of contacts follow from velocities, G += h J V; rows of joints are
written at the poses of each small step. Errors of a joint fall with h².

Sources: Catto, Soft Constraints (2011), and Solver2D (2024), https://github.com/erincatto/solver2d; Macklin and
others, Small Steps in Physics Simulation (2019), https://doi.org/10.1145/3309486.3340247. Departures: joints are solved
as blocks, friction is a cone, and what is stiffer by itself than a softened row counts as hard. Rebounds are solved by
iterations over all rows, not by one pass over contacts, which would turn a box that falls flat; a box that the passes
before have turned goes on turning. Effective masses of joints are those of the first pass in the second one, too, which
goes a little less far.
"""

import taichi as ti

from pbd.core.kernels import load_vector
from rigid.collision.data import POINT
from rigid.constraints.contact_rows import CONTACT_ROWS, RESTING, carried_velocity, carrier_turn, first_group
from rigid.constraints.rows import GROUP, Group, bodies_of, position_error
from rigid.kernels.matrices import inverse_or_zero
from rigid.kernels.motion import gravity_on
from rigid.solvers.impulse.data import ROW
from rigid.solvers.impulse.soft_packs import rebound_packs, relax_packs, soften_packs
from rigid.solvers.impulse.softness import of_substep, softness_of
from rigid.solvers.impulse.step import integrate_poses, integrate_velocities, update_inertias
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.contacts import find_contacts, first_row, store_impulses, write_contacts
from rigid.solvers.sequential.energy_of_rows import watch_rows
from rigid.solvers.sequential.prepare import (
    compute_effective_mass,
    compute_softness,
    has_groups,
    push_rotors,
    warm_start_group,
    write_rows,
)
from rigid.solvers.sequential.sleep import update_sleep_timers
from rigid.solvers.sequential.solve import is_awake, iterate, solve_in_order


@ti.func
def advance_substep_soft(s: ti.template(), iterations, last, world):
    """Make one substep: the algorithm. Its data has the length of a small step.

    Args: iterations: most of those that solve rebounds; last: whether contacts are read of this substep.
    """
    whole = ti.static(of_substep(s))
    write_rows(s, world)
    watch_rows(s, world)
    update_inertias(s, world)
    find_contacts(s, whole, world)
    groups = write_contacts(s, world)
    begin_contacts(s, whole, world)
    for k in range(ti.static(2 * s.features.small_steps)):
        if k % 2 == 0:
            if k > 0:
                update_inertias(s, world)
                write_rows(s, world)
            add_up(s, k == 0, world)
            integrate_velocities(s, world)
            prepare_softly(s, groups, k == 0, world)
            warm_start_softly(s, groups, k == 0, world)
        else:
            integrate_poses(s, world)
            advance_gaps(s, world)
            push_rotors(s, world)
            relax(s, groups, world)
        solve_in_order(s, groups, 0, k, world)
    rebound(s, whole, groups, iterations, world)
    s.report[world, REPORT.iterations] = 2.0 * s.features.small_steps
    update_sleep_timers(whole, world)
    store_impulses(s, last, world)


@ti.func
def add_up(s: ti.template(), fresh, world):
    """Add the impulses of rows to those of earlier small steps, for readings. Args: fresh: whether there are none."""
    n = ti.static(s.rows.numbers)
    rows = s.step.first_contact_row
    if ti.static(has_contact_rows(s)):
        rows = first_row(s, contacts_of(s, world))
    for row in range(rows):
        total = n[world, row, ROW.correction] + n[world, row, ROW.impulse]
        n[world, row, ROW.correction] = ti.select(fresh, 0.0, total)


@ti.func
def prepare_softly(s: ti.template(), groups, fresh, world):
    """Prepare all groups for a small step. Args: fresh: whether contacts have been found just now."""
    worst = 0.0
    if ti.static(has_groups(s)):
        for group in range(groups):
            if is_awake(s, group, world):
                worst = ti.max(worst, prepare_group(s, group, fresh, world))
    s.report[world, REPORT.position_error] = worst


@ti.func
def prepare_group(s: ti.template(), group, fresh, world):
    """Prepare a group for a small step. Friction of contacts stays as it is. Returns: its largest error."""
    n = ti.static(s.rows.numbers)
    kind, of_contact = s.rows.kinds[world, group], group >= s.step.first_contact_group
    first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
    worst = 0.0
    if kind == Group.IDLE:
        for row in range(first, first + count):
            n[world, row, ROW.impulse], n[world, row, ROW.inverse] = 0.0, 0.0
    elif fresh or not (of_contact and kind == Group.FRICTION):
        for row in range(first, first + count):
            i, j = bodies_of(s.rows, group, row - first, world)
            if of_contact and not fresh:
                note_impulse(s, row, world)
            if fresh or not of_contact:
                s.formulation.compute_response(s, row, i, j, world)
            compute_softness(s, row, i, j, world)
            worst = ti.max(worst, soften(s, row, i, j, kind, of_contact, world))
        compute_effective_mass(s, group, world)
        if kind == Group.LIMIT:
            i, j = bodies_of(s.rows, group, 0, world)
            n[world, first, ROW.inverse + 1] = inverse_or_zero(s.formulation.matrix_entry(s, first, first, i, j, world))
    return worst


@ti.func
def soften(s: ti.template(), row, i, j, kind, of_contact, world):
    """Compute b and γ of a row in both passes; the second pass finds them in the next columns of bias and impulse.

    `compute_softness` left β of a row that is soft by itself in its bias, whose γ is above zero. What is stiffer by
    itself than a softened row counts as hard: one pass does not solve it.

    Returns: the error of a hard row, without its sign.
    """
    n = ti.static(s.rows.numbers)
    error, softness, part = n[world, row, ROW.error], n[world, row, ROW.softness], n[world, row, ROW.bias]
    turn, damping = softness_of(of_contact)
    least = 0.0
    if kind != Group.GEAR:
        least = s.formulation.matrix_entry(s, row, row, i, j, world) / (turn * (turn + 2.0 * damping))
    bias, relaxed, corrected = -n[world, row, ROW.target], softness, 0.0
    if softness > least or (softness > 0.0 and kind == Group.DRIVE):
        bias = (1.0 - part) * bias + part * error / s.step.h
        n[world, row, ROW.bias + 1] = bias
    else:
        corrected = position_error(s.rows, row, kind, world)
        if kind == Group.LIMIT:
            bias += (error - corrected) / s.step.h
        n[world, row, ROW.bias + 1] = bias
        softness, relaxed = 0.0, 0.0
        if error == corrected and kind != Group.DRIVE and kind != Group.FRICTION:  # not apart
            bias += turn / (turn + 2.0 * damping) * corrected / s.step.h
            softness = least
    n[world, row, ROW.bias], n[world, row, ROW.softness] = bias, softness
    n[world, row, ROW.impulse + 1] = relaxed
    return ti.abs(corrected)


@ti.func
def warm_start_softly(s: ti.template(), groups, fresh, world):
    """Apply the impulses of the small step before. Packs are prepared with that.

    Args: fresh: whether contacts have been found just now.
    """
    if ti.static(has_groups(s)):
        for group in range(groups):
            if is_awake(s, group, world):
                warm_start_group(s, group, world)
    if ti.static(s.features.packs):
        soften_packs(s, ti.cast(fresh, ti.i32), world)


@ti.func
def relax(s: ti.template(), groups, world):
    """Take the softness away that `soften` has added."""
    n = ti.static(s.rows.numbers)
    for group in range(groups):
        if s.rows.kinds[world, group] != Group.IDLE and is_awake(s, group, world):
            first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
            for row in range(first, first + count):
                n[world, row, ROW.bias] = n[world, row, ROW.bias + 1]
                n[world, row, ROW.softness] = n[world, row, ROW.impulse + 1]
            if s.rows.kinds[world, group] == Group.LIMIT:
                n[world, first, ROW.inverse] = n[world, first, ROW.inverse + 1]
    if ti.static(s.features.packs):
        relax_packs(s, world)


# Contacts -------------------------------------------------------------------------------------------------------------


def has_contact_rows(s):
    """Whether contacts have rows of the world: those in packs have not."""
    return s.features.contacts and not s.features.packs


@ti.func
def begin_contacts(s: ti.template(), whole: ti.template(), world):
    """Keep the velocities along the normals of contacts at the start of a substep; nothing rebounds before its end.

    Arms and directions of a contact stay in all small steps, so friction follows the chord of a whole substep.

    Args: whole: data with the length of a substep.
    """
    n = ti.static(s.rows.numbers)
    if ti.static(has_contact_rows(s)):
        for c in range(contacts_of(s, world)):
            row = first_row(s, c)
            n[world, row, ROW.velocity] = velocity_of(s, c, row, world)
            n[world, row, ROW.residual], n[world, row, ROW.target] = 0.0, 0.0
            i, j = bodies_of_contact(s, c, world)
            normal, turn = load_vector(n, row, ROW.linear, world), carrier_turn(s, i, j, world)
            carried = carried_velocity(s, i, j, normal, turn, whole.step.h, world)
            for k in ti.static(range(1, CONTACT_ROWS)):
                n[world, row + k, ROW.target] = carried.dot(load_vector(n, row + k, ROW.linear, world))


@ti.func
def advance_gaps(s: ti.template(), world):
    """Let the gaps of contacts follow from their velocities.

    The second pass lets bodies close the gaps that are left then.
    """
    n = ti.static(s.rows.numbers)
    if ti.static(has_contact_rows(s)):
        for c in range(contacts_of(s, world)):
            row = first_row(s, c)
            gap = n[world, row, ROW.error] + s.step.h * velocity_of(s, c, row, world)
            n[world, row, ROW.error], n[world, row, ROW.bias + 1] = gap, (gap - ti.min(gap, 0.0)) / s.step.h
            note_impulse(s, row, world)


@ti.func
def note_impulse(s: ti.template(), row, world):
    """Keep the largest impulse of a gap in a substep. It is called after each pass, as any one may stop the bodies."""
    n = ti.static(s.rows.numbers)
    n[world, row, ROW.residual] = ti.max(n[world, row, ROW.residual], n[world, row, ROW.impulse])


@ti.func
def rebound(s: ti.template(), whole: ti.template(), groups, iterations, world):
    """Give what has met in a substep its velocity of restitution, -e times that of the start.

    Args: whole: data with the length of a substep; iterations: at most.
    """
    n = ti.static(s.rows.numbers)
    if ti.static(s.features.packs):
        rebound_packs(s, world)
        iterate(s, groups, 0, iterations, ti.atomic_max(s.packs.change[world, 0], 0.0), world)
    elif ti.static(s.features.contacts):
        any_rebounds = 0.0
        for c in range(contacts_of(s, world)):
            row = first_row(s, c)
            i, j = bodies_of_contact(s, c, world)
            gravity = ti.max(gravity_on(s, i, world).norm(), gravity_on(s, j, world).norm())
            threshold = ti.max(s.step.restitution_threshold, RESTING * whole.step.h * gravity)
            approach, restitution = -n[world, row, ROW.velocity], s.points.numbers[world, c, POINT.restitution]
            note_impulse(s, row, world)
            if restitution > 0.0 and approach > threshold and n[world, row, ROW.residual] > 0.0:
                n[world, row, ROW.bias] = -restitution * approach
                any_rebounds = ti.math.inf
        iterate(s, groups, 0, iterations, any_rebounds, world)


@ti.func
def contacts_of(s: ti.template(), world):
    """How many contacts have rows."""
    return ti.min(s.points.count[world], s.points.integers.shape[1])


@ti.func
def bodies_of_contact(s: ti.template(), c, world):
    """Bodies i and j of contact c."""
    group = first_group(s, c)
    return s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]


@ti.func
def velocity_of(s: ti.template(), c, row, world):
    """J V of the normal row of contact c [m/s]."""
    i, j = bodies_of_contact(s, c, world)
    velocities = s.formulation.load_velocities(s, i, j, 0, world)
    return s.formulation.row_velocity(s, row, i, j, velocities, 0, world)
