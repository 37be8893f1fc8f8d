"""Contacts of bodies that sleep are kept from step to step, and cost next to nothing while other bodies move.

Shapes are *still* if their bodies have slept in the last substep and nothing has woken them. Contact points of still
shapes are the first ones of the list. As long as the same shapes are still, these points are kept, and the search
leaves out their pairs. Where something wakes one of them, all are searched again in the same substep. So all bits are
those of a search in each substep.
"""

import taichi as ti

from rigid.collision.broad_phase import is_still
from rigid.collision.data import HEAD, PAIR, PLACEMENT, SEARCH, STRUCTURE
from rigid.collision.lanes import mark_active
from rigid.solvers.sequential.contacts import find_contact_points
from rigid.solvers.sequential.sleep import body_sleeps, has_slept, put_to_sleep


@ti.func
def find_contacts_and_sleepers(s: ti.template(), whole: ti.template(), world):
    """Find contact points, and put the islands to sleep that they leave alone.

    Args: whole: data with the length of a substep.
    """
    if ti.static(s.features.contacts):
        mark_active(s, world)
        keep_points(s, world)
        find_contact_points(whole, world)
    put_to_sleep(s, world)
    search_again_if_woken(s, whole, world)


@ti.func
def keep_points(s: ti.template(), world):
    """Mark the still shapes, and count the points that are kept: those of the last substep if the same ones were."""
    if ti.static(s.features.keeps_contacts):
        same = True
        for shape in range(s.shapes.lists[HEAD.shape_count]):
            body, still = s.shapes.integers[shape, STRUCTURE.body], True
            if body >= 0:
                still = has_slept(s, body, world)
            if is_still(s.scratch, shape, world) != still:
                same = False
            s.scratch.placements[world, shape, PLACEMENT.still] = ti.cast(still, float)
        kept = 0
        if same:
            kept = still_points(s, world)
        s.scratch.found[world, SEARCH.kept] = kept


@ti.func
def still_points(s: ti.template(), world):
    """How many points of still shapes the list begins with."""
    found = 0
    for c in range(ti.min(s.points.count[world], s.points.integers.shape[1])):
        a, b = s.points.integers[world, c, PAIR.shape_a], s.points.integers[world, c, PAIR.shape_b]
        if found == c and is_still(s.scratch, a, world) and is_still(s.scratch, b, world):
            found += 1
    return found


@ti.func
def search_again_if_woken(s: ti.template(), whole: ti.template(), world):
    """Find all contacts and islands again if a body with still shapes has been woken: its contacts have another order.

    Args: whole: data with the length of a substep.
    """
    if ti.static(s.features.keeps_contacts):
        woken = False
        for shape in range(s.shapes.lists[HEAD.shape_count]):
            body = s.shapes.integers[shape, STRUCTURE.body]
            if body >= 0 and is_still(s.scratch, shape, world):
                if not body_sleeps(s, body, world):
                    woken = True
        if woken:
            for shape in range(s.shapes.lists[HEAD.shape_count]):
                s.scratch.placements[world, shape, PLACEMENT.still] = 0.0
            s.scratch.found[world, SEARCH.kept] = 0
            find_contact_points(whole, world)
            put_to_sleep(s, world)
