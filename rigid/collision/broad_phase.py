"""Scratch phase: where every shape is, and which pairs of them could touch.

A spatial hash as in pbd/collision/particle_contacts.py (Teschner et al., Optimized Spatial Hashing, 2003; counting sort by bucket
as in Green, Particle Simulation using CUDA, 2010) over the balls that hold the shapes. Cells are as wide as the largest
small shape with its margin, so that what could touch is in neighbouring cells; the few large shapes, planes among them,
are held against all others. A model of few shapes has a list of its pairs instead, made once.
"""

import taichi as ti

from pbd.collision.particle_contacts import bucket_of, cell_of
from pbd.core.quaternions import rotate
from pbd.core.shapes import CAPSULE, PLANE
from rigid.collision.data import HEAD, PLACEMENT, SHAPE, STRUCTURE
from rigid.kernels.columns import quadruple, triple


@ti.func
def to_world(scratch: ti.template(), shape, v, world):
    """A direction of a shape's frame, in the world."""
    return ti.Vector([triple(scratch.placements, shape, PLACEMENT.matrix + 3 * k, world).dot(v) for k in ti.static(range(3))])


@ti.func
def to_frame(scratch: ti.template(), shape, v, world):
    """A direction of the world, in a shape's frame."""
    m = ti.static(scratch.placements)
    return (
        v[0] * triple(m, shape, PLACEMENT.matrix, world)
        + v[1] * triple(m, shape, PLACEMENT.matrix + 3, world)
        + v[2] * triple(m, shape, PLACEMENT.matrix + 6, world)
    )


@ti.func
def shape_pose(shapes: ti.template(), shape, poses: ti.template(), world):
    """Position and rotation of a shape in the world."""
    position = triple(shapes.numbers, shape, SHAPE.position, world)
    rotation = quadruple(shapes.numbers, shape, SHAPE.rotation, world)
    body = shapes.integers[shape, STRUCTURE.body]
    if body >= 0:
        turn = quadruple(poses, body, 3, world)
        position = triple(poses, body, 0, world) + rotate(turn, position)
        a, b = ti.Vector([turn[1], turn[2], turn[3]]), ti.Vector([rotation[1], rotation[2], rotation[3]])
        vector = turn[0] * b + rotation[0] * a + a.cross(b)
        rotation = ti.Vector([turn[0] * rotation[0] - a.dot(b), vector[0], vector[1], vector[2]])
    return position, rotation


@ti.func
def write_placement(shapes: ti.template(), scratch: ti.template(), poses: ti.template(), margin: ti.template(), shape, world):
    """Note where a shape is, and the box along the world's axes that holds it."""
    position, q = shape_pose(shapes, shape, poses, world)
    w, x, y, z = q[0], q[1], q[2], q[3]
    rows = ti.Matrix(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )
    for k in ti.static(range(3)):
        scratch.placements[world, shape, PLACEMENT.origin + k] = position[k]
        row = ti.Vector([rows[k, i] for i in ti.static(range(3))])
        scratch.placements[world, shape, PLACEMENT.half_extent + k] = ti.abs(row).dot(
            triple(shapes.numbers, shape, SHAPE.half_extent, world)
        )
        for i in ti.static(range(3)):
            scratch.placements[world, shape, PLACEMENT.matrix + 3 * k + i] = row[i]
    body = shapes.integers[shape, STRUCTURE.body]
    far = 0.0
    if body >= 0:
        far = margin[body, world]
    scratch.placements[world, shape, PLACEMENT.margin] = far


@ti.func
def bounds_overlap(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Whether the bounds of two shapes are within their margin of each other: balls first, then boxes."""
    margin = scratch.placements[world, a, PLACEMENT.margin] + scratch.placements[world, b, PLACEMENT.margin]
    offset = triple(scratch.placements, b, PLACEMENT.origin, world) - triple(scratch.placements, a, PLACEMENT.origin, world)
    kind_a, kind_b = shapes.integers[a, STRUCTURE.kind], shapes.integers[b, STRUCTURE.kind]
    bound_a, bound_b = shapes.numbers[world, a, SHAPE.bounding_radius], shapes.numbers[world, b, SHAPE.bounding_radius]
    result = 0
    if kind_a == PLANE or kind_b == PLANE:
        plane, bound = b, bound_a
        height = -offset
        if kind_a == PLANE:
            plane, bound = a, bound_b
            height = offset
        normal = ti.Vector([scratch.placements[world, plane, PLACEMENT.matrix + 3 * k + 2] for k in ti.static(range(3))])
        if normal.dot(height) < bound + margin:
            result = 1
    else:
        far = bound_a + bound_b + margin
        if offset.norm_sqr() < far * far:
            result = 1
            if ti.max(kind_a, kind_b) > CAPSULE:  # spheres and capsules are quicker tested than their boxes
                for k in ti.static(range(3)):
                    sides = (
                        scratch.placements[world, a, PLACEMENT.half_extent + k]
                        + scratch.placements[world, b, PLACEMENT.half_extent + k]
                    )
                    if ti.abs(offset[k]) > sides + margin:
                        result = 0
    return result


@ti.func
def may_touch(shapes: ti.template(), a, b):
    """Whether two shapes ever touch: rigid.Model.may_touch."""
    body_a, body_b = shapes.integers[a, STRUCTURE.body], shapes.integers[b, STRUCTURE.body]
    result = 0
    if body_a != body_b:
        result = 1
        if (shapes.integers[a, STRUCTURE.group] & shapes.integers[b, STRUCTURE.mask]) == 0:
            result = 0
        if (shapes.integers[b, STRUCTURE.group] & shapes.integers[a, STRUCTURE.mask]) == 0:
            result = 0
        begin = shapes.integers[a, STRUCTURE.first_excluded]
        for k in range(begin, begin + shapes.integers[a, STRUCTURE.excluded_count]):
            if shapes.lists[k] == body_b:
                result = 0
    return result


@ti.func
def add_pair(scratch: ti.template(), count, a, b, world):
    """Store a pair, the lower index first, if there is capacity; return how many there are, or should be."""
    if count < scratch.pairs.shape[1]:
        scratch.pairs[world, count, 0] = ti.min(a, b)
        scratch.pairs[world, count, 1] = ti.max(a, b)
    return count + 1


@ti.func
def find_listed_pairs(shapes: ti.template(), scratch: ti.template(), world):
    """Go through the list of pairs that a model of few shapes has; return how many could touch."""
    lists = ti.static(shapes.lists)
    count = 0
    for k in range(lists[HEAD.pair_count]):
        a, b = lists[lists[HEAD.first_pair] + 2 * k], lists[lists[HEAD.first_pair] + 2 * k + 1]
        if bounds_overlap(shapes, scratch, a, b, world) == 1:
            count = add_pair(scratch, count, a, b, world)
    return count


@ti.func
def find_unlisted_pairs(shapes: ti.template(), scratch: ti.template(), count, world):
    """Go on with the pairs of a model of many shapes; return how many there are, maybe more than there is capacity for."""
    lists = ti.static(shapes.lists)
    found = count
    large, small = lists[HEAD.first_large], lists[HEAD.first_small]
    for k in range(lists[HEAD.large_count]):
        # The large ones after this one, then all small ones, which stand right behind them.
        for i in range(large + k + 1, small + lists[HEAD.small_count]):
            if bounds_overlap(shapes, scratch, lists[large + k], lists[i], world) == 1:
                if may_touch(shapes, lists[large + k], lists[i]) == 1:
                    found = add_pair(scratch, found, lists[large + k], lists[i], world)
    if lists[HEAD.small_count] > 0:
        found = find_hashed_pairs(shapes, scratch, found, world)
    return found


@ti.func
def find_hashed_pairs(shapes: ti.template(), scratch: ti.template(), count, world):
    """Go on listing pairs with those among the small shapes, by a hash of the balls that hold them."""
    lists = ti.static(shapes.lists)
    small, n = lists[HEAD.first_small], lists[HEAD.small_count]
    widest = 0.0
    for k in range(n):
        i = lists[small + k]
        widest = ti.max(
            widest, shapes.numbers[world, i, SHAPE.bounding_radius] + scratch.placements[world, i, PLACEMENT.margin]
        )
    width = 2.0 * widest
    buckets = scratch.bins.shape[0] - 1 - scratch.placements.shape[1]
    bins = ti.static(scratch.bins)
    sorted_from = buckets + 1
    for b in range(buckets + 1):
        bins[b, world] = 0
    for k in range(n):
        b = bucket_of(cell_of(triple(scratch.placements, lists[small + k], PLACEMENT.origin, world), width), buckets)
        bins[b, world] = bins[b, world] + 1
    total = 0
    for b in range(buckets):
        total += bins[b, world]
        bins[b, world] = total
    bins[buckets, world] = total
    for back in range(n):  # backwards, so that each count ends as the first place of its bucket
        i = lists[small + n - 1 - back]
        b = bucket_of(cell_of(triple(scratch.placements, i, PLACEMENT.origin, world), width), buckets)
        place = bins[b, world] - 1
        bins[b, world] = place
        bins[sorted_from + place, world] = i
    found = count
    for k in range(n):
        i = lists[small + k]
        home = cell_of(triple(scratch.placements, i, PLACEMENT.origin, world), width)
        for r in range(9):  # rows of three cells, whose shapes stand one after another
            row = home + ti.Vector([-1, r // 3 - 1, r % 3 - 1])
            first = bucket_of(row, buckets)
            for part in range(2):  # the row, and what of it went on at the first bucket
                begin = bins[first, world]
                end = bins[ti.min(first + 3, buckets), world]
                if part == 1:
                    begin, end = 0, bins[ti.max(first + 3 - buckets, 0), world]
                for place in range(begin, end):
                    j = bins[sorted_from + place, world]
                    if j > i:
                        if bounds_overlap(shapes, scratch, i, j, world) == 1:
                            # Cells far apart may share a bucket, and two of the nine rows: take a shape with its own
                            # row only.
                            cell = cell_of(triple(scratch.placements, j, PLACEMENT.origin, world), width)
                            if cell[1] == row[1] and cell[2] == row[2]:
                                if may_touch(shapes, i, j) == 1:
                                    found = add_pair(scratch, found, i, j, world)
    return found
