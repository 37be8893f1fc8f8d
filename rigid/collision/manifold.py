"""The contact manifold of a pair of shapes: its points are collected, reduced to eight, and emitted.

The narrow phase collects the points of one pair in Scratch.clips, behind the two polygons that it clips.
"""

import taichi as ti

from pbd.core.kernels import any_world, in_lanes, load_vector, store_vector
from rigid.collision.data import ABSENT, CLIP, PAIR, POINT, SHAPE, STRUCTURE

# Most points of a pair that are emitted.
MOST_POINTS = 8

# So many points of a pair are kept, also if they are near one another: an area may be a narrow strip.
FEW_POINTS = 4

# A point is near another one if their distance is at most this part of that of the first two points.
NEAR = 0.02

# Most points of a shape on a mesh that are emitted: it may touch several triangles, with a normal each.
POINTS_ON_MESH = 12

# Cosine of the angle up to which two points on a mesh have the same normal: 0.1 degrees.
SAME_NORMAL = 1.0 - 0.5 * 0.0017**2


@ti.func
def first_point(scratch: ti.template()):
    """The row of Scratch.clips at which the points of a pair begin."""
    return 2 * (scratch.marks.shape[0] // 3)


@ti.func
def add_point(scratch: ti.template(), count, point, normal, gap, feature, world):
    """Collect a contact point.

    Args:
        scratch, world: Scratch and index of the world.
        count: how many points the pair has so far.
        point: on the first shape of the pair (3,) [m].
        normal: unit, from the second shape to the first (3,).
        gap: [m], negative where the shapes overlap.
        feature: see Points.

    Returns: the new count.
    """
    row = first_point(scratch) + count
    if row < scratch.marks.shape[0]:
        store_vector(scratch.clips, row, CLIP.position, point, world)
        store_vector(scratch.clips, row, CLIP.normal, normal, world)
        scratch.clips[world, row, CLIP.gap] = gap
        scratch.marks[row, world] = feature
    return ti.min(count + 1, scratch.marks.shape[0] - first_point(scratch))


@ti.func
def add_point_if(scratch: ti.template(), count, condition, point, normal, gap, feature, world):
    """Collect a contact point if a condition is true. Worlds in lanes share its place, but some may lack the point.

    Args: condition: true or false; others, and what is returned: see `add_point`.
    """
    result = count
    if any_world(condition):
        result = add_point(scratch, count, point, normal, gap, feature, world)
        if ti.static(in_lanes()):
            row = first_point(scratch) + count
            if row < scratch.marks.shape[0]:
                if not condition:
                    store_vector(scratch.clips, row, CLIP.normal, ti.Vector([0.0, 0.0, 1.0]), world)
                    scratch.clips[world, row, CLIP.gap] = ABSENT
    return result


@ti.func
def swap_points(scratch: ti.template(), a, b, world):
    """Exchange two collected points."""
    for k in range(CLIP.total):
        number = scratch.clips[world, a, k]
        scratch.clips[world, a, k] = scratch.clips[world, b, k]
        scratch.clips[world, b, k] = number
    feature = scratch.marks[a, world]
    scratch.marks[a, world] = scratch.marks[b, world]
    scratch.marks[b, world] = feature


@ti.func
def reduce_manifold(
    scratch: ti.template(), count, world, most: ti.template() = MOST_POINTS, of_mesh: ti.template() = False, size=0.0
):
    """Choose points that span the contact area, among them the deepest, and move them to the front.

    The first is the point that was collected first. Each next one is the farthest from those before it: iterations
    converge faster in this order than from corner to corner of a polygon. After four, points near others are left out:
    where a corner had two of them, it would bear more than the next one. If the deepest is left out, it takes the place
    of the nearest one; it is not the first, because it may change from step to step.

    Args: most: how many are left; of_mesh: whether normals differ; size: then points whose normals differ by a vector d
    are apart by size |d| more, so that each direction keeps a point [m].

    Returns: how many points are left.

    Source: Gonzalez, Clustering to minimize the maximum intercluster distance (1985),
    https://doi.org/10.1016/0304-3975(85)90224-5.
    """
    first, chosen = first_point(scratch), count
    if count > ti.static(most if of_mesh else FEW_POINTS):
        end, least = first + count, 0.0
        for row in range(first, end):
            scratch.clips[world, row, CLIP.distance] = 1e30
        chosen = 1
        farthest = update_distances(scratch, first, first + 1, end, of_mesh, size, world)
        while farthest < end and chosen < most:
            distance = scratch.clips[world, farthest, CLIP.distance]
            if chosen == 1:
                least = ti.static(0.0 if of_mesh else NEAR * NEAR) * distance
            if chosen < FEW_POINTS or distance > least:
                swap_points(scratch, first + chosen, farthest, world)
                chosen += 1
                farthest = update_distances(scratch, first + chosen - 1, first + chosen, end, of_mesh, size, world)
            else:
                farthest = end
        keep_deepest(scratch, chosen, count, of_mesh, size, world)
    return chosen


@ti.func
def keep_deepest(scratch: ti.template(), chosen, count, of_mesh: ti.template(), size, world):
    """Let the deepest of all points take the place of the nearest one that is chosen, unless it is itself chosen.

    Args: chosen: how many points, which come first; count: of all; of_mesh, size: see `reduce_manifold`.
    """
    first = first_point(scratch)
    deepest, nearest, least = first, first, 1e30
    for row in range(first + 1, first + count):
        if scratch.clips[world, row, CLIP.gap] < scratch.clips[world, deepest, CLIP.gap]:
            deepest = row
    if deepest >= first + chosen:
        for row in range(first, first + chosen):
            distance = distance_of_points(scratch, row, deepest, of_mesh, size, world)
            if distance < least:
                nearest, least = row, distance
        swap_points(scratch, nearest, deepest, world)


@ti.func
def update_distances(scratch: ti.template(), chosen, begin, end, of_mesh: ti.template(), size, world):
    """Update the distances of points from those that are chosen. Args: chosen: the last one; begin, end: of the others.

    Returns: the farthest of them; `end` if there are none.
    """
    farthest = begin
    for row in range(begin, end):
        distance = ti.min(
            distance_of_points(scratch, row, chosen, of_mesh, size, world), scratch.clips[world, row, CLIP.distance]
        )
        scratch.clips[world, row, CLIP.distance] = distance
        # Of points that are equally far up to round-off, take the first. Otherwise the choice would change from step to
        # step.
        if distance > 1.001 * scratch.clips[world, farthest, CLIP.distance]:
            farthest = row
    return farthest


@ti.func
def distance_of_points(scratch: ti.template(), a, b, of_mesh: ti.template(), size, world):
    """The square of the distance of two collected points [m²]. Args: of_mesh, size: see `reduce_manifold`."""
    offset = load_vector(scratch.clips, a, CLIP.position, world) - load_vector(scratch.clips, b, CLIP.position, world)
    distance = offset.norm_sqr()
    if ti.static(of_mesh):
        turn = load_vector(scratch.clips, a, CLIP.normal, world) - load_vector(scratch.clips, b, CLIP.normal, world)
        distance += size * size * turn.norm_sqr()
    return distance


@ti.func
def merge_points(scratch: ti.template(), count, tolerance, world):
    """Leave out points that repeat an earlier one: neighbouring triangles share corners and edges.

    Args: tolerance: points this near count as one if their normals are the same [m].

    Returns: how many points are left.
    """
    first, kept = first_point(scratch), 0
    for row in range(first, first + count):
        point, normal = (
            load_vector(scratch.clips, row, CLIP.position, world),
            load_vector(scratch.clips, row, CLIP.normal, world),
        )
        fresh = True
        for other in range(first, first + kept):
            if fresh and normal.dot(load_vector(scratch.clips, other, CLIP.normal, world)) > SAME_NORMAL:
                offset = point - load_vector(scratch.clips, other, CLIP.position, world)
                fresh = offset.norm_sqr() > tolerance * tolerance
        if fresh:
            if first + kept < row:
                swap_points(scratch, row, first + kept, world)
            kept += 1
    return kept


@ti.func
def number_features(scratch: ti.template(), count, world):
    """Make features unique: a feature of shape a may touch several triangles."""
    first = first_point(scratch)
    for back in range(count):
        row = first + count - 1 - back
        repeated = 0
        for other in range(first, row):
            if scratch.marks[other, world] == scratch.marks[row, world]:
                repeated += 1
        scratch.marks[row, world] = POINTS_ON_MESH * scratch.marks[row, world] + repeated


@ti.func
def empty_places(points: ti.template(), begin, world):
    """Let the places from `begin` on that a pair can take have no points, in all worlds in lanes."""
    for c in range(begin, ti.min(begin + MOST_POINTS, points.integers.shape[1])):
        points.numbers[world, c, POINT.gap] = ABSENT
        store_vector(points.numbers, c, POINT.normal, ti.Vector([0.0, 0.0, 1.0]), world)


@ti.func
def emit_contacts(
    shapes: ti.template(), points: ti.template(), scratch: ti.template(), first, second, begin, count, world
):
    """Append the collected points of a pair to the contact points of the world.

    Args: first, second: the shapes; shape a is the one with the lower index, but shape b is the ground's; begin: place
    of its first point; count: of collected points.
    """
    a, b = first, second
    if shapes.integers[first, STRUCTURE.body] < 0 or (shapes.integers[second, STRUCTURE.body] >= 0 and second < first):
        a, b = second, first
    friction = ti.sqrt(shapes.numbers[world, a, SHAPE.friction] * shapes.numbers[world, b, SHAPE.friction])
    restitution = ti.max(shapes.numbers[world, a, SHAPE.restitution], shapes.numbers[world, b, SHAPE.restitution])
    for k in range(ti.min(count, points.integers.shape[1] - begin)):
        row = first_point(scratch) + k
        point, normal = (
            load_vector(scratch.clips, row, CLIP.position, world),
            load_vector(scratch.clips, row, CLIP.normal, world),
        )
        gap = scratch.clips[world, row, CLIP.gap]
        if a != first:
            point -= gap * normal
            normal = -normal
        c = begin + k
        store_vector(points.numbers, c, POINT.position, point, world)
        store_vector(points.numbers, c, POINT.normal, normal, world)
        points.numbers[world, c, POINT.gap] = gap
        points.numbers[world, c, POINT.friction] = friction
        points.numbers[world, c, POINT.restitution] = restitution
        points.integers[world, c, PAIR.shape_a] = a
        points.integers[world, c, PAIR.shape_b] = b
        points.integers[world, c, PAIR.body_a] = shapes.integers[a, STRUCTURE.body]
        points.integers[world, c, PAIR.body_b] = shapes.integers[b, STRUCTURE.body]
        points.features[world, c] = scratch.marks[row, world]
    points.count[world] = ti.max(points.count[world], begin + count)
