"""Boxes, cylinders and convex hulls against planes and one another.

Two polyhedra are separated best along an axis across a face of either, or across an edge of each. Only those pairs of
edges count whose arcs on the Gauss map cross (Gregorius, The Separating Axis Test between Convex Polyhedra, Game
Developers Conference 2013); boxes.py has a shorter way for two boxes. If a face wins, it is the reference face. The
face of the other polyhedron that faces it most is clipped to its sides (Sutherland and Hodgman, Reentrant polygon
clipping, 1974), and the corners below the contact margin are the contact points. If two edges win, their nearest points
are the contact.

Departure: if two separate polyhedra are nearest at two corners, or at a corner and an edge, no axis is as long as their
distance, and they have no contact point. Such pairs pass by one another, or they touch elsewhere later.
"""

import taichi as ti

from pbd.core.kernels import load_vector
from pbd.core.segments import nearest_points
from pbd.core.shapes import BOX
from rigid.collision.boxes import PARALLEL_SQUARED, are_boxes, best_edges_of_boxes, best_face_of_box
from rigid.collision.broad_phase import axis_of, contact_margin, origin_of, to_frame, to_world
from rigid.collision.corners import adjacent_normals, corner, edge, face_loop, face_plane, loop_side, turn, turn_back
from rigid.collision.data import SHAPE, STRUCTURE
from rigid.collision.manifold import add_point
from rigid.collision.rounded import EDGE_MARGIN, NEGLIGIBLE

# Heights and distances up to this part of the smaller radius do not decide which corners touch. Boxes in a pile turn by
# as much from step to step. Then corners of sides that continue one another would be points of their own, or the
# deepest corner would be beside the face that it rests on.
LEVEL = 1e-4


@ti.func
def polyhedron_on_plane(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Collect every corner below the contact margin."""
    up = axis_of(scratch, b, 2, world)
    margin = contact_margin(scratch, a, b, world)
    origin = origin_of(scratch, a, world)
    height = (origin - origin_of(scratch, b, world)).dot(up)
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
    """Collect the deepest point of each rim, and for a standing cylinder four fixed points of the lower rim.

    The points are on the cylinder itself, not on its prism. The fixed points keep their features while it wobbles.
    """
    up = axis_of(scratch, b, 2, world)
    margin = contact_margin(scratch, a, b, world)
    origin = origin_of(scratch, a, world)
    height = (origin - origin_of(scratch, b, world)).dot(up)
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
        wanted = across > NEGLIGIBLE  # else all points of the rim are equally deep, and the fixed ones are enough
        if k >= 2:
            quarter = k - 2
            v = ti.Vector([0.0, 0.0, lower * half])
            if quarter % 2 == 0:
                v[0] = radius * (1 - quarter)
            else:
                v[1] = radius * (2 - quarter)
            wanted = across < 0.5
            feature = 2 + quarter
            if lower > 0.0:
                feature = 6 + quarter
        gap = height + local.dot(v)
        if wanted and gap < margin:
            count = add_point(scratch, count, origin + to_world(scratch, a, v, world), up, gap, feature, world)
    return count


@ti.func
def relative_pose(scratch: ti.template(), a, b, world):
    """Rotation and origin of shape b's frame in shape a's frame: its three axes, one after another (9,), and (3,)."""
    x, y, z = [to_frame(scratch, a, axis_of(scratch, b, i, world), world) for i in ti.static(range(3))]
    offset = origin_of(scratch, b, world) - origin_of(scratch, a, world)
    axes = ti.Vector([x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]])
    return axes, to_frame(scratch, a, offset, world)


@ti.func
def best_face(shapes: ti.template(), a, b, rotation, translation, limit, world):
    """The face of shape a that separates it best from shape b.

    Args: rotation, translation: b's frame in a's; limit: another face may be better if this one's separation is above
    this [m].

    Returns: separation [m], and the face.
    """
    best, face = -1e30, 0
    if are_boxes(shapes, a, b):
        best, face = best_face_of_box(shapes, a, b, rotation, translation, world)
    else:
        for f in range(shapes.integers[a, STRUCTURE.face_count]):
            n, offset = face_plane(shapes, a, f, world)
            separation = lowest(shapes, b, turn_back(rotation, n), world) + n.dot(translation) - offset
            if separation > best:
                best, face = separation, f
            if best > limit:
                break
    return best, face


@ti.func
def lowest(shapes: ti.template(), shape, direction, world):
    """The least x·direction of a polyhedron's corners x [m]. Args: direction (3,): in the shape's frame."""
    low = 1e30
    if shapes.integers[shape, STRUCTURE.kind] == BOX:
        x, y, z = [ti.abs(direction[k]) * shapes.numbers[world, shape, SHAPE.size + 1 + k] for k in ti.static(range(3))]
        low = -(x + y + z)
    else:
        for k in range(shapes.integers[shape, STRUCTURE.vertex_count]):
            low = ti.min(low, direction.dot(corner(shapes, shape, k, world)))
    return low


@ti.func
def best_edges(shapes: ti.template(), a, b, rotation, translation, world):
    """The edges of shapes a and b whose common perpendicular separates them best.

    Args: rotation, translation: b's frame in a's.

    Returns: separation [m], both edges, and the axis from a to b in a's frame.
    """
    best, edge_a, edge_b, axis = -1e30, 0, 0, ti.Vector([0.0, 0.0, 1.0])
    if are_boxes(shapes, a, b):
        best, edge_a, edge_b, axis = best_edges_of_boxes(shapes, a, b, rotation, translation, world)
    else:
        best, edge_a, edge_b, axis = best_crossing(shapes, a, b, rotation, translation, world)
    return best, edge_a, edge_b, axis


@ti.func
def best_crossing(shapes: ti.template(), a, b, rotation, translation, world):
    """As `best_edges` for any polyhedra: of all pairs of edges whose arcs on the Gauss map cross."""
    best, edge_a, edge_b, axis = -1e30, 0, 0, ti.Vector([0.0, 0.0, 1.0])
    for j in range(shapes.integers[b, STRUCTURE.edge_count]):
        q, e = edge(shapes, b, j, world)
        q, e = turn(rotation, q) + translation, turn(rotation, e)
        c, d = adjacent_normals(shapes, b, j, world)
        c, d = turn(rotation, c), turn(rotation, d)
        for i in range(shapes.integers[a, STRUCTURE.edge_count]):
            left, right = adjacent_normals(shapes, a, i, world)
            # The arcs from left to right and from -c to -d cross if the ends of each are on opposite sides of the
            # other's plane, and all ends are in one hemisphere.
            over = left.dot(e)
            if over * right.dot(e) < 0.0:
                p, g = edge(shapes, a, i, world)
                before = c.dot(g)
                if before * d.dot(g) < 0.0 and before * over > 0.0:
                    n = g.cross(e)
                    length = n.norm_sqr()
                    # If the edges are parallel, a face separates as well.
                    if length > PARALLEL_SQUARED * g.norm_sqr() * e.norm_sqr():
                        n = n / ti.sqrt(length)
                        if n.dot(left + right) < 0.0:
                            n = -n
                        separation = n.dot(q - p)
                        if separation > best:
                            best, edge_a, edge_b, axis = separation, i, j, n
    return best, edge_a, edge_b, axis


@ti.func
def polyhedron_on_polyhedron(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Collect the corners of two faces' common area, or one point of two edges.

    An axis across the other shape's face or across edges must separate better by EDGE_MARGIN. Otherwise features would
    alternate near a tie. But where the deepest corner is not over the face, a better axis counts, too: the corner of a
    box that slides over the edge of a table is below the table's top, and touches nothing.
    """
    margin = contact_margin(scratch, a, b, world)
    size = ti.min(shapes.numbers[world, a, SHAPE.bounding_radius], shapes.numbers[world, b, SHAPE.bounding_radius])
    best, face = -1e30, 0
    second, second_face = -1e30, 0
    reference, incident = a, b
    rotation, translation = relative_pose(scratch, a, b, world)
    for order in range(2):
        if best < margin:
            one, other, axes, offset = a, b, rotation, translation
            if order == 1:
                one, other = b, a
                axes, offset = relative_pose(scratch, b, a, world)
            separation, at = best_face(shapes, one, other, axes, offset, margin, world)
            if separation > best + EDGE_MARGIN * size or order == 0 or separation >= margin:
                second, second_face = best, face
                best, face = separation, at
                reference, incident = one, other
            else:
                second, second_face = separation, at
    count = 0
    if best < margin:
        separation, edge_a, edge_b, axis = -1e30, 0, 0, ti.Vector([0.0, 0.0, 1.0])
        attempts, missed, any_face, enough = 2, False, True, best + EDGE_MARGIN * size
        while attempts > 0:
            count, least, nearest = face_on_face(shapes, scratch, 0, a, reference, incident, face, margin, world)
            missed = best < 0.0 and best < least - LEVEL * size
            # Edges seldom win. Both shapes have points that are `nearest` apart, so no axis separates them by more.
            if attempts == 2 and (count == 0 or missed or nearest >= enough):
                separation, edge_a, edge_b, axis = best_edges(shapes, a, b, rotation, translation, world)
                any_face = separation < enough
            attempts -= 1
            if missed and second > ti.max(best, separation - EDGE_MARGIN * size):
                reference, incident = incident, reference
                face, best, second, any_face = second_face, second, -1e30, True
            else:
                attempts = 0
        if not any_face:
            count = 0
        # If the shapes are apart, the clipped face may be empty although edges are hardly better.
        if (count == 0 or missed) and best < separation < margin:
            count = edge_on_edge(
                shapes, scratch, count, a, b, rotation, translation, edge_a, edge_b, axis, separation, world
            )
    return count


@ti.func
def edge_on_edge(
    shapes: ti.template(), scratch: ti.template(), count, a, b, rotation, translation, edge_a, edge_b, axis, gap, world
):
    """Collect the nearest point of two edges.

    Args: count: of points so far; rotation, translation: b's frame in a's; axis, gap: see `best_edges`.
    """
    p, g = edge(shapes, a, edge_a, world)
    q, e = edge(shapes, b, edge_b, world)
    s, _ = nearest_points(p, g, turn(rotation, q) + translation, turn(rotation, e))
    place = origin_of(scratch, a, world) + to_world(scratch, a, p + s * g, world)
    feature = -1 - (edge_a * shapes.integers[b, STRUCTURE.edge_count] + edge_b)
    return add_point(scratch, count, place, -to_world(scratch, a, axis, world), gap, feature, world)


@ti.func
def face_on_face(
    shapes: ti.template(), scratch: ti.template(), collected, a, reference, incident, face, margin, world
):  # fmt: skip
    """Collect the corners of the incident face's part over the reference face, below the contact margin.

    Args: collected: how many points there are already; a: the first shape of the pair; reference: a or the other shape,
    whose `face` is the reference face; incident: the other one.

    Returns: how many points there are, the least gap of a corner, and the least distance of one from the face [m].
    """
    rotation, translation = relative_pose(scratch, reference, incident, world)
    n, offset = face_plane(shapes, reference, face, world)
    into = turn_back(rotation, n)
    against, steepest = 0, 2.0
    for k in range(shapes.integers[incident, STRUCTURE.face_count]):
        slope = into.dot(face_plane(shapes, incident, k, world)[0])
        if slope < steepest - NEGLIGIBLE:
            against, steepest = k, slope
    # Only round-off grows with the larger shape. A die rests on the edge of a wide floor, not on the air beside it.
    size = shapes.numbers[world, reference, SHAPE.bounding_radius]
    least_size = ti.min(size, shapes.numbers[world, incident, SHAPE.bounding_radius])
    level = ti.max(LEVEL * least_size, NEGLIGIBLE * size)
    corners, sides, buffer = clip_face(
        shapes, scratch, reference, incident, face, against, rotation, translation, n, level, world
    )
    most = scratch.marks.shape[0] // 3
    origin = origin_of(scratch, reference, world)
    up = to_world(scratch, reference, n, world)
    normal = up
    if reference == a:
        normal = -up
    code = (face * shapes.integers[incident, STRUCTURE.face_count] + against) * 2
    if reference == a:
        code += 1
    count, least, nearest = collected, 1e30, 1e30
    for k in range(corners):
        x = load_vector(scratch.clips, buffer * most + k, 0, world)
        gap = n.dot(x) - offset
        least, nearest = ti.min(least, gap), ti.min(nearest, ti.abs(gap))
        if gap < margin:
            before = k - 1
            if k == 0:
                before = corners - 1
            # A corner is where two sides meet, each of either face.
            feature = scratch.marks[buffer * most + before, world] * sides + scratch.marks[buffer * most + k, world]
            place = origin + to_world(scratch, reference, x, world)
            if reference == a:
                place -= gap * up
            count = add_point(scratch, count, place, normal, gap, code * sides * sides + feature, world)
    return count, least, nearest


@ti.func
def clip_face(
    shapes: ti.template(), scratch: ti.template(), reference, incident, face, against, rotation, translation, n, level,
    world,
):  # fmt: skip
    """Clip a face of the incident polyhedron to the sides of the reference face, in the reference polyhedron's frame.

    Each corner of the polygon in Scratch.clips is marked with the side that begins there. The sides of the incident
    face are counted first, then those of the reference face. Args: n: normal of the face; level: corners this far
    outside count as inside [m]; others: see `face_on_face`.

    Returns: how many corners are left, how many sides both faces have, and which of the two polygons has the corners.
    """
    most = scratch.marks.shape[0] // 3
    first, last = face_loop(shapes, incident, against)
    own = last - first
    for k in range(own):
        x = turn(rotation, corner(shapes, incident, shapes.lists[first + k], world)) + translation
        write_corner(scratch, k, x, k, world)
    corners, buffer = own, 0
    begin, end = face_loop(shapes, reference, face)
    for i in range(end - begin):
        v, w = loop_side(shapes, reference, begin, end, begin + i, world)
        out = (w - v).cross(n)
        out = out / out.norm()
        from_row, to_row = buffer * most, (1 - buffer) * most
        # A corner on the side counts as inside, so that equal faces keep their corners.
        outside = 0
        for k in range(corners):
            if out.dot(load_vector(scratch.clips, from_row + k, 0, world) - v) > level:
                outside += 1
        if outside > 0:
            kept, after = 0, load_vector(scratch.clips, from_row, 0, world)
            there = out.dot(after - v)
            for k in range(corners):
                x, here, mark = after, there, scratch.marks[from_row + k, world]
                following = k + 1
                if following == corners:
                    following = 0
                after = load_vector(scratch.clips, from_row + following, 0, world)
                there = out.dot(after - v)
                within, stays = here <= level, there <= level
                if within:
                    write_corner(scratch, to_row + kept, x, mark, world)
                    kept += 1
                if within != stays:
                    begins = mark
                    if within:
                        begins = own + i
                    cut = ti.min(ti.max(here / (here - there), 0.0), 1.0)
                    write_corner(scratch, to_row + kept, x + cut * (after - x), begins, world)
                    kept += 1
            corners, buffer = kept, 1 - buffer
    return corners, own + end - begin, buffer


@ti.func
def write_corner(scratch: ti.template(), row, x, mark, world):
    """Write a corner of a polygon."""
    for k in ti.static(range(3)):
        scratch.clips[world, row, k] = x[k]
    scratch.marks[row, world] = mark
