"""Limits of a part of a substep that is solved directly (pbd/direct/adaptive.py), and what is measured of it.

    work        rigid sticks that turn far within a step do work, as when a chain whips, until SHAKE has no solution
    turn        where a gradient turns far, impulses along the one at the start no longer correct what it belongs to,
                and iterations arrive at another solution of the constraints, as a chain folded the other way
    error       what the iterations leave of the violations
    implied     what violations of sticks grow by that are left out, because others imply them
    vibration   SHAKE is explicit across a stick under tension: a light rod that carries a heavy weight vibrates with
                ω² = K/M, and is unstable for ωh > 2 (pbd/direct/vibration.py)
    residual    what solves with the tension of ropes leave of the momentum (pbd/direct/tension.py)

A part in which one of them is beyond its limit is made again, as two.
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import real_bits
from pbd.data import DIRECT_RANGE
from pbd.direct.elimination import STIFF
from pbd.direct.mobility import free_part, friction_on
from pbd.direct.momentum_residual import sum_balance
from pbd.direct.sticks import ends_of
from pbd.direct.structures import MEASURES, structure
from pbd.direct.vibration import phase
from pbd.execution.phases import input_rows, is_finite
from pbd.integrate import acceleration, position
from pbd.projection import violation


class Limits(NamedTuple):
    """The largest values of a part."""

    work: float = 4e-5  # of rigid sticks, in parts of the energy
    turn: float = 0.05  # 1 - cos of the turn of a gradient
    error: float = 1e-6  # a violation, in parts of the size of the constraint; of shorter parts see `error_limit`
    implied: float = 1e-3  # growth of a violation, in parts of the size of the stick
    vibration: float = 1.0  # ωh
    # Solves with the tension of ropes converge in a few iterations where parts are so short that tension is about as
    # stiff as masses.
    residual: float = 1e-3  # of the momentum, in parts of the largest impulse


LIMITS = Limits()

# The next part corrects what is left of a violation, by a force that grows with 1/h². So the limit falls with h², down
# to what round-off leaves.
LEAST_ERROR = {64: 1e-11, 32: 1e-5}


@ti.func
def error_limit(length):
    """The limit of a violation, by size. Args: length: of the part, in parts of a substep."""
    return ti.max(LIMITS.error * length * length, ti.static(LEAST_ERROR[real_bits()]))


@ti.func
def measure(s: ti.template(), substep, left, search, world):
    """Measure a part by its limits. Args: left: its last Evaluation; search: a Search. Returns: a Measures."""
    work, turn = 0.0, 0.0
    if ti.static(s.features.from_start):
        work = ti.abs(work_of_constraints(s, substep, world)) / LIMITS.work
        turn = (1.0 - left.alignment) / LIMITS.turn
    vibration = phase(s, search.halvings > 0.0, world) / LIMITS.vibration
    implied_now = (largest_implied(s, world) - search.implied) / LIMITS.implied
    error = left.by_size / LIMITS.error
    others = ti.max(work, turn, vibration, implied_now)
    if ti.static(s.features.rope_nodes):
        others = ti.max(others, largest_residual(s, world) / LIMITS.residual)
    largest, by_fixed_limits = ti.max(others, left.by_size / error_limit(search.length)), ti.max(others, error)
    total = ti.Vector([0.0, 0.0, 0.0])  # of positions: a maximum of violations passes over what is not a number
    for i in range(s.counts.particles):
        total += position(s, i, world)
    if not (is_finite(ti.Vector([work, left.by_size, largest])) and is_finite(total)):
        largest, by_fixed_limits = ti.math.inf, ti.math.inf
    mirrored = implied_now > 1.0 and error < 1.0
    return structure(MEASURES)(largest=largest, by_fixed_limits=by_fixed_limits, vibration=vibration, mirrored=mirrored)


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
    at, _ = input_rows(s, substep)
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
