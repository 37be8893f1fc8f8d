"""One row of the direct solve: its gradients, its violation, and its impulse. See pbd/direct/solve.py."""

import taichi as ti

from pbd.constraints.constraint_type import evaluate_function
from pbd.data import DIRECT_RANGE, RANGE
from pbd.direct.mobility import weigh
from pbd.projection import read_constraint

# Values of `s.direct.active` of an inequality. A dropped one is not active before the next iteration. They are real
# numbers, because integers do not differ between worlds in lanes (pbd/core/kernels/lanes).
INACTIVE, ACTIVE, DROPPED = 0.0, 1.0, 2.0

# A row is not solved if contacts leave less than this part of ∇C·W∇C: they hold its particles.
HELD = 1e-12
# What contacts take of ∇C·W∇C makes the diagonal of A larger by this part of it, because A may become singular.
CONTACT_SOFTNESS = 1e-8


@ti.func
def first_entry(definition: ti.template(), index: ti.template(), s: ti.template(), row):
    """Where the gradients of a row begin."""
    begin = s.direct.ranges[index, DIRECT_RANGE.begin]
    return s.direct.ranges[index, DIRECT_RANGE.entries] + (row - begin) * definition.arity


@ti.func
def write_gradients(definition: ti.template(), index: ti.template(), s: ti.template(), row, from_start, world):
    """Write the gradients of a row, and its compliance α'. Args: from_start: see `factor`."""
    if ti.static(definition.at_least):
        if s.direct.active[row, world] == ACTIVE:
            evaluate_gradients(definition, index, s, row, from_start, world)
        else:
            clear_gradients(definition, index, s, row, world)
    else:
        evaluate_gradients(definition, index, s, row, from_start, world)


@ti.func
def evaluate_gradients(definition: ti.template(), index: ti.template(), s: ti.template(), row, from_start, world):
    """Compute what `write_gradients` writes."""
    i, q, parameters, number = read_constraint(definition, index, s, s.direct.constraint[row], world)
    arity = ti.static(definition.arity)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(arity))]
    start = start_positions(definition, s, i, x, world)
    if from_start:
        for k in ti.static(range(arity)):
            x[k] = s.particles.previous_position[i[k], world]
    gradient = evaluate_function(definition, x, start, parameters)[1]
    entry = first_entry(definition, index, s, row)
    whole, free, inverse = 0.0, 0.0, 0.0
    for k in ti.static(range(arity)):
        weighted = weigh(s, i[k], gradient[k], world)
        s.direct.gradient[entry + k, world] = gradient[k]
        s.direct.weighted[entry + k, world] = weighted
        whole += gradient[k].dot(weighted)
        free += q[k][3] * gradient[k].norm_sqr()
    compliance = 0.0
    if ti.static(s.features.touching):
        if whole < HELD * free:  # contacts hold all particles of the row
            whole = 0.0
            for k in ti.static(range(arity)):
                s.direct.weighted[entry + k, world] = ti.Vector([0.0, 0.0, 0.0])
        compliance = CONTACT_SOFTNESS * (free - whole)
        if whole == 0.0:
            compliance = 0.0
    if whole > 0.0:
        inverse = 1.0 / whole
    s.direct.inverse_product[row, world] = inverse
    if ti.static(definition.compliance):
        compliance += s.constraints.parameters[number, world] / (s.settings.h * s.settings.h)
    s.direct.compliance[s.direct.place[row], world] = compliance


@ti.func
def clear_gradients(definition: ti.template(), index: ti.template(), s: ti.template(), row, world):
    """Let an inequality that is not active have no gradients."""
    entry = first_entry(definition, index, s, row)
    for k in range(entry, entry + definition.arity):
        s.direct.gradient[k, world] = ti.Vector([0.0, 0.0, 0.0])
        s.direct.weighted[k, world] = ti.Vector([0.0, 0.0, 0.0])


@ti.func
def start_positions(definition: ti.template(), s: ti.template(), i, x, world):
    """Positions of members i at the start of the substep if the type needs the time, otherwise x."""
    previous, earlier = ti.static(s.particles.previous_position, definition.needs_time)
    return [previous[i[k], world] if ti.static(earlier) else x[k] for k in ti.static(range(definition.arity))]


@ti.func
def evaluate_row(definition: ti.template(), index: ti.template(), s: ti.template(), row, world):
    """C + α' λ of a row, and ∇C·W∇C₀/∇C₀·W∇C₀, see `alignment`; 1 for an inequality that is not active."""
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
    along, compared = 1.0, True
    if ti.static(definition.at_least):
        compared = s.direct.active[row, world] == ACTIVE  # others have no gradient in the factor
    if compared:
        along = alignment(definition, index, s, row, q, gradient, world)
    return C, along


@ti.func
def alignment(definition: ti.template(), index: ti.template(), s: ti.template(), row, q, gradient, world):
    """How far a gradient has the direction of that in the factor. Args: q: positions with inverse masses; gradient."""
    entry = first_entry(definition, index, s, row)
    member = s.constraints.ranges[index, RANGE.members] + s.direct.constraint[row] * definition.arity
    along, inverse = 0.0, s.direct.inverse_product[row, world]
    for k in ti.static(range(definition.arity)):
        along += gradient[k].dot(s.direct.weighted[entry + k, world])
    along *= inverse
    if inverse == 0.0:  # it had no direction before, as between particles at one place
        now = 0.0
        for k in ti.static(range(definition.arity)):
            now += gradient[k].dot(weigh(s, s.constraints.members[member + k], gradient[k], world))
        along = ti.select(now > 0.0, 0.0, 1.0)
    return along


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
def rate_of_row(definition: ti.template(), index: ti.template(), s: ti.template(), row, vectors: ti.template(), world):
    """∇C·u of a row. Args: vectors: u, an array (particles, worlds)."""
    member = s.constraints.ranges[index, RANGE.members] + s.direct.constraint[row] * definition.arity
    entry = first_entry(definition, index, s, row)
    rate = 0.0
    for k in ti.static(range(definition.arity)):
        rate += s.direct.gradient[entry + k, world].dot(vectors[s.constraints.members[member + k], world])
    return rate


@ti.func
def subtract_row(
    definition: ti.template(), index: ti.template(), s: ti.template(), row, factor,
    gradients: ti.template(), vectors: ti.template(), world,
):  # fmt: skip
    """Subtract ∇C or W ∇C of a row, times a factor. Args: gradients (entries, worlds); vectors (particles, worlds)."""
    member = s.constraints.ranges[index, RANGE.members] + s.direct.constraint[row] * definition.arity
    entry = first_entry(definition, index, s, row)
    for k in ti.static(range(definition.arity)):
        i = s.constraints.members[member + k]
        vectors[i, world] = vectors[i, world] - factor * gradients[entry + k, world]


@ti.func
def move(s: ti.template(), i, displacement, world):
    """Move particle i, and note by how much if tension may be stiff."""
    q = s.particles.position[i, world]
    x = ti.Vector([q[0], q[1], q[2]]) + displacement
    s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], q[3]])
    if ti.static(s.features.has_mobilities):
        s.direct.moved[i, world] = s.direct.moved[i, world] + displacement
