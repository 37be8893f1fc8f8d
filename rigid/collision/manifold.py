"""The points of one pair of shapes: collected in scratch, thinned out to eight, handed over."""

import taichi as ti

from rigid.collision.data import PAIR, POINT, SHAPE, STRUCTURE
from rigid.kernels.columns import triple

MOST_POINTS = 8  # points of a pair that are kept
AWAY = 7  # the column of Scratch.clips after POINT.gap: squared distance from those that are kept already


@ti.func
def first_point(scratch: ti.template()):
    """Where the points of a pair begin in Scratch.clips, behind two polygons."""
    return 2 * (scratch.marks.shape[0] // 3)


@ti.func
def add_point(scratch: ti.template(), count, point, normal, gap, feature, world):
    """Collect a point; return the new count.

    Arguments: count so far; point on the first shape of the pair; normal, unit, from the second to the first; gap [m];
    feature.
    """
    row = first_point(scratch) + count
    if row < scratch.marks.shape[0]:
        for k in ti.static(range(3)):
            scratch.clips[world, row, POINT.position + k] = point[k]
            scratch.clips[world, row, POINT.normal + k] = normal[k]
        scratch.clips[world, row, POINT.gap] = gap
        scratch.marks[row, world] = feature
    return ti.min(count + 1, scratch.marks.shape[0] - first_point(scratch))


@ti.func
def swap_points(scratch: ti.template(), a, b, world):
    """Exchange two rows of what was collected."""
    for k in range(AWAY + 1):
        kept = scratch.clips[world, a, k]
        scratch.clips[world, a, k] = scratch.clips[world, b, k]
        scratch.clips[world, b, k] = kept
    feature = scratch.marks[a, world]
    scratch.marks[a, world] = scratch.marks[b, world]
    scratch.marks[b, world] = feature


@ti.func
def reduce_manifold(scratch: ti.template(), count, world):
    """Bring the eight points to the front that span the most, the deepest among them; return how many there are.

    Each is the one farthest from those before (Gonzalez, Clustering to minimize the maximum intercluster distance,
    1985), the first one the first that was collected, which unlike the deepest stays the same from step to step.
    """
    first = first_point(scratch)
    if count > MOST_POINTS:
        deepest = first
        for row in range(first, first + count):
            scratch.clips[world, row, AWAY] = 1e30
            if scratch.clips[world, row, POINT.gap] < scratch.clips[world, deepest, POINT.gap]:
                deepest = row
        swap_points(scratch, deepest, first + count - 1, world)  # kept out, and the last to be chosen
        for k in range(1, MOST_POINTS - 1):
            last = triple(scratch.clips, first + k - 1, POINT.position, world)
            farthest = first + k
            for row in range(first + k, first + count - 1):
                away = (triple(scratch.clips, row, POINT.position, world) - last).norm_sqr()
                away = ti.min(away, scratch.clips[world, row, AWAY])
                scratch.clips[world, row, AWAY] = away
                # Of some that are as far, but for round-off, the first: else they would change from step to step.
                if away > 1.001 * scratch.clips[world, farthest, AWAY]:
                    farthest = row
            swap_points(scratch, first + k, farthest, world)
        swap_points(scratch, first + MOST_POINTS - 1, first + count - 1, world)
    return ti.min(count, MOST_POINTS)


@ti.func
def emit_contacts(shapes: ti.template(), points: ti.template(), scratch: ti.template(), first, second, count, world):
    """Append the points of a pair to those of the world, in the order of its shapes' indices, the ground last."""
    a, b = first, second
    if shapes.integers[first, STRUCTURE.body] < 0 or (shapes.integers[second, STRUCTURE.body] >= 0 and second < first):
        a, b = second, first
    rough = ti.sqrt(shapes.numbers[world, a, SHAPE.friction] * shapes.numbers[world, b, SHAPE.friction])
    springy = ti.max(shapes.numbers[world, a, SHAPE.restitution], shapes.numbers[world, b, SHAPE.restitution])
    begin = points.count[world]
    for k in range(ti.min(count, points.integers.shape[1] - begin)):
        row = first_point(scratch) + k
        point, normal = triple(scratch.clips, row, POINT.position, world), triple(scratch.clips, row, POINT.normal, world)
        gap = scratch.clips[world, row, POINT.gap]
        if a != first:
            point -= gap * normal
            normal = -normal
        place = begin + k
        for i in ti.static(range(3)):
            points.numbers[world, place, POINT.position + i] = point[i]
            points.numbers[world, place, POINT.normal + i] = normal[i]
        points.numbers[world, place, POINT.gap] = gap
        points.numbers[world, place, POINT.friction] = rough
        points.numbers[world, place, POINT.restitution] = springy
        points.integers[world, place, PAIR.shape_a] = a
        points.integers[world, place, PAIR.shape_b] = b
        points.integers[world, place, PAIR.body_a] = shapes.integers[a, STRUCTURE.body]
        points.integers[world, place, PAIR.body_b] = shapes.integers[b, STRUCTURE.body]
        points.integers[world, place, PAIR.feature] = scratch.marks[row, world]
    points.count[world] = begin + count
