"""Spheres and capsules against all shapes.

The core of a sphere is a point, the core of a capsule a segment; the surface is a radius away from the core. The
nearest points of two cores give the contact. A segment that is parallel to another, or to a face, has two contact
points: the ends of the part that they share. Each function collects the points of a pair (first, second), with normals
from second to first, and returns how many there are.

Source: Ericson, Real-Time Collision Detection (2005), section 5.1, for nearest points of segments.
"""

import taichi as ti

from pbd.core.kernels import any_world, load_quaternion
from pbd.core.segments import from_segment, nearest_points
from pbd.core.shapes import CAPSULE, solid_distance
from rigid.collision.broad_phase import axis_of, contact_margin, origin_of, to_frame, to_world
from rigid.collision.corners import adjacent_normals, edge, face_loop, face_plane, loop_side
from rigid.collision.data import PLACEMENT, SHAPE, STRUCTURE
from rigid.collision.manifold import add_point, add_point_if

# Two segments are parallel if the sine of their angle is below this. They have two contact points, not one.
PARALLEL = 0.1
# Lengths below this part of a radius count as zero: round-off of single precision, with a reserve.
NEGLIGIBLE = 1e-6
# An axis across two edges must separate by this part of a radius more than an axis across a face. Otherwise, near a
# tie, edges would alternate with faces, whose contacts have more points.
EDGE_MARGIN = 1e-3


@ti.func
def core_segment(shapes: ti.template(), scratch: ti.template(), shape, world):
    """Start and direction of the core in the world (3,) each [m], and the radius. A sphere's direction is zero."""
    half = 0.0
    if shapes.integers[shape, STRUCTURE.kind] == CAPSULE:
        half = shapes.numbers[world, shape, SHAPE.size + 1]
    end = half * axis_of(scratch, shape, 2, world)
    return origin_of(scratch, shape, world) - end, 2.0 * end, shapes.numbers[world, shape, SHAPE.size]


@ti.func
def common_perpendicular(d, e):
    """A unit vector at right angles to two directions (3,), which may be zero or parallel."""
    axis = d.cross(e)
    if axis.norm_sqr() <= 1e-12 * d.norm_sqr() * e.norm_sqr():
        along = d
        if d.norm_sqr() < e.norm_sqr():
            along = e
        # Across one of two axes of the world, the one that is less parallel to it.
        axis = along.cross(ti.Vector([0.0, 0.0, 1.0]))
        if ti.abs(along[2]) > ti.abs(along[0]):
            axis = along.cross(ti.Vector([1.0, 0.0, 0.0]))
    length = axis.norm()
    result = ti.Vector([0.0, 0.0, 1.0])
    if length > 0.0:
        result = axis / length
    return result


@ti.func
def rounded_on_rounded(shapes: ti.template(), scratch: ti.template(), a, b, overlapping, world):
    """Collect the points of two spheres or capsules. Args: overlapping: whether their bounds overlap."""
    p, d, radius_a = core_segment(shapes, scratch, a, world)
    q, e, radius_b = core_segment(shapes, scratch, b, world)
    together = radius_a + radius_b
    reach = together + contact_margin(scratch, a, b, world)
    s, t = nearest_points(p, d, q, e)
    offset = p + s * d - q - t * e
    distance = offset.norm()
    near = overlapping and distance < reach
    count = 0
    if any_world(near):
        normal = offset / ti.max(distance, 1e-30)
        if distance < NEGLIGIBLE * together:
            normal = common_perpendicular(d, e)
        # The part [low, high] of the first core that is beside the second, if they are parallel.
        low, high, parallel = 0.0, 0.0, False
        a2, e2 = d.norm_sqr(), e.norm_sqr()
        if near and a2 > 0.0 and e2 > 0.0:
            if d.cross(e).norm_sqr() < PARALLEL * PARALLEL * a2 * e2:
                first, last = (q - p).dot(d) / a2, (q + e - p).dot(d) / a2
                low, high = ti.max(ti.min(first, last), 0.0), ti.min(ti.max(first, last), 1.0)
                parallel = (high - low) * ti.sqrt(a2) > PARALLEL * together  # high < low: one is beyond the other's end
        least = 1e30
        if any_world(parallel):
            for end in range(2):
                x = p + low * d
                if end == 1:
                    x = p + high * d
                y, length, direction = q, distance, normal
                if parallel:
                    y = q + ti.min(ti.max((x - q).dot(e) / e2, 0.0), 1.0) * e
                    length = (x - y).norm()
                    # If the cores nearly cross, the normals of the two ends would be opposite.
                    if (x - y).dot(normal) > 0.5 * length and length > NEGLIGIBLE * together:
                        direction = (x - y) / length
                    else:
                        length = (x - y).dot(normal)
                    least = ti.min(least, length)
                count = add_point_if(
                    scratch, count, parallel and length < reach, x - radius_a * direction, direction, length - together,
                    1 + end, world,
                )  # fmt: skip
        only = near and distance < least - NEGLIGIBLE * together
        count = add_point_if(
            scratch, count, only, p + s * d - radius_a * normal, normal, distance - together, 0, world
        )
    return count


@ti.func
def rounded_on_plane(shapes: ti.template(), scratch: ti.template(), a, b, overlapping, world):
    """Collect the points of a sphere or capsule on a plane, one for each end. Args: see `rounded_on_rounded`."""
    p, d, radius = core_segment(shapes, scratch, a, world)
    normal = axis_of(scratch, b, 2, world)
    margin = contact_margin(scratch, a, b, world)
    ends = 1
    if shapes.integers[a, STRUCTURE.kind] == CAPSULE:
        ends = 2
    count = 0
    for end in range(ends):
        x = p + end * d
        gap = (x - origin_of(scratch, b, world)).dot(normal) - radius
        touches = overlapping and gap < margin
        count = add_point_if(scratch, count, touches, x - radius * normal, normal, gap, end, world)
    return count


@ti.func
def sphere_on_solid(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Collect the point of a sphere on a box or cylinder, which have a distance function."""
    x = origin_of(scratch, a, world)
    radius = shapes.numbers[world, a, SHAPE.size]
    local = to_frame(scratch, b, x - origin_of(scratch, b, world), world)
    distance, normal = solid_distance(
        shapes.integers[b, STRUCTURE.kind], load_quaternion(shapes.numbers, b, SHAPE.size, world), local
    )
    count = 0
    placements = ti.static(scratch.placements)
    if distance < radius + placements[world, a, PLACEMENT.margin] + placements[world, b, PLACEMENT.margin]:
        outwards = to_world(scratch, b, normal, world)
        count = add_point(scratch, count, x - radius * outwards, outwards, distance - radius, 0, world)
    return count


@ti.func
def projects_onto_face(shapes: ti.template(), shape, face, normal, x, world):
    """Whether a point, moved along the normal, is on a face. Args: x (3,): in the shape's frame [m]."""
    begin, end = face_loop(shapes, shape, face)
    result = 1
    for k in range(begin, end):
        v, w = loop_side(shapes, shape, begin, end, k, world)
        if (w - v).cross(normal).dot(x - v) > 0.0:
            result = 0
    return result


@ti.func
def polyhedron_distance(shapes: ti.template(), shape, x, world):
    """Signed distance [m] and outward unit normal of a polyhedron, see `hull_distance`. Args: x (3,): in its frame."""
    distance, normal, nearest = -1e30, ti.Vector([0.0, 0.0, 1.0]), 0
    for k in range(shapes.integers[shape, STRUCTURE.face_count]):
        outwards, offset = face_plane(shapes, shape, k, world)
        height = outwards.dot(x) - offset
        if height > distance:
            distance, normal, nearest = height, outwards, k
    if distance > 0.0:
        if projects_onto_face(shapes, shape, nearest, normal, x, world) == 0:
            distance = 1e30
            for k in range(shapes.integers[shape, STRUCTURE.edge_count]):
                start, way = edge(shapes, shape, k, world)
                arm = from_segment(start, way, x)
                length = arm.norm()
                if 0.0 < length < distance:
                    distance, normal = length, arm / length
    return distance, normal


@ti.func
def best_edge(shapes: ti.template(), shape, p, d, normal, distance, gain, world):
    """The axis across a segment and an edge that separates them best, if it is better than a face's.

    Only the edges on the outline of the polyhedron, seen along the segment, make a face of the Minkowski sum.

    Args: p, d: segment; normal, distance: axis across the best face, and its separation [m]; gain: by how much an edge
    must separate better [m].

    Returns: separation [m] and axis.
    """
    best, axis = distance + gain, normal
    found = 0
    for k in range(shapes.integers[shape, STRUCTURE.edge_count]):
        left, right = adjacent_normals(shapes, shape, k, world)
        if left.dot(d) * right.dot(d) < 0.0:
            v, e = edge(shapes, shape, k, world)
            n = e.cross(d)
            n = n / n.norm()
            if n.dot(left + right) < 0.0:
                n = -n
            height = n.dot(p - v)
            if height > best:
                best, axis, found = height, n, 1
    if found == 0:
        best = distance
    return best, axis


@ti.func
def rounded_on_polyhedron(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Collect the points of a sphere or capsule on a polyhedron.

    If the core is outside the polyhedron, the nearest points of both give the normal. If it is inside, the axis of
    least depth does. The part of the core over the face whose normal is nearest to that gives two points.
    """
    start, way, radius = core_segment(shapes, scratch, a, world)
    p = to_frame(scratch, b, start - origin_of(scratch, b, world), world)
    d = to_frame(scratch, b, way, world)
    margin = contact_margin(scratch, a, b, world)
    # The face that separates best, and the part [enter, leave] of the segment inside (Cyrus and Beck, Generalized two-
    # and three-dimensional clipping, 1978).
    best, face = -1e30, 0
    enter, leave = 0.0, 1.0
    for k in range(shapes.integers[b, STRUCTURE.face_count]):
        n, offset = face_plane(shapes, b, k, world)
        low = n.dot(p) - offset
        high = low + n.dot(d)
        if ti.min(low, high) > best:
            best, face = ti.min(low, high), k
        if low > 0.0 and high > 0.0:
            leave = -1.0
        elif low > 0.0:
            enter = ti.max(enter, low / (low - high))
        elif high > 0.0:
            leave = ti.min(leave, low / (low - high))
    count = 0
    if best < radius + margin:
        normal, _ = face_plane(shapes, b, face, world)
        distance = best
        s = 0.0  # of the nearest point p + s d
        if normal.dot(d) < 0.0:
            s = 1.0
        if enter <= leave:
            distance, normal = best_edge(
                shapes, b, p, d, normal, best, EDGE_MARGIN * shapes.numbers[world, b, SHAPE.bounding_radius], world
            )
            if distance > best:
                s = 0.5 * (enter + leave)
        elif projects_onto_face(shapes, b, face, normal, p + s * d, world) == 0:
            distance = 1e30
            for k in range(shapes.integers[b, STRUCTURE.edge_count]):
                v, e = edge(shapes, b, k, world)
                on_core, on_edge = nearest_points(p, d, v, e)
                offset = p + on_core * d - v - on_edge * e
                length = offset.norm()
                if length < distance * (1.0 - NEGLIGIBLE):
                    distance, s = length, on_core
                    if length > NEGLIGIBLE * radius:
                        normal = offset / length
                    else:
                        left, right = adjacent_normals(shapes, b, k, world)
                        normal = (left + right) / (left + right).norm()
        if distance < radius + margin:
            count = clip_to_face(shapes, scratch, a, b, p, d, radius, normal, distance, s, margin, world)
    return count


@ti.func
def clip_to_face(shapes: ti.template(), scratch: ti.template(), a, b, p, d, radius, normal, distance, s, margin, world):
    """Collect the ends of the part of a segment that is over a face, and its nearest point if that is neither end.

    The face is the one whose normal is nearest to the contact normal. Gaps are measured along the contact normal.

    Args: p, d: segment in b's frame; radius; normal: of the contact, in b's frame; distance: from the polyhedron to the
    nearest point, which is p + s d [m].
    """
    outwards = to_world(scratch, b, normal, world)
    origin = origin_of(scratch, b, world)
    face, slope = 0, -2.0
    for k in range(shapes.integers[b, STRUCTURE.face_count]):
        upright = face_plane(shapes, b, k, world)[0].dot(normal)
        if upright > slope + NEGLIGIBLE:
            face, slope = k, upright
    n, offset = face_plane(shapes, b, face, world)
    low, high = 0.0, 1.0
    begin, end = face_loop(shapes, b, face)
    for k in range(begin, end):
        v, w = loop_side(shapes, b, begin, end, k, world)
        out = (w - v).cross(normal)
        here, rise = out.dot(p - v), out.dot(d)
        slack = NEGLIGIBLE * out.norm()
        if ti.abs(rise) <= slack * d.norm():  # parallel to this side
            if ti.min(here, here + rise) > slack * shapes.numbers[world, b, SHAPE.bounding_radius]:
                high = -1.0
        elif rise > 0.0:
            high = ti.min(high, -here / rise)
        else:
            low = ti.max(low, -here / rise)
    count = 0
    least = 1e30
    if (high - low) * d.norm() > EDGE_MARGIN * radius:
        for k in range(2):
            x = p + low * d
            if k == 1:
                x = p + high * d
            height = (n.dot(x) - offset) / slope
            least = ti.min(least, height)
            if height < radius + margin:
                place = origin + to_world(scratch, b, x, world) - radius * outwards
                count = add_point(scratch, count, place, outwards, height - radius, 1 + 2 * face + k, world)
    if distance < least - NEGLIGIBLE * radius:
        place = origin + to_world(scratch, b, p + s * d, world) - radius * outwards
        count = add_point(scratch, count, place, outwards, distance - radius, 0, world)
    return count
