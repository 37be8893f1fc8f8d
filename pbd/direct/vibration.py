"""The fastest vibration of sticks under tension, which limits the length of a step (pbd/direct/adaptive.py).

ω² is the largest eigenvalue of P W K, where W are inverse masses, K is the stiffness of sticks across themselves
(tension by length), and P = 1 - W Jᵀ (J W Jᵀ)⁻¹ J takes away what constraints forbid. Power iterations find it, one in
each part. The shape of the vibration is part of the state.
"""

import taichi as ti

from pbd.core.kernels import any_world
from pbd.data import DIRECT_RANGE
from pbd.direct.mobility import weigh
from pbd.direct.response import take_away_forbidden
from pbd.direct.sticks import tension_of

# Power iterations that begin with noise. Afterwards one in each part follows the vibration.
FIRST_POWER_ITERATIONS = 12.0

# Power iterations are left out where a bound of (ωh)² is below these: no part is divided for a phase below 1, and none
# of a substep in parts waits to be joined for one below 0.5.
SLACK, SLACK_IN_PARTS = 1.0, 0.25


@ti.func
def phase(s: ti.template(), in_parts, world):
    """ωh of the fastest vibration under tension; zero where it is slow in any case. Args: in_parts: of a substep."""
    result = 0.0
    if largest_row(s, world) > ti.select(in_parts, SLACK_IN_PARTS, SLACK):
        left = 1.0
        if not norm(s, world) > 0.0:  # at the start, and after a part whose positions were not finite
            begin_with_noise(s, world)
            left = FIRST_POWER_ITERATIONS
        while any_world(left > 0.0):
            if left > 0.0:
                result = iterate_power(s, world)
                left -= 1.0
    return ti.sqrt(result)


@ti.func
def largest_row(s: ti.template(), world):
    """A bound of (ωh)²: the largest row of W K by Gershgorin's theorem, 2 w Σ K of the sticks at a particle.

    P only takes away, and so does pressure.
    """
    of_particle = ti.static(s.direct.stiffness)
    for i in range(s.counts.particles):
        of_particle[i, world] = 0.0
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].arity == 2):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                if s.direct.multiplier[s.direct.place[row], world] < 0.0:
                    i, j, stiffness, _ = stiffness_of(index, s, row, world)
                    of_particle[i, world] = of_particle[i, world] + stiffness
                    of_particle[j, world] = of_particle[j, world] + stiffness
    largest = 0.0
    for i in range(s.counts.particles):
        largest = ti.max(largest, 2.0 * s.particles.position[i, world][3] * of_particle[i, world])
    return largest


@ti.func
def stiffness_of(index: ti.template(), s: ti.template(), row, world):
    """What `tension_of` returns. Sticks at the nodes of ropes have no stiffness: it is added to masses (tension.py)."""
    i, j, stiffness, direction = tension_of(index, s, row, world)
    if s.direct.is_node[i] + s.direct.is_node[j] > 0:
        stiffness = 0.0
    return i, j, stiffness, direction


@ti.func
def norm(s: ti.template(), world):
    """Length of the vibration, √(Σ m v²)."""
    total = 0.0
    for i in range(s.counts.particles):
        w = s.particles.position[i, world][3]
        if w > 0.0:
            total += s.direct.vibration[i, world].norm_sqr() / w
    return ti.sqrt(total)


@ti.func
def begin_with_noise(s: ti.template(), world):
    """Let the vibration be anything that the constraints allow."""
    for i in range(s.counts.particles):
        w = s.particles.position[i, world][3]
        numbers = [ti.sin(ti.cast(17 * i + 5 * k, float)) for k in ti.static(range(3))]
        s.direct.vibration[i, world] = ti.sqrt(w) * ti.Vector(numbers)
    take_away_forbidden(s, s.direct.vibration, world)
    scale_vibration(s, 1.0 / norm(s, world), world)


@ti.func
def scale_vibration(s: ti.template(), factor, world):
    """Multiply the vibration."""
    for i in range(s.counts.particles):
        s.direct.vibration[i, world] = factor * s.direct.vibration[i, world]


@ti.func
def iterate_power(s: ti.template(), world):
    """Multiply the vibration by P W K h², and scale it to the length 1. Returns: what its length was before, (ωh)²."""
    force = ti.static(s.direct.momentum_residual)
    for i in range(s.counts.particles):
        force[i, world] = ti.Vector([0.0, 0.0, 0.0])
    for index in ti.static(s.features.direct):
        if ti.static(s.features.types[index].arity == 2):
            for row in range(s.direct.ranges[index, DIRECT_RANGE.begin], s.direct.ranges[index, DIRECT_RANGE.end]):
                i, j, stiffness, n = stiffness_of(index, s, row, world)
                difference = s.direct.vibration[j, world] - s.direct.vibration[i, world]
                across = stiffness * (difference - n.dot(difference) * n)
                force[i, world] = force[i, world] - across
                force[j, world] = force[j, world] + across
    for i in range(s.counts.particles):
        s.direct.vibration[i, world] = weigh(s, i, force[i, world], world)
    take_away_forbidden(s, s.direct.vibration, world)
    length = norm(s, world)
    if length > 0.0:
        scale_vibration(s, 1.0 / length, world)
    return length
