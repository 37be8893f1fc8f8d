"""Convex shapes against one triangle of a mesh, which knows what lies beside its sides.

The contact normals of a surface at an edge lie between those of its two triangles, if it is convex there, and at a
vertex in the cone of directions in which no neighbour of the vertex is higher. Each function keeps to these, so a body
never touches an edge from within a surface. What a triangle finds is as it would be on the whole surface:

- over a triangle the normal is the triangle's
- an edge or vertex that is not convex has no contact points of its own
- an edge or vertex that triangles share is tested by one of them (FLAGS of mesh_tables.py)

Triangles push to one side, or to the side that the centre of the body's shape is on.

Source: Terdiman, Contact Generation for Meshes (2015), for the regions of edges; Ericson, Real-Time Collision Detection
(2005), section 5.1, for nearest points; Gregorius, The Separating Axis Test between Convex Polyhedra (2013), for the
arcs of edges on the Gauss map.
"""

import taichi as ti

from pbd.core.kernels import load_vector, store_vector
from rigid.collision.broad_phase import contact_margin, origin_of, to_frame, to_world
from rigid.collision.corners import adjacent_normals, corner, edge, face_plane
from rigid.collision.data import CLIP, HEAD, NODE, PLACEMENT, SHAPE, STRUCTURE, TRIANGLE
from rigid.collision.manifold import add_point, first_point, swap_points
from rigid.collision.mesh_tables import NOT_FLAT, TESTS_EDGE, TESTS_VERTEX
from rigid.collision.polyhedra import best_face, face_on_face, relative_pose, turn, turn_back
from rigid.collision.rounded import EDGE_MARGIN, NEGLIGIBLE, PARALLEL, nearest_points

# Sines of angles up to this count as zero where a direction may be outside of an edge's or vertex' normals: for shapes
# with corners, whose faces lie on triangles, and for round ones, whose normals change with their position.
SLACK, ROUND_SLACK = 1e-3, 1e-4
# If no other axis is possible, corners may be this deep below a triangle, in parts of a shape's smallest half extent.
# Deeper ones are below another part of the surface.
DEEPEST = 0.25

# A point belongs to another part of the surface if that is nearer than this part of its depth. A point below an edge is
# nearer to both triangles: at a right angle, by 0.7.
NEARER, NEARER_EDGE = 0.9, 0.5

# What a triangle can say of a direction, see `bearing`.
BEARS, GOES_ON, ENDS = range(3)


@ti.func
def triangle_row(shapes: ti.template()):
    """The row of `Shapes` that describes the triangle that is being tested."""
    return shapes.lists[HEAD.shape_count]


@ti.func
def place_triangle_row(shapes: ti.template(), scratch: ti.template(), b, world):
    """Put the row of triangles where mesh b is."""
    for k in range(PLACEMENT.total):
        scratch.placements[world, triangle_row(shapes), k] = scratch.placements[world, b, k]


@ti.func
def mesh_vertex(shapes: ti.template(), vertex):
    """A vertex of a mesh in its frame (3,) [m]."""
    v = ti.static(shapes.meshes.vertices)
    return ti.Vector([v[vertex, 0], v[vertex, 1], v[vertex, 2]])


@ti.func
def triangle_corner(shapes: ti.template(), triangle, k):
    """Corner k of a triangle, in the frame of its mesh (3,) [m]."""
    return mesh_vertex(shapes, shapes.meshes.triangles[triangle, TRIANGLE.corner + k])


@ti.func
def triangle_plane(shapes: ti.template(), triangle):
    """Unit normal (3,) and offset of a triangle [m]."""
    p = ti.static(shapes.meshes.planes)
    return ti.Vector([p[triangle, 0], p[triangle, 1], p[triangle, 2]]), p[triangle, 3]


@ti.func
def has_flag(shapes: ti.template(), triangle, flag: ti.template(), k):
    """Whether a triangle has a flag. Args: flag: of mesh_tables.py; k: side or corner."""
    return (shapes.meshes.triangles[triangle, TRIANGLE.flags] // flag) >> k & 1 == 1


@ti.func
def side_of(shapes: ti.template(), triangle, k, n):
    """Side k of a triangle: its start and direction, and what lies beside it.

    Args: n: normal of the triangle, or the opposite one.

    Returns: start [m]; vector to the end [m]; unit vectors from the side into the triangle, and into its neighbour;
    whether there is a neighbour.
    """
    after = k + 1
    if after == 3:
        after = 0
    start = triangle_corner(shapes, triangle, k)
    along = triangle_corner(shapes, triangle, after) - start
    unit = along / along.norm()
    inwards = triangle_plane(shapes, triangle)[0].cross(unit)
    opposite = shapes.meshes.triangles[triangle, TRIANGLE.opposite + k]
    beyond, shared = -inwards, opposite >= 0
    if shared:
        beyond = mesh_vertex(shapes, opposite) - start
        beyond -= beyond.dot(unit) * unit
        beyond = beyond / beyond.norm()
    return start, along, inwards, beyond, shared


@ti.func
def is_normal_of_edge(n, direction, inwards, beyond, shared, one_sided, slack):
    """Whether a direction is a contact normal of an edge: neither triangle rises along it.

    Args: n: normal of one triangle; direction: unit vector; inwards, beyond, shared: see `side_of`; one_sided: whether
    the mesh pushes to one side alone; slack: see SLACK.
    """
    result = direction.dot(inwards) <= slack
    if shared and direction.dot(beyond) > slack:
        result = False
    if one_sided:
        upwards = n
        if shared:  # the mean of both normals; that of the neighbour is beyond × edge, the edge is inwards × n
            upwards = n + beyond.cross(inwards.cross(n))
        if direction.dot(upwards) < -slack:
            result = False
    return result


@ti.func
def is_normal_of_vertex(shapes: ti.template(), vertex, direction, slack):
    """Whether a direction is a contact normal of a vertex: no neighbour is higher. Args: see `is_normal_of_edge`."""
    v = mesh_vertex(shapes, vertex)
    rings = ti.static(shapes.meshes.rings)
    result = True
    for k in range(rings[vertex], rings[vertex + 1]):
        e = mesh_vertex(shapes, rings[k]) - v
        if direction.dot(e) > slack * e.norm():
            result = False
    return result


# Spheres and capsules -------------------------------------------------------------------------------------------------


@ti.func
def rounded_on_triangle(
    shapes: ti.template(), scratch: ti.template(), collected, a, b, triangle, p, d, radius, world
):  # fmt: skip
    """Collect the points of a sphere or capsule on a triangle.

    Args: collected: how many points there are already; a, b: shape and mesh; p, d: core segment in the mesh's frame,
    see `core_segment`; radius: of the shape.

    Returns: how many points there are.
    """
    count = collected
    reach = radius + contact_margin(scratch, a, b, world)
    one_sided = shapes.numbers[world, b, SHAPE.size] > 0.0
    n = triangle_plane(shapes, triangle)[0]
    centre = p + 0.5 * d
    count = core_over_triangle(shapes, scratch, count, b, triangle, p, d, radius, one_sided, reach, world)
    for k in range(3):
        if has_flag(shapes, triangle, TESTS_EDGE, k):
            start, along, inwards, beyond, shared = side_of(shapes, triangle, k, n)
            # The ends of the part of a parallel core that is beside the edge, otherwise its nearest point.
            a2, e2 = d.norm_sqr(), along.norm_sqr()
            s, t = nearest_points(p, d, start, along)
            last = s
            if a2 > 0.0 and d.cross(along).norm_sqr() < PARALLEL * PARALLEL * a2 * e2:
                one, two = (start - p).dot(d) / a2, (start + along - p).dot(d) / a2
                s, last = ti.max(ti.min(one, two), 0.0), ti.min(ti.max(one, two), 1.0)
            ends = 1
            if last > s:
                ends = 2
            for end in range(ends):
                x = p + s * d
                if end == 1:
                    x = p + last * d
                t = (x - start).dot(along) / e2
                if -NEGLIGIBLE < t < 1.0 + NEGLIGIBLE:
                    offset_of_edge = x - start - t * along
                    length = offset_of_edge.norm()
                    if NEGLIGIBLE * radius < length < reach:
                        direction = offset_of_edge / length
                        if direction.dot(centre - start - t * along) < 0.0:  # the core is through the surface
                            direction = -direction
                            length = -length
                        if is_normal_of_edge(n, direction, inwards, beyond, shared, one_sided, ROUND_SLACK):
                            count = add_core_point(
                                shapes, scratch, count, b, x, radius, direction, length, 8 + end, world
                            )
    for k in range(3):
        if has_flag(shapes, triangle, TESTS_VERTEX, k):
            v = triangle_corner(shapes, triangle, k)
            s, _ = nearest_points(p, d, v, ti.Vector([0.0, 0.0, 0.0]))
            x = p + s * d
            length = (x - v).norm()
            if NEGLIGIBLE * radius < length < reach:
                direction = (x - v) / length
                outside = not one_sided or direction.dot(n) > -0.5
                vertex = shapes.meshes.triangles[triangle, TRIANGLE.corner + k]
                if outside and is_normal_of_vertex(shapes, vertex, direction, ROUND_SLACK):
                    count = add_core_point(shapes, scratch, count, b, x, radius, direction, length, 16, world)
    return count


@ti.func
def core_over_triangle(
    shapes: ti.template(), scratch: ti.template(), collected, b, triangle, p, d, radius, one_sided, reach, world
):
    """Collect the ends of the part of a core that is over a triangle.

    A part that is on both sides of the triangle counts as on the side of the core's centre.

    Args: one_sided: whether the mesh pushes to one side alone; reach: radius and contact margin [m]; others: see
    `rounded_on_triangle`.
    """
    low, high = 0.0, 1.0
    n, offset = triangle_plane(shapes, triangle)
    for k in range(3):
        after = k + 1
        if after == 3:
            after = 0
        v, w = triangle_corner(shapes, triangle, k), triangle_corner(shapes, triangle, after)
        out = (w - v).cross(n)
        out = out / out.norm()
        here, rise = out.dot(p - v), out.dot(d)
        # Round-off may not leave a gap between the parts of two triangles.
        if ti.abs(rise) <= ROUND_SLACK * radius:
            if ti.min(here, here + rise) > ROUND_SLACK * radius:
                high = -1.0
        elif rise > 0.0:
            high = ti.min(high, (ROUND_SLACK * radius - here) / rise)
        else:
            low = ti.max(low, (ROUND_SLACK * radius - here) / rise)
    count = collected
    if high >= low:
        side = 1.0
        first, last = n.dot(p + low * d) - offset, n.dot(p + high * d) - offset
        outside = first >= 0.0 or last >= 0.0
        if first * last < 0.0:
            if n.dot(p + 0.5 * d) < offset:
                side, outside = -1.0, False
        elif not outside:
            side = -1.0
        if outside or not one_sided:
            ends = 1
            if (high - low) * d.norm() > EDGE_MARGIN * radius:
                ends = 2
            for end in range(ends):
                at = low
                if end == 1:
                    at = high
                x = p + at * d
                height = side * (n.dot(x) - offset)
                if height < reach:
                    # The ends of the core itself are the same on each triangle.
                    feature = 2 + end
                    if at == 0.0:
                        feature = 0
                    elif at == 1.0:
                        feature = 1
                    count = add_core_point(shapes, scratch, count, b, x, radius, side * n, height, feature, world)
    return count


@ti.func
def add_core_point(
    shapes: ti.template(), scratch: ti.template(), count, b, x, radius, direction, distance, feature, world
):
    """Collect the point of a rounded shape whose core is at a distance from a mesh.

    Args: x: point of the core, in the mesh's frame [m]; direction: normal in that frame; distance: of x [m]; others:
    see `add_point`. Returns: how many points there are.
    """
    outwards = to_world(scratch, b, direction, world)
    place = origin_of(scratch, b, world) + to_world(scratch, b, x, world) - radius * outwards
    return add_point(scratch, count, place, outwards, distance - radius, feature, world)


# Boxes, cylinders and hulls -------------------------------------------------------------------------------------------


@ti.func
def write_triangle(shapes: ti.template(), triangle, flip, world):
    """Write a triangle in the row of triangles. Args: flip: whether its other side is the outer one."""
    row = triangle_row(shapes)
    first, plane = shapes.integers[row, STRUCTURE.first_vertex], shapes.integers[row, STRUCTURE.first_plane]
    n, offset = triangle_plane(shapes, triangle)
    longest = 0.0
    for k in range(3):
        v = triangle_corner(shapes, triangle, k)
        place = k
        if flip and k > 0:
            place = 3 - k
        store_vector(shapes.vertices, first + place, 0, v, world)
        longest = ti.max(longest, (v - triangle_corner(shapes, triangle, 0)).norm())
    if flip:
        n, offset = -n, -offset
    store_vector(shapes.planes, plane, 0, n, world)
    shapes.planes[world, plane, 3] = offset
    shapes.numbers[world, row, SHAPE.bounding_radius] = longest


@ti.func
def polyhedron_on_triangle(
    shapes: ti.template(), scratch: ti.template(), collected, a, b, triangle, centre, world
):  # fmt: skip
    """Collect the points of a polyhedron on a triangle. Args: centre: of a, in the mesh's frame; others: as above.

    The axis is that of the triangle, unless a face of the polyhedron or two edges separate better by EDGE_MARGIN. If
    the surface goes on where that axis would push, the triangle's own axis stays, or another triangle has the contact.
    """
    row = triangle_row(shapes)
    margin = contact_margin(scratch, a, b, world)
    one_sided = shapes.numbers[world, b, SHAPE.size] > 0.0
    n, offset = triangle_plane(shapes, triangle)
    count = collected
    low, high = extent_along(shapes, a, to_frame(scratch, a, to_world(scratch, b, n, world), world), world)
    flat, flip = n.dot(centre) + low - offset, False
    if not one_sided and offset - n.dot(centre) - high > flat:
        flat, flip = offset - n.dot(centre) - high, True
    if flat < margin:
        write_triangle(shapes, triangle, False, world)
        rotation, translation = relative_pose(scratch, a, row, world)
        of_face, face = best_face(shapes, a, row, rotation, translation, margin, world)
        if of_face < margin:
            size = shapes.numbers[world, a, SHAPE.bounding_radius]
            of_sides, bears, direction, possible, edge_a, side, axis = best_sides(
                shapes, a, triangle, one_sided, rotation, translation, world
            )
            least = EDGE_MARGIN * size
            limit, over = 1e30, True  # how deep points may be [m]; whether the triangle's own axis counts
            if ti.max(of_face, of_sides) >= margin:
                over, possible = False, -1e30
            elif ti.max(of_face, of_sides) > flat + least:
                if of_face + least >= of_sides:
                    direction = -turn_back(rotation, face_plane(shapes, a, face, world)[0])
                    bears = bearing(shapes, triangle, direction, one_sided)
                    if bears == BEARS:
                        count, _least = face_on_face(shapes, scratch, count, a, a, row, face, margin, world)
                        limit, possible = -1.0, -1e30
                flip = n.dot(direction) < 0.0
                if bears != BEARS:
                    limit = DEEPEST * smallest_half_extent(shapes, a, world)
                    if possible > 0.0 and possible < ti.max(of_face, of_sides) - 4.0 * least:
                        possible = -1e30
                over = bears != ENDS and not (flip and one_sided)
            elif one_sided and n.dot(centre) < offset:
                over, possible = False, -1e30
            before = count
            if over and limit > 0.0 and possible <= flat + least:
                if flip:
                    write_triangle(shapes, triangle, True, world)
                count, _gap = face_on_face(shapes, scratch, count, a, row, a, 0, margin, world)
                if limit < 1e30:
                    count = drop_far_points(shapes, scratch, before, count, b, limit, NEARER, world)
            if count == before and flat < possible < margin:
                count = edge_on_side(
                    shapes, scratch, count, a, triangle, rotation, translation, edge_a, side, axis, possible, world
                )
                if limit < 1e30:
                    count = drop_far_points(shapes, scratch, before, count, b, limit, NEARER_EDGE, world)
    return count


@ti.func
def extent_along(shapes: ti.template(), a, direction, world):
    """Lowest and highest corner of a polyhedron along a direction in its frame [m]."""
    low, high = 1e30, -1e30
    for k in range(shapes.integers[a, STRUCTURE.vertex_count]):
        height = direction.dot(corner(shapes, a, k, world))
        low, high = ti.min(low, height), ti.max(high, height)
    return low, high


@ti.func
def best_sides(shapes: ti.template(), a, triangle, one_sided, rotation, translation, world):
    """The edge of shape a and the side of a triangle whose common perpendicular separates them best.

    The arc of a side on the Gauss map is half a circle, from the triangle's normal over the direction out of the
    triangle to the opposite normal. Contact normals of the surface are a part of it.

    Args: rotation, translation: the mesh's frame in a's.

    Returns: separation of the triangle alone [m]; whether its axis bears, see `bearing`; that axis, from the triangle
    to a in the mesh's frame; the best separation along a contact normal of the surface [m]; its edge, its side, and its
    axis from a to the triangle in a's frame.
    """
    best, bears, best_direction = -1e30, BEARS, ti.Vector([0.0, 0.0, 1.0])
    possible, edge_a, side, axis = -1e30, 0, 0, ti.Vector([0.0, 0.0, 1.0])
    n = triangle_plane(shapes, triangle)[0]
    for j in range(3):
        start, along, inwards, beyond, shared = side_of(shapes, triangle, j, n)
        uneven = has_flag(shapes, triangle, NOT_FLAT, j)
        q, e = turn(rotation, start) + translation, turn(rotation, along)
        own = turn(rotation, inwards)
        for i in range(shapes.integers[a, STRUCTURE.edge_count]):
            left, right = adjacent_normals(shapes, a, i, world)
            if left.dot(e) * right.dot(e) < 0.0:
                p, g = edge(shapes, a, i, world)
                across = g.cross(e)
                length = across.norm_sqr()
                # If the edges are parallel, a face separates as well.
                if length > 1e-6 * g.norm_sqr() * e.norm_sqr():
                    across = across / ti.sqrt(length)
                    if across.dot(left + right) < 0.0:
                        across = -across
                    separation = across.dot(q - p)
                    if across.dot(own) > 0.0 and separation > ti.min(best, possible):
                        direction = -turn_back(rotation, across)
                        allowed = is_normal_of_edge(n, direction, inwards, beyond, shared, one_sided, SLACK)
                        if separation > best:
                            best, bears, best_direction = separation, GOES_ON, direction
                            if allowed:
                                bears = BEARS
                            elif not shared or (uneven and beyond.dot(n) * direction.dot(n) < 0.0):
                                bears = ENDS
                        if allowed and uneven and separation > possible:
                            possible, edge_a, side, axis = separation, i, j, across
    return best, bears, best_direction, possible, edge_a, side, axis


@ti.func
def edge_on_side(
    shapes: ti.template(), scratch: ti.template(), count, a, triangle, rotation, translation, edge_a, side, axis, gap,
    world,
):  # fmt: skip
    """Collect the nearest point of an edge of shape a and a side of a triangle, if they are beside one another.

    Args: see `best_sides`; gap: [m]. Returns: how many points there are.
    """
    p, g = edge(shapes, a, edge_a, world)
    start, along, _, _, _ = side_of(shapes, triangle, side, triangle_plane(shapes, triangle)[0])
    q, e = turn(rotation, start) + translation, turn(rotation, along)
    s, t = nearest_points(p, g, q, e)
    result = count
    if (q + t * e - p - s * g - gap * axis).norm() <= EDGE_MARGIN * shapes.numbers[world, a, SHAPE.bounding_radius]:
        place = origin_of(scratch, a, world) + to_world(scratch, a, p + s * g, world)
        result = add_point(scratch, count, place, -to_world(scratch, a, axis, world), gap, -1 - edge_a, world)
    return result


@ti.func
def bearing(shapes: ti.template(), triangle, direction, one_sided):
    """Whether the highest part of a triangle along a direction, a corner, side or the face, bears a shape above it.

    Args: direction: unit vector in the mesh's frame; others: see `is_normal_of_edge`.

    Returns: BEARS; GOES_ON if a neighbour that is not below the triangle's plane is higher; else ENDS.
    """
    n = triangle_plane(shapes, triangle)[0]
    upwards = n
    if direction.dot(n) < 0.0:
        upwards = -n
    highest, top = -1e30, 0
    for k in range(3):
        height = direction.dot(triangle_corner(shapes, triangle, k))
        if height > highest:
            highest, top = height, k
    level, side = 0, 0  # how many other corners are as high, and the side to one of them
    for k in range(3):
        if k != top:
            down = triangle_corner(shapes, triangle, top) - triangle_corner(shapes, triangle, k)
            if direction.dot(down) <= SLACK * down.norm():
                level += 1
                side = top  # from the top to the next corner
                if k == top - 1 or k == top + 2:
                    side = k
    result = BEARS
    if level == 0:
        rings = ti.static(shapes.meshes.rings)
        vertex = shapes.meshes.triangles[triangle, TRIANGLE.corner + top]
        for k in range(rings[vertex], rings[vertex + 1]):
            e = mesh_vertex(shapes, rings[k]) - mesh_vertex(shapes, vertex)
            if direction.dot(e) > SLACK * e.norm() and result != GOES_ON:
                result = ENDS
                if upwards.dot(e) > -SLACK * e.norm():
                    result = GOES_ON
    elif level == 1:
        _, _, inwards, beyond, shared = side_of(shapes, triangle, side, n)
        if not is_normal_of_edge(n, direction, inwards, beyond, shared, one_sided, SLACK):
            result = GOES_ON
            if not shared or beyond.dot(upwards) < -SLACK:
                result = ENDS
    if one_sided and direction.dot(n) < -0.5:
        result = ENDS
    return result


@ti.func
def smallest_half_extent(shapes: ti.template(), a, world):
    """The least half extent of a shape along the axes of its frame [m]."""
    half = load_vector(shapes.numbers, a, SHAPE.half_extent, world)
    return ti.min(half[0], half[1], half[2])


@ti.func
def drop_far_points(shapes: ti.template(), scratch: ti.template(), begin, count, b, limit, nearer, world):
    """Leave out the collected points from `begin` on that are nearer to another part of the surface.

    Args: limit: deeper points are left out at once [m]; nearer: see NEARER. Returns: how many points are left.
    """
    first, kept = first_point(scratch), begin
    for k in range(begin, count):
        depth = -scratch.clips[world, first + k, CLIP.gap]
        if depth <= limit:
            fits = True
            if depth > 0.0:
                x = load_vector(scratch.clips, first + k, CLIP.position, world) - origin_of(scratch, b, world)
                fits = not surface_within(shapes, b, to_frame(scratch, b, x, world), nearer * depth)
            if fits:
                if kept < k:
                    swap_points(scratch, first + k, first + kept, world)
                kept += 1
    return kept


@ti.func
def surface_within(shapes: ti.template(), b, x, distance):
    """Whether any triangle of a mesh is within a distance [m] of a point. Args: x (3,): in the mesh's frame [m]."""
    nodes, bounds = ti.static(shapes.meshes.nodes, shapes.meshes.bounds)
    found = False
    node, end = shapes.integers[b, STRUCTURE.first_node], shapes.integers[b, STRUCTURE.end_node]
    while node < end:
        following = node + 1
        near = True
        for k in ti.static(range(3)):
            if bounds[node, k] > x[k] + distance or bounds[node, 3 + k] < x[k] - distance:
                near = False
        if near:
            first = nodes[node, NODE.first]
            for triangle in range(first, first + nodes[node, NODE.count]):
                if (nearest_on_triangle(shapes, triangle, x) - x).norm_sqr() < distance * distance:
                    found = True
                    following = end
        else:
            following = nodes[node, NODE.skip]
        node = following
    return found


@ti.func
def nearest_on_triangle(shapes: ti.template(), triangle, x):
    """The point of a triangle that is nearest to x (3,), in the mesh's frame [m]."""
    n, offset = triangle_plane(shapes, triangle)
    foot = x - (n.dot(x) - offset) * n
    result, inside, least = foot, True, 1e30
    for k in range(3):
        after = k + 1
        if after == 3:
            after = 0
        v = triangle_corner(shapes, triangle, k)
        e = triangle_corner(shapes, triangle, after) - v
        if e.cross(n).dot(foot - v) > 0.0:
            inside = False
        on_side = v + ti.min(ti.max((x - v).dot(e) / e.dot(e), 0.0), 1.0) * e
        if (x - on_side).norm_sqr() < least:
            least, result = (x - on_side).norm_sqr(), on_side
    if inside:
        result = foot
    return result
