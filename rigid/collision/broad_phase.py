"""Broad phase: the placement and bounds of every shape, and the pairs of shapes that could touch.

A model of few shapes has a list of all its pairs, and their bounds are tested in each step. In a model of many shapes
the few large ones, planes among them, are tested against all others. The small ones go into a spatial hash of their
bounding balls (Teschner et al., Optimized Spatial Hashing, 2003; counting sort by bucket as in Green, Particle
Simulation using CUDA, 2010). A cell is as wide as two of the largest bounding balls with their contact margins, so
shapes that could touch are in neighbouring cells.
"""

import taichi as ti

from pbd.core.quaternions import matrix_rows, multiply, rotate
from pbd.core.shapes import CAPSULE, PLANE
from pbd.core.spatial_hash import bucket_of, cell_of
from rigid.collision.data import HEAD, PLACEMENT, SHAPE, STRUCTURE
from rigid.kernels.vectors import load_quaternion, load_vector, store_vector


@ti.func
def origin_of(scratch: ti.template(), shape, world):
    """Origin of a shape's frame in the world (3,) [m]."""
    return load_vector(scratch.placements, shape, PLACEMENT.origin, world)


@ti.func
def axis_of(scratch: ti.template(), shape, k: ti.template(), world):
    """Axis k of a shape's frame in the world (3,). The third is a plane's normal and a capsule's or cylinder's axis."""
    return ti.Vector([scratch.placements[world, shape, PLACEMENT.matrix + 3 * i + k] for i in ti.static(range(3))])


@ti.func
def contact_margin(scratch: ti.template(), a, b, world):
    """The gap below which two shapes have contact points [m]: the sum of their bodies' margins."""
    return scratch.placements[world, a, PLACEMENT.margin] + scratch.placements[world, b, PLACEMENT.margin]


@ti.func
def to_world(scratch: ti.template(), shape, v, world):
    """Rotate a vector from a shape's frame to the world. Args: v (3,)."""
    m = ti.static(scratch.placements)
    return ti.Vector([load_vector(m, shape, PLACEMENT.matrix + 3 * k, world).dot(v) for k in ti.static(range(3))])


@ti.func
def to_frame(scratch: ti.template(), shape, v, world):
    """Rotate a vector from the world to a shape's frame. Args: v (3,)."""
    m = ti.static(scratch.placements)
    return (
        v[0] * load_vector(m, shape, PLACEMENT.matrix, world)
        + v[1] * load_vector(m, shape, PLACEMENT.matrix + 3, world)
        + v[2] * load_vector(m, shape, PLACEMENT.matrix + 6, world)
    )


@ti.func
def shape_pose(shapes: ti.template(), shape, poses: ti.template(), world):
    """Position (3,) [m] and rotation (w, x, y, z) of a shape in the world. Args: poses: see `find_points`."""
    position = load_vector(shapes.numbers, shape, SHAPE.position, world)
    rotation = load_quaternion(shapes.numbers, shape, SHAPE.rotation, world)
    body = shapes.integers[shape, STRUCTURE.body]
    if body >= 0:
        of_body = load_quaternion(poses, body, 3, world)
        position = load_vector(poses, body, 0, world) + rotate(of_body, position)
        rotation = multiply(of_body, rotation)
    return position, rotation


@ti.func
def write_placement(
    shapes: ti.template(), scratch: ti.template(), poses: ti.template(), margins: ti.template(), shape, world
):
    """Write a shape's frame, bounding box and contact margin. Args: poses, margins: see `find_points`."""
    placements = ti.static(scratch.placements)
    half_extent = load_vector(shapes.numbers, shape, SHAPE.half_extent, world)
    position, rotation = shape_pose(shapes, shape, poses, world)
    store_vector(placements, shape, PLACEMENT.origin, position, world)
    for k, row in ti.static(enumerate(matrix_rows(rotation))):
        placements[world, shape, PLACEMENT.half_extent + k] = ti.abs(row).dot(half_extent)
        store_vector(placements, shape, PLACEMENT.matrix + 3 * k, row, world)
    body = shapes.integers[shape, STRUCTURE.body]
    margin = 0.0
    if body >= 0:
        margin = margins[body, world]
    placements[world, shape, PLACEMENT.margin] = margin


@ti.func
def bounds_overlap(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Whether the bounds of two shapes, with their contact margins, overlap: bounding balls first, then boxes."""
    margin = contact_margin(scratch, a, b, world)
    offset = origin_of(scratch, b, world) - origin_of(scratch, a, world)
    kind_a, kind_b = shapes.integers[a, STRUCTURE.kind], shapes.integers[b, STRUCTURE.kind]
    bound_a, bound_b = shapes.numbers[world, a, SHAPE.bounding_radius], shapes.numbers[world, b, SHAPE.bounding_radius]
    result = False
    if kind_a == PLANE or kind_b == PLANE:
        plane, bound = b, bound_a
        height = -offset
        if kind_a == PLANE:
            plane, bound = a, bound_b
            height = offset
        normal = axis_of(scratch, plane, 2, world)
        result = normal.dot(height) < bound + margin
    else:
        distance = bound_a + bound_b + margin
        if offset.norm_sqr() < distance * distance:
            result = True
            # For two spheres or capsules the narrow phase takes no longer than this test.
            if ti.max(kind_a, kind_b) > CAPSULE:
                half = ti.static(scratch.placements)
                for k in ti.static(range(3)):
                    at = ti.static(PLACEMENT.half_extent + k)
                    if ti.abs(offset[k]) > half[world, a, at] + half[world, b, at] + margin:
                        result = False
    return result


@ti.func
def may_touch(shapes: ti.template(), a, b):
    """Whether the model lets two shapes touch: `rigid.Model.may_touch`."""
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
    """Store a pair, the lower index first, if there is capacity. Returns: how many pairs there are, or should be."""
    if count < scratch.pairs.shape[1]:
        scratch.pairs[world, count, 0] = ti.min(a, b)
        scratch.pairs[world, count, 1] = ti.max(a, b)
    return count + 1


@ti.func
def listed_pair(shapes: ti.template(), k):
    """The two shapes of a pair in the list."""
    first = shapes.lists[HEAD.first_pair] + 2 * k
    return shapes.lists[first], shapes.lists[first + 1]


@ti.func
def find_pairs(shapes: ti.template(), scratch: ti.template(), world):
    """Find the pairs that could touch, of a list or of many shapes. Returns: how many; it may exceed the capacity."""
    lists = ti.static(shapes.lists)
    found = 0
    for k in range(lists[HEAD.pair_count]):
        a, b = listed_pair(shapes, k)
        if bounds_overlap(shapes, scratch, a, b, world):
            found = add_pair(scratch, found, a, b, world)
    large, small = lists[HEAD.first_large], lists[HEAD.first_small]
    for k in range(lists[HEAD.large_count]):
        # The large shapes after this one, then all small shapes, which follow in the same list.
        for i in range(large + k + 1, small + lists[HEAD.small_count]):
            if bounds_overlap(shapes, scratch, lists[large + k], lists[i], world):
                if may_touch(shapes, lists[large + k], lists[i]) == 1:
                    found = add_pair(scratch, found, lists[large + k], lists[i], world)
    if lists[HEAD.small_count] > 0:
        found = find_hashed_pairs(shapes, scratch, found, world)
    return found


@ti.func
def find_hashed_pairs(shapes: ti.template(), scratch: ti.template(), count, world):
    """Find the pairs of small shapes that could touch, by a spatial hash of their bounding balls.

    Args: count: how many pairs are found already. Returns: how many there are now; it may exceed the capacity.
    """
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
        b = bucket_of(cell_of(origin_of(scratch, lists[small + k], world), width), buckets)
        bins[b, world] = bins[b, world] + 1
    total = 0
    for b in range(buckets):
        total += bins[b, world]
        bins[b, world] = total
    bins[buckets, world] = total
    for back in range(n):  # backwards: a bucket's count becomes the place of its first shape
        i = lists[small + n - 1 - back]
        b = bucket_of(cell_of(origin_of(scratch, i, world), width), buckets)
        place = bins[b, world] - 1
        bins[b, world] = place
        bins[sorted_from + place, world] = i
    found = count
    for k in range(n):
        i = lists[small + k]
        home = cell_of(origin_of(scratch, i, world), width)
        for r in range(9):  # rows of three cells, whose buckets follow one another
            row = home + ti.Vector([-1, r // 3 - 1, r % 3 - 1])
            first = bucket_of(row, buckets)
            for part in range(2):  # a row may continue at the first bucket
                begin = bins[first, world]
                end = bins[ti.min(first + 3, buckets), world]
                if part == 1:
                    begin, end = 0, bins[ti.max(first + 3 - buckets, 0), world]
                for place in range(begin, end):
                    j = bins[sorted_from + place, world]
                    if j > i:
                        if bounds_overlap(shapes, scratch, i, j, world):
                            # Distant cells may share a bucket, and so may two of the nine rows. Take a shape in its
                            # own row only.
                            cell = cell_of(origin_of(scratch, j, world), width)
                            if cell[1] == row[1] and cell[2] == row[2]:
                                if may_touch(shapes, i, j) == 1:
                                    found = add_pair(scratch, found, i, j, world)
    return found
