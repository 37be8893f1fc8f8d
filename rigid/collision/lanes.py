"""Contacts with worlds in lanes: which worlds take part, and what can be read of each.

Contacts have places that all worlds in lanes share. Places are found again in each part of a substep
(rigid/solvers/adaptive_substeps.py), also if some of the worlds need no more parts. So what can be read of a world is
copied when its last part of a launch is done.

All functions may be called without lanes. Then every world takes part and has all its contacts, and nothing is copied.
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import Integer, Real, any_world, count, each_world, in_lanes
from rigid.collision.data import ABSENT, PAIR, POINT
from rigid.kernels import lanes

# What is read of a contact: its point; directions and impulses of its normal and its two tangents.
READ = POINT.extend(directions=9, impulses=3)


class InLanes(NamedTuple):
    """Arrays of worlds in lanes that can touch."""

    active: Real(count.worlds)  # 1 while a world takes part, 0 if it waits for others
    pairs: Integer(count.worlds, count.readings, PAIR)  # of the contacts of each world, one after another
    numbers: Real(count.worlds, count.readings, READ)


@ti.func
def mark_active(s: ti.template(), world):
    """Mark the worlds that take part from now on."""
    if ti.static(in_lanes()):
        lanes.mark_active(s.in_lanes.active, world)


@ti.func
def is_active(s: ti.template(), world):
    """Whether a world takes part."""
    result = True
    if ti.static(s.features.lanes > 1):
        result = s.in_lanes.active[world] > 0.0
    return result


@ti.func
def takes_part(s: ti.template(), c, world):
    """Whether a world takes part and has the contact in place c."""
    result = True
    if ti.static(s.features.lanes > 1):
        result = s.in_lanes.active[world] > 0.0 and is_present(s, c, world)
    return result


@ti.func
def is_present(s: ti.template(), c, world):
    """Whether a world has the contact in place c."""
    return s.points.numbers[world, c, POINT.gap] < ABSENT


@ti.func
def copy_contacts(s: ti.template(), last, places, copy_rows: ti.template(), world):
    """Copy what can be read of the contacts of a world that takes part.

    Args: last: whether contacts are read of this substep; places: how many contacts there are; copy_rows: a Taichi
    function (s, c, found, world) that copies directions and impulses of contact c to place `found` of
    `s.in_lanes.numbers`.
    """
    if ti.static(s.features.lanes > 1):
        if any_world(last):
            copy_contacts_of(s, places, copy_rows, world)


@each_world
@ti.func
def copy_contacts_of(s: ti.template(), places, copy_rows: ti.template(), world):
    """Copy the contacts of one world after another. Args: see `copy_contacts`."""
    found = 0
    if s.in_lanes.active[world] > 0.0:
        for c in range(places):
            if is_present(s, c, world):
                for k in ti.static(range(PAIR.total)):
                    s.in_lanes.pairs[world, found, k] = s.points.integers[world, c, k]
                for k in ti.static(range(POINT.total)):
                    s.in_lanes.numbers[world, found, k] = s.points.numbers[world, c, k]
                copy_rows(s, c, found, world)
                found += 1
