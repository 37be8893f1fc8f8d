"""The motion since the start of a substep, projected so that it keeps all constraints to first order.

    A λ = -∇C·(x - x*),   x := x + W Jᵀ λ       with the gradients at the start of the substep

Contacts of bodies start with their impulses of the last substep, which push each body alone. Here joints pass that on:
what is at rest has no displacement left. Otherwise the first iteration corrects contacts where nothing joins the bodies
yet, the few that follow do not undo it, and a ragdoll on a floor slides, creeps and rocks without end.

To first order, because a light body that is pushed alone may turn too far for the constraints to be solved from there.
"""

import taichi as ti

from pbd.core.kernels import any_world
from pbd.data import DIRECT_RANGE
from pbd.direct import contacts
from pbd.direct.elimination import KEPT, NOT_FACTORED, PASSED_ON, factor, substitute
from pbd.direct.one_row import rate_of_row
from pbd.direct.solve import apply, begin, drop_pulling
from pbd.integrate import position


@ti.func
def begin_direct_solve(s: ti.template(), substep, world):
    """Begin a substep, see `begin`, and pass on what contacts push at its start."""
    kept = s.direct.factored[world] == KEPT
    begin(s, substep, world)
    if ti.static(s.features.touching):
        contacts.begin(s, world)
    if ti.static(s.features.has_hooks):
        pass_on_warm_start(s, kept, world)


@ti.func
def pass_on_warm_start(s: ti.template(), kept, world):
    """Project the motion if contacts have begun with impulses, and again without those that turn out to be too large.

    An impulse that is left from an impact throws a body that it no longer holds. Args: kept: whether the last factor
    serves.
    """
    again, factored = s.features.hooks.count_contacts(s, world) > 0, kept
    while any_world(again):
        if again:
            if not factored:
                factor(s, True, s.direct.factored[world] == NOT_FACTORED, world)
            s.direct.factored[world] = PASSED_ON
            write_rates(s, world)
            substitute(s, world)
            factored = not drop_pulling(s, world)
            if factored:
                apply(s, world)
                again = s.features.hooks.take_back_impulses(s, world)


@ti.func
def write_rates(s: ti.template(), world):
    """Write the right sides -∇C·(x - x*)."""
    motion = ti.static(s.direct.momentum_residual)
    for i in range(s.counts.particles):
        motion[i, world] = position(s, i, world) - s.particles.previous_position[i, world]
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            rate = rate_of_row(s.features.types[index], index, s, row, motion, world)
            s.direct.unknown[s.direct.place[row], world] = -rate
