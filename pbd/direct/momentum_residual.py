"""The momentum residual of the direct solve: what has moved a particle, but was no row's impulse.

    r = M u - Jᵀ λ - P - F

u is what the solve has moved particles by, P are impulses from outside, such as those of bodies, and F is the friction
of those that slide (pbd/direct/contacts.py). The next solve moves particles by -W r as well, so that r vanishes when
the solves have converged. Until then, momentum changes by r.
"""

import taichi as ti

from pbd.data import DIRECT_RANGE
from pbd.direct.mobility import friction_on, weigh
from pbd.direct.one_row import move, rate_of_row, subtract_row


@ti.func
def sum_balance(s: ti.template(), result: ti.template(), change, world):
    """Write M u - Jᵀ (λ + change λ') - P of all particles [kg m]. Args: result: (particles, worlds); change: 0 or 1."""
    for i in range(s.counts.particles):
        momentum = s.direct.moved[i, world] / ti.max(s.particles.position[i, world][3], 1e-30)
        result[i, world] = momentum - s.direct.outside[i, world]
    for index in ti.static(s.features.direct):
        for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
            place = s.direct.place[row]
            multiplier = s.direct.multiplier[place, world] + change * s.direct.unknown[place, world]
            subtract_row(s.features.types[index], index, s, row, multiplier, s.direct.gradient, result, world)


@ti.func
def has_residual(s: ti.template(), stiff, world):
    """Whether particles are to be moved by -W r: those of stiff ropes, and those with contacts in this substep."""
    result = stiff
    if ti.static(s.features.touching):
        result = result or s.touch.has_contacts[world] > 0.0
    return result


@ti.func
def write_residual(s: ti.template(), stiff, world):
    """Write -W r, and change the right sides for it. Args: stiff: whether of all particles, see tension.py."""
    residual = ti.static(s.direct.momentum_residual)
    if has_residual(s, stiff, world):
        sum_balance(s, residual, 0.0, world)
        for i in range(s.counts.particles):
            r, taken = residual[i, world], stiff
            if ti.static(s.features.touching):
                r -= friction_on(s, i, world)
                taken = taken or s.touch.now.contact[i, world] > 0.0
            residual[i, world] = ti.select(taken, -1.0, 0.0) * weigh(s, i, r, world)
        for index in ti.static(s.features.direct):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                place = s.direct.place[row]
                change = rate_of_row(s.features.types[index], index, s, row, residual, world)
                s.direct.unknown[place, world] = s.direct.unknown[place, world] - change


@ti.func
def subtract_residual(s: ti.template(), stiff, world):
    """Move particles by what `write_residual` wrote."""
    if has_residual(s, stiff, world):
        for i in range(s.counts.particles):
            move(s, i, s.direct.momentum_residual[i, world], world)
