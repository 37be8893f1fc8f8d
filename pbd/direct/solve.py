"""Direct projection: many constraints at once, by one sparse factorisation in each substep.

    A = J W Jᵀ + α',   A = L D Lᵀ                       once, `factor`
    A λ' = -(C(x) + α' λ),   λ := λ + λ',   x := x + W Jᵀ λ'       in each iteration, `solve`

J are the gradients at the start of the substep ("start", SHAKE) or where the factor is made ("current"). W are inverse
masses, or matrices where particles touch a surface or a rope is stiff (mobility.py). α' = α/h² are compliances as in
XPBD. C is taken at the present positions, so repeated solves converge to C = 0, and impulses keep their directions:
momentum is conserved, with "start" also angular momentum. The diagonal of A is a little larger (rows.py, SOFTNESS),
because A is singular where rows depend on one another.

An inequality C >= 0, such as a limit of a joint, is solved as C = 0 while it is violated and pushes. If it would pull,
it is dropped, and A λ' = b is solved without it before anything moves (`drop_pulling`): the other multipliers would be
those of a solution with it. The gradients of what is not active are zero.

The tension of a light rope with a heavy weight is added to masses (tension.py). Contacts with colliders and boxes are
eliminated before all rows (contacts.py). Contacts with bodies that move follow after each solve, which has to know how
all that is solved directly answers to their impulses (response.py).

The states of the factor, `s.direct.factored` (elimination.py):

    start of a part     contacts of bodies     first solve     later solves
                        pass on impulses

    NOT_FACTORED ---------------------------+-> FACTORED       the factor is made anew where gradients turn
          |                                 |      |
          +-----------> PASSED_ON ----------+      | end of a part, if no gradient has turned
                            ^               |      v
    KEPT -------------------+               |    KEPT
                                            |
                                            +-> STIFF          where tension is stiff: the factor is made in each solve

Only KEPT lasts from one part of a step to the next. Without contacts of bodies, it counts as NOT_FACTORED.

Sources: Ryckaert, Ciccotti, Berendsen (1977), the method of matrices; Kräutler, van Gunsteren, Hünenberger, A fast
SHAKE algorithm (2001); Macklin, Müller, Chentanez, XPBD (2016), equation 18 for all constraints together.
"""

import taichi as ti

from pbd.core.kernels import any_world
from pbd.data import DIRECT_RANGE
from pbd.direct import contacts
from pbd.direct.elimination import FACTORED, KEPT, NOT_FACTORED, PASSED_ON, STIFF, factor, substitute
from pbd.direct.limits import error_limit
from pbd.direct.momentum_residual import subtract_residual, write_residual
from pbd.direct.one_row import ACTIVE, DROPPED, INACTIVE, apply_multiplier, evaluate_row
from pbd.direct.structures import EVALUATION, structure
from pbd.direct.tension import is_stiff, take_back

# Where a gradient has turned by more than 18° since the factor was made, as in an impact, A is factored anew. Solves
# with old gradients would not converge.
LEAST_ALIGNMENT = 0.95

# How right sides are evaluated: anew; again without the inequalities that would have pulled; again as what was solved
# was taken back, to solve with the tension of ropes.
NEW, WITHOUT_PULLING, WITH_TENSION = 0.0, 1.0, 2.0

# Solves beyond the iterations go on while each leaves less than this part of the error of the one before. So many of
# them may change which inequalities are active.
FALLING, MOST_FURTHER = 0.5, 8

# With direction "current", the factor that has passed on the impulses of contacts (pbd/direct/motion.py) has gradients
# at the start. It is used further where none has turned by more than 2.6° since.
LEAST_ALIGNMENT_AT_FIRST = 0.999

# It passes on the impulses of the next substep of the step, too, where no gradient has turned by more than a
# milliradian since, so that what rests is factored once in a step. Along older gradients constraints do work on what
# moves: what turns by φ in a substep, and has turned by θ since, gains 2 φ θ of its energy.
LEAST_ALIGNMENT_TO_KEEP = 1.0 - 5e-7


@ti.func
def begin(s: ti.template(), substep, world):
    """Begin a substep: A is not factored, and nothing was moved.

    Inequalities that were active at the end of the last substep are so at first, because what rests on a limit goes on
    doing so. If one would pull now, the first solve drops it.
    """
    s.direct.factored[world] = NOT_FACTORED
    s.direct.factorings[world] = 0.0
    for i in range(s.counts.particles):
        s.direct.moved[i, world] = ti.Vector([0.0, 0.0, 0.0])
        s.direct.outside[i, world] = ti.Vector([0.0, 0.0, 0.0])
    for row in range(s.counts.direct_rows):
        s.direct.multiplier[row, world] = 0.0
        if s.direct.active[row, world] != ACTIVE:
            s.direct.active[row, world] = INACTIVE


@ti.func
def solve(s: ti.template(), substep, world):
    """Project all constraints of the direct solve at once. Returns: the largest violation before."""
    found, _ = solve_if(s, nothing_found(), True, 0.0, 0.0, True, world)
    return found.worst


@ti.func
def solve_part(s: ti.template(), before, iterates, further, search, world):
    """Solve in a part (pbd/direct/adaptive.py), see `solve_if`."""
    return solve_if(s, before, iterates, further, error_limit(search.length), not search.along_present, world)


@ti.func
def solve_if(s: ti.template(), before, iterates, further, largest_error, along_start, world):
    """Solve if iterations go on, or if violations are large and still fall.

    Args: before: Evaluation of the solve before; iterates: whether iterations go on; further: how many solves are made
    beyond them; largest_error: violations that count as small, by size; along_start: whether direction="start" may be
    used.

    Returns: the Evaluation before this solve, with the least alignment of both; whether it was made.
    """
    found, how, solves, again = before, NEW, iterates, True
    while any_world(again):
        if again:
            now = evaluate(s, how, world)
            if how == NEW:
                found = now
                falling = now.by_size > largest_error and now.by_size < FALLING * before.by_size
                solves = solves or (now.changed and further < MOST_FURTHER) or falling
            if solves:
                how, moved = correct(s, found, how, along_start and ti.static(s.features.from_start), world)
                found.worst = ti.max(found.worst, moved)
            again = how != NEW
    found.alignment = ti.min(found.alignment, before.alignment)
    return found, solves


@ti.func
def correct(s: ti.template(), found, how, from_start, world):
    """Move all particles to where the violations vanish to first order, unless right sides are to be evaluated again.

    Args: found: an Evaluation, made anew; how: right sides were evaluated; from_start: whether along the gradients at
    the start of the substep.

    Returns: how right sides are to be evaluated before this is called again: NEW if all is solved; by how much loaded
    contacts have moved, the largest [m].
    """
    state, then, moved = s.direct.factored[world], NEW, 0.0
    first = state == NOT_FACTORED or state == PASSED_ON
    turned = found.alignment < ti.select(first, LEAST_ALIGNMENT_AT_FIRST, LEAST_ALIGNMENT)
    whole = state == NOT_FACTORED or state == STIFF or turned
    if ti.static(s.features.touching):
        whole = whole or s.touch.needs_factor[world] > 0.0
        s.touch.needs_factor[world] = 0.0
    if whole or found.changed or how == WITHOUT_PULLING:
        factor(s, from_start and state != STIFF and (first or not turned), whole, world)
    if ti.static(s.features.has_mobilities):
        write_residual(s, state == STIFF, world)
    substitute(s, world)
    released = False
    if ti.static(s.features.touching):
        released = contacts.release(s, world)
    if drop_pulling(s, world) or released:
        then = WITHOUT_PULLING
    else:
        if ti.static(s.features.has_mobilities):
            subtract_residual(s, state == STIFF, world)
        apply(s, world)
        if ti.static(s.features.has_loaded_contacts):
            moved = s.features.hooks.solve_loaded(s, world)
        if first:
            state = FACTORED
            if ti.static(s.features.rope_nodes):
                if is_stiff(s, world):
                    # Solve this iteration again, with the multipliers that it found.
                    take_back(s, world)
                    state, then = STIFF, WITH_TENSION
    s.direct.factored[world] = state
    return then, moved


@ti.func
def keep_factor(s: ti.template(), found, world):
    """Keep the factor to pass on impulses of contacts in the next part. Args: found: Evaluation of where that begins.

    The next part has the same length and inequalities.
    """
    if ti.static(not s.features.from_start):
        good = found.alignment >= LEAST_ALIGNMENT_TO_KEEP and not found.changed
        if s.direct.factored[world] == FACTORED and good:
            s.direct.factored[world] = KEPT


@ti.func
def nothing_found():
    """The Evaluation before the first one."""
    return structure(EVALUATION)(worst=0.0, by_size=0.0, alignment=1.0, changed=False)


@ti.func
def evaluate(s: ti.template(), how, world):
    """Choose the inequalities that are active, and write the right sides. Returns: an Evaluation."""
    if how != WITHOUT_PULLING:
        for row in range(s.counts.direct_rows):
            if s.direct.active[row, world] == DROPPED:
                s.direct.active[row, world] = INACTIVE
    return write_right_sides(s, how != WITHOUT_PULLING, world)


@ti.func
def write_right_sides(s: ti.template(), activate, world):
    """Write the right sides. Args: activate: whether violated inequalities become active. Returns: an Evaluation."""
    changed, worst, by_size, alignment = False, 0.0, 0.0, 1.0
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            C, along = evaluate_row(s.features.types[index], index, s, row, world)
            if ti.static(s.features.types[index].at_least):
                if s.direct.active[row, world] != ACTIVE:
                    if C < 0.0 and activate:
                        s.direct.active[row, world] = ACTIVE
                        changed = True
                    else:
                        C = 0.0
            s.direct.unknown[s.direct.place[row], world] = -C
            worst, by_size = ti.max(worst, ti.abs(C)), ti.max(by_size, ti.abs(C) * s.direct.inverse_size[row])
            alignment = ti.min(alignment, along)
    state = s.direct.factored[world]
    if state == NOT_FACTORED or (state == PASSED_ON and ti.static(s.features.from_start)):
        alignment = 1.0  # the gradients are those of an earlier substep, or those at the start, which are to be kept
    return structure(EVALUATION)(worst=worst, by_size=by_size, alignment=alignment, changed=changed)


@ti.func
def drop_pulling(s: ti.template(), world):
    """Drop active inequalities that would pull, with what they have pushed. Returns: whether there were any.

    An active inequality C >= 0 is solved as an equality, and its multiplier λ must be positive. What it has pushed is
    taken back along the gradients of the factor, which is all of it unless A was factored anew since.
    """
    dropped = False
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].at_least):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                place = s.direct.place[row]
                before = s.direct.multiplier[place, world]
                if s.direct.active[row, world] == ACTIVE and before + s.direct.unknown[place, world] <= 0.0:
                    s.direct.unknown[place, world] = -before
                    apply_multiplier(s.features.types[index], index, s, row, world)
                    s.direct.active[row, world] = DROPPED
                    dropped = True
    return dropped


@ti.func
def apply(s: ti.template(), world):
    """Add the multipliers, and move all particles."""
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            apply_multiplier(s.features.types[index], index, s, row, world)
