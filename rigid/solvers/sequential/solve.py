"""The iterations of sequential impulses: all groups of rows in turn. Each is solved for the impulses of its equation:

    Δλ = -(J V + b + γ λ) / (J M⁻¹ Jᵀ + γ),   the accumulated λ clamped to its bounds,   V += M⁻¹ Jᵀ Δλ

A group is solved in stage 0 for V, or in stage 1 for the pseudo-velocities V' that correct positions. These have their
own b and λ, in the next columns, and no softness, friction or motors. Functions that solve groups return the
largest |Δλ|.

Sources: Catto, Iterative Dynamics with Temporal Coherence (2005), equation 20; [1], [3] of docs/solvers/sources.md
for V'.
"""

import taichi as ti

from pbd.core.kernels import any_world, load_vector
from rigid.constraints.contact_rows import contact_size, first_group
from rigid.constraints.rows import GROUP, Form, Group, bodies_of
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.data import ROW
from rigid.solvers.sequential.sleep import group_sleeps


@ti.func
def solve_velocities(s: ti.template(), groups, iterations, world):
    """Iterate over the impulses that change velocities. Args: groups: how many; iterations: at most."""
    s.report[world, REPORT.iterations] = iterate(s, groups, 0, iterations, ti.math.inf, world)


@ti.func
def iterate(s: ti.template(), groups, stage: ti.template(), iterations, change, world):
    """Solve all groups in turn until no impulse changes by more than the tolerance.

    Args: change: of an impulse, to start with: there are no iterations if it is not above the tolerance.

    Returns: how many iterations were made, a real number.
    """
    iteration, made = 0, 0.0
    if ti.static(s.features.convergence == "velocities"):
        velocity_change(s, groups, stage, world)
    while iteration < iterations and any_world(change > s.step.tolerance):
        if change > s.step.tolerance:  # always, but for worlds in lanes that have ended before others
            change = solve_in_order(s, groups, stage, iteration, world)
            if ti.static(s.features.convergence == "velocities"):
                change = velocity_change(s, groups, stage, world)
            made += 1.0
        iteration += 1
    return made


@ti.func
def solve_in_order(s: ti.template(), groups, stage: ti.template(), iteration, world):
    """Solve all groups once: joints, then contacts. Args: iteration: 0, 1, ... Returns: the largest change."""
    change, contacts = 0.0, s.step.first_contact_group
    if ti.static(s.features.joints):
        for group in range(contacts):
            if is_awake(s, group, world):
                change = ti.max(change, solve_group(s, group, stage, world))
    if ti.static(s.features.packs):
        change = ti.max(change, s.formulation.solve_packs(s, stage, iteration, world))
    elif ti.static(s.features.contacts):
        count = (groups - contacts) // ti.static(contact_size(s.features.pair_types)[1])
        change = ti.max(change, solve_contacts(s, 0, count, None, stage, iteration, world))
    return change


@ti.func
def solve_group(s: ti.template(), group, stage: ti.template(), world):
    """Solve a group, if it is to be solved in a stage."""
    form, kind, change = s.rows.groups[world, group, GROUP.form], s.rows.kinds[world, group], 0.0
    if is_solved(s, group, kind, stage, world):
        if form == Form.PAIR:
            change = solve_gear(s, group, stage, world)
        elif form == Form.SLIP:
            if ti.static(stage == 0):
                change = solve_friction(s, group, world)
        elif kind == Group.EQUALITY:
            change = solve_equality(s, group, stage, world)
        else:
            change = solve_bounded(s, group, stage, world)
    return change


@ti.func
def is_solved(s: ti.template(), group, kind, stage: ti.template(), world):
    """Whether a group is to be solved in a stage."""
    result = kind != Group.IDLE
    if ti.static(stage == 1):
        result = needs_correction(s, group, kind, world)
    return result


@ti.func
def is_awake(s: ti.template(), group, world):
    """Whether a body of a group does not sleep."""
    result = True
    if ti.static(s.features.sleeping):
        result = not group_sleeps(s, group, world)
    return result


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
    """Solve a group of one row with bounds."""
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    velocities = s.formulation.load_velocities(s, i, j, stage, world)
    change, changed = solve_row(s, s.rows.groups[world, group, GROUP.first], i, j, velocities, stage, world)
    if change != 0.0:
        s.formulation.store_velocities(s, i, j, changed, stage, world)
    return change


@ti.func
def solve_row(s: ti.template(), row, i, j, velocities, stage: ti.template(), world):
    """Solve one row with bounds. Args: velocities: of its bodies i and j. Returns: |Δλ|, and the velocities then."""
    n = ti.static(s.rows.numbers)
    before, changed = n[world, row, ROW.impulse + stage], velocities
    velocity = s.formulation.row_velocity(s, row, i, j, velocities, stage, world)
    new = before - n[world, row, ROW.inverse] * residual(s, row, velocity, stage, world)
    new = ti.min(ti.max(new, s.step.h * n[world, row, ROW.low]), s.step.h * n[world, row, ROW.high])
    change = new - before
    if change != 0.0:
        n[world, row, ROW.impulse + stage] = new
        changed = s.formulation.apply_impulse(s, row, i, j, change, velocities, stage, world)
    return ti.abs(change), changed


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
    stopped = before
    for k in ti.static(range(3)):
        if k < count:
            stopped[k] -= load_vector(n, first + k, ROW.inverse, world).dot(slip)
    new = within_cone(stopped, before, n[world, first, ROW.inverse + 3] * slip, bound)
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
def within_cone(stopped, before, step, bound):
    """The impulse of friction. Args: stopped: that stops the slip; before: until now; step: u/r, see `solve_friction`;
    bound: of its size."""
    new = stopped
    if new.norm_sqr() > bound * bound:
        new = before - step
        size = new.norm()
        if size > bound:
            new *= bound / size
    return new


def is_given(value):
    """Whether there is a value. Taichi functions do not compare with None."""
    return value is not None


@ti.func
def solve_contacts(s: ti.template(), begin, end, order: ti.template(), stage: ti.template(), iteration, world):
    """Solve contacts once, one manifold after another: a run of contacts of the same two bodies.

    Args: begin, end: of contacts, or of their `order` (worlds, contacts), unless it is None; iteration: see
    `place_in_manifold`. Returns: the largest change.
    """
    largest, k = 0.0, begin
    while k < end:
        after = end_of_manifold(s, k, end, order, world)
        if is_awake(s, group_of_contact(s, k, order, world), world):
            if ti.static(s.features.contacts_by_pairs):
                largest = ti.max(largest, solve_manifold(s, k, after, order, stage, iteration, world))
            else:
                for each in range(after - k):
                    place = k + place_in_manifold(each, after - k, iteration)
                    group = group_of_contact(s, place, order, world)
                    for more in range(ti.static(contact_size(s.features.pair_types)[1])):
                        largest = ti.max(largest, solve_group(s, group + more, stage, world))
        k = after
    return largest


@ti.func
def group_of_contact(s: ti.template(), k, order: ti.template(), world):
    """The first group of contact k, or of that in place k of an order."""
    c = k
    if ti.static(is_given(order)):
        c = order[world, k]
    return first_group(s, c)


@ti.func
def end_of_manifold(s: ti.template(), begin, end, order: ti.template(), world):
    """The end of the manifold that begins at a contact. Args: as those of `solve_contacts`."""
    groups = ti.static(s.rows.groups)
    after, found = begin + 1, group_of_contact(s, begin, order, world)
    i, j = groups[world, found, GROUP.body_i], groups[world, found, GROUP.body_j]
    more = 1  # a number: worlds in lanes would make a mask of a truth value
    while more > 0 and after < end:
        group = group_of_contact(s, after, order, world)
        more = 0
        if groups[world, group, GROUP.body_i] == i and groups[world, group, GROUP.body_j] == j:
            more = 1
        after += more
    return after


@ti.func
def place_in_manifold(k, points, iteration):
    """Which point of a manifold is the k-th. In any four iterations each of four points is first, second, third and
    last once.

    Unconverged iterations leave other errors in the first point than in the last one, and warm starting adds them up
    over the steps: a pile leans. In ten seconds, with the same order, a tower of twenty boxes leans by 12 % of a box;
    with turns by 0.4 %.

    Args: points: how many there are.
    """
    place = k
    if iteration % 2 == 1:
        place = points - 1 - k
    if iteration % 4 >= 2 and points > 2:
        place += 2
        if place >= points:
            place -= points
    return place


@ti.func
def solve_manifold(s: ti.template(), begin, end, order: ti.template(), stage: ti.template(), iteration, world):
    """Solve the contacts of two bodies, whose velocities are loaded and stored once. Args: see `solve_contacts`."""
    group, largest = group_of_contact(s, begin, order, world), 0.0
    i, j = s.rows.groups[world, group, GROUP.body_i], s.rows.groups[world, group, GROUP.body_j]
    velocities = s.formulation.load_velocities(s, i, j, stage, world)
    for k in range(end - begin):
        group = group_of_contact(s, begin + place_in_manifold(k, end - begin, iteration), order, world)
        row = s.rows.groups[world, group, GROUP.first]
        change, velocities = solve_contact(s, row, i, j, velocities, stage, world)
        largest = ti.max(largest, change)
    s.formulation.store_velocities(s, i, j, velocities, stage, world)
    return largest


@ti.func
def solve_contact(s: ti.template(), row, i, j, velocities, stage: ti.template(), world):
    """Solve the gap of a contact, then its friction.

    Args: row: of the gap; velocities: of bodies i and j. Returns: the largest |Δλ|, and the velocities then.
    """
    largest, changed = solve_row(s, row, i, j, velocities, stage, world)
    if ti.static(stage == 0):
        change, changed = solve_slip(s, row + 1, row, i, j, changed, world)
        largest = ti.max(largest, change)
    return largest, changed


@ti.func
def solve_slip(s: ti.template(), first, gap, i, j, velocities, world):
    """Solve the friction of a contact: `solve_friction` for two rows, whose velocities are at hand.

    Args: first: of both rows; gap: the row of the contact's gap; velocities: of bodies i and j.

    Returns: |Δλ|, and the velocities then.
    """
    n = ti.static(s.rows.numbers)
    slip, before, changed = ti.Vector([0.0, 0.0]), ti.Vector([0.0, 0.0]), velocities
    for k in ti.static(range(2)):
        velocity = s.formulation.row_velocity(s, first + k, i, j, velocities, 0, world)
        slip[k], before[k] = velocity + n[world, first + k, ROW.bias], n[world, first + k, ROW.impulse]
    stopped = before
    for k in ti.static(range(2)):
        stopped[k] -= n[world, first + k, ROW.inverse] * slip[0] + n[world, first + k, ROW.inverse + 1] * slip[1]
    bound = n[world, first, ROW.high] * n[world, gap, ROW.impulse]
    new = within_cone(stopped, before, n[world, first, ROW.inverse + 3] * slip, bound)
    change = new - before
    largest = change.norm()
    if largest > 0.0:
        for k in ti.static(range(2)):
            n[world, first + k, ROW.impulse] = new[k]
            changed = s.formulation.apply_impulse(s, first + k, i, j, change[k], changed, 0, world)
    return largest, changed


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


@ti.func
def velocity_change(s: ti.template(), groups, stage: ti.template(), world):
    """Store J V of all rows. Returns: its largest change since the last call, times the row's effective mass [N s].

    Rows that contradict one another have no solution: a motor that still moves at 1e-5 m/s, and friction that holds its
    load to the ground. Each iteration then adds the same impulses, which cancel, up to the bounds of friction. That
    takes thousands of iterations, in which no velocity changes.
    """
    n = ti.static(s.rows.numbers)
    largest = 0.0
    for group in range(groups):
        kind = s.rows.kinds[world, group]
        if is_awake(s, group, world) and is_solved(s, group, kind, stage, world):
            first, count = s.rows.groups[world, group, GROUP.first], s.rows.groups[world, group, GROUP.count]
            for row in range(first, first + count):
                i, j = bodies_of(s.rows, group, row - first, world)
                velocities = s.formulation.load_velocities(s, i, j, stage, world)
                velocity = s.formulation.row_velocity(s, row, i, j, velocities, stage, world)
                change = effective_mass(s, group, row, world) * ti.abs(velocity - n[world, row, ROW.velocity])
                n[world, row, ROW.velocity] = velocity
                largest = ti.max(largest, change)
    return largest


@ti.func
def effective_mass(s: ti.template(), group, row, world):
    """The impulse along a row that its group answers a residual of one with [kg or kg m²]."""
    first, found, column = s.rows.groups[world, group, GROUP.first], row, ROW.inverse
    form = s.rows.groups[world, group, GROUP.form]
    together = form == Form.SLIP
    if ti.static(s.features.block):
        together = together or form == Form.BLOCK
    if together:
        column = ROW.inverse + row - first
    elif form == Form.PAIR:
        found = first
    return s.rows.numbers[world, found, column]
