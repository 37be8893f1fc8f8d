"""Impulses of contacts, stored for the next step (rigid/collision/contact_cache.py)."""

import taichi as ti

from pbd.core.kernels import each_world, load_vector, store_vector
from rigid.collision import contact_cache
from rigid.collision.contact_cache import CACHED
from rigid.collision.data import PAIR
from rigid.constraints.contact_rows import CONTACT_ROWS, contact_size
from rigid.kernels.motion import MASS
from rigid.solvers.sequential.data import ROW
from rigid.solvers.sequential.lanes import is_present

# Contact points of two shapes are the same if they are nearer than this part of a body's radius, even if their features
# differ.
SAME_POINT = 0.1


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
    entry = -1
    if ti.static(s.features.warm_start):
        radius = s.bodies.mass[world, s.points.integers[world, c, PAIR.body_a], MASS.radius]
        entry = contact_cache.look_up(s.cache, s.points, c, SAME_POINT * radius, world)
    resolve_impulse(s, c, 0, entry, CACHED.vector, ROW.linear, world)
    if ti.static(s.features.pair_types.rolling_and_spinning):
        resolve_impulse(s, c, CONTACT_ROWS, entry, CACHED.angular, ROW.angular_i, world)


@ti.func
def is_active(s: ti.template(), world):
    """Whether a world takes part. Without lanes it always does."""
    result = True
    if ti.static(has_in_lanes(s)):
        result = s.in_lanes.active[world] > 0.0
    return result


@ti.func
def takes_part(s: ti.template(), c, world):
    """Whether a world takes part and has the contact in place c. Without lanes it always has."""
    result = True
    if ti.static(has_in_lanes(s)):
        result = s.in_lanes.active[world] > 0.0 and is_present(s, c, world)
    return result


def has_in_lanes(s):
    """Whether the kernel has worlds in lanes. Args: s: of a kernel."""
    return getattr(s.features, "lanes", 1) > 1


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
        row = s.step.first_contact_row + ti.static(contact_size(s.features.pair_types)[0]) * c + first + k
        n[world, row, ROW.impulse] = impulse.dot(load_vector(n, row, direction, world))


@each_world
@ti.func
def store_impulses_of(s: ti.template(), count, world):
    """Store the impulses of contacts. Args: count: of their places."""
    if is_active(s, world):
        contact_cache.clear(s.cache, world)
    for c in range(count):
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
        row = s.step.first_contact_row + ti.static(contact_size(s.features.pair_types)[0]) * c + first + k
        result += n[world, row, ROW.impulse] * load_vector(n, row, direction, world)
    return result
