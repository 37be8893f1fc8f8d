"""Removal of contacts with internal edges: edges inside a surface, where faces of two shapes continue one another.

Two slabs with tops at one height make one floor. A body that slides on it also touches an edge or a side of the next
slab, and such a contact would stop it. Here A is the shape that slides, B the one with the edge, and C a third one. A
face of C hides the contact of A and B in these conditions:

- A touches the face of C, in another direction than B, and not in the opposite one: what is squeezed needs both.
- No point of B that A touches is above the plane of the face. The contact with C keeps A above the plane, and so it
  keeps A off these points of B as well.
- If A has corners, the face of B that it touches is nowhere above the plane. Otherwise A can meet B there: an edge of a
  box in the corner of a room touches wall and floor in the same points.

A face of A may come down onto the edge of B. So points of a hidden contact that are above B act along the normal of C's
face. The other points are removed.

Source: Terdiman, Contact Generation for Meshes (2015), whose faces of triangles hide contacts with their edges. Here
shapes are solid and share no edges, and their planes decide.
"""

import taichi as ti

from pbd.core.kernels import each_world, in_lanes, load_vector, store_vector
from pbd.core.shapes import CAPSULE, PLANE, SPHERE
from rigid.collision.broad_phase import axis_of, origin_of, to_frame, to_world
from rigid.collision.corners import corner, face_loop, face_plane
from rigid.collision.data import ABSENT, PAIR, POINT, SHAPE, STRUCTURE
from rigid.collision.rounded import NEGLIGIBLE

# Heights above a plane up to this part of the smaller bounding radius count as zero, and up to this part of the overlap
# with C: soft contacts of solver "penalty" let the shape that carries A sink deeper than the next one.
TOLERANCE, PART_OF_OVERLAP = 1e-4, 0.1
# Cosine of the angle up to which directions count as the same. A sphere touches two edges that far apart, each of which
# is TOLERANCE below the plane of the other: 0.015 > sqrt(2 TOLERANCE). A contact so much off costs 1e-4 of a speed.
SAME_DIRECTION = 1.0 - 0.5 * 0.015**2
# A point counts as above a shape if its foot on the plane is outside the shape by at most this many times its height: a
# body that falls and slides can land there.
STEEPEST = 2.0


@each_world
@ti.func
def remove_internal_edges(shapes: ti.template(), points: ti.template(), scratch: ti.template(), begin, world):
    """Remove or turn the contact points of one world that faces of other contacts hide.

    Args: begin: the first point that is new; others: see `find_points`.
    """
    count = points.count[world]
    if count <= points.integers.shape[1]:
        link_manifolds(points, scratch, begin, count, world)
        removed = 0
        for first in range(begin, count):
            if begins_manifold(points, first, world):
                for side in range(2):
                    removed += hide_manifold(shapes, points, scratch, first, side, count, world)
        if ti.static(not in_lanes()):
            if removed > 0:
                compact_points(points, begin, count, world)


@ti.func
def begins_manifold(points: ti.template(), c, world):
    """Whether contact point c is the first one of its pair of shapes."""
    result = c == 0
    if c > 0:
        for k in ti.static((PAIR.shape_a, PAIR.shape_b)):
            if points.integers[world, c, k] != points.integers[world, c - 1, k]:
                result = True
    return result


@ti.func
def link_manifolds(points: ti.template(), scratch: ti.template(), begin, count, world):
    """Make a list of the manifolds of each body. An entry is twice the first point, plus the body's side, plus one."""
    for body in range(scratch.manifolds.shape[0]):
        scratch.manifolds[body, world] = 0
    for c in range(begin, count):
        if begins_manifold(points, c, world):
            for side in range(2):
                body = points.integers[world, c, PAIR.body_a + side]
                if body >= 0:
                    scratch.links[world, c, side] = scratch.manifolds[body, world]
                    scratch.manifolds[body, world] = 2 * c + side + 1


@ti.func
def hide_manifold(shapes: ti.template(), points: ti.template(), scratch: ti.template(), first, side, count, world):
    """Turn or remove the points of a manifold if a face that shape A touches hides it.

    Args: first: its first point; side: of A, 0 or 1.

    Returns: how many points were removed.
    """
    a, b = points.integers[world, first, PAIR.shape_a + side], points.integers[world, first, PAIR.shape_b - side]
    body, removed = shapes.integers[a, STRUCTURE.body], 0
    of_ground = body < 0  # the ground has too many contacts: look only at those with the body of shape B
    if of_ground:
        body = shapes.integers[b, STRUCTURE.body]
    entry = 0
    if shapes.integers[b, STRUCTURE.face_count] > 0 and is_there(points, first, world):
        entry = scratch.manifolds[body, world]
    while entry > 0:
        other, side_of_body = (entry - 1) // 2, (entry - 1) % 2
        entry = scratch.links[world, other, side_of_body]
        k = side_of_body  # the side of A
        if of_ground:
            k = 1 - side_of_body
        c = points.integers[world, other, PAIR.shape_b - k]
        of_pair = points.integers[world, other, PAIR.shape_a + k] == a and c != b
        if of_pair and is_there(points, other, world):
            up, height = touched_plane(shapes, points, scratch, other, c, k, first, side, world)
            if up.norm_sqr() > 0.0:
                height += PART_OF_OVERLAP * ti.max(-points.numbers[world, other, POINT.gap], 0.0)
                if hides(shapes, points, scratch, a, b, first, side, count, up, height, world):
                    removed = turn_manifold(shapes, points, scratch, a, b, first, side, count, up, height, world)
                    entry = 0  # no other manifold is needed
    return removed


@ti.func
def is_there(points: ti.template(), c, world):
    """Whether the world has contact point c."""
    return points.numbers[world, c, POINT.gap] < ABSENT


@ti.func
def normal_to(points: ti.template(), c, side, world):
    """Normal of a contact, towards the shape of one side (3,). Args: side: 0 or 1."""
    return (1 - 2 * side) * load_vector(points.numbers, c, POINT.normal, world)


@ti.func
def points_from(points: ti.template(), c, side, world):
    """Points of a contact on the shape of one side and on the other one (3,) each [m]. Args: side: 0 or 1."""
    own = load_vector(points.numbers, c, POINT.position, world)
    opposite = own - points.numbers[world, c, POINT.gap] * load_vector(points.numbers, c, POINT.normal, world)
    if side == 1:
        own, opposite = opposite, own
    return own, opposite


@ti.func
def tolerance_of(shapes: ti.template(), a, b, world):
    """Height that counts as zero for two shapes [m]."""
    size = shapes.numbers[world, b, SHAPE.bounding_radius]
    return TOLERANCE * ti.min(shapes.numbers[world, a, SHAPE.bounding_radius], size) + NEGLIGIBLE * size


@ti.func
def touched_plane(
    shapes: ti.template(), points: ti.template(), scratch: ti.template(), other, c, side, first, side_of_a, world
):
    """The plane of shape c's face that a contact is with, if it could hide a manifold.

    Args: other: the contact; side: of shape A in it; first, side_of_a: see `hide_manifold`.

    Returns: the outward normal (3,) and the height of the plane along it [m]; zero if there is none.
    """
    normal, direction = normal_to(points, other, side, world), normal_to(points, first, side_of_a, world)
    up, height = ti.Vector([0.0, 0.0, 0.0]), 0.0
    if -SAME_DIRECTION < normal.dot(direction) < SAME_DIRECTION:
        if shapes.integers[c, STRUCTURE.kind] == PLANE:
            up = axis_of(scratch, c, 2, world)
            height = up.dot(origin_of(scratch, c, world))
        else:
            local = to_frame(scratch, c, normal, world)
            for face in range(shapes.integers[c, STRUCTURE.face_count]):
                n, offset = face_plane(shapes, c, face, world)
                if n.dot(local) > SAME_DIRECTION:
                    up = to_world(scratch, c, n, world)
                    height = offset + up.dot(origin_of(scratch, c, world))
    return up, height


@ti.func
def hides(
    shapes: ti.template(), points: ti.template(), scratch: ti.template(), a, b, first, side, count, up, height, world
):
    """Whether a plane hides a manifold. Args: up, height: of the plane; others: see `hide_manifold`."""
    most = height + tolerance_of(shapes, a, b, world)
    normal = normal_to(points, first, side, world)
    result = up.dot(normal) < SAME_DIRECTION
    c = first
    while result and c < count:
        _, touched = points_from(points, c, side, world)
        result = up.dot(touched) <= most or not is_there(points, c, world)
        c += 1
        if c < count:
            if begins_manifold(points, c, world):
                c = count
    kind = shapes.integers[a, STRUCTURE.kind]
    if result and kind != SPHERE and kind != CAPSULE:
        result = highest_of_face(shapes, scratch, b, normal, up, world) <= most
    return result


@ti.func
def highest_of_face(shapes: ti.template(), scratch: ti.template(), b, normal, up, world):
    """Height of the highest corner of the face of a polyhedron that a contact is with [m].

    Args: b: the shape; normal: of the contact; up: direction of the height.
    """
    local, face, slope = to_frame(scratch, b, normal, world), 0, -2.0
    for k in range(shapes.integers[b, STRUCTURE.face_count]):
        along = face_plane(shapes, b, k, world)[0].dot(local)
        if along > slope:
            face, slope = k, along
    upwards, highest = to_frame(scratch, b, up, world), -1e30
    begin, end = face_loop(shapes, b, face)
    for k in range(begin, end):
        highest = ti.max(highest, upwards.dot(corner(shapes, b, shapes.lists[k], world)))
    return highest + up.dot(origin_of(scratch, b, world))


@ti.func
def turn_manifold(
    shapes: ti.template(), points: ti.template(), scratch: ti.template(), a, b, first, side, count, up, height, world
):
    """Let a manifold's points above shape b act along a normal, and remove the others. Args: see `hides`.

    Returns: how many points were removed.
    """
    kind, radius, removed = shapes.integers[a, STRUCTURE.kind], 0.0, 0
    if kind == SPHERE or kind == CAPSULE:
        radius = shapes.numbers[world, a, SHAPE.size]
    slack = tolerance_of(shapes, a, b, world)
    c = first
    while c < count:
        if is_there(points, c, world):
            own, touched = points_from(points, c, side, world)
            own += radius * (normal_to(points, c, side, world) - up)
            gap = up.dot(own - touched)
            below = own - gap * up
            if distance_bound(shapes, scratch, b, below, world) <= STEEPEST * ti.max(gap, 0.0) + slack:
                position, direction = own, up
                if side == 1:
                    position, direction = below, -up
                store_vector(points.numbers, c, POINT.position, position, world)
                store_vector(points.numbers, c, POINT.normal, direction, world)
                points.numbers[world, c, POINT.gap] = gap
            else:
                points.numbers[world, c, POINT.gap] = ABSENT
                store_vector(points.numbers, c, POINT.normal, ti.Vector([0.0, 0.0, 1.0]), world)
                removed += 1
        c += 1
        if c < count:
            if begins_manifold(points, c, world):
                c = count
    return removed


@ti.func
def distance_bound(shapes: ti.template(), scratch: ti.template(), b, x, world):
    """A lower bound of the distance from a polyhedron to a point [m]: the largest height above a plane of a face."""
    local, most = to_frame(scratch, b, x - origin_of(scratch, b, world), world), -1e30
    for k in range(shapes.integers[b, STRUCTURE.face_count]):
        n, offset = face_plane(shapes, b, k, world)
        most = ti.max(most, n.dot(local) - offset)
    return most


@ti.func
def compact_points(points: ti.template(), begin, count, world):
    """Close the gaps in the list of contact points of one world, from `begin` on."""
    kept = begin
    for c in range(begin, count):
        if is_there(points, c, world):
            for k in ti.static(range(PAIR.total)):
                points.integers[world, kept, k] = points.integers[world, c, k]
            for k in ti.static(range(POINT.total)):
                points.numbers[world, kept, k] = points.numbers[world, c, k]
            points.features[world, kept] = points.features[world, c]
            kept += 1
    points.count[world] = kept
