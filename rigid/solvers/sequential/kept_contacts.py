"""Contacts of bodies that sleep are kept from step to step, and cost next to nothing while other bodies move.

Shapes are *still* if their bodies have slept in the last substep and nothing has woken them. Contact points of still
shapes are the first ones of the list. As long as the same shapes are still, these points are kept, and the search
leaves out their pairs. Where something wakes one of them, all are searched again in the same substep. So all bits are
those of a search in each substep.
"""

import taichi as ti

from rigid.collision.broad_phase import is_still
from rigid.collision.data import HEAD, PAIR, PLACEMENT, SEARCH, STRUCTURE
from rigid.solvers.sequential.sleep import body_sleeps, has_slept


@ti.func
def mark_still_shapes(s: ti.template(), length, world):
    """Mark the still shapes, and count the points that are kept: those of the last substep if the same ones were.

    Args: length: of the substep [s], on which contact margins depend.
    """
    if ti.static(s.features.keeps_contacts):
        same = s.sleep.length[world] == length
        s.sleep.length[world] = length
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
def forget_if_woken(s: ti.template(), world):
    """Keep nothing if a body with still shapes has been woken: all its contacts are needed, in their order.

    Returns: whether contacts and islands are to be found again.
    """
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
    return woken
