"""Contacts in packs: a step takes several manifolds at the same time, in the lanes of vectors.

A manifold is a run of contacts of the same two bodies. It goes into the first pack with a lane left behind those of the
earlier manifolds of its bodies. So the manifolds of a pack have no moving body in common and those of a body keep their
order: all bits are those of one contact after another. A slot of a pack has one contact of each manifold; a lane whose
manifold has fewer lacks it, as worlds in lanes lack contacts (rigid/collision/lanes.py).

The packs have copies of their bodies, as bodies 2p and 2p + 1 of pack p, and contact points of their slots. With these
in place of the world's (`in_pack` of slots.py) the functions of all solvers act in lanes. slots.py has the contacts of
one slot. This module is `s.formulation` of steps with packs: what it has besides its functions is that of maximal.py.
Rows of the world are written for readings alone.

Source: level scheduling, Anderson and Saad, Solving sparse triangular linear systems on parallel computers (1989).
"""

import taichi as ti

from pbd.core.kernels import (
    compiled_once,
    gathered,
    in_packs,
    lanes_of_register,
    largest_of_lanes,
    load_vector,
    scatter,
    store_vector,
)
from rigid.collision import contact_cache
from rigid.collision.contact_cache import CACHED
from rigid.collision.data import ABSENT, PAIR, POINT
from rigid.constraints.contact_rows import CONTACT_ROWS, tangents
from rigid.kernels.motion import MASS, POSE, PSEUDO
from rigid.solvers.impulse.data import MOST_LANES, PACK, PLACE, ROW, SLOT, SOFT
from rigid.solvers.impulse.maximal import (
    apply_impulse,
    compute_response,
    gear_matrix_entry,
    load_velocities,
    matrix_entry,
    needs_new_matrix,
    row_velocity,
    store_velocities,
    update_response,
)
from rigid.solvers.impulse.slots import impulse_of, prepare_slot, solve_slot, velocity_of, warm_start_slot
from rigid.solvers.sequential.contacts import find_entry
from rigid.solvers.sequential.prepare import OVERLAP_CORRECTION
from rigid.solvers.sequential.sleep import body_sleeps, kept_points
from rigid.solvers.sequential.solve import is_given, place_in_manifold

__all__ = [
    "apply_impulse", "compute_response", "gear_matrix_entry", "load_velocities", "matrix_entry", "needs_new_matrix",
    "prepare_corrections_of_packs", "row_velocity", "solve_packs", "store_packs", "store_velocities",
    "update_response", "warm_start_packs", "write_packs",
]  # fmt: skip

# Columns of velocities and pseudo-velocities.
VELOCITIES = tuple(range(PSEUDO)), tuple(range(PSEUDO, 2 * PSEUDO))


# The places of contacts -----------------------------------------------------------------------------------------------


@ti.func
def find_places(s: ti.template(), count, world):
    """Find the places of all contacts. Args: count: of contacts."""
    clear_places(s, world)
    kept = kept_points(s, world)
    made = place_contacts(s, kept, count, 0, None, False, world)
    s.packs.count[world] = made
    if ti.static(s.features.sleeping):
        made = place_contacts(s, kept, count, made, None, True, world)
    number_slots(s, made, kept, count, world)


@ti.func
def clear_places(s: ti.template(), world):
    """Begin without packs."""
    for body in range(s.bodies.pose.shape[1]):
        s.packs.last[world, body] = -1


@ti.func
def place_contacts(s: ti.template(), begin, end, first, order: ti.template(), asleep: ti.template(), world):
    """Put contacts into packs of their own.

    Args: begin, end: of contacts, or of their `order`; first: how many packs there are before; asleep: whether to take
    contacts of bodies that sleep, or the others. Returns: how many packs there are then.
    """
    packs, last, places = ti.static(s.packs.packs, s.packs.last, s.packs.places)
    ground = s.bodies.pose.shape[1] - 1
    made, before_i, before_j, pack, slot, lane = first, -1, -1, 0, 0, 0
    for k in range(begin, end):
        c = k
        if ti.static(is_given(order)):
            c = order[world, k]
        i, j = s.points.integers[world, c, PAIR.body_a], s.points.integers[world, c, PAIR.body_b]
        if j < 0:
            j = ground
        if ti.static(s.features.sleeping):
            if (body_sleeps(s, i, world) and body_sleeps(s, j, world)) != asleep:
                continue
        if i != before_i or j != before_j:
            pack = first_open(s, ti.max(last[world, i] + 1, last[world, j] + 1, first), made, world)
            if pack == made:
                begin_pack(s, pack, ground, world)
                made += 1
            lane, slot, before_i, before_j = packs[world, pack, PACK.used], 0, i, j
            packs[world, pack, PACK.used] = lane + 1
            packs[world, pack, PACK.body_i + lane], packs[world, pack, PACK.body_j + lane] = i, j
            if s.bodies.mass[world, i, MASS.inverse_mass] > 0.0:
                last[world, i] = pack
            if s.bodies.mass[world, j, MASS.inverse_mass] > 0.0:
                last[world, j] = pack
        places[world, c, PLACE.pack], places[world, c, PLACE.slot], places[world, c, PLACE.lane] = pack, slot, lane
        slot += 1
        packs[world, pack, PACK.slots] = ti.max(packs[world, pack, PACK.slots], slot)
    return made


@ti.func
def number_slots(s: ti.template(), made, begin, end, world):
    """Number the slots of all packs. Args: made: how many packs; begin, end: of contacts."""
    packs, places = ti.static(s.packs.packs, s.packs.places)
    total = 0
    for k in range(made):
        packs[world, k, PACK.first] = total
        total += packs[world, k, PACK.slots]
    for c in range(begin, end):
        first = packs[world, places[world, c, PLACE.pack], PACK.first]
        places[world, c, PLACE.slot] = places[world, c, PLACE.slot] + first


@ti.func
def first_open(s: ti.template(), first, made, world):
    """The first pack from `first` on that has a lane left; `made` if none has. It shortens the way for the next."""
    packs = ti.static(s.packs.packs)
    pack = first
    while pack < made and packs[world, pack, PACK.used] == ti.static(lanes_of_register()):
        after = packs[world, pack, PACK.next]
        if after < made:
            if packs[world, after, PACK.used] == ti.static(lanes_of_register()):
                packs[world, pack, PACK.next] = packs[world, after, PACK.next]
        pack = after
    return pack


@ti.func
def begin_pack(s: ti.template(), pack, ground, world):
    """Make an empty pack."""
    packs = ti.static(s.packs.packs)
    packs[world, pack, PACK.slots], packs[world, pack, PACK.used], packs[world, pack, PACK.next] = 0, 0, pack + 1
    for lane in range(ti.static(lanes_of_register())):
        packs[world, pack, PACK.body_i + lane], packs[world, pack, PACK.body_j + lane] = ground, ground


# The step -------------------------------------------------------------------------------------------------------------


@compiled_once("bodies", "points", "scratch", "cache", "packs", "sleep", "gravity", "step", "features", "formulation")
def write_packs(s: ti.template(), count, world):
    """Put all contacts into packs, with their impulses of the last step, and prepare those that do not sleep.

    Args: count: of contacts.
    """
    find_places(s, count, world)
    packs = s.packs.count[world]
    load_bodies(s, 0, packs, world)
    empty_slots(s, 0, packs, world)
    for c in range(kept_points(s, world), count):
        load_contact(s, c, world)
    prepare_in_lanes(s, 0, packs, world)


@ti.func
def load_contact(s: ti.template(), c, world):
    """Copy a contact to its place, with its impulse of the last step."""
    slot, lane = s.packs.places[world, c, PLACE.slot], s.packs.places[world, c, PLACE.lane]
    for k in ti.static(range(POINT.total)):
        s.packs.points[world, slot, k][lane] = s.points.numbers[world, c, k]
    entry = find_entry(s, c, world)
    for k in ti.static(range(3)):
        impulse = 0.0
        if entry >= 0:
            impulse = s.cache.numbers[world, entry, CACHED.vector + k]
        s.packs.impulses[world, slot, k][lane] = impulse


@ti.func
def load_bodies(s: ti.template(), begin, end, world):
    """Copy what contacts need of bodies. Args: begin, end: of packs."""
    bodies, copies = ti.static(s.bodies, s.packs.bodies)
    for pack in range(begin, end):
        for side, lane in ti.ndrange(2, ti.static(lanes_of_register())):
            body, copy = s.packs.packs[world, pack, PACK.body_i + MOST_LANES * side + lane], 2 * pack + side
            for k in ti.static((MASS.inverse_mass, MASS.gravity_scale)):
                copies.mass[world, copy, k][lane] = bodies.mass[world, body, k]
            for k in range(POSE.position, POSE.rotation):
                copies.pose[world, copy, k][lane] = bodies.pose[world, body, k]
            for k in range(PSEUDO):
                copies.velocity[world, copy, k][lane] = bodies.velocity[world, body, k]
            for k in range(9):
                copies.inverse_inertia[world, copy, k][lane] = bodies.inverse_inertia[world, body, k]


@in_packs
@ti.func
def empty_slots(s: ti.template(), begin, end, world):
    """Let all slots of packs lack their contacts. Args: begin, end: of packs."""
    packs = ti.static(s.packs.packs)
    for pack in range(begin, end):
        first = packs[world, pack, PACK.first]
        for slot in range(first, first + packs[world, pack, PACK.slots]):
            s.packs.points[world, slot, POINT.gap] = ABSENT
            store_vector(s.packs.points, slot, POINT.normal, ti.Vector([0.0, 0.0, 1.0]), world)


@in_packs
@ti.func
def prepare_in_lanes(s: ti.template(), begin, end, world):
    """Prepare all slots of packs. Args: begin, end: of packs."""
    packs = ti.static(s.packs.packs)
    for pack in range(begin, end):
        first = packs[world, pack, PACK.first]
        for slot in range(first, first + packs[world, pack, PACK.slots]):
            prepare_slot(s, slot, 2 * pack, 2 * pack + 1, world)


@ti.func
def warm_start_packs(s: ti.template(), world):
    """Apply the impulses that contacts have from the last step."""
    warm_start_some_packs(s, 0, s.packs.count[world], world)


@compiled_once("bodies", "packs")
def warm_start_some_packs(s: ti.template(), begin, end, world):
    """Apply the impulses that the contacts of packs have from the last step. Args: begin, end: of packs."""
    warm_start_in_lanes(s, begin, end, world)


@in_packs
@ti.func
def warm_start_in_lanes(s: ti.template(), begin, end, world):
    """As `warm_start_group` for all groups of packs. Args: begin, end: of packs."""
    packs = ti.static(s.packs.packs)
    for pack in range(begin, end):
        velocities = velocities_of(s, pack, 0, world)
        first, slots = packs[world, pack, PACK.first], packs[world, pack, PACK.slots]
        for slot in range(first, first + slots):
            velocities = warm_start_slot(s, slot, 2 * pack, 2 * pack + 1, velocities, world)
        store_velocities_of(s, pack, velocities, 0, world)


@ti.func
def velocities_of(s: ti.template(), pack, stage: ti.template(), world):
    """The velocities of the bodies of a pack (12,)."""
    v, packs = ti.static(s.bodies.velocity, s.packs.packs)
    a = gathered(v, packs, world, pack, PACK.body_i, VELOCITIES[stage])
    b = gathered(v, packs, world, pack, PACK.body_j, VELOCITIES[stage])
    return ti.Vector([a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1], b[2], b[3], b[4], b[5]])


@ti.func
def store_velocities_of(s: ti.template(), pack, velocities, stage: ti.template(), world):
    """Write the velocities of the bodies of a pack. Args: velocities: (12,)."""
    v, packs = ti.static(s.bodies.velocity, s.packs.packs)
    scatter(v, packs, world, pack, PACK.body_i, VELOCITIES[stage], velocities[:PSEUDO])
    scatter(v, packs, world, pack, PACK.body_j, VELOCITIES[stage], velocities[PSEUDO:])


@compiled_once("bodies", "packs", "step", "features")
def prepare_corrections_of_packs(s: ti.template(), world):
    """Prepare all contacts for position correction."""
    s.packs.change[world, 0] = prepare_corrections_in_lanes(s, 0, s.packs.count[world], world)


@in_packs
@ti.func
def prepare_corrections_in_lanes(s: ti.template(), begin, end, world):
    """As `prepare_correction` for all gaps of packs. Args: begin, end: of packs. Returns: the largest |b'| of an error.
    """
    numbers, packs = ti.static(s.packs.slots, s.packs.packs)
    largest, part = 0.0, s.step.error_reduction * OVERLAP_CORRECTION
    for pack in range(begin, end):
        velocities = velocities_of(s, pack, 0, world)
        first, slots = packs[world, pack, PACK.first], packs[world, pack, PACK.slots]
        for slot in range(first, first + slots):
            normal = load_vector(numbers, slot, SLOT.normal, world)
            speed = velocity_of(s, slot, normal, velocities, world)
            error = numbers[world, slot, SLOT.correction_bias] + s.step.h * speed
            bias = part * ti.min(error, 0.0) / s.step.h
            if s.packs.points[world, slot, POINT.gap] >= ABSENT:
                bias = 0.0
            largest = ti.max(largest, ti.abs(bias))
            if ti.static(s.features.joints):
                bias += (error - ti.min(error, 0.0)) / s.step.h
            numbers[world, slot, SLOT.correction_bias], numbers[world, slot, SLOT.correction_impulse] = bias, 0.0
    return largest_of_lanes(largest)


@ti.func
def solve_packs(s: ti.template(), stage: ti.template(), iteration, world):
    """Solve all contacts once. Args: iteration: see `place_in_manifold`. Returns: the largest change."""
    return solve_some_packs(s, stage, iteration, 0, s.packs.count[world], 0, world)


@ti.func
def solve_some_packs(s: ti.template(), stage: ti.template(), iteration, begin, end, thread, world):
    """Solve contacts once. Args: iteration: see `place_in_manifold`; begin, end: of packs; thread: that does it.

    Returns: the largest change.
    """
    if ti.static(stage == 0):
        solve_velocities_of_packs(s, iteration, begin, end, thread, world)
    else:
        solve_corrections_of_packs(s, iteration, begin, end, thread, world)
    return ti.atomic_max(s.packs.change[world, thread], 0.0)  # Taichi moves plain reads out of loops


@compiled_once("bodies", "packs", "features")
def solve_velocities_of_packs(s: ti.template(), iteration, begin, end, thread, world):
    """Solve contacts once for velocities."""
    s.packs.change[world, thread] = solve_in_lanes(s, 0, iteration, begin, end, world)


@compiled_once("bodies", "packs", "features")
def solve_corrections_of_packs(s: ti.template(), iteration, begin, end, thread, world):
    """Solve contacts once for pseudo-velocities."""
    s.packs.change[world, thread] = solve_in_lanes(s, 1, iteration, begin, end, world)


@in_packs
@ti.func
def solve_in_lanes(s: ti.template(), stage: ti.template(), iteration, begin, end, world):
    """Solve packs. Args: iteration: see `place_in_manifold`; begin, end: of packs. Returns: the largest change."""
    packs = ti.static(s.packs.packs)
    largest = 0.0
    for pack in range(begin, end):
        first, slots = packs[world, pack, PACK.first], packs[world, pack, PACK.slots]
        velocities = velocities_of(s, pack, stage, world)
        for k in range(slots):
            slot = first + place_in_manifold(k, slots, iteration)
            change, velocities = solve_slot(s, slot, 2 * pack, 2 * pack + 1, velocities, stage, world)
            largest = ti.max(largest, change)
        store_velocities_of(s, pack, velocities, stage, world)
    return largest_of_lanes(largest)


@compiled_once("points", "scratch", "rows", "cache", "packs", "step", "features")
def store_packs(s: ti.template(), count, last, world):
    """Store the impulses of all contacts for the next step. Args: count; last: whether contacts are read."""
    contact_cache.clear(s.cache, world)
    total_in_lanes(s, world)
    kept = kept_points(s, world)
    for back in range(count - kept):
        c = count - 1 - back
        slot, lane = s.packs.places[world, c, PLACE.slot], s.packs.places[world, c, PLACE.lane]
        contact_cache.store(s.cache, s.points, c, stored_impulse(s, slot, lane, world), world)
        # Those of a contact that sleeps may be kept from now on.
        if last == 1 or s.packs.places[world, c, PLACE.pack] >= s.packs.count[world]:
            write_readings(s, c, slot, lane, world)
    for back in range(kept):
        contact_cache.link(s.cache, s.points, kept - 1 - back, world)


@ti.func
def stored_impulse(s: ti.template(), slot, lane, world):
    """The impulses of a contact as a vector in the world (3,)."""
    return ti.Vector([s.packs.impulses[world, slot, k][lane] for k in ti.static(range(3))])


@ti.func
def write_readings(s: ti.template(), c, slot, lane, world):
    """Write what is read of the world's rows of contact c."""
    normal = load_vector(s.points.numbers, c, POINT.normal, world)
    t, u = tangents(normal)
    for k, direction in ti.static(enumerate((normal, t, u))):
        row = s.step.first_contact_row + CONTACT_ROWS * c + k
        store_vector(s.rows.numbers, row, ROW.linear, direction, world)
        last, earlier = s.packs.slots[world, slot, SLOT.impulse + k][lane], 0.0
        if ti.static(s.features.small_steps):
            earlier = s.packs.soft[world, slot, SOFT.earlier + k][lane]
        if ti.static(s.features.sleeping):
            if s.packs.places[world, c, PLACE.pack] >= s.packs.count[world]:
                last = stored_impulse(s, slot, lane, world).dot(direction)
                earlier = ti.static(max(s.features.small_steps - 1, 0)) * last
        s.rows.numbers[world, row, ROW.impulse] = last
        if ti.static(s.features.small_steps):
            s.rows.numbers[world, row, ROW.correction] = earlier


@in_packs
@ti.func
def total_in_lanes(s: ti.template(), world):
    """Compute the impulses of slots as vectors in the world. Those of contacts that sleep stay as they were."""
    packs = ti.static(s.packs.packs)
    for pack in range(s.packs.count[world]):
        first = packs[world, pack, PACK.first]
        for slot in range(first, first + packs[world, pack, PACK.slots]):
            store_vector(s.packs.impulses, slot, 0, impulse_of(s, slot, world), world)
