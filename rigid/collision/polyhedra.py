"""Boxes, cylinders and convex hulls against planes and one another.

Two polyhedra are held apart best by an axis across a face of either or across an edge of each; of edges only those
whose arcs on the Gauss map cross (Gregorius, The Separating Axis Test between Convex Polyhedra, Game Developers
Conference 2013). Where a face wins, the face of the other that looks most against it is clipped to its sides
(Sutherland and Hodgman, Reentrant polygon clipping, 1974), and what is left below the margin is the contact; where edges
win, their nearest points.

Departure: apart, where the nearest features are two corners or a corner and an edge, no axis is as long as the
distance, and there is no point at all: such pairs pass by one another, or come to touch elsewhere.
"""

import taichi as ti

from rigid.collision.broad_phase import to_frame, to_world
from rigid.collision.corners import adjacent_normals, corner, edge, face_loop, face_plane, loop_side
from rigid.collision.data import PLACEMENT, SHAPE, STRUCTURE
from rigid.collision.manifold import add_point
from rigid.collision.rounded import EDGE_MARGIN, NEGLIGIBLE, nearest_points
from rigid.kernels.columns import triple


@ti.func
def polyhedron_on_plane(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Every corner that is below the margin."""
    up = ti.Vector([scratch.placements[world, b, PLACEMENT.matrix + 3 * k + 2] for k in ti.static(range(3))])
    margin = scratch.placements[world, a, PLACEMENT.margin] + scratch.placements[world, b, PLACEMENT.margin]
    origin = triple(scratch.placements, a, PLACEMENT.origin, world)
    height = (origin - triple(scratch.placements, b, PLACEMENT.origin, world)).dot(up)
    local = to_frame(scratch, a, up, world)
    count = 0
    for k in range(shapes.integers[a, STRUCTURE.vertex_count]):
        v = corner(shapes, a, k, world)
        gap = height + local.dot(v)
        if gap < margin:
            count = add_point(scratch, count, origin + to_world(scratch, a, v, world), up, gap, k, world)
    return count


@ti.func
def cylinder_on_plane(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """The deepest point of each rim, on the cylinder itself, not its prism; standing, also four of the lower rim, which
    stay the same while it wobbles."""
    up = ti.Vector([scratch.placements[world, b, PLACEMENT.matrix + 3 * k + 2] for k in ti.static(range(3))])
    margin = scratch.placements[world, a, PLACEMENT.margin] + scratch.placements[world, b, PLACEMENT.margin]
    origin = triple(scratch.placements, a, PLACEMENT.origin, world)
    height = (origin - triple(scratch.placements, b, PLACEMENT.origin, world)).dot(up)
    radius, half = shapes.numbers[world, a, SHAPE.size], shapes.numbers[world, a, SHAPE.size + 1]
    local = to_frame(scratch, a, up, world)
    across = ti.sqrt(local[0] * local[0] + local[1] * local[1])
    down = ti.Vector([1.0, 0.0])
    if across > 0.0:
        down = ti.Vector([-local[0], -local[1]]) / across
    lower = 1.0
    if local[2] > 0.0:
        lower = -1.0
    count = 0
    for k in range(6):
        v = ti.Vector([radius * down[0], radius * down[1], half * (1 - 2 * k)])
        feature = k
        wanted = across > NEGLIGIBLE  # level: all points of the rim are as deep, and four are enough
        if k >= 2:
            turn = k - 2
            v = ti.Vector([0.0, 0.0, lower * half])
            if turn % 2 == 0:
                v[0] = radius * (1 - turn)
            else:
                v[1] = radius * (2 - turn)
            wanted = across < 0.5
            feature = 2 + turn
            if lower > 0.0:
                feature = 6 + turn
        gap = height + local.dot(v)
        if wanted and gap < margin:
            count = add_point(scratch, count, origin + to_world(scratch, a, v, world), up, gap, feature, world)
    return count


@ti.func
def relative_pose(scratch: ti.template(), a, b, world):
    """Rotation matrix and origin of shape b's frame in shape a's."""
    columns = [
        to_frame(
            scratch,
            a,
            ti.Vector([scratch.placements[world, b, PLACEMENT.matrix + 3 * k + i] for k in ti.static(range(3))]),
            world,
        )
        for i in ti.static(range(3))
    ]
    origin = triple(scratch.placements, b, PLACEMENT.origin, world) - triple(scratch.placements, a, PLACEMENT.origin, world)
    return ti.Matrix.cols(columns), to_frame(scratch, a, origin, world)


@ti.func
def best_face(shapes: ti.template(), a, b, turn, shift, limit, world):
    """The face of a that separates it best from b: separation [m], the face, and b's corner that is deepest below it.

    Arguments: turn, shift: b's frame in a's; limit: above this separation any will do.
    """
    best, face, below = -1e30, 0, 0
    for f in range(shapes.integers[a, STRUCTURE.face_count]):
        n, offset = face_plane(shapes, a, f, world)
        into = turn.transpose() @ n
        low, deepest = 1e30, 0
        for k in range(shapes.integers[b, STRUCTURE.vertex_count]):
            height = into.dot(corner(shapes, b, k, world))
            if height < low:
                low, deepest = height, k
        separation = low + n.dot(shift) - offset
        if separation > best:
            best, face, below = separation, f, deepest
        if best > limit:
            break
    return best, face, below


@ti.func
def best_edges(shapes: ti.template(), a, b, turn, shift, world):
    """The edges of a and b whose common perpendicular separates best: separation [m], both edges, axis from a to b."""
    best, edge_a, edge_b, axis = -1e30, 0, 0, ti.Vector([0.0, 0.0, 1.0])
    for j in range(shapes.integers[b, STRUCTURE.edge_count]):
        q, e = edge(shapes, b, j, world)
        q, e = turn @ q + shift, turn @ e
        c, d = adjacent_normals(shapes, b, j, world)
        c, d = turn @ c, turn @ d
        for i in range(shapes.integers[a, STRUCTURE.edge_count]):
            left, right = adjacent_normals(shapes, a, i, world)
            # Arcs from left to right and from -c to -d cross: each one's ends are on opposite sides of the other's
            # plane, and they are in one hemisphere.
            over = left.dot(e)
            if over * right.dot(e) < 0.0:
                p, g = edge(shapes, a, i, world)
                before = c.dot(g)
                if before * d.dot(g) < 0.0 and before * over > 0.0:
                    n = g.cross(e)
                    length = n.norm_sqr()
                    if length > 1e-6 * g.norm_sqr() * e.norm_sqr():  # else along one another: a face does as well
                        n = n / ti.sqrt(length)
                        if n.dot(left + right) < 0.0:
                            n = -n
                        separation = n.dot(q - p)
                        if separation > best:
                            best, edge_a, edge_b, axis = separation, i, j, n
    return best, edge_a, edge_b, axis


@ti.func
def polyhedron_on_polyhedron(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Two polyhedra: the corners of what faces have in common, or one point of two edges."""
    margin = scratch.placements[world, a, PLACEMENT.margin] + scratch.placements[world, b, PLACEMENT.margin]
    size = ti.min(shapes.numbers[world, a, SHAPE.bounding_radius], shapes.numbers[world, b, SHAPE.bounding_radius])
    best, face, below = -1e30, 0, 0
    reference, incident = a, b
    for turned in range(2):
        one, other = a, b
        if turned == 1:
            one, other = b, a
        if best < margin:
            turn, shift = relative_pose(scratch, one, other, world)
            separation, at, deepest = best_face(shapes, one, other, turn, shift, margin, world)
            if separation > best + EDGE_MARGIN * size or turned == 0 or separation >= margin:
                best, face, below = separation, at, deepest
                reference, incident = one, other
    count = 0
    if best < margin:
        turn, shift = relative_pose(scratch, a, b, world)
        separation, edge_a, edge_b, axis = best_edges(shapes, a, b, turn, shift, world)
        if separation < best + EDGE_MARGIN * size:
            count = face_on_face(shapes, scratch, a, reference, incident, face, below, best, margin, world)
        # Apart, nothing may lie over the face even where edges are only a little better.
        if count == 0 and best < separation < margin:
            count = edge_on_edge(shapes, scratch, a, b, turn, shift, edge_a, edge_b, axis, separation, world)
    return count


@ti.func
def edge_on_edge(shapes: ti.template(), scratch: ti.template(), a, b, turn, shift, edge_a, edge_b, axis, gap, world):
    """Collect the nearest point of two edges."""
    p, g = edge(shapes, a, edge_a, world)
    q, e = edge(shapes, b, edge_b, world)
    s, _ = nearest_points(p, g, turn @ q + shift, turn @ e)
    place = triple(scratch.placements, a, PLACEMENT.origin, world) + to_world(scratch, a, p + s * g, world)
    feature = -1 - (edge_a * shapes.integers[b, STRUCTURE.edge_count] + edge_b)
    return add_point(scratch, 0, place, -to_world(scratch, a, axis, world), gap, feature, world)


@ti.func
def face_on_face(
    shapes: ti.template(), scratch: ti.template(), a, reference, incident, face, below, separation, margin, world
):
    """Collect the corners of what of the incident polyhedron's face lies over the reference face, and below the margin.

    Arguments: a: the first of the pair; reference: a or the other, whose `face` it is; incident: the other one, whose
    corner `below` is deepest, `separation` below the face.
    """
    turn, shift = relative_pose(scratch, reference, incident, world)
    n, offset = face_plane(shapes, reference, face, world)
    into = turn.transpose() @ n
    against, steepest = 0, 2.0
    for k in range(shapes.integers[incident, STRUCTURE.face_count]):
        slope = into.dot(face_plane(shapes, incident, k, world)[0])
        if slope < steepest - NEGLIGIBLE:
            against, steepest = k, slope
    size = shapes.numbers[world, reference, SHAPE.bounding_radius]
    corners, sides, buffer = clip_face(shapes, scratch, reference, incident, face, against, turn, shift, n, size, world)
    most = scratch.marks.shape[0] // 3
    origin = triple(scratch.placements, reference, PLACEMENT.origin, world)
    up = to_world(scratch, reference, n, world)
    normal = up
    if reference == a:
        normal = -up
    code = (face * shapes.integers[incident, STRUCTURE.face_count] + against) * 2
    if reference == a:
        code += 1
    count, least = 0, 1e30
    for k in range(corners):
        x = triple(scratch.clips, buffer * most + k, 0, world)
        gap = n.dot(x) - offset
        least = ti.min(least, gap)
        if gap < margin:
            before = k - 1
            if k == 0:
                before = corners - 1
            # A corner is where two sides meet, of either face.
            feature = scratch.marks[buffer * most + before, world] * sides + scratch.marks[buffer * most + k, world]
            place = origin + to_world(scratch, reference, x, world)
            if reference == a:
                place -= gap * up
            count = add_point(scratch, count, place, normal, gap, code * sides * sides + feature, world)
    if separation < 0.0 and separation < least - NEGLIGIBLE * size:
        # The deepest corner is not over the face: an edge separates better, by less than EDGE_MARGIN.
        x = turn @ corner(shapes, incident, below, world) + shift
        place = origin + to_world(scratch, reference, x, world)
        if reference == a:
            place -= separation * up
        count = add_point(scratch, count, place, normal, separation, code * sides * sides, world)
    return count


@ti.func
def clip_face(shapes: ti.template(), scratch: ti.template(), reference, incident, face, against, turn, shift, n, size, world):
    """Clip a face of the incident polyhedron to the sides of a face of the reference one, in the reference's frame.

    Each corner of the polygon in Scratch.clips is marked with the side that begins there: one of the incident face, or,
    counted after those, of the reference face.

    Returns: corners that are left; sides of both faces; which of the two polygons they are in.
    """
    most = scratch.marks.shape[0] // 3
    first, last = face_loop(shapes, incident, against)
    own = last - first
    for k in range(own):
        write_corner(scratch, k, turn @ corner(shapes, incident, shapes.lists[first + k], world) + shift, k, world)
    corners, buffer = own, 0
    begin, end = face_loop(shapes, reference, face)
    for i in range(end - begin):
        v, w = loop_side(shapes, reference, begin, end, begin + i, world)
        out = (w - v).cross(n)
        out = out / out.norm()
        from_row, to_row, kept = buffer * most, (1 - buffer) * most, 0
        for k in range(corners):
            after = k + 1
            if after == corners:
                after = 0
            x, y = triple(scratch.clips, from_row + k, 0, world), triple(scratch.clips, from_row + after, 0, world)
            # A corner on the side is within, so that faces of one size keep their corners.
            here, there = out.dot(x - v), out.dot(y - v)
            within, stays = here <= NEGLIGIBLE * size, there <= NEGLIGIBLE * size
            mark = scratch.marks[from_row + k, world]
            if within:
                write_corner(scratch, to_row + kept, x, mark, world)
                kept += 1
            if within != stays:
                begins = mark
                if within:
                    begins = own + i
                cut = ti.min(ti.max(here / (here - there), 0.0), 1.0)
                write_corner(scratch, to_row + kept, x + cut * (y - x), begins, world)
                kept += 1
        corners, buffer = kept, 1 - buffer
    return corners, own + end - begin, buffer


@ti.func
def write_corner(scratch: ti.template(), row, x, mark, world):
    """Write a corner of a polygon."""
    for k in ti.static(range(3)):
        scratch.clips[world, row, k] = x[k]
    scratch.marks[row, world] = mark
