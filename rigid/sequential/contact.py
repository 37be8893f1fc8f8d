"""Contacts of a step: their rows, and their impulses, kept from one step to the next and found again by feature."""

from functools import lru_cache

import taichi as ti

from rigid.columns import put_triple, triple
from rigid.contact.narrow import point_finder
from rigid.contact.rows import GROUPS, ROWS, write_contact_rows
from rigid.contact.tables import BODY_A, FEATURE, POINT, SHAPE_A, SHAPE_B
from rigid.flight import look_around
from rigid.motion import RADIUS
from rigid.rows import DIRECTION
from rigid.sequential.arrays import CROWDED, IMPULSE, TOUCHING

OTHER, OF_FEATURE, NEXT = range(3)  # columns of Kept.keys
WHERE = 3  # and of Kept.impulses, the point

# Points of two shapes that are nearer than this part of a body's radius are one and the same, whatever their features.
NEAR = 0.1


@lru_cache
def contact_writer(meetings):
    """A Taichi function (s, world) that writes the rows of all contacts, as the bodies lie, with the impulses that they
    had, and returns how many groups there are. Arguments: meetings: what can meet, a rigid.contact.tables.Meetings."""
    find_points = point_finder(meetings)

    @ti.func
    def write_contacts(s: ti.template(), world):
        look_around(s, world)
        find_points(s.shapes, s.points, s.broad, s.motion.poses, s.reach, world)
        if s.points.count[world] > s.points.integers.shape[1]:
            s.report[world, CROWDED] = ti.cast(s.points.count[world], float)
        count = write_contact_rows(s, world)
        begin_contacts(s, world)
        s.report[world, TOUCHING] = ti.cast(count, float)
        return s.first_group + GROUPS * count

    return write_contacts


@ti.func
def begin_contacts(s: ti.template(), world):
    """Give each contact the impulse it had, along its directions of now; none to those that are new."""
    n = ti.static(s.rows.numbers)
    for c in range(ti.min(s.points.count[world], s.points.integers.shape[1])):
        impulse = ti.Vector([0.0, 0.0, 0.0])
        if ti.static(s.features.warm):
            impulse = remembered(s, c, world)
        for k in ti.static(range(ROWS)):
            row = s.first_row + ROWS * c + k
            n[world, row, IMPULSE] = impulse.dot(triple(n, row, DIRECTION, world))


@ti.func
def remembered(s: ti.template(), c, world):
    """The impulse that point c had in the last step, in the world: of the same feature, or, where boxes lie edge on
    edge and a corner takes the place of a crossing, of the nearest point of the same two shapes."""
    other, feature = s.points.integers[world, c, SHAPE_B], s.points.integers[world, c, FEATURE]
    point = triple(s.points.numbers, c, POINT, world)
    nearest = NEAR * s.motion.masses[world, s.points.integers[world, c, BODY_A], RADIUS]
    found = -1
    at = s.kept.heads[s.points.integers[world, c, SHAPE_A], world]
    while at >= 0:
        following = s.kept.keys[world, at, NEXT]
        if s.kept.keys[world, at, OTHER] == other:
            away = (triple(s.kept.impulses, at, WHERE, world) - point).norm()
            if s.kept.keys[world, at, OF_FEATURE] == feature:
                found = at
                following = -1
            elif away < nearest:
                found, nearest = at, away
        at = following
    impulse = ti.Vector([0.0, 0.0, 0.0])
    if found >= 0:
        impulse = triple(s.kept.impulses, found, 0, world)
        s.kept.keys[world, found, OTHER] = -1  # nobody else's
    return impulse


@ti.func
def keep_contacts(s: ti.template(), world):
    """Keep the impulses of all contacts for the next step."""
    n = ti.static(s.rows.numbers)
    for shape in range(s.kept.heads.shape[0]):
        s.kept.heads[shape, world] = -1
    for c in range(ti.min(s.points.count[world], s.points.integers.shape[1])):
        first = s.first_row + ROWS * c
        impulse = ti.Vector([0.0, 0.0, 0.0])
        for k in ti.static(range(ROWS)):
            impulse += n[world, first + k, IMPULSE] * triple(n, first + k, DIRECTION, world)
        put_triple(s.kept.impulses, c, 0, impulse, world)
        put_triple(s.kept.impulses, c, WHERE, triple(s.points.numbers, c, POINT, world), world)
        shape = s.points.integers[world, c, SHAPE_A]
        s.kept.keys[world, c, OTHER] = s.points.integers[world, c, SHAPE_B]
        s.kept.keys[world, c, OF_FEATURE] = s.points.integers[world, c, FEATURE]
        s.kept.keys[world, c, NEXT] = s.kept.heads[shape, world]
        s.kept.heads[shape, world] = c
