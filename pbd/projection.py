"""Projection of constraints, one after another, each with the positions that the one before left.

The schedule (pbd/schedule.py) says which constraints one thread projects, and in which order. The constraint type
(pbd/constraints) projects one constraint; here it is `definition`, and `index` is its place in `s.features.types`.

Source: Jakobsen, Advanced Character Physics (2001), section 4.
"""

from functools import cache

import taichi as ti

from pbd.constraints.constraint_type import LEAST_DAMPING
from pbd.core.kernels import count_last_turns
from pbd.data import RANGE, REPORT
from pbd.execution.halo import load_halo, of_band, store_halo
from pbd.execution.phases import count_worlds, report_violation

# Sweeps over coupled constraints for their energy. Their compliances are well conditioned: a sweep leaves 0.2 to 0.5 of
# the error on regular meshes, 0.8 on a very irregular one.
SWEEPS = 30


NO_FRICTION = 1e-6  # the least r of friction alone, whose α'/r must be finite


@ti.func
def read_constraint(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Read constraint c of a type: members, positions with inverse masses, parameters; and where the parameters end."""
    first = s.constraints.ranges[index, RANGE.members] + c * definition.arity
    count = ti.static(len(definition.parameters))
    number = s.constraints.ranges[index, RANGE.parameters] + c * ti.static(count + definition.compliance)
    i = [s.constraints.members[first + k] for k in ti.static(range(definition.arity))]
    q = [s.particles.position[i[k], world] for k in ti.static(range(definition.arity))]
    parameters = [
        s.constraints.parameters[number + k, world] if ti.static(k < count) else s.settings.h
        for k in ti.static(range(len(definition.parameters) + definition.needs_time))
    ]
    return i, q, parameters, number + count


@ti.func
def project(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Project constraint c of a type, unless it is an inequality that is satisfied."""
    i, q, parameters, number = read_constraint(definition, index, s, c, world)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
    w = [q[k][3] for k in ti.static(range(definition.arity))]
    if ti.static(definition.may_be_skipped):
        if not definition.is_satisfied(x, parameters):
            replace_positions(definition, index, s, c, world, i, x, w, parameters, number)
    else:
        replace_positions(definition, index, s, c, world, i, x, w, parameters, number)


@ti.func
def replace_positions(
    definition: ti.template(), index: ti.template(), s: ti.template(), c, world, i, x, w, parameters, number
):
    """Replace the positions of members i by their projections."""
    earlier = ti.static(s.features.from_start or definition.needs_time or definition.damped)
    previous = ti.static(s.particles.previous_position)
    start = [previous[i[k], world] if ti.static(earlier) else x[k] for k in ti.static(range(definition.arity))]
    compliance = 0.0
    if ti.static(definition.compliance):
        compliance = compliance_of(definition, index, s, number, world)
    multipliers = read_multipliers(definition, index, s, c, world)
    others = sums_of_others(definition, index, s, s.constraints.multipliers, c, parameters, world)
    softened, shift = soften(definition, start, parameters, compliance, others, s.settings.h)
    shifted = [multipliers[k] - shift[k] for k in ti.static(range(definition.multipliers))]
    result = project_with(definition, x, start, w, parameters, softened, shifted, s.features.from_start)
    projected = result[0]
    write_multipliers(definition, index, s, c, world, result[1], shift)
    for k in ti.static(range(definition.state_size)):
        s.constraints.parameters[number - definition.state_size + k, world] = result[2][k]
    new = [ti.Vector([projected[k][0], projected[k][1], projected[k][2], w[k]]) for k in ti.static(range(len(i)))]
    if ti.static(s.features.bands):
        if c >= s.constraints.ranges[index, RANGE.full]:
            present = is_present(index, s, c, world)
            for k in ti.static(range(definition.arity)):
                if not present:
                    new[k] = s.particles.position[i[k], world]
    for k in ti.static(range(definition.arity)):
        s.particles.position[i[k], world] = new[k]


@ti.func
def place_of(definition: ti.template(), index: ti.template(), s: ti.template(), c):
    """Where the λ of constraint c of a type begin."""
    return s.constraints.ranges[index, RANGE.multipliers] + c * definition.multipliers


@ti.func
def read_multipliers(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """The λ of constraint c of a type, as a list; a zero if the type has no compliance."""
    place = place_of(definition, index, s, c)
    return [
        s.constraints.multipliers[place + k, world] if ti.static(definition.compliance) else 0.0
        for k in ti.static(range(definition.multipliers))
    ]


@ti.func
def write_multipliers(definition: ti.template(), index: ti.template(), s: ti.template(), c, world, multipliers, shift):
    """Store the λ of constraint c of a type. Args: multipliers: a number, or a list of several; shift: of each."""
    if ti.static(definition.compliance):
        place = place_of(definition, index, s, c)
        if ti.static(definition.multipliers == 1):
            s.constraints.multipliers[place, world] = multipliers + shift[0]
        else:
            for k in ti.static(range(definition.multipliers)):
                s.constraints.multipliers[place + k, world] = multipliers[k] + shift[k]


@ti.func
def soften(definition: ti.template(), start, parameters, compliance, others, h):
    """What makes a projection damped: α'/(1 + r) in place of α', and λ - r C_0/α' in place of λ.

    Then C + α' λ = 0 becomes (1 + r) C - r C_0 + α' λ = 0, see `pbd.constraints.constraint_type.with_damping`; and
    r C - r C_0 + α' λ = 0 if the type is friction alone.

    Args: others: what λ of others add to each λ, see `sums_of_others`.

    Returns: α', and what is subtracted from each λ.
    """
    if ti.static(definition.damped):
        r = ti.max(parameters[ti.static(len(definition.parameters) - 1)] / h - 1.0, LEAST_DAMPING)
        whole = 1.0 + r
        if ti.static(definition.viscous):
            r = ti.max(r, NO_FRICTION)
            whole = r
        C = values_of(definition, start, parameters)
        shift = [r * C[k] / compliance - others[k] for k in ti.static(range(definition.multipliers))]
        return compliance / whole, shift
    else:
        return compliance, [-others[k] for k in ti.static(range(definition.multipliers))]


@ti.func
def sums_of_others(
    definition: ti.template(), index: ti.template(), s: ti.template(), multipliers: ti.template(), c, parameters, world
):
    """Σ ratio λ over the constraints that constraint c is coupled to, a list; zeros for types that are not coupled.

    Args: multipliers: the array of λ.
    """
    if ti.static(definition.coupled):
        return [
            sum_of_others(definition, index, s, multipliers, c, parameters, k, world)
            for k in ti.static(range(definition.multipliers))
        ]
    else:
        return [0.0 for k in ti.static(range(definition.multipliers))]


@ti.func
def sum_of_others(
    definition: ti.template(), index: ti.template(), s: ti.template(), multipliers: ti.template(), c, parameters,
    k: ti.template(), world,
):  # fmt: skip
    """Σ ratio λ for row k of a coupled constraint."""
    total = 0.0
    for j in ti.static(range(definition.coupled)):
        other = s.constraints.coupled[s.constraints.ranges[index, RANGE.coupled] + c * definition.coupled + j]
        ratio = parameters[ti.static(definition.first_ratio + j)]
        if ti.static(s.features.bands):
            found = of_band(multipliers, place_of(definition, index, s, other // 3) + k, other % 3, world)
            total += ti.select(ratio == 0.0, 0.0, ratio * found)  # a λ that a band lacks may be infinite
        else:
            total += ratio * multipliers[place_of(definition, index, s, other) + k, world]
    return total


@ti.func
def project_with(
    definition: ti.template(), x, start, w, parameters, compliance, multipliers, from_start: ti.template()
):
    """The projection of a type, which takes one λ or a list of several. Args: multipliers: a list."""
    if ti.static(definition.multipliers == 1):
        return definition.project(x, start, w, parameters, compliance, multipliers[0], from_start)
    else:
        return definition.project(x, start, w, parameters, compliance, multipliers, from_start)


@ti.func
def values_of(definition: ti.template(), x, parameters):
    """The rows C of a constraint, as a list."""
    if ti.static(definition.multipliers == 1):
        return [definition.value(x, parameters)]
    else:
        return definition.value(x, parameters)


@ti.func
def is_present(index: ti.template(), s: ti.template(), c, world):
    """Whether bands in lanes have the constraint at place c of a type: some may lack it."""
    full = s.constraints.ranges[index, RANGE.full]
    row = s.constraints.ranges[index, RANGE.present] + ti.max(c - full, 0)
    return (c < full) | (s.bands.present[row, world] > 0.0)


@ti.func
def compliance_of(definition: ti.template(), index: ti.template(), s: ti.template(), number, world):
    """α' = α/h² of a constraint; in n-th part if its type is slow, and projected every n substeps.

    Its impulse F n h is then that of n substeps, and displaces by F n h² in the substep. Source: Tuckerman, Berne,
    Martyna, Reversible Multiple Time Scale Molecular Dynamics (1992), https://doi.org/10.1063/1.463137.
    """
    squared = s.settings.h * s.settings.h
    if ti.static(definition.slow and index not in s.features.implicit):
        squared *= s.settings.bending_interval
    return s.constraints.parameters[number, world] / squared


@ti.func
def violation(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Largest violation of a row of constraint c of a type, |C + α' λ|, in the unit of C; zero for a force that needs
    the time."""
    worst = 0.0
    if ti.static(not definition.needs_time):
        i, q, parameters, number = read_constraint(definition, index, s, c, world)
        x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
        C = values_of(definition, x, parameters)
        compliance = 0.0
        if ti.static(definition.compliance):
            compliance = compliance_of(definition, index, s, number, world)
        multipliers = read_multipliers(definition, index, s, c, world)
        previous = ti.static(s.particles.previous_position)
        start = [previous[i[k], world] if ti.static(definition.damped) else x[k] for k in ti.static(range(len(i)))]
        others = sums_of_others(definition, index, s, s.constraints.multipliers, c, parameters, world)
        softened, shift = soften(definition, start, parameters, compliance, others, s.settings.h)
        for k in ti.static(range(definition.multipliers)):
            unsolved = ti.abs(C[k] + softened * (multipliers[k] - shift[k]))
            if ti.static(definition.damped):
                unsolved *= compliance / softened  # 1 + r, so that it is measured as without damping
            worst = ti.max(worst, unsolved)
    if ti.static(s.features.bands):
        if not is_present(index, s, c, world):
            worst = 0.0
    return worst


@ti.func
def elastic_energy(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Energy of constraint c of a type [J], Σ C²/2α or the type's own; zero for a rigid constraint.

    Of coupled constraints it is -Σ C λ/2 with the λ at rest, see `relax_moments`.
    """
    energy = 0.0
    if ti.static(definition.compliance):
        _, q, parameters, number = read_constraint(definition, index, s, c, world)
        x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
        if ti.static(definition.coupled):
            C, place = values_of(definition, x, parameters), place_of(definition, index, s, c)
            for k in ti.static(range(definition.multipliers)):
                energy -= 0.5 * C[k] * s.constraints.moments[place + k, world]
        else:
            energy = energy_of(definition, x, parameters, s.constraints.parameters[number, world])
        if ti.static(s.features.bands):
            if not is_present(index, s, c, world):
                energy = 0.0
    return energy


@ti.func
def relax_moments(definition: ti.template(), index: ti.template(), s: ti.template(), world):
    """Find the λ of coupled constraints at rest: C + Σ α λ = 0 at the present positions, by Gauss and Seidel."""
    count = s.constraints.ranges[index, RANGE.count]
    for k in range(count * definition.multipliers):
        s.constraints.moments[s.constraints.ranges[index, RANGE.multipliers] + k, world] = 0.0
    for sweep in range(SWEEPS):  # noqa: B007 - `_` is what is not read of a constraint
        for c in range(count):
            _, q, parameters, number = read_constraint(definition, index, s, c, world)
            x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
            C, place = values_of(definition, x, parameters), place_of(definition, index, s, c)
            others = sums_of_others(definition, index, s, s.constraints.moments, c, parameters, world)
            for k in ti.static(range(definition.multipliers)):
                moment = -C[k] / s.constraints.parameters[number, world] - others[k]
                s.constraints.moments[place + k, world] = moment


@ti.func
def energy_of(definition: ti.template(), x, parameters, compliance):
    """The energy that a compliant constraint stores [J]."""
    if ti.static(definition.has_energy):
        return definition.energy(x, parameters, compliance)
    else:
        C = values_of(definition, x, parameters)
        squares = C[0] * C[0]
        for k in ti.static(range(1, definition.multipliers)):
            squares += C[k] * C[k]
        return squares / (2.0 * compliance)


@ti.func
def update_sensor(definition: ti.template(), index: ti.template(), s: ti.template(), c, world):
    """Update the state of sensor c of a type."""
    _, q, parameters, number = read_constraint(definition, index, s, c, world)
    x = [ti.Vector([q[k][0], q[k][1], q[k][2]]) for k in ti.static(range(definition.arity))]
    w = [q[k][3] for k in ti.static(range(definition.arity))]
    result = definition.project(x, x, w, parameters, 0.0, 0.0, False)
    for k in ti.static(range(definition.state_size)):
        s.constraints.parameters[number - definition.state_size + k, world] = result[2][k]


@cache
def sensor_phase(index):
    """Make the phase (s, substep, item, world) that updates sensors of a type. Args: index: of the type."""

    @ti.func
    def update(s: ti.template(), substep, c, world):
        update_sensor(s.features.types[index], index, s, c, world)

    return update


@ti.func
def project_clusters(s: ti.template(), substep, world):
    """Project all constraints once: those of `world` by this thread, or clusters of a colour by threads.

    Returns: the largest violation, see `pbd.execution.phases.project_each`.
    """
    worst = 0.0
    if ti.static(s.features.shared):
        first = ti.static(s.constraints.first_cluster)
        for colour in ti.static(range(s.features.colours)):
            for index in range((first[colour + 1] - first[colour]) * s.features.loop_stride):
                if index % s.features.loop_stride == 0:
                    for each_world in range(count_worlds(s)):
                        found = project_cluster(s, first[colour] + index // s.features.loop_stride, substep, each_world)
                        report_violation(s, found, each_world)
                    count_last_turns(s.report, REPORT.last_turns, 0)
    elif ti.static(s.features.colours == 1):
        worst = project_cluster(s, 0, substep, world)
    else:
        for cluster in range(2):  # of bands, and of seams
            if ti.static(s.features.bands):
                if cluster == 1:
                    load_halo(s, world)
            worst = ti.max(worst, project_cluster(s, cluster, substep, world))
        if ti.static(s.features.bands):
            store_halo(s, world)
    return worst


@ti.func
def project_cluster(s: ti.template(), cluster, substep, world):
    """Project all constraints of a cluster once, in order. Returns: the largest violation if there is a tolerance."""
    worst = 0.0
    for index in ti.static(s.features.iterated):
        begin, end = s.constraints.runs[cluster, index, 0], s.constraints.runs[cluster, index, 1]
        if ti.static(s.features.types[index].slow):
            # In the last of `bending_interval` substeps, so that each step ends with the λ of its last projection.
            if (substep + 1) % s.settings.bending_interval != 0:
                end = begin
        for c in range(begin, end):
            if ti.static(s.features.has_tolerance):
                worst = ti.max(worst, violation(s.features.types[index], index, s, c, world))
            project(s.features.types[index], index, s, c, world)
    return worst


@cache
def project_colours(types):
    """Make the function (s, substep, first) that projects constraints of some colours, shared by threads.

    Args: types: of each colour, as an index; `first` of these colours is a cluster of the schedule.
    """

    @ti.func
    def project_ranges(s: ti.template(), substep, first):
        begin = [s.constraints.runs[first + k, index, 0] for k, index in ti.static(enumerate(types))]
        end = [s.constraints.runs[first + k, index, 1] for k, index in ti.static(enumerate(types))]
        for k, index in ti.static(enumerate(types)):
            for c in range(begin[k], end[k]):
                for world in range(count_worlds(s)):
                    if ti.static(s.features.has_tolerance):
                        report_violation(s, violation(s.features.types[index], index, s, c, world), world)
                    project(s.features.types[index], index, s, c, world)

    return project_ranges
