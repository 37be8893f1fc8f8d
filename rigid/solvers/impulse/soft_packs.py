"""Contacts in packs (packs.py) in the small steps of soft.py, with the same arithmetic, and so the same bits.

`prepare_slot` of slots.py begins them at the start of a substep.
"""

import taichi as ti

from pbd.core.kernels import compiled_once, in_packs, largest_of_lanes, load_vector
from rigid.collision.data import POINT
from rigid.constraints.contact_rows import CONTACT_ROWS, RESTING
from rigid.kernels.motion import gravity_on
from rigid.solvers.impulse.data import PACK, SLOT, SOFT
from rigid.solvers.impulse.packs import store_velocities_of, velocities_of
from rigid.solvers.impulse.slots import velocity_of, warm_start_slot
from rigid.solvers.impulse.softness import of_substep, softness_of


@compiled_once("bodies", "packs", "step", "features")
def soften_packs(s: ti.template(), fresh, world):
    """As `add_up`, `prepare_group` and `warm_start_group` for all packs. Args: fresh: 1 in the first small step."""
    soften_in_lanes(s, fresh, world)


@in_packs
@ti.func
def soften_in_lanes(s: ti.template(), fresh, world):
    """Add up the impulses of the small steps before, make gaps soft, and apply the impulses of the last one."""
    numbers, soft, packs = ti.static(s.packs.slots, s.packs.soft, s.packs.packs)
    turn, damping = softness_of(True)
    part = turn / (turn + 2.0 * damping)
    for pack in range(s.packs.count[world]):
        velocities = velocities_of(s, pack, 0, world)
        first = packs[world, pack, PACK.first]
        for slot in range(first, first + packs[world, pack, PACK.slots]):
            for k in ti.static(range(CONTACT_ROWS)):
                if fresh == 0:
                    earlier = soft[world, slot, SOFT.earlier + k] + numbers[world, slot, SLOT.impulse + k]
                    soft[world, slot, SOFT.earlier + k] = earlier
                    if ti.static(k == 0):
                        note_impulse(s, slot, world)
                if ti.static(not s.features.warm_start):
                    numbers[world, slot, SLOT.impulse + k] = 0.0
            gap = numbers[world, slot, SLOT.correction_bias]
            overlap = ti.min(gap, 0.0)
            softness, inverse = 0.0, soft[world, slot, SOFT.inverse]
            if gap <= 0.0:
                softness, inverse = soft[world, slot, SOFT.overlap_softness], soft[world, slot, SOFT.overlap_inverse]
            bias = (gap - overlap) / s.step.h + part * overlap / s.step.h
            numbers[world, slot, SLOT.bias], numbers[world, slot, SLOT.inverse] = bias, inverse
            soft[world, slot, SOFT.softness] = softness
            velocities = warm_start_slot(s, slot, 2 * pack, 2 * pack + 1, velocities, world)
        store_velocities_of(s, pack, velocities, 0, world)


@compiled_once("bodies", "packs", "step", "features")
def relax_packs(s: ti.template(), world):
    """As `advance_gaps` and `relax` of soft.py for all packs."""
    relax_in_lanes(s, world)


@in_packs
@ti.func
def relax_in_lanes(s: ti.template(), world):
    """Advance gaps by velocities, keep the largest impulses of the substep, and take softness away."""
    numbers, soft, packs = ti.static(s.packs.slots, s.packs.soft, s.packs.packs)
    for pack in range(s.packs.count[world]):
        velocities = velocities_of(s, pack, 0, world)
        first = packs[world, pack, PACK.first]
        for slot in range(first, first + packs[world, pack, PACK.slots]):
            gap = numbers[world, slot, SLOT.correction_bias]
            speed = velocity_of(s, slot, load_vector(numbers, slot, SLOT.normal, world), velocities, world)
            gap += s.step.h * speed
            numbers[world, slot, SLOT.bias] = (gap - ti.min(gap, 0.0)) / s.step.h
            numbers[world, slot, SLOT.correction_bias] = gap
            numbers[world, slot, SLOT.inverse] = soft[world, slot, SOFT.inverse]
            soft[world, slot, SOFT.softness] = 0.0
            note_impulse(s, slot, world)


@ti.func
def note_impulse(s: ti.template(), slot, world):
    """As `note_impulse` of soft.py."""
    numbers, soft = ti.static(s.packs.slots, s.packs.soft)
    soft[world, slot, SOFT.largest] = ti.max(soft[world, slot, SOFT.largest], numbers[world, slot, SLOT.impulse])


@compiled_once("bodies", "packs", "gravity", "step", "features")
def rebound_packs(s: ti.template(), world):
    """As `rebound` of soft.py for all packs: sets s.packs.change to ∞ if any rebounds, and to 0 otherwise."""
    s.packs.change[world, 0] = rebound_in_lanes(s, world)


@in_packs
@ti.func
def rebound_in_lanes(s: ti.template(), world):
    """Give slots that have met their velocities of restitution. Returns: ∞ if there is any, else 0."""
    t, numbers, soft, packs = ti.static(s._replace(bodies=s.packs.bodies), s.packs.slots, s.packs.soft, s.packs.packs)
    whole = ti.static(of_substep(s))
    any_rebounds = 0.0
    for pack in range(s.packs.count[world]):
        i, j = 2 * pack, 2 * pack + 1
        first = packs[world, pack, PACK.first]
        gravity = ti.max(gravity_on(t, i, world).norm(), gravity_on(t, j, world).norm())
        threshold = ti.max(s.step.restitution_threshold, RESTING * whole.step.h * gravity)
        for slot in range(first, first + packs[world, pack, PACK.slots]):
            approach = -soft[world, slot, SOFT.start_velocity]
            restitution = s.packs.points[world, slot, POINT.restitution]
            note_impulse(s, slot, world)
            if restitution > 0.0 and approach > threshold and soft[world, slot, SOFT.largest] > 0.0:
                numbers[world, slot, SLOT.bias] = -restitution * approach
                any_rebounds = ti.math.inf
    return largest_of_lanes(any_rebounds)
