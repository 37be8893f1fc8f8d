"""Broad phase: the placement and bounds of every shape, and the pairs of shapes that could touch.

A model of few shapes has a list of all its pairs, and their bounds are tested in each step. In a model of many shapes
the few large ones, planes among them, are tested against all others. The small ones go into a spatial hash of their
bounding balls (Teschner et al., Optimized Spatial Hashing, 2003; counting sort by bucket as in Green, Particle
Simulation using CUDA, 2010). A cell is as wide as two of the largest bounding balls with their contact margins, so
shapes that could touch are in neighbouring cells.
"""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.core.quaternions import matrix_rows, multiply, rotate
from pbd.core.shapes import CAPSULE, PLANE
from pbd.core.spatial_hash import bucket_of, cell_of
from rigid.collision.data import BALL, BLOCKS, HEAD, PLACEMENT, SEARCH, SHAPE, STRUCTURE


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
def write_placements(
    shapes: ti.template(), scratch: ti.template(), poses: ti.template(), margins: ti.template(), world
):
    """Write the placements of all shapes. Args: see `write_placement`."""
    for shape in range(shapes.lists[HEAD.shape_count]):
        write_placement(shapes, scratch, poses, margins, shape, world)


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
def listed_pair(shapes: ti.template(), k):
    """The two shapes of a pair in the list."""
    first = shapes.lists[HEAD.first_pair] + 2 * k
    return shapes.lists[first], shapes.lists[first + 1]


# Many shapes ----------------------------------------------------------------------------------------------------------


@ti.func
def find_pairs(shapes: ti.template(), scratch: ti.template(), world, keeps: ti.template() = False):
    """Find the pairs of many shapes that could touch: `begin_search`, and `search_block` for each block.

    Args: keeps: whether points may be kept, see `is_kept`.
    """
    begin_search(shapes, scratch, world, keeps)
    for block in range(BLOCKS):
        search_block(shapes, scratch, block, world, keeps)


@ti.func
def is_still(scratch: ti.template(), shape, world):
    """Whether a shape is still, see rigid/solvers/sequential/kept_contacts.py."""
    return scratch.placements[world, shape, PLACEMENT.still] == 1.0


@ti.func
def is_kept(scratch: ti.template(), a, b, world, keeps: ti.template()):
    """Whether the contact points of two shapes are kept. Args: keeps: whether any may be."""
    result = False
    if ti.static(keeps):
        if scratch.found[world, SEARCH.kept] > 0:
            result = is_still(scratch, a, world) and is_still(scratch, b, world)
    return result


@ti.func
def begin_search(shapes: ti.template(), scratch: ti.template(), world, keeps: ti.template() = False):
    """Find the listed pairs and those of large shapes with all others, and sort the small ones into the hash."""
    lists = ti.static(shapes.lists)
    large, small = lists[HEAD.first_large], lists[HEAD.first_small]
    scratch.found[world, 0] = 0
    for k in range(lists[HEAD.pair_count]):
        a, b = listed_pair(shapes, k)
        if not is_kept(scratch, a, b, world, keeps) and bounds_overlap(shapes, scratch, a, b, world):
            add_pair(scratch, 0, a, b, world)
    for k in range(lists[HEAD.large_count]):
        # The large shapes after this one, then all small shapes, which follow in the same list.
        for i in range(large + k + 1, small + lists[HEAD.small_count]):
            if is_kept(scratch, lists[large + k], lists[i], world, keeps):
                continue
            if bounds_overlap(shapes, scratch, lists[large + k], lists[i], world):
                if may_touch(shapes, lists[large + k], lists[i]) == 1:
                    add_pair(scratch, 0, lists[large + k], lists[i], world)
    fill_hash(shapes, scratch, world)


@ti.func
def fill_hash(shapes: ti.template(), scratch: ti.template(), world):
    """Sort the small shapes by the bucket of their cell, with their bounding balls."""
    lists, bins, balls = ti.static(shapes.lists, scratch.bins, scratch.balls)
    small, n = lists[HEAD.first_small], lists[HEAD.small_count]
    buckets, width = bucket_count(scratch), cell_width(shapes, scratch, world)
    scratch.cells[world] = width
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
        centre = origin_of(scratch, i, world)
        b = bucket_of(cell_of(centre, width), buckets)
        place = bins[b, world] - 1
        bins[b, world] = place
        bins[buckets + 1 + place, world] = i
        store_vector(balls, place, BALL.centre, centre, world)
        balls[world, place, BALL.radius] = reach(shapes, scratch, i, world)


@ti.func
def bucket_count(scratch: ti.template()):
    """Number of buckets of the hash."""
    return scratch.bins.shape[0] - 1 - scratch.placements.shape[1]


@ti.func
def cell_width(shapes: ti.template(), scratch: ti.template(), world):
    """The width of a cell [m]: of two of the largest bounding balls."""
    widest, first = 0.0, shapes.lists[HEAD.first_small]
    for k in range(first, first + shapes.lists[HEAD.small_count]):
        widest = ti.max(widest, reach(shapes, scratch, shapes.lists[k], world))
    return 2.0 * widest


@ti.func
def reach(shapes: ti.template(), scratch: ti.template(), shape, world):
    """The radius of a shape's bounding ball with its contact margin [m]."""
    return shapes.numbers[world, shape, SHAPE.bounding_radius] + scratch.placements[world, shape, PLACEMENT.margin]


@ti.func
def search_block(shapes: ti.template(), scratch: ti.template(), block, world, keeps: ti.template() = False):
    """Find the pairs of a block of small shapes with small shapes of greater index.

    Most shapes in neighbouring cells are too far away. Their balls lie in memory in the order of the search.
    """
    lists, bins, balls = ti.static(shapes.lists, scratch.bins, scratch.balls)
    small, n = lists[HEAD.first_small], lists[HEAD.small_count]
    buckets, width = bucket_count(scratch), scratch.cells[world]
    scratch.found[world, block + 1] = 0
    for k in range(n * block // BLOCKS, n * (block + 1) // BLOCKS):
        i = lists[small + k]
        centre, radius = origin_of(scratch, i, world), reach(shapes, scratch, i, world)
        home = cell_of(centre, width)
        for r in range(9):  # rows of three cells, whose buckets follow one another
            row = home + ti.Vector([-1, r // 3 - 1, r % 3 - 1])
            first = bucket_of(row, buckets)
            for part in range(2):  # a row may continue at the first bucket
                begin = bins[first, world]
                end = bins[ti.min(first + 3, buckets), world]
                if part == 1:
                    begin, end = 0, bins[ti.max(first + 3 - buckets, 0), world]
                for place in range(begin, end):
                    other = load_vector(balls, place, BALL.centre, world)
                    distance = radius + balls[world, place, BALL.radius]
                    if (other - centre).norm_sqr() < distance * distance:
                        j = bins[buckets + 1 + place, world]
                        # Distant cells may share a bucket, and so may two of the nine rows. Take a shape in its own
                        # row only.
                        cell = cell_of(other, width)
                        if j > i and cell[1] == row[1] and cell[2] == row[2]:
                            if is_kept(scratch, i, j, world, keeps):
                                continue
                            if may_touch(shapes, i, j) == 1:
                                if bounds_overlap(shapes, scratch, i, j, world):
                                    add_pair(scratch, block + 1, i, j, world)


@ti.func
def list_of_pairs(scratch: ti.template(), k):
    """A list of pairs: 0 of listed pairs and large shapes, with four times the capacity of others; k of block k - 1.

    Returns: its first place in Scratch.pairs, and its capacity.
    """
    share = scratch.pairs.shape[1] // (BLOCKS + 4)
    begin, capacity = 0, 4 * share
    if k > 0:
        begin, capacity = (k + 3) * share, share
    return begin, capacity


@ti.func
def add_pair(scratch: ti.template(), k, a, b, world):
    """Store a pair in a list, the lower index first, if there is capacity, and count it. Args: k: the list."""
    begin, capacity = list_of_pairs(scratch, k)
    found = scratch.found[world, k]
    if found < capacity:
        scratch.pairs[world, begin + found, 0] = ti.min(a, b)
        scratch.pairs[world, begin + found, 1] = ti.max(a, b)
    scratch.found[world, k] = found + 1
