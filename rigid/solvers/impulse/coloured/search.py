"""Contact points that several threads find, in the order in which one thread finds them.

Pairs of shapes lie in lists (rigid/collision/broad_phase.py), and a chunk is a part of a list. A thread that takes a
chunk appends its points to its own. Then the chunks are put behind one another, so no bit depends on who took which.
"""

from typing import NamedTuple

import taichi as ti

from pbd.core.kernels import Columns, Integer, Real, allocate, compiled_once, count
from pbd.execution.phases import world_of
from rigid.collision.broad_phase import begin_search, list_of_pairs, write_placements
from rigid.collision.data import BLOCKS, CLIP, PAIR, POINT, Points
from rigid.collision.internal_edges import remove_internal_edges
from rigid.collision.narrow_phase import count_untested
from rigid.solvers.sequential.contacts import compute_contact_margins

# Chunks of a list, and all chunks.
CHUNKS_OF_A_LIST = 4
CHUNKS = CHUNKS_OF_A_LIST * (BLOCKS + 1)

# Who took a chunk; its first point and how many it has among the points of that thread; where they go.
CHUNK = Columns(thread=1, first=1, count=1, place=1)


class Finder(NamedTuple):
    """What a thread has of its own in the search: its points, and what it writes of `Scratch`."""

    points: Points
    clips: Real(count.worlds, count.corners, CLIP)
    marks: Integer(count.corners, count.worlds)


class Finders(NamedTuple):
    """The chunks, and the Finder of each thread."""

    chunks: Integer(count.worlds, CHUNKS, CHUNK)
    first: Finder
    second: Finder
    third: Finder
    fourth: Finder


def shares_search(s):
    """Whether several threads find the points. Pairs with meshes use scratch memory in `shapes`."""
    types = s.features.pair_types
    return s.threads > 1 and types.hashed and not types.any_mesh


@compiled_once("bodies", "shapes", "scratch", "margin", "gravity", "step", "features")
def begin_shared_search(s: ti.template(), index):
    """Find the listed pairs and those of large shapes, and prepare the search for those of small ones."""
    world = world_of(s, index)
    compute_contact_margins(s, world)
    write_placements(s.shapes, s.scratch, s.bodies.pose, s.margin, world)
    begin_search(s.shapes, s.scratch, world)


@ti.func
def begin_finders(s: ti.template(), world):
    """Let no thread have points."""
    for each in ti.static(range(s.threads)):
        s.finders[1 + each].points.count[world] = 0


@compiled_once("shapes", "points", "scratch", "features")
def finish_points(s: ti.template(), world):
    """Do what comes after the search for points."""
    count_untested(s.points, s.scratch, world)
    if ti.static(s.features.pair_types.any_edge):
        remove_internal_edges(s.shapes, s.points, s.scratch, 0, world)


def of_finder(s, finder):
    """The same data with the points and scratch memory of a thread."""
    scratch = s.scratch._replace(clips=finder.clips, marks=finder.marks)
    return s._replace(points=finder.points, scratch=scratch)


@ti.func
def find_points_of_chunk(s: ti.template(), chunk, thread, world):
    """Find the points of a chunk."""
    chunks = ti.static(s.finders.chunks)
    for each in ti.static(range(s.threads)):
        if thread == each:
            points = ti.static(s.finders[1 + each].points)
            before = ti.atomic_add(points.count[world], 0)  # Taichi does not see that called functions change it
            append_points(ti.static(of_finder(s, s.finders[1 + each])), chunk, world)
            chunks[world, chunk, CHUNK.thread], chunks[world, chunk, CHUNK.first] = thread, before
            chunks[world, chunk, CHUNK.count] = ti.atomic_add(points.count[world], 0) - before


@compiled_once("bodies", "shapes", "points", "scratch", "features", "find_points")
def append_points(s: ti.template(), chunk, world):
    """Append the points of a chunk."""
    begin, end = pairs_of_chunk(s.scratch, chunk, world)
    s.find_points(s.shapes, s.points, s.scratch, begin, end, world)


@ti.func
def pairs_of_chunk(scratch: ti.template(), chunk, world):
    """The first pair of a chunk, and the end."""
    k, part = chunk // CHUNKS_OF_A_LIST, chunk % CHUNKS_OF_A_LIST
    first, capacity = list_of_pairs(scratch, k)
    length = ti.min(scratch.found[world, k], capacity)
    return first + length * part // CHUNKS_OF_A_LIST, first + length * (part + 1) // CHUNKS_OF_A_LIST


@ti.func
def place_chunks(s: ti.template(), world):
    """Find where the points of each chunk go. Returns: how many points there are."""
    chunks = ti.static(s.finders.chunks)
    total = 0
    for chunk in range(CHUNKS):
        chunks[world, chunk, CHUNK.place] = total
        total += chunks[world, chunk, CHUNK.count]
    return total


@ti.func
def copy_chunk(s: ti.template(), chunk, world):
    """Copy the points of a chunk to their places."""
    chunks = ti.static(s.finders.chunks)
    thread, first = chunks[world, chunk, CHUNK.thread], chunks[world, chunk, CHUNK.first]
    place, length = chunks[world, chunk, CHUNK.place], chunks[world, chunk, CHUNK.count]
    for each in ti.static(range(s.threads)):
        if thread == each:
            copy_points(s.finders[1 + each].points, s.points, first, place, length, world)


@ti.func
def copy_points(source: ti.template(), target: ti.template(), first, place, length, world):
    """Copy points. Args: first: of `source`; place: of the first in `target`; length: how many."""
    for k in range(length):
        for column in ti.static(range(POINT.total)):
            target.numbers[world, place + k, column] = source.numbers[world, first + k, column]
        for column in ti.static(range(PAIR.total)):
            target.integers[world, place + k, column] = source.integers[world, first + k, column]
        target.features[world, place + k] = source.features[world, first + k]


def allocate_finders(threads, worlds, contacts, corners):
    """Make the arrays. Args: threads; worlds; contacts: at most; corners: of `Scratch`."""
    counts = {"worlds": worlds, "contacts": contacts, "corners": corners}
    unused = dict.fromkeys(counts, 1)
    values = {
        name: allocate(Finder, **(counts if threads > max(k, 1) else unused))
        for k, name in enumerate(Finders._fields[1:])
    }
    return allocate(Finders, values, worlds=worlds)
