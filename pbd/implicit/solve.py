"""Elements solved together: one step of Newton for all membranes and plates, in each iteration.

Implicit Euler with the forces of elements is M (x - x̃) = Σ ∇Cᵀ λ, where each element has the λ of its law,
C + α' λ = 0. Nothing is kept from the iteration before, so what iterations have not reached yet makes no element
softer: at rest x is a solution, however few there are. An iteration is

    r = M (x̃ + d - x) + Σ ∇Cᵀ λ,   B δ = r,   x := x + δ,   B = M + Σ ∇Cᵀ ∇C/α' + Σ (tension across threads)

It begins at the positions x_n of the substep's start, and d is by how much other constraints have moved each particle
since: their impulses stay. Colliders hold particles in this step (contacts.py). B is made at x_n of a step and factored
(blocks.py), or solved with by conjugate gradients (conjugate.py) where there are too many elements for that. It is made
anew where iterations do not converge with it. It decides how many they are, but not where they lead.

Direction "current" takes the gradients at x: implicit Euler, for any step. Direction "start" takes those at x_n, which
keeps angular momentum, for steps in which what tension holds across threads swings by a part of its period only.

Plates have coupled λ (pbd/constraints/plate.py), which sweeps find. In B they are as if they were not, and stiffer, so
that B is no less than the derivative of -r: then r falls in each iteration.

Sources: Baraff and Witkin, Large Steps in Cloth Simulation (1998); Teran, Sifakis, Irving, Fedkiw, Robust Quasistatic
Finite Elements and Flesh Simulation (2005), for a B that is positive.
"""

import taichi as ti

from pbd.core.kernels import any_world
from pbd.data import RANGE, REPORT
from pbd.execution.phases import for_each_world, input_rows, project_each_world
from pbd.implicit import linear
from pbd.implicit.blocks import dyad, transposed
from pbd.implicit.contacts import (
    HUGE,
    add_friction,
    begin_contacts,
    choose_holds,
    hold,
    restart,
    restrict,
    touch_colliders,
)
from pbd.implicit.gas import add_pressures, solve_with_gases
from pbd.implicit.recovery import is_tangled, recover
from pbd.implicit.symmetric import soften_by_rule
from pbd.integrate import acceleration, position
from pbd.projection import compliance_of, place_of, read_constraint, read_multipliers, soften, sums_of_others, values_of

# Sweeps over coupled λ go on until none changes by more than this part of the largest, and no longer than this.
RELAXED, MOST_SWEEPS = 1e-3, 40

# The matrix is kept for the next substep if displacements are shorter than this part of those of the iteration before,
# or negligible: shorter than this part of an element.
KEPT, NEGLIGIBLE = 0.5, 1e-4

MOST_HALVINGS = 20.0  # of the displacements of an iteration, see `descend`


@ti.func
def begin(s: ti.template(), substep, world):
    """Begin a substep, if elements are solved together."""
    if ti.static(s.features.together):
        for_each_world(s, begin_world, substep, world)


@ti.func
def project(s: ti.template(), substep, world):
    """Make an iteration, if elements are solved together. Returns: the longest displacement of a particle in it [m]."""
    longest = 0.0
    if ti.static(s.features.together):
        longest = project_each_world(s, solve_elements, substep, world)
    return longest


@ti.func
def touch(s: ti.template(), substep, world):
    """Keep particles of elements out of colliders. Returns: the deepest that one was inside [m]."""
    deepest = 0.0
    if ti.static(s.features.together and s.features.obstacles):
        deepest = project_each_world(s, touch_colliders, substep, world)
    return deepest


@ti.func
def begin_world(s: ti.template(), substep, world):
    """Start a substep at the positions of its start, and factor the matrix there."""
    m = ti.static(s.implicit)
    if ti.static(s.features.has_solids):
        recover(s, world)
    for place in range(s.counts.implicit):
        i = m.node[place]
        q, start = s.particles.position[i, world], s.particles.previous_position[i, world]
        predicted = ti.Vector([q[0], q[1], q[2]])
        m.aim[place, world] = predicted
        if q[3] > 0.0:
            s.particles.position[i, world] = ti.Vector([start[0], start[1], start[2], q[3]])
            predicted = start
        m.left[place, world] = predicted
    if ti.static(s.features.obstacles):
        begin_contacts(s, substep, world)
    m.longest[world] = HUGE
    is_first = substep % s.settings.substeps == 0
    if is_first or ti.static(s.features.parts) or m.kept[world] == 0.0:
        find_multipliers(s, substep, world)
        make_matrix(s, substep, world)
    m.kept[world] = 0.0


@ti.func
def solve_elements(s: ti.template(), substep, world):
    """Make an iteration. Returns: the longest displacement of a particle in it [m].

    Where displacements become longer, elements have turned since the matrix was made: it is made anew.
    """
    m = ti.static(s.implicit)
    for place in range(s.counts.implicit):
        m.aim[place, world] = m.aim[place, world] + position(s, m.node[place], world) - m.left[place, world]
    if ti.static(s.features.obstacles):
        restart(s, substep, world)
    longest, is_other, is_again, is_chosen, is_left = 0.0, False, False, False, True
    while any_world(is_left):
        if is_left:  # always, but for worlds in lanes that have ended before others
            if not is_again:
                find_multipliers(s, substep, world)
            find_impulses(s, world)
            is_moved = False
            if ti.static(s.features.obstacles):
                if not is_chosen:
                    is_moved, is_other = choose_holds(s, substep, world)
                is_chosen = True
                if not is_moved:
                    add_friction(s, world)
            if not is_moved:
                if is_again or is_other:
                    make_matrix(s, substep, world)
                longest = solve_for_displacements(s, world)
                is_longer = longest > m.longest[world] and longest > NEGLIGIBLE * m.extent[0, world]
                is_again = is_longer and not (is_again or is_other)
                is_left = is_again
    is_good = m.longest[world] < HUGE and longest < KEPT * m.longest[world]
    m.kept[world] = ti.select(is_good or longest <= NEGLIGIBLE * m.extent[0, world], 1.0, 0.0)
    if ti.static(s.features.descends):
        descend(s, substep, longest, world)
    else:
        move_along(s, 1.0, world)
    for place in range(s.counts.implicit):
        m.left[place, world] = position(s, m.node[place], world)
    m.longest[world] = longest
    return longest


@ti.func
def move_along(s: ti.template(), part, world):
    """Move particles along the displacements of an iteration. Args: part: of them."""
    m = ti.static(s.implicit)
    for place in range(s.counts.implicit):
        i = m.node[place]
        x, w = position(s, i, world), s.particles.position[i, world][3]
        if w > 0.0:
            x += part * m.unknown[place, world]
            s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], w])


@ti.func
def descend(s: ti.template(), substep, longest, world):
    """Move particles along the displacements, but no farther than to where two energies of the substep are less.

    Iterations lead to the least of the first, M (x - x̃)²/2 + h² V of what elements store. The second is what is added
    to all energy, M (x - x_n)²/2 - M (x̃ - x_n - h² a)²/2 - h² M a·(x - x_n) + h² (V - V_n) with accelerations a. It
    begins at x_n, where nothing moves, below zero, and it stays there. So no number of iterations adds to the energy,
    however many it would take to converge: a thread that whips about stretches at second order in a displacement, and
    it is stiff.

    Args: longest: displacement of a particle [m].
    """
    m = ti.static(s.implicit)
    part, halvings, again = 1.0, 0.0, True
    before = energies_of_substep(s, substep, world)
    if m.longest[world] == HUGE:
        m.stored[world] = before[2]
    move_along(s, part, world)
    while any_world(again):
        if again:
            now = energies_of_substep(s, substep, world)
            gained = ti.max(m.stored[world], before[1] + before[2])
            again = (now[0] + now[2] > before[0] + before[2] or now[1] + now[2] > gained) and halvings < MOST_HALVINGS
            again = again and longest > NEGLIGIBLE * m.extent[0, world]
            if again:
                part *= 0.5
                move_along(s, -part, world)
                halvings += 1.0


@ti.func
def energies_of_substep(s: ti.template(), substep, world):
    """See `descend` [kg m²]: the parts of both energies without elements, and what elements store."""
    m = ti.static(s.implicit)
    row, _ = input_rows(s, substep)
    first, second, stored = 0.0, 0.0, 0.0
    for place in range(s.counts.implicit):
        i = m.node[place]
        w = s.particles.position[i, world][3]
        if w > 0.0:
            start = s.particles.previous_position[i, world]
            moved, aimed = position(s, i, world) - start, m.aim[place, world] - start
            driven = acceleration(s, row, i, world) * s.settings.h**2
            first += (moved - aimed).norm_sqr() / (2.0 * w)
            second += (moved.norm_sqr() - (aimed - driven).norm_sqr() - 2.0 * driven.dot(moved)) / (2.0 * w)
    for index in ti.static(s.features.implicit):
        for c in range(s.constraints.ranges[index, RANGE.count]):
            stored += energy_of_law(s.features.types[index], index, s, c, substep, world)
    return ti.Vector([first, second, stored])


@ti.func
def energy_of_law(definition: ti.template(), index: ti.template(), s: ti.template(), c, substep, world):
    """What an element stores by its law, α' λ²/2 [kg m²]."""
    i, q, parameters, number = read_constraint(definition, index, s, c, world)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
    start = [s.particles.previous_position[i[k], world] for k in ti.static(range(definition.arity))]
    none = [0.0 for k in ti.static(range(definition.multipliers))]
    compliance = compliance_of(definition, index, s, number, world)
    softened, shift = soften(definition, start, parameters, compliance, none, s.settings.h)
    C = values_of(definition, x, parameters)
    total = 0.0
    for k in ti.static(range(definition.multipliers)):
        total += 0.5 * softened * (shift[k] - C[k] / softened) ** 2
    return total


@ti.func
def find_impulses(s: ti.template(), world):
    """Find the right side r."""
    m = ti.static(s.implicit)
    for place in range(s.counts.implicit):
        i = m.node[place]
        w, r = s.particles.position[i, world][3], ti.Vector([0.0, 0.0, 0.0])
        if w > 0.0:
            r = (m.aim[place, world] - position(s, i, world)) / w
        m.unknown[place, world] = r
    for index in ti.static(s.features.implicit):
        for c in range(s.constraints.ranges[index, RANGE.count]):
            add_forces(s.features.types[index], index, s, c, world)
    if ti.static(s.features.gases):
        add_pressures(s, world)


@ti.func
def solve_for_displacements(s: ti.template(), world):
    """Solve for the displacements of an iteration. Returns: the longest of a particle that can move [m]."""
    m = ti.static(s.implicit)
    if ti.static(s.features.obstacles):
        restrict(s, world)
    measure_imbalance(s, world)
    if ti.static(s.features.gases):
        solve_with_gases(s, world)
    else:
        linear.solve(s, world)
    longest = 0.0
    for place in range(s.counts.implicit):
        if s.particles.position[m.node[place], world][3] > 0.0:
            longest = ti.max(longest, m.unknown[place, world].norm())
    return longest


@ti.func
def measure_imbalance(s: ti.template(), world):
    """Report the largest force that is not balanced before an iteration, |r|/h² of a particle that can move [N]."""
    m = ti.static(s.implicit)
    largest = 0.0
    for place in range(s.counts.implicit):
        if s.particles.position[m.node[place], world][3] > 0.0:
            largest = ti.max(largest, m.unknown[place, world].norm())
    s.report[world, REPORT.imbalance] = largest / s.settings.h**2


@ti.func
def find_multipliers(s: ti.template(), substep, world):
    """Find λ of all elements at the present positions."""
    for index in ti.static(s.features.implicit):
        if ti.static(s.features.types[index].coupled):
            relax(s.features.types[index], index, s, substep, world)
        else:
            for c in range(s.constraints.ranges[index, RANGE.count]):
                write_law(s.features.types[index], index, s, c, substep, world)


@ti.func
def relax(definition: ti.template(), index: ti.template(), s: ti.template(), substep, world):
    """Find coupled λ, by Gauss and Seidel."""
    sweeps, change, largest = 0, 1.0, 0.0
    while sweeps < MOST_SWEEPS and change > RELAXED * largest:
        change, largest = 0.0, 0.0
        for c in range(s.constraints.ranges[index, RANGE.count]):
            changed, size = write_law(definition, index, s, c, substep, world)
            change, largest = ti.max(change, changed), ti.max(largest, size)
        sweeps += 1


@ti.func
def write_law(definition: ti.template(), index: ti.template(), s: ti.template(), c, substep, world):
    """Write the λ of element c: C + α' λ = 0. Returns: the largest |Δλ| and the largest |λ| of its rows."""
    i, q, parameters, number = read_constraint(definition, index, s, c, world)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
    start = [s.particles.previous_position[i[k], world] for k in ti.static(range(definition.arity))]
    w = [q[k][3] for k in ti.static(range(definition.arity))]
    others = sums_of_others(definition, index, s, s.constraints.multipliers, c, parameters, world)
    compliance = compliance_of(definition, index, s, number, world)
    softened, shift = soften_by_rule(definition, s, i, start, w, parameters, compliance, others, world)
    C = definition.derivatives(x, parameters)[0]
    place, changed, size = place_of(definition, index, s, c), 0.0, 0.0
    for k in ti.static(range(definition.multipliers)):
        before, new = s.constraints.multipliers[place + k, world], shift[k] - C[k] / softened
        s.constraints.multipliers[place + k, world] = new
        changed, size = ti.max(changed, ti.abs(new - before)), ti.max(size, ti.abs(new))
    return changed, size


@ti.func
def gradients_of(definition: ti.template(), s: ti.template(), i, q, parameters, multipliers, world):
    """The gradients of an element's rows, along which it pushes: at x, or at the start of the substep."""
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
    start = [s.particles.previous_position[i[k], world] for k in ti.static(range(definition.arity))]
    if ti.static(not s.features.from_start):
        return definition.derivatives(x, parameters)[1]
    elif ti.static(definition.turns_back):
        return definition.turned_back(x, start, [each[3] for each in ti.static(q)], parameters, multipliers)
    else:
        return definition.derivatives(start, parameters)[1]


@ti.func
def add_forces(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Add the impulses of element c to the right side."""
    m = ti.static(s.implicit)
    i, q, parameters, _ = read_constraint(definition, index, s, c, world)
    multipliers = read_multipliers(definition, index, s, c, world)
    gradients = gradients_of(definition, s, i, q, parameters, multipliers, world)
    for k in ti.static(range(definition.arity)):
        impulse = multipliers[0] * gradients[0][k]
        for row in ti.static(range(1, definition.multipliers)):
            impulse += multipliers[row] * gradients[row][k]
        if q[k][3] > 0.0 and not is_tangled(definition, s, i, world):
            m.unknown[m.place[i[k]], world] = m.unknown[m.place[i[k]], world] + impulse


@ti.func
def make_matrix(s: ti.template(), substep, world):
    """Write and factor the matrix at the present positions."""
    assemble(s, substep, world)
    if ti.static(s.features.obstacles):
        hold(s, world)
    linear.prepare(s, world)


@ti.func
def assemble(s: ti.template(), substep, world):
    """Write the matrix B: masses, and what elements add."""
    m = ti.static(s.implicit)
    for t in range(m.first[s.counts.implicit]):
        m.scaled[t, world] = ti.Vector([0.0 for k in ti.static(range(9))])
    for place in range(s.counts.implicit):
        w, mass = s.particles.position[m.node[place], world][3], 1.0
        if w > 0.0:
            mass = 1.0 / w
        m.scaled[m.first[place], world] = mass * ti.Vector([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    for index in ti.static(s.features.implicit):
        for c in range(s.constraints.ranges[index, RANGE.count]):
            add_stiffness(s.features.types[index], index, s, c, world)


@ti.func
def add_stiffness(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Add the blocks of element c to B, between particles that can move."""
    m = ti.static(s.implicit)
    i, q, parameters, number = read_constraint(definition, index, s, c, world)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
    w = [q[k][3] for k in ti.static(range(definition.arity))]
    compliance = compliance_of(definition, index, s, number, world)
    others = [0.0 for k in ti.static(range(definition.multipliers))]
    softened, _shift = soften_by_rule(definition, s, i, x, w, parameters, compliance, others, world)
    stiffness = 1.0 / (softened * stiffening(definition, parameters))
    gradients = definition.derivatives(x, parameters)[1]
    added = tension(definition, index, s, c, x, parameters, stiffness, world)
    target = m.begins[index] + c * ti.static(definition.arity * (definition.arity + 1) // 2)
    for a in ti.static(range(definition.arity)):
        for b in ti.static(range(a + 1)):
            if q[a][3] > 0.0 and q[b][3] > 0.0 and not is_tangled(definition, s, i, world):
                block = added[ti.static(a * (a + 1) // 2 + b)]
                for row in ti.static(range(definition.multipliers)):
                    block += dyad(stiffness * gradients[row][a], gradients[row][b])
                to = m.targets[target + ti.static(a * (a + 1) // 2 + b)]
                if to % 2 == 1:
                    block = transposed(block)
                m.scaled[to // 2, world] = m.scaled[to // 2, world] + block


@ti.func
def tension(definition: ti.template(), index: ti.template(), s: ti.template(), c, x, parameters, stiffness, world):
    """What the multipliers of an element add to the blocks of its pairs of members, a list."""
    if ti.static(definition.has_tension):
        multipliers = read_multipliers(definition, index, s, c, world)
        return definition.tension(x, parameters, multipliers, stiffness)
    else:
        none = ti.Vector([0.0 for k in ti.static(range(9))])
        return [none for k in ti.static(range(definition.arity * (definition.arity + 1) // 2))]


@ti.func
def stiffening(definition: ti.template(), parameters):
    """Of coupled types, the part of α' that is no more than all α together; one for others."""
    if ti.static(definition.coupled):
        return parameters[ti.static(definition.first_ratio - 1)]
    else:
        return 1.0
