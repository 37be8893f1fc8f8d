"""Direct projection: many constraints at once, by one sparse factorisation in each substep.

    A = J W Jᵀ + α',   A = L D Lᵀ                       once, `factor`
    A λ' = -(C(x) + α' λ),   λ := λ + λ',   x := x + W Jᵀ λ'       in each iteration, `solve`

J are the gradients at the start of the substep ("start", SHAKE) or where the factor is made ("current"). W are inverse
masses, α' = α/h² compliances as in XPBD. C is taken at the present positions, so repeated solves converge to C = 0, and
impulses keep their directions: momentum is conserved, with "start" also angular momentum. The diagonal of A is a little
larger (rows.py, SOFTNESS), because A is singular where rows depend on one another.

An inequality C >= 0, such as a limit of a joint, is solved as C = 0 while it is active (`choose_active`). Else its
gradients are zero.

The nodes of a light rope under a high tension swing across in less than a step, and these solves would diverge: a
stick of length d with the multiplier λ < 0 resists displacements across itself with the stiffness -λ/d [kg, as all is
divided by h²], which can exceed the masses. Where it does, it is added to the masses of nodes, twice as large, which
bounds the matrix of a chain, and J and W are taken anew in each iteration. Nodes are particles with one or two rows;
others are held across by further rows. With these masses M̃ the solve is a quasi-Newton method for M u = Jᵀ λ, C = 0,
where u is what the solve has moved particles by:

    r = M u - Jᵀ λ,   A λ' = -(C + α' λ) + J W̃ r,   u' = W̃ (Jᵀ λ' - r)

It converges to the same impulses. Until it has converged, momentum changes by the residual r.

Sources: Ryckaert, Ciccotti, Berendsen (1977), the method of matrices; Kräutler, van Gunsteren, Hünenberger, A fast
SHAKE algorithm (2001); Macklin, Müller, Chentanez, XPBD (2016), equation 18 for all constraints together; Tournier and
others, Stable Constrained Dynamics (2015), and Andrews and others, Geometric Stiffness for Real-time Constrained
Multibody Dynamics (2017), for tension.
"""

import taichi as ti

from pbd.constraints.constraint_type import evaluate_function
from pbd.data import DIRECT_RANGE, RANGE
from pbd.projection import read_constraint

# Where a gradient has turned by more than 18° since the factor was made, as in an impact, A is factored anew. Solves
# with old gradients would not converge.
LEAST_ALIGNMENT = 0.95

# Tension counts where it is stiffer than this part of a node's mass. Below, SHAKE is stable, and keeps momentum.
LEAST_STIFFNESS = 0.5

# What `evaluate` finds: the largest violation, the largest by the size of its row, the least alignment of a gradient
# with that in the factor (`evaluate_row`), and whether other inequalities are active than before.
Evaluation = ti.types.struct(worst=float, by_size=float, alignment=float, changed=bool)

# Values of `s.direct.factored`.
NOT_FACTORED, FACTORED, STIFF = 0, 1, 2


@ti.func
def begin(s: ti.template(), substep, world):
    """Begin a substep: A is not factored, nothing was moved, and particles have their own masses."""
    s.direct.factored[place_of_state(s, world)] = NOT_FACTORED
    for i in range(s.counts.particles):
        s.direct.moved[i, world] = ti.Vector([0.0, 0.0, 0.0])
        s.direct.inverse_mass[i, world] = s.particles.position[i, world][3]
    for row in range(s.counts.direct_rows):
        s.direct.multiplier[row, world] = 0.0
        s.direct.active[row, world] = 0


@ti.func
def place_of_state(s: ti.template(), world):
    """The index of a world, read from an array.

    If it were constant in the loops over substeps, parts and iterations, Taichi at opt_level=0 would miscompile them
    (pbd/core/kernels.py): a solve would not see what the one before has stored, and contacts would not be counted.
    """
    return world + s.direct.first[0]  # zero


@ti.func
def factor(s: ti.template(), from_start, world):
    """Evaluate the gradients, and factor A. Args: from_start: whether at the start of the substep."""
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            write_gradients(s.features.types[index], index, s, row, from_start, world)
    for column in range(s.counts.direct_rows):
        factor_column(s, column, world)


@ti.func
def first_entry(definition: ti.template(), index: ti.template(), s: ti.template(), row):
    """Where the gradients of a row begin."""
    begin = s.direct.ranges[index, DIRECT_RANGE.begin]
    return s.direct.ranges[index, DIRECT_RANGE.entries] + (row - begin) * definition.arity


@ti.func
def write_gradients(definition: ti.template(), index: ti.template(), s: ti.template(), row, from_start, world):
    """Write the gradients of a row, and its compliance α'. Args: from_start: see `factor`."""
    i, q, parameters, number = read_constraint(definition, index, s, s.direct.constraint[row], world)
    arity = ti.static(definition.arity)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(arity))]
    start = start_positions(definition, s, i, x, world)
    if from_start:
        for k in ti.static(range(arity)):
            x[k] = s.particles.previous_position[i[k], world]
    gradient = evaluate_function(definition, x, start, parameters)[1]
    entry = first_entry(definition, index, s, row)
    for k in ti.static(range(arity)):
        if ti.static(definition.at_least):
            gradient[k] *= ti.cast(s.direct.active[row, world], float)
        s.direct.gradient[entry + k, world] = gradient[k]
        s.direct.weighted[entry + k, world] = s.direct.inverse_mass[i[k], world] * gradient[k]
    compliance = 0.0
    if ti.static(definition.compliance):
        compliance = s.constraints.parameters[number, world] / (s.settings.h * s.settings.h)
    s.direct.compliance[s.direct.place[row], world] = compliance


@ti.func
def start_positions(definition: ti.template(), s: ti.template(), i, x, world):
    """Positions of members i at the start of the substep if the type needs the time, otherwise x."""
    previous, earlier = ti.static(s.particles.previous_position, definition.needs_time)
    return [previous[i[k], world] if ti.static(earlier) else x[k] for k in ti.static(range(definition.arity))]


@ti.func
def factor_column(s: ti.template(), column, world):
    """Compute a column of L, and the inverse of its pivot, which stands in place of the diagonal."""
    first, end = s.direct.first[column], s.direct.first[column + 1]
    inverse = 0.0
    for t in range(first, end):
        total = 0.0
        for k in range(s.direct.sums[t, 0], s.direct.sums[t + 1, 0]):
            a, b = s.direct.products[k, 0], s.direct.products[k, 1]
            total += s.direct.gradient[a, world].dot(s.direct.weighted[b, world])
        if t == first:
            total = (total + s.direct.compliance[column, world]) * (1.0 + s.direct.softness[column])
        for k in range(s.direct.sums[t, 1], s.direct.sums[t + 1, 1]):
            a, b = s.direct.updates[k, 0], s.direct.updates[k, 1]
            total -= s.direct.lower[a, world] * s.direct.scaled[b, world]
        if t == first:
            if total > 0.0:  # otherwise no particle of the row can move, or it was cut
                inverse = 1.0 / total
            s.direct.lower[t, world] = inverse
        else:
            s.direct.scaled[t, world] = total
            s.direct.lower[t, world] = total * inverse


@ti.func
def solve(s: ti.template(), substep, world):
    """Project all constraints of the direct solve at once. Returns: the largest violation before."""
    found = evaluate(s, world)
    correct(s, found, world)
    return found.worst


@ti.func
def correct(s: ti.template(), found, world):
    """Move all particles to where the violations vanish to first order. Args: found: an Evaluation."""
    state, again = s.direct.factored[place_of_state(s, world)], True
    while again:
        again = False
        if ti.static(s.features.rope_nodes):
            if state == STIFF:
                add_stiffness(s, world)
        turned = found.alignment < LEAST_ALIGNMENT
        if state != FACTORED or turned or found.changed:
            at_start = ti.static(s.features.from_start) and state != STIFF and (state == NOT_FACTORED or not turned)
            factor(s, at_start, world)
        if ti.static(s.features.rope_nodes):
            if state == STIFF:
                subtract_residual(s, world)
        substitute(s, world)
        apply(s, world)
        if state == NOT_FACTORED:
            state = FACTORED
            if ti.static(s.features.rope_nodes):
                if is_stiff(s, world):
                    # Solve this iteration again, with the multipliers that it found.
                    take_back(s, world)
                    evaluate(s, world)
                    state, again = STIFF, True
    s.direct.factored[place_of_state(s, world)] = state


@ti.func
def evaluate(s: ti.template(), world):
    """Choose the inequalities that are active, and write the right sides. Returns: an Evaluation."""
    changed = choose_active(s, world)
    worst, by_size, alignment = 0.0, 0.0, 1.0
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            C, along = evaluate_row(s.features.types[index], index, s, row, world)
            if ti.static(s.features.types[index].at_least):
                if s.direct.active[row, world] == 0:
                    C, along = 0.0, 1.0
            s.direct.unknown[s.direct.place[row], world] = -C
            worst, by_size = ti.max(worst, ti.abs(C)), ti.max(by_size, ti.abs(C) / s.direct.size[row])
            alignment = ti.min(alignment, along)
    return Evaluation(worst=worst, by_size=by_size, alignment=alignment, changed=changed)


@ti.func
def choose_active(s: ti.template(), world):
    """Make inequalities active that are violated, and let those go that pull. Returns: whether anything changed.

    An active inequality C >= 0 is solved as an equality. Its multiplier λ must be positive. If it is not, its impulse
    is taken back.
    """
    changed = False
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].at_least):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                place, was = s.direct.place[row], s.direct.active[row, world]
                now = s.direct.multiplier[place, world] > 0.0
                if was == 1 and not now:
                    changed = True
                    s.direct.unknown[place, world] = -s.direct.multiplier[place, world]
                    apply_multiplier(s.features.types[index], index, s, row, world)
                if not now:
                    now = evaluate_row(s.features.types[index], index, s, row, world)[0] < 0.0
                s.direct.active[row, world] = ti.cast(now, int)
                changed = changed or (was == 1) != now
    return changed


@ti.func
def apply(s: ti.template(), world):
    """Add the multipliers, and move all particles."""
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            apply_multiplier(s.features.types[index], index, s, row, world)


@ti.func
def evaluate_row(definition: ti.template(), index: ti.template(), s: ti.template(), row, world):
    """C + α' λ of a row, and how far its gradient has the direction of that in the factor, ∇C·W∇C₀/∇C₀·W∇C₀."""
    c = s.direct.constraint[row]
    i, q, parameters, number = read_constraint(definition, index, s, c, world)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
    found = evaluate_function(definition, x, start_positions(definition, s, i, x, world), parameters)
    C, gradient = found[0], found[1]
    for k in ti.static(range(definition.state_size)):
        s.constraints.parameters[number - definition.state_size + k, world] = found[2][k]
    if ti.static(definition.compliance):
        compliance = s.constraints.parameters[number, world] / (s.settings.h * s.settings.h)
        C += compliance * s.constraints.multipliers[s.constraints.ranges[index, RANGE.multipliers] + c, world]
    entry = first_entry(definition, index, s, row)
    along, whole, now = 0.0, 0.0, 0.0
    for k in ti.static(range(definition.arity)):
        weighted = s.direct.weighted[entry + k, world]
        now += q[k][3] * gradient[k].norm_sqr()
        along += gradient[k].dot(weighted)
        whole += s.direct.gradient[entry + k, world].dot(weighted)
    if whole > 0.0:
        along /= whole
    else:
        along = ti.select(now > 0.0, 0.0, 1.0)  # it had no direction before, as between particles at one place
    return C, along


@ti.func
def substitute(s: ti.template(), world):
    """Solve L D Lᵀ λ = b in place: forward, then backward."""
    unknown, lower, rows = ti.static(s.direct.unknown, s.direct.lower, s.direct.rows)
    for column in range(s.counts.direct_rows):
        first = s.direct.first[column]
        value = unknown[column, world]
        for t in range(first + 1, s.direct.first[column + 1]):
            unknown[rows[t], world] = unknown[rows[t], world] - lower[t, world] * value
        unknown[column, world] = value * lower[first, world]
    for k in range(s.counts.direct_rows):
        column = s.counts.direct_rows - 1 - k
        value = unknown[column, world]
        for t in range(s.direct.first[column] + 1, s.direct.first[column + 1]):
            value -= lower[t, world] * unknown[rows[t], world]
        unknown[column, world] = value


@ti.func
def apply_multiplier(definition: ti.template(), index: ti.template(), s: ti.template(), row, world):
    """Add λ' to the multiplier of a row, and move its particles by W ∇C λ'."""
    place, c = s.direct.place[row], s.direct.constraint[row]
    change = s.direct.unknown[place, world]
    s.direct.multiplier[place, world] = s.direct.multiplier[place, world] + change
    if ti.static(definition.compliance):
        of_type = s.constraints.ranges[index, RANGE.multipliers] + c
        s.constraints.multipliers[of_type, world] = s.constraints.multipliers[of_type, world] + change
    member = s.constraints.ranges[index, RANGE.members] + c * definition.arity
    entry = first_entry(definition, index, s, row)
    for k in ti.static(range(definition.arity)):
        move(s, s.constraints.members[member + k], change * s.direct.weighted[entry + k, world], world)


@ti.func
def move(s: ti.template(), i, displacement, world):
    """Move particle i, and note by how much."""
    q = s.particles.position[i, world]
    x = ti.Vector([q[0], q[1], q[2]]) + displacement
    s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], q[3]])
    s.direct.moved[i, world] = s.direct.moved[i, world] + displacement


# Tension --------------------------------------------------------------------------------------------------------------


@ti.func
def take_back(s: ti.template(), world):
    """Move all particles back to where they were before the direct solve."""
    for i in range(s.counts.particles):
        move(s, i, -s.direct.moved[i, world], world)
        s.direct.moved[i, world] = ti.Vector([0.0, 0.0, 0.0])


@ti.func
def is_stiff(s: ti.template(), world):
    """Whether the tension of sticks is stiffer than LEAST_STIFFNESS of the mass of a node between them."""
    sum_stiffness(s, world)
    stiff = False
    for i in range(s.counts.particles):
        stiff = stiff or s.direct.stiffness[i, world] * s.particles.position[i, world][3] > LEAST_STIFFNESS
    return stiff


@ti.func
def add_stiffness(s: ti.template(), world):
    """Compute inverse masses of nodes with the stiffness of tension."""
    sum_stiffness(s, world)
    for i in range(s.counts.particles):
        w = s.particles.position[i, world][3]
        s.direct.inverse_mass[i, world] = w / (1.0 + w * s.direct.stiffness[i, world])


@ti.func
def sum_stiffness(s: ti.template(), world):
    """Sum the stiffness of the sticks at each node."""
    of_node = ti.static(s.direct.stiffness)
    for i in range(s.counts.particles):
        of_node[i, world] = 0.0
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].arity == 2):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                member = s.constraints.ranges[index, RANGE.members] + 2 * s.direct.constraint[row]
                i, j = s.constraints.members[member], s.constraints.members[member + 1]
                a, b = s.particles.position[i, world], s.particles.position[j, world]
                distance = ti.Vector([b[0] - a[0], b[1] - a[1], b[2] - a[2]]).norm()
                tension = ti.max(-s.direct.multiplier[s.direct.place[row], world], 0.0)
                stiffness = 2.0 * tension / (distance + 1e-30)
                of_node[i, world] = of_node[i, world] + s.direct.is_node[i] * stiffness
                of_node[j, world] = of_node[j, world] + s.direct.is_node[j] * stiffness


@ti.func
def subtract_residual(s: ti.template(), world):
    """Move particles by -W̃ r, r = M u - Jᵀ λ, and change the right sides for it."""
    residual = ti.static(s.direct.momentum_residual)
    for i in range(s.counts.particles):
        residual[i, world] = s.direct.moved[i, world] / ti.max(s.particles.position[i, world][3], 1e-30)
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            add_to_residual(s.features.types[index], index, s, row, world)
    for i in range(s.counts.particles):
        residual[i, world] = -s.direct.inverse_mass[i, world] * residual[i, world]
        move(s, i, residual[i, world], world)
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            change_right_side(s.features.types[index], index, s, row, world)


@ti.func
def add_to_residual(definition: ti.template(), index: ti.template(), s: ti.template(), row, world):
    """Subtract ∇C λ of a row from the momentum residual of its particles."""
    multiplier = s.direct.multiplier[s.direct.place[row], world]
    member = s.constraints.ranges[index, RANGE.members] + s.direct.constraint[row] * definition.arity
    entry = first_entry(definition, index, s, row)
    for k in ti.static(range(definition.arity)):
        i = s.constraints.members[member + k]
        impulse = multiplier * s.direct.gradient[entry + k, world]
        s.direct.momentum_residual[i, world] = s.direct.momentum_residual[i, world] - impulse


@ti.func
def change_right_side(definition: ti.template(), index: ti.template(), s: ti.template(), row, world):
    """Subtract what the displacement by the momentum residual changes in C."""
    member = s.constraints.ranges[index, RANGE.members] + s.direct.constraint[row] * definition.arity
    entry = first_entry(definition, index, s, row)
    change = 0.0
    for k in ti.static(range(definition.arity)):
        displacement = s.direct.momentum_residual[s.constraints.members[member + k], world]
        change += s.direct.gradient[entry + k, world].dot(displacement)
    place = s.direct.place[row]
    s.direct.unknown[place, world] = s.direct.unknown[place, world] - change
