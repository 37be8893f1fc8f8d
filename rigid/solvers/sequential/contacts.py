"""Contacts of a step: their points and rows, with the impulses that they had in the last step.

Impulses are stored for the next step in a cache (rigid/collision/contact_cache.py).
"""

import numpy as np
import taichi as ti

from pbd.core.kernels import compiled_once, each_world, load_vector, read, store_vector
from pbd.execution.phases import world_of
from rigid.collision import contact_cache
from rigid.collision.contact_cache import CACHED
from rigid.collision.data import PAIR
from rigid.collision.lanes import READ, copy_contacts, is_active, mark_active, takes_part
from rigid.constraints.contact_forces import contact_forces
from rigid.constraints.contact_rows import CONTACT_ROWS, contact_size, write_contact_rows
from rigid.external_forces import EXTERNAL
from rigid.kernels.motion import MASS, VELOCITY, gravity_on
from rigid.solvers.report import REPORT
from rigid.solvers.sequential.data import ROW
from rigid.solvers.sequential.kept_contacts import forget_if_woken, mark_still_shapes
from rigid.solvers.sequential.sleep import put_to_sleep

# Bodies look for contacts up to this part of their radius beyond the way that they may go in the step.
MARGIN = 0.02

# Contact points of two shapes are the same if they are nearer than this part of a body's radius, even if their features
# differ.
SAME_POINT = 0.1


@ti.func
def detect_contacts(s: ti.template(), world):
    """Find contact points, put islands at rest to sleep, and write the rows of the points.

    Returns: how many groups there are, of joints and contacts.
    """
    find_contacts(s, s, world)
    return write_contacts(s, world)


@ti.func
def find_contacts(s: ti.template(), whole: ti.template(), world):
    """Find contact points, and put islands at rest to sleep. Args: whole: data with the length of a substep."""
    if ti.static(s.features.contacts):
        mark_active(s, world)
        mark_still_shapes(s, whole.step.h, world)
        find_contact_points(whole, world)
    put_to_sleep(s, world)
    if ti.static(s.features.keeps_contacts):
        if forget_if_woken(s, world):
            find_contact_points(whole, world)
            put_to_sleep(s, world)


@ti.func
def write_contacts(s: ti.template(), world):
    """Write the rows of the contact points that were found. Returns: see `detect_contacts`."""
    groups = s.step.first_contact_group
    if ti.static(s.features.contacts):
        if ti.static(s.features.packs):
            count = ti.min(s.points.count[world], s.points.integers.shape[1])
            s.formulation.write_packs(s, count, world)
            report_contacts(s, count, ti.cast(count, float), world)
        else:
            count, found = write_contact_rows(s, world)
            look_up_impulses(s, count, world)
            groups += report_contacts(s, count, found, world)
    return groups


@compiled_once("bodies", "shapes", "points", "scratch", "margin", "gravity", "step", "features", "find_points")
def find_contact_points(s: ti.template(), index):
    """Find the points where bodies may touch within the step."""
    world = world_of(s, index)
    compute_contact_margins(s, world)
    s.find_points(s.shapes, s.points, s.scratch, s.bodies.pose, s.margin, world)


@ti.func
def compute_contact_margins(s: ti.template(), world):
    """Compute the contact margin of each body: as far as it may go in the step, and a little more."""
    for body in range(s.margin.shape[0]):
        radius = s.bodies.mass[world, body, MASS.radius]
        velocity = load_vector(s.bodies.velocity, body, VELOCITY.linear, world)
        acceleration = gravity_on(s, body, world)
        if s.step.external == 1:
            force = load_vector(s.bodies.external, body, EXTERNAL.force, world)
            acceleration += s.bodies.mass[world, body, MASS.inverse_mass] * force
        speed = (velocity + s.step.h * acceleration).norm()
        speed += radius * load_vector(s.bodies.velocity, body, VELOCITY.angular, world).norm()
        s.margin[body, world] = s.step.h * speed + MARGIN * radius


@ti.func
def report_contacts(s: ti.template(), count, found, world):
    """Report how many contacts there are, and too many for the arrays.

    Args: count: of places; found: how many the world has. Returns: how many groups they have.
    """
    if s.points.count[world] > s.points.integers.shape[1]:
        s.report[world, REPORT.overflow] = ti.cast(s.points.count[world], float)
    s.report[world, REPORT.contacts] = found
    return ti.static(contact_size(s.features.pair_types)[1]) * count


@each_world
@ti.func
def look_up_impulses(s: ti.template(), count, world):
    """Look up the impulses of contacts. Args: count: of their places."""
    for c in range(count):
        if takes_part(s, c, world):
            look_up_impulse(s, c, world)


@ti.func
def look_up_impulse(s: ti.template(), c, world):
    """Give a contact its impulse of the last step, along the directions of its rows now; zero to a new contact."""
    entry = find_entry(s, c, world)
    resolve_impulse(s, c, 0, entry, CACHED.vector, ROW.linear, world)
    if ti.static(s.features.pair_types.rolling_and_spinning):
        resolve_impulse(s, c, CONTACT_ROWS, entry, CACHED.angular, ROW.angular_i, world)


@ti.func
def find_entry(s: ti.template(), c, world):
    """The entry of contact c in the cache, -1 if there is none."""
    entry = -1
    if ti.static(s.features.warm_start):
        radius = s.bodies.mass[world, s.points.integers[world, c, PAIR.body_a], MASS.radius]
        entry = contact_cache.look_up(s.cache, s.points, c, SAME_POINT * radius, world)
    return entry


@ti.func
def resolve_impulse(s: ti.template(), c, first, entry, column, direction, world):
    """Give three rows of contact c a cached impulse, by its parts along their directions.

    Args: first: which row of the contact is the first; entry: of the cache, or -1; column: of the cache; direction:
    column of the rows with their directions.
    """
    n = ti.static(s.rows.numbers)
    impulse = ti.Vector([0.0, 0.0, 0.0])
    if entry >= 0:
        impulse = load_vector(s.cache.numbers, entry, column, world)
    for k in ti.static(range(CONTACT_ROWS)):
        row = first_row(s, c) + first + k
        n[world, row, ROW.impulse] = impulse.dot(load_vector(n, row, direction, world))


@ti.func
def first_row(s: ti.template(), c):
    """The first row of contact c."""
    return s.step.first_contact_row + ti.static(contact_size(s.features.pair_types)[0]) * c


@ti.func
def store_impulses(s: ti.template(), last, world):
    """Store the impulses of all contacts for the next step. Args: last: whether contacts are read of this substep."""
    if ti.static(s.features.contacts):
        count = ti.min(s.points.count[world], s.points.integers.shape[1])
        if ti.static(s.features.packs):
            s.formulation.store_packs(s, count, ti.cast(last, ti.i32), world)
        else:
            store_impulses_of(s, count, world)
            copy_contacts(s, last, count, copy_rows, world)


@each_world
@ti.func
def store_impulses_of(s: ti.template(), count, world):
    """Store the impulses of contacts. Args: count: of their places."""
    if is_active(s, world):
        contact_cache.clear(s.cache, world)
    for back in range(count):
        c = count - 1 - back
        if takes_part(s, c, world):
            contact_cache.store(s.cache, s.points, c, total_impulse(s, c, 0, ROW.linear, world), world)
            if ti.static(s.features.pair_types.rolling_and_spinning):
                angular = total_impulse(s, c, CONTACT_ROWS, ROW.angular_i, world)
                store_vector(s.cache.numbers, c, CACHED.angular, angular, world)


@ti.func
def total_impulse(s: ti.template(), c, first, direction, world):
    """The impulses of three rows of contact c as a vector in the world. Args: see `resolve_impulse`."""
    n = ti.static(s.rows.numbers)
    result = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(CONTACT_ROWS)):
        row = first_row(s, c) + first + k
        result += n[world, row, ROW.impulse] * load_vector(n, row, direction, world)
    return result


@ti.func
def copy_rows(s: ti.template(), c, found, world):
    """Copy directions and impulses of contact c to place `found`, for worlds in lanes."""
    n, copies = ti.static(s.rows.numbers, s.in_lanes.numbers)
    for k in ti.static(range(CONTACT_ROWS)):
        row = first_row(s, c) + k
        store_vector(copies, found, READ.directions + 3 * k, load_vector(n, row, ROW.linear, world), world)
        copies[world, found, READ.impulses + k] = n[world, row, ROW.impulse]


def read_contacts(arrays, world, found, h):
    """The Contacts of a world in lanes.

    Args: arrays: an InLanes; world; found: how many; h: length of a substep [s].
    """
    pairs, numbers = (read(array)[world, :found] for array in (arrays.pairs, arrays.numbers))
    rows = np.zeros((found, CONTACT_ROWS, ROW.total), numbers.dtype)
    rows[..., ROW["linear"]] = numbers[:, READ["directions"]].reshape(found, CONTACT_ROWS, 3)
    return contact_forces((pairs, numbers), rows, numbers[:, READ["impulses"]] / h)
