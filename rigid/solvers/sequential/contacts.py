"""Contacts of a step: their rows, and their impulses, kept from one step to the next and found again by feature."""

from functools import lru_cache

import taichi as ti

from rigid.collision.data import PAIR, POINT
from rigid.collision.narrow_phase import point_finder
from rigid.constraints.contact_rows import ROWS, size, write_contact_rows
from rigid.constraints.rows import DIRECTION, TURN_I
from rigid.kernels.columns import put_triple, triple
from rigid.kernels.flight import look_around
from rigid.kernels.motion import RADIUS
from rigid.solvers.report import CROWDED, TOUCHING
from rigid.solvers.sequential.data import IMPULSE

OTHER, OF_FEATURE, NEXT = range(3)  # columns of Kept.keys
WHERE, MOMENT = 3, 6  # and of Kept.impulses: the point; the impulse against rolling and spinning, where there is one

# Points of two shapes that are nearer than this part of a body's radius are one and the same, whatever their features.
NEAR = 0.1


@lru_cache
def contact_writer(meetings):
    """A Taichi function (s, world) that writes the rows of all contacts, as the bodies lie, with the impulses that they
    had, and returns how many groups there are. Arguments: meetings: what can meet, a rigid.collision.data.PairTypes."""
    find_points = point_finder(meetings)
    groups = size(meetings)[1]

    @ti.func
    def write_contacts(s: ti.template(), world):
        look_around(s, world)
        find_points(s.shapes, s.points, s.scratch, s.motion.poses, s.reach, world)
        if s.points.count[world] > s.points.integers.shape[1]:
            s.report[world, CROWDED] = ti.cast(s.points.count[world], float)
        count = write_contact_rows(s, world)
        begin_contacts(s, world)
        s.report[world, TOUCHING] = ti.cast(count, float)
        return s.first_group + groups * count

    return write_contacts


@ti.func
def begin_contacts(s: ti.template(), world):
    """Give each contact the impulse it had, along its directions of now; none to those that are new."""
    for c in range(ti.min(s.points.count[world], s.points.integers.shape[1])):
        old = -1
        if ti.static(s.features.warm):
            old = remembered(s, c, world)
        begin_rows(s, c, 0, old, 0, DIRECTION, world)
        if ti.static(s.features.contacts.turning_friction):
            begin_rows(s, c, ROWS, old, MOMENT, TURN_I, world)


@ti.func
def begin_rows(s: ti.template(), c, first, old, column, along, world):
    """Give three rows of contact c, from its `first` on, what was kept in a column of Kept.impulses.

    Arguments: old: row of that, or -1; along: column of the rows with their directions.
    """
    n = ti.static(s.rows.numbers)
    impulse = ti.Vector([0.0, 0.0, 0.0])
    if old >= 0:
        impulse = triple(s.kept.impulses, old, column, world)
    for k in ti.static(range(ROWS)):
        row = s.first_row + ti.static(size(s.features.contacts)[0]) * c + first + k
        n[world, row, IMPULSE] = impulse.dot(triple(n, row, along, world))


@ti.func
def remembered(s: ti.template(), c, world):
    """Where the impulse is kept that point c had in the last step, -1 for nowhere: of the same feature, or, where boxes
    lie edge on edge and a corner takes the place of a crossing, of the nearest point of the same two shapes."""
    other, feature = s.points.integers[world, c, PAIR.shape_b], s.points.integers[world, c, PAIR.feature]
    point = triple(s.points.numbers, c, POINT.position, world)
    nearest = NEAR * s.motion.masses[world, s.points.integers[world, c, PAIR.body_a], RADIUS]
    found = -1
    at = s.kept.heads[s.points.integers[world, c, PAIR.shape_a], world]
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
    if found >= 0:
        s.kept.keys[world, found, OTHER] = -1  # nobody else's
    return found


@ti.func
def in_turn(s: ti.template(), k, groups, world):
    """The k-th group of a sweep: those of joints as they stand, those of contacts in every other step the last first.

    Sweeps that have not converged leave more to whom they come to last, and always in one order, with the impulses of
    the step before, that adds up: a tower of ten boxes sways by 1.6 J where by turns it has 0.002 J left.
    """
    group = k
    if k >= s.first_group and s.kept.turns[world] == 1:
        group = s.first_group + groups - 1 - k
    return group


@ti.func
def keep_contacts(s: ti.template(), world):
    """Keep the impulses of all contacts for the next step, which takes them in the other order."""
    s.kept.turns[world] = 1 - s.kept.turns[world]
    for shape in range(s.kept.heads.shape[0]):
        s.kept.heads[shape, world] = -1
    for c in range(ti.min(s.points.count[world], s.points.integers.shape[1])):
        put_triple(s.kept.impulses, c, 0, together(s, c, 0, DIRECTION, world), world)
        if ti.static(s.features.contacts.turning_friction):
            put_triple(s.kept.impulses, c, MOMENT, together(s, c, ROWS, TURN_I, world), world)
        put_triple(s.kept.impulses, c, WHERE, triple(s.points.numbers, c, POINT.position, world), world)
        shape = s.points.integers[world, c, PAIR.shape_a]
        s.kept.keys[world, c, OTHER] = s.points.integers[world, c, PAIR.shape_b]
        s.kept.keys[world, c, OF_FEATURE] = s.points.integers[world, c, PAIR.feature]
        s.kept.keys[world, c, NEXT] = s.kept.heads[shape, world]
        s.kept.heads[shape, world] = c


@ti.func
def together(s: ti.template(), c, first, along, world):
    """The impulses of three rows of contact c, from its `first` on, as a vector in the world."""
    n = ti.static(s.rows.numbers)
    result = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(ROWS)):
        row = s.first_row + ti.static(size(s.features.contacts)[0]) * c + first + k
        result += n[world, row, IMPULSE] * triple(n, row, along, world)
    return result
