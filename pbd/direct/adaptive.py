"""Adaptive parts of a substep, where directly solved constraints turn fast, or vibrate fast under tension.

A direct solve takes a step as long as a film's frame while nothing moves fast. Limits of pbd/direct/limits.py say where
that ends. pbd/step.py makes the parts of a substep one after another:

    begin_part    choose the length of the next part, and remember where all particles are
    accept        whether the part that was made is within its limits
    divide        if not: the particles go back, and the part is made in two, which may be divided again
    join          if it is: go on to the next part, and join two to one if all is well below the limits

As a part is made again if it turned out too long, the choice is nearly the same forwards and backwards in time, which
keeps the drift of the energy small.

x* belongs to a length h. Another length h' begins with the velocity at the instant,

    v = (x - x*)/h + a h/2,   x*' = x - v h' + a h'²/2

so that free flight is exact. Impulses of constraints have their directions at this instant, so the next solve makes up
for what they change.

Source: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), VIII.3, on reversible choices of the step; the
rest is ours.
"""

import taichi as ti

from pbd.core.kernels import RowsOfWorld, any_world, real_bits
from pbd.data import INPUT, POSE, REPORT
from pbd.direct.contacts import copy_contacts, scale_impulses
from pbd.direct.elimination import NOT_FACTORED
from pbd.direct.limits import largest_implied
from pbd.direct.solve import keep_factor
from pbd.direct.structures import SEARCH, structure
from pbd.execution.phases import input_rows
from pbd.integrate import acceleration, position

# A substep has up to 2^MOST_HALVINGS parts. With 32 bits, x - x* of shorter parts would be mostly round-off.
MOST_HALVINGS = {64: 14, 32: 8}

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


@ti.func
def begin_search(s: ti.template(), substep, world):
    """Begin a substep with the parts of the one before. Returns: a Search."""
    if substep % s.settings.substeps == 0:  # between steps, anything may be changed
        s.direct.factored[world] = NOT_FACTORED
    return new_search(s.direct.halvings[world])


@ti.func
def whole_substep():
    """The Search of a substep that is made whole."""
    return new_search(0.0)


@ti.func
def new_search(halvings):
    """A Search before its first part. Args: halvings: of that part."""
    return structure(SEARCH)(
        halvings=halvings, done=0.0, length=1.0, tries=0.0, least=ti.math.inf, in_vain=0.0, along_present=False,
        implied=0.0,
    )  # fmt: skip


@ti.func
def begin_part(s: ti.template(), before, substep, world):
    """Begin the next part. Args: before: a Search.

    Returns: the Search of now; the part's first row of inputs; its length [s]; the part of the velocity that it keeps.
    """
    search = before
    search.length = length_after(before.halvings)
    change_length(s, substep, before.length, search.length, world)
    keep(s, world)
    row = write_inputs(s, substep, search.done, search.length, world)
    velocity_kept = s.settings.velocity_kept
    if search.length < 1.0:
        velocity_kept = ti.pow(velocity_kept, search.length)
    search.implied = largest_implied(s, world)
    search.tries += 1.0
    return search, row, s.settings.h * search.length, velocity_kept


@ti.func
def accept(search, found):
    """Whether a part is within its limits. Args: search: a Search; found: the part's Measures."""
    bound = bound_of(search)
    beyond = found.largest > bound
    if search.along_present:
        beyond = found.by_fixed_limits > ti.max(search.least / HELPED, bound) or found.mirrored
        beyond = (beyond or found.largest == ti.math.inf) and search.halvings + search.in_vain < most_halvings()
    return not beyond


@ti.func
def bound_of(search):
    """What measures may reach, in parts of their limits: one, until tries are too many."""
    bound = 1.0
    if search.tries > MOST_TRIES:
        bound = ti.pow(2.0, (search.tries - MOST_TRIES) / TRIES_TO_DOUBLE)
    return bound


@ti.func
def most_halvings():
    """MOST_HALVINGS in the precision of kernels."""
    return ti.static(MOST_HALVINGS[real_bits()])


@ti.func
def divide(s: ti.template(), before, found, world):
    """Go back to the start of a part that is beyond its limits, and halve it unless that does not help.

    Args: before: a Search; found: the part's Measures. Returns: the Search of now.
    """
    search = before
    restore(s, world)
    if before.along_present:
        search.halvings += before.in_vain + 1.0
        search.least, search.in_vain, search.along_present = ti.math.inf, 0.0, False
    else:
        helped = found.by_fixed_limits < HELPED * before.least or found.mirrored
        search.in_vain = ti.select(helped, 0.0, before.in_vain + 1.0)
        search.least = ti.min(before.least, found.by_fixed_limits)
        search.along_present = before.halvings == most_halvings() or search.in_vain == MOST_IN_VAIN
        search.halvings += ti.select(search.along_present, -search.in_vain, 1.0)
    return search


@ti.func
def join(s: ti.template(), before, found, left, substep, read, world):
    """Go on from a part that is made, and join it with the next one if both lie in one of twice the length.

    Args: before: a Search; found: the part's Measures; left: its last Evaluation; read: whether contacts are read after
    this substep. Returns: the Search of now.
    """
    search, bound = before, bound_of(before)
    keep_factor(s, left, world)
    add_displacements(s, before.done, before.length, world)
    search.done += before.length
    joinable = found.largest < JOINED * bound and found.vibration < 0.5 * bound
    if (joinable or before.along_present) and before.halvings > 0.0:
        pairs = search.done / (2.0 * before.length)
        if pairs == ti.floor(pairs):
            search.halvings -= 1.0
    search.least, search.in_vain, search.along_present = ti.math.inf, 0.0, False
    if s.report[world, REPORT.diverged_substep] >= 0.0:
        s.report[world, REPORT.diverged_substep] = ti.cast(substep, float)
        search.done = 1.0
    if ti.static(s.features.has_hooks):
        if read and any_world(search.done >= 1.0):
            s.features.hooks.store_contacts(s, world)
    return search


@ti.func
def end_search(s: ti.template(), search, substep, world):
    """End a substep: x* belongs to a whole one again. Args: search: a Search."""
    change_length(s, substep, search.length, 1.0, world)
    write_displacements(s, search.length, world)
    s.direct.halvings[world] = search.halvings


def data_of_part(s, h, velocity_kept, world):
    """The same data for a part of a substep: called by Taichi functions while they are compiled.

    Args: s; h: length of the part [s]; velocity_kept: by the part; world.
    """
    inputs = RowsOfWorld(s.direct.inputs, world) if s.features.moving else s.inputs
    return s._replace(settings=s.settings._replace(h=h, velocity_kept=velocity_kept), inputs=inputs)


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
        copy_contacts(s, s.touch.now, s.touch.kept, world)


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
        copy_contacts(s, s.touch.kept, s.touch.now, world)


@ti.func
def change_length(s: ti.template(), substep, before, after, world):
    """Let x* belong to parts of another length, and scale impulses, which are measured in m = F h².

    Args: before, after: lengths, in parts of a substep.
    """
    if before != after:
        row, _ = input_rows(s, substep)
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
            scale_impulses(s, scale, world)
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
