"""Contacts of a step with coloured contacts: as rigid/solvers/sequential/contacts.py, in loops that threads share."""

import taichi as ti

from rigid.collision.data import BLOCKS
from rigid.solvers.impulse.coloured import turns
from rigid.solvers.impulse.coloured.colours import find_clusters
from rigid.solvers.impulse.coloured.search import (
    CHUNKS,
    append_points,
    begin_finders,
    begin_shared_search,
    finish_points,
    place_chunks,
    shares_search,
)
from rigid.solvers.impulse.coloured.threads import for_each
from rigid.solvers.sequential.contacts import find_contact_points, report_contacts


@ti.func
def detect_contacts(s: ti.template(), world):
    """Find contact points and write their rows, or put them into packs. Returns: how many groups there are."""
    if ti.static(s.features.pair_types.hashed):
        begin_shared_search(s, world)
        for_each(s, turns.search, BLOCKS, world)
        find_points_of_chunks(s, world)
    else:
        find_contact_points(s, world)
    count = ti.min(s.points.count[world], s.points.integers.shape[1])
    find_clusters(s, count, world)
    groups = report_contacts(s, count, ti.cast(count, float), world)
    if ti.static(s.features.packs):
        for_each(s, turns.load_pack, s.packs.count[world], world)
        groups = 0
    for_each(s, turns.write_contacts, count, world)
    if ti.static(s.features.packs):
        for_each(s, turns.prepare_pack, s.packs.count[world], world)
    return s.step.first_contact_group + groups


@ti.func
def find_points_of_chunks(s: ti.template(), world):
    """Find the points of the pairs that the search has found."""
    if ti.static(shares_search(s)):
        begin_finders(s, world)
        for_each(s, turns.find_points, CHUNKS, world)
        total = place_chunks(s, world)
        if total <= s.points.integers.shape[1]:
            for_each(s, turns.copy_points, CHUNKS, world)
            s.points.count[world] = total
        else:  # which of them a thread had room for depends on who took which chunk
            append_all_points(s, world)
    else:
        append_all_points(s, world)
    finish_points(s, world)


@ti.func
def append_all_points(s: ti.template(), world):
    """Find the points of all chunks, on one thread."""
    s.points.count[world] = 0
    for chunk in range(CHUNKS):
        append_points(s, chunk, world)
