"""Substeps in parts, where directly solved constraints turn fast, or vibrate fast under tension.

A direct solve takes a step as long as a film's frame while nothing moves fast. Five things limit it:

    work        rigid sticks that turn far within a step do work, as when a chain whips, until SHAKE has no solution
    turn        where a gradient turns far, impulses along the one at the start no longer correct what it belongs to,
                and iterations arrive at another solution of the constraints, as a chain folded the other way
    error       what the iterations leave of the violations
    vibration   SHAKE is explicit across a stick under tension: a light rod that carries a heavy weight vibrates with
                ω² = K/M, and is unstable for ωh > 2 (pbd/direct/vibration.py)
    residual    what solves with the tension of ropes leave of the momentum (pbd/direct/tension.py)

If one of them is beyond its limit after the iterations, the particles go back, and the substep is made in two parts,
which may be divided again. Once all are well below, parts are joined again. As a part is made again if it turned out
too long, the choice is nearly the same forwards and backwards in time, which keeps the drift of the energy small.

x* belongs to a length h. Another length h' begins with the velocity at the instant,

    v = (x - x*)/h + a h/2,   x*' = x - v h' + a h'²/2

so that free flight is exact. Impulses of constraints have their directions at this instant, so the next solve makes up
for what they change.

Source: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), VIII.3, on reversible choices of the step; the
rest is ours.
"""

import taichi as ti

from pbd.core.kernels import RowsOfWorld, any_world, real_bits
from pbd.data import DIRECT_RANGE, INPUT, POSE, REPORT
from pbd.direct import contacts
from pbd.direct.elimination import NOT_FACTORED, STIFF
from pbd.direct.mobility import free_part, friction_on
from pbd.direct.momentum_residual import sum_balance
from pbd.direct.solve import NEW, correct, evaluate, keep_factor, nothing_found
from pbd.direct.sticks import ends_of
from pbd.direct.vibration import phase
from pbd.integrate import acceleration, position
from pbd.phases import is_finite, rows
from pbd.projection import violation

# A substep has up to 2^MOST_HALVINGS parts. With 32 bits, x - x* of shorter parts would be mostly round-off.
MOST_HALVINGS = {64: 14, 32: 8}

# Limits of a part: work of rigid sticks, in parts of the energy; a violation, in parts of the size of the constraint;
# ωh; what violations of implied sticks grow by, in parts of their size; and 1 - cos of the turn of a gradient.
LARGEST_WORK, LARGEST_ERROR, LARGEST_PHASE, LARGEST_IMPLIED, LARGEST_TURN = 4e-5, 1e-6, 1.0, 1e-3, 0.05

# Limit of the momentum that solves with the tension of ropes have left (pbd/direct/tension.py), in parts of the largest
# impulse. They converge in a few iterations where parts are so short that tension is about as stiff as masses.
LARGEST_RESIDUAL = 1e-3

# The next part corrects what is left of a violation, by a force that grows with 1/h². So the limit falls with h², down
# to what round-off leaves.
LEAST_ERROR = {64: 1e-11, 32: 1e-5}

# Parts are joined where all are below this part of their limits, and ωh would remain below its own. The nearer to 1,
# the more nearly the same lengths are chosen forwards and backwards in time: the energy drifts less, but more parts are
# made in vain.
JOINED = 0.7

# So many times a part may be tried in a substep within these limits. What needs more, as a chain of 1 mm that whips for
# 1/60 s, or one that is taut between two walls, has limits that double with each further 100 tries. So each substep
# ends, and what is nearly done ends nearly within its limits. Longer parts without limits let a joint go.
MOST_TRIES, TRIES_TO_DOUBLE = 1000, 100

# Halving a part helps if what was beyond its limit falls below this part of it. In a jam, where contacts contradict the
# constraints, it never does, so only so many halvings in turn may be in vain. Then the longer part is made along
# present gradients, and kept if it is about as good as the best of the short ones. If not, parts are divided further.
# A part in which a particle passes to its mirror image is divided further in any case: it passes or it does not, so
# that halving is in vain until it helps, and a joint that has let go jams for ever.
HELPED, MOST_IN_VAIN = 0.5, 4

# Iterations go on while each leaves less than this part of the error of the one before.
FALLING = 0.5

# So many more solves may change which inequalities are active.
MOST_MORE = 8

# What `measure` finds, by limits: the largest of work, turn, error, phase and what is new in violations of implied
# constraints; the same with one limit of violations for all lengths; the phase; and whether the part has arrived at
# another solution of the constraints, as a particle that has passed to its mirror image.
Measures = ti.types.struct(largest=float, by_fixed_limits=float, vibration=float, mirrored=bool)


def data_of_part(s, h, velocity_kept, world):
    """The same data for a part of a substep: called by Taichi functions while they are compiled.

    Args: s; h: length of the part [s]; velocity_kept: by the part; world.
    """
    inputs = RowsOfWorld(s.direct.inputs, world) if s.features.moving else s.inputs
    return s._replace(settings=s.settings._replace(h=h, velocity_kept=velocity_kept), inputs=inputs)


@ti.func
def advance_in_parts(
    s: ti.template(), begin: ti.template(), relax: ti.template(), end: ti.template(), substep, read, iterations, world
):
    """Advance a world by a substep, in as many parts as it needs.

    Args: begin, relax, end: functions of pbd/step.py: the begin of a substep, an iteration over what is not solved
    directly, and the end of a substep; read: whether contacts are read after this substep; world: index.
    """
    halvings, done, length = s.direct.halvings[world], 0.0, 1.0
    least, in_vain, tries, last = ti.math.inf, 0.0, 0.0, False
    if substep % s.settings.substeps == 0:  # between steps, anything may be changed
        s.direct.factored[world] = NOT_FACTORED
    while any_world(done < 1.0):
        if done < 1.0:
            part = length_after(halvings)
            change_length(s, substep, length, part, world)
            length = part
            keep(s, world)
            row = write_inputs(s, substep, done, part, world)
            h, velocity_kept = s.settings.h * part, s.settings.velocity_kept
            if part < 1.0:
                velocity_kept = ti.pow(velocity_kept, part)
            implied = largest_implied(s, world)
            of_part = ti.static(data_of_part(s, h, velocity_kept, world))
            begin(of_part, row, world)
            largest_error = ti.max(LARGEST_ERROR * part * part, ti.static(LEAST_ERROR[real_bits()]))
            left = converge(of_part, relax, row, iterations, not last, largest_error, world)
            found = measure(of_part, substep, left, largest_error, implied, halvings > 0.0, world)
            tries += 1.0
            bound = 1.0
            if tries > MOST_TRIES:
                bound = ti.pow(2.0, (tries - MOST_TRIES) / TRIES_TO_DOUBLE)
            most = ti.static(MOST_HALVINGS[real_bits()])
            beyond = found.largest > bound
            if last:
                beyond = found.by_fixed_limits > ti.max(least / HELPED, bound) or found.mirrored
                beyond = (beyond or found.largest == ti.math.inf) and halvings + in_vain < most
            if beyond:
                restore(s, world)
                if last:
                    halvings += in_vain + 1.0
                    least, in_vain, last = ti.math.inf, 0.0, False
                else:
                    helped = found.by_fixed_limits < HELPED * least or found.mirrored
                    in_vain = ti.select(helped, 0.0, in_vain + 1.0)
                    least = ti.min(least, found.by_fixed_limits)
                    last = halvings == most or in_vain == MOST_IN_VAIN
                    halvings += ti.select(last, -in_vain, 1.0)
            else:
                end(of_part, row, world)
                keep_factor(s, left, world)
                add_displacements(s, done, part, world)
                done += part
                joinable = found.largest < JOINED * bound and found.vibration < 0.5 * bound
                if (joinable or last) and halvings > 0.0:
                    pairs = done / (2.0 * part)
                    if pairs == ti.floor(pairs):
                        halvings -= 1.0
                least, in_vain, last = ti.math.inf, 0.0, False
                if s.report[world, REPORT.diverged_substep] >= 0.0:
                    s.report[world, REPORT.diverged_substep] = ti.cast(substep, float)
                    done = 1.0
                if ti.static(s.features.has_hooks):
                    if read and any_world(done >= 1.0):
                        s.features.hooks.keep_contacts(s, world)
    change_length(s, substep, length, 1.0, world)
    write_displacements(s, length, world)
    s.direct.halvings[world] = halvings


@ti.func
def length_after(halvings):
    """2^-halvings, exactly."""
    length = 1.0
    if halvings > 0.0:
        for k in range(ti.static(MOST_HALVINGS[real_bits()])):
            if k < halvings:
                length *= 0.5
    return length


@ti.func
def converge(s: ti.template(), relax: ti.template(), substep, iterations, along_start, largest_error, world):
    """Iterate, and solve directly after each iteration, and on until the violations are small or stop falling.

    Args: along_start: whether direction="start" may be used; largest_error: violations that count as small, by size.

    Returns: an Evaluation of what is solved directly, with the least alignment of all iterations.
    """
    iteration, made, more, worst, again = 0, 0.0, 0.0, s.settings.tolerance + 1.0, True
    found = nothing_found()
    while any_world(again):
        if again:
            last = found
            again = made < iterations and worst > s.settings.tolerance
            if again:
                worst, made = relax(s, substep, iteration, world), made + 1.0
            how, to_solve = NEW, True
            while any_world(to_solve):
                if to_solve:
                    now = evaluate(s, how, world)
                    if how == NEW:
                        found = now
                        worst = ti.max(worst, found.worst)
                        if not again:
                            more += 1.0
                            falling = found.by_size > largest_error and found.by_size < FALLING * last.by_size
                            again = (found.changed and more < MOST_MORE) or falling
                    if again:
                        how = correct(s, found, how, along_start and ti.static(s.features.from_start), world)
                    to_solve = how != NEW
            found.alignment = ti.min(found.alignment, last.alignment)
        iteration += 1
    s.report[world, REPORT.iterations] = made
    return found


@ti.func
def keep(s: ti.template(), world):
    """Remember where all particles are, and what projections store, such as the full turns of a hinge."""
    for i in range(s.counts.particles):
        s.direct.kept_position[i, world] = position(s, i, world)
        s.direct.kept_previous[i, world] = s.particles.previous_position[i, world]
    for row in range(s.counts.direct_rows):
        s.direct.kept_active[row, world] = s.direct.active[row, world]
    for k in range(s.constraints.state.shape[0]):
        s.constraints.kept_state[k, world] = s.constraints.parameters[s.constraints.state[k], world]
    if ti.static(s.features.touching):
        contacts.copy_contacts(s, s.touch.now, s.touch.kept, world)


@ti.func
def restore(s: ti.template(), world):
    """Put all particles back to where they were, and what projections store."""
    for i in range(s.counts.particles):
        x = s.direct.kept_position[i, world]
        s.particles.position[i, world] = ti.Vector([x[0], x[1], x[2], s.particles.position[i, world][3]])
        s.particles.previous_position[i, world] = s.direct.kept_previous[i, world]
    for row in range(s.counts.direct_rows):
        s.direct.active[row, world] = s.direct.kept_active[row, world]
    for k in range(s.constraints.state.shape[0]):
        s.constraints.parameters[s.constraints.state[k], world] = s.constraints.kept_state[k, world]
    if ti.static(s.features.touching):
        contacts.copy_contacts(s, s.touch.kept, s.touch.now, world)


@ti.func
def change_length(s: ti.template(), substep, before, after, world):
    """Let x* belong to parts of another length, and scale impulses, which are measured in m = F h².

    Args: before, after: lengths, in parts of a substep.
    """
    if before != after:
        row, _ = rows(s, substep)
        s.direct.factored[world] = NOT_FACTORED
        old, new = s.settings.h * before, s.settings.h * after
        scale = (new / old) * (new / old)
        for i in range(s.counts.particles):
            x, a = position(s, i, world), acceleration(s, row, i, world)
            velocity = (x - s.particles.previous_position[i, world]) / old + 0.5 * old * a
            s.particles.previous_position[i, world] = x - new * velocity + 0.5 * new * new * a
            predicted = s.particles.predicted_position[i, world]
            s.particles.predicted_position[i, world] = x + scale * (predicted - x)
        for m in range(s.counts.multipliers):
            s.constraints.multipliers[m, world] = scale * s.constraints.multipliers[m, world]
        if ti.static(s.features.touching):
            contacts.scale_impulses(s, scale, world)
        if ti.static(s.features.has_hooks):
            s.features.hooks.scale_impulses(s, scale, world)


@ti.func
def add_displacements(s: ti.template(), done, part, world):
    """Sum displacements Δ by constraints: the impulse m Δ/h' of a part h' is that of m Δ h/h' in a whole substep h.

    Args: done, part: length before this part, and of this part, in parts of a substep.
    """
    if ti.static(s.features.keep_predictions):
        if part < 1.0:
            for i in range(s.counts.particles):
                so_far = ti.Vector([0.0, 0.0, 0.0])
                if done > 0.0:
                    so_far = s.direct.displacement[i, world]
                change = position(s, i, world) - s.particles.predicted_position[i, world]
                s.direct.displacement[i, world] = so_far + change * (1.0 / part)


@ti.func
def write_displacements(s: ti.template(), length, world):
    """Let x - x' of a substep in parts be what `add_displacements` summed. Args: length: of the last part."""
    if ti.static(s.features.keep_predictions):
        if length < 1.0:
            for i in range(s.counts.particles):
                s.particles.predicted_position[i, world] = position(s, i, world) - s.direct.displacement[i, world]


@ti.func
def write_inputs(s: ti.template(), substep, done, part, world):
    """Write the inputs at the start and the end of a part, if anything moves.

    Returns: the first row of a part's inputs (`data_of_part`): a substep, as functions of a step read it.
    """
    row = substep
    if ti.static(s.features.moving):
        row = 0
        for end in range(2):
            at = done + end * part
            for column in range(s.inputs.shape[1]):
                before, after = s.inputs[substep, column], s.inputs[substep + 1, column]
                s.direct.inputs[end, column, world] = s.inputs[substep + end, column]
                if part < 1.0:
                    s.direct.inputs[end, column, world] = before + at * (after - before)
            if part < 1.0:
                for collider in range(s.counts.colliders):
                    write_rotation(s, substep, at, end, INPUT.total + POSE.total * collider + POSE.rotation, world)
    return row


@ti.func
def write_rotation(s: ti.template(), substep, at, end, first, world):
    """Write the rotation of a collider between the start and the end of a substep, a unit quaternion.

    Args: at: 0 at the start and 1 at the end; end: of the part, 0 or 1; first: column. The quaternions of start and end
    of the substep may have opposite signs.
    """
    start = ti.Vector([s.inputs[substep, first + k] for k in ti.static(range(4))])
    after = ti.Vector([s.inputs[substep + 1, first + k] for k in ti.static(range(4))])
    if start.dot(after) < 0.0:
        after = -after
    rotation = (start + at * (after - start)).normalized()
    for k in ti.static(range(4)):
        s.direct.inputs[end, first + k, world] = rotation[k]


@ti.func
def measure(s: ti.template(), substep, left, largest_error, implied, in_parts, world):
    """Measure a part by its limits.

    Args: substep; left: what `converge` returned; largest_error: limit of what it left, by size; implied: violation of
    implied constraints at the start of the part, by size; in_parts: whether the substep has several.

    Returns: a Measures.
    """
    work, turn = 0.0, 0.0
    if ti.static(s.features.from_start):
        work = ti.abs(work_of_constraints(s, substep, world)) / LARGEST_WORK
        turn = (1.0 - left.alignment) / LARGEST_TURN
    vibration = phase(s, in_parts, world) / LARGEST_PHASE
    implied_now = (largest_implied(s, world) - implied) / LARGEST_IMPLIED
    error = left.by_size / LARGEST_ERROR
    others = ti.max(work, turn, vibration, implied_now)
    if ti.static(s.features.rope_nodes):
        others = ti.max(others, largest_residual(s, world) / LARGEST_RESIDUAL)
    largest, by_fixed_limits = ti.max(others, left.by_size / largest_error), ti.max(others, error)
    total = ti.Vector([0.0, 0.0, 0.0])  # of positions: a maximum of violations passes over what is not a number
    for i in range(s.counts.particles):
        total += position(s, i, world)
    if not (is_finite(ti.Vector([work, left.by_size, largest])) and is_finite(total)):
        largest, by_fixed_limits = ti.math.inf, ti.math.inf
    mirrored = implied_now > 1.0 and error < 1.0
    return Measures(largest=largest, by_fixed_limits=by_fixed_limits, vibration=vibration, mirrored=mirrored)


@ti.func
def largest_residual(s: ti.template(), world):
    """The largest momentum residual of a particle, in parts of the largest impulse, where tension is stiff."""
    result = 0.0
    if s.direct.factored[world] == STIFF:
        largest = 1e-30
        residual = ti.static(s.direct.momentum_residual)
        for row in range(s.counts.direct_rows):
            largest = ti.max(largest, ti.abs(s.direct.multiplier[row, world]))
        sum_balance(s, residual, 0.0, world)
        for i in range(s.counts.particles):
            r = residual[i, world]
            if ti.static(s.features.touching):
                r = free_part(s, i, r - friction_on(s, i, world), world)
            if s.particles.position[i, world][3] > 0.0:
                result = ti.max(result, r.norm() / largest)
    return result


@ti.func
def largest_implied(s: ti.template(), world):
    """The largest violation of sticks that rows imply, by size."""
    largest = 0.0
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].arity == 2):
            for k in range(
                s.direct.ranges[index, DIRECT_RANGE.implied_begin], s.direct.ranges[index, DIRECT_RANGE.implied_end]
            ):
                found = violation(s.features.types[index], index, s, s.direct.implied[k], world)
                largest = ti.max(largest, found / s.direct.implied_size[k])
    return largest


@ti.func
def work_of_constraints(s: ti.template(), substep, world):
    """Work of all rigid sticks, in parts of the energy: kinetic, and that of a fall by the size of constraints."""
    at, _ = rows(s, substep)
    work, energy = 0.0, 1e-30
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].arity == 2 and not s.features.types[index].compliance):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                work += work_of_stick(index, s, row, world)
    for i in range(s.counts.particles):
        w = s.particles.position[i, world][3]
        if w > 0.0:
            fall = acceleration(s, at, i, world).norm() * s.direct.extent[0] * s.settings.h * s.settings.h
            energy += (0.5 * (position(s, i, world) - s.direct.kept_position[i, world]).norm_sqr() + fall) / w
    return work / energy


@ti.func
def work_of_stick(index: ti.template(), s: ti.template(), row, world):
    """Work of a stick, times h² [kg m²]: what it adds to Σ m (x' - x)²/2.

    It is λ n·(d' - d*)/2, where d*, d and d' point from end to end before, at the start and now, and n is the
    direction of d. A stick keeps its length L, so n·(d' - d) = -|d' - d|²/2L, and n·(d - d*) = |d - d*|²/2L. In the
    latter only what is across n counts: after a change of h, x* is off along n.
    """
    i, j = ends_of(index, s, row)
    d = s.direct.kept_position[j, world] - s.direct.kept_position[i, world]
    length = d.norm() + 1e-30
    after = position(s, j, world) - position(s, i, world) - d
    before = d - (s.direct.kept_previous[j, world] - s.direct.kept_previous[i, world])
    along = d.dot(before) / length
    multiplier = s.direct.multiplier[s.direct.place[row], world]
    return multiplier * (before.norm_sqr() - along * along - after.norm_sqr()) / (4.0 * length)
