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
from rigid.collision.broad_phase import contact_margin, origin_of, to_world
from rigid.collision.corners import adjacent_normals, edge, face_plane
from rigid.collision.data import CLIP, HEAD, PLACEMENT, SHAPE, STRUCTURE, TRIANGLE
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
    n, offset = triangle_plane(shapes, triangle)
    centre = p + 0.5 * d
    height = n.dot(centre) - offset
    up = n
    if height < 0.0 and not one_sided:
        up, offset = -n, -offset
        height = -height
    if height >= 0.0:
        count = core_over_triangle(shapes, scratch, count, b, triangle, p, d, radius, up, offset, reach, world)
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
    shapes: ti.template(), scratch: ti.template(), collected, b, triangle, p, d, radius, up, offset, reach, world
):
    """Collect the ends of the part of a core that is over a triangle.

    Args: up, offset: normal and offset of the triangle, on the side of the shape [m]; reach: radius and contact margin;
    others: see `rounded_on_triangle`.
    """
    low, high = 0.0, 1.0
    n = triangle_plane(shapes, triangle)[0]
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
        ends = 1
        if (high - low) * d.norm() > EDGE_MARGIN * radius:
            ends = 2
        for end in range(ends):
            at = low
            if end == 1:
                at = high
            x = p + at * d
            height = up.dot(x) - offset
            if height < reach:
                # The ends of the core itself are the same on each triangle.
                feature = 2 + end
                if at == 0.0:
                    feature = 0
                elif at == 1.0:
                    feature = 1
                count = add_core_point(shapes, scratch, count, b, x, radius, up, height, feature, world)
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

    The axis is that of the triangle, unless a face of the polyhedron or two edges separate better by EDGE_MARGIN and
    the surface allows it.
    """
    row = triangle_row(shapes)
    margin = contact_margin(scratch, a, b, world)
    one_sided = shapes.numbers[world, b, SHAPE.size] > 0.0
    n, offset = triangle_plane(shapes, triangle)
    flip = n.dot(centre) < offset
    count = collected
    if not (flip and one_sided):
        write_triangle(shapes, triangle, flip, world)
        if flip:
            n, offset = -n, -offset
        size = shapes.numbers[world, a, SHAPE.bounding_radius]
        rotation, translation = relative_pose(scratch, row, a, world)
        flat, _face = best_face(shapes, row, a, rotation, translation, margin, world)
        best = flat
        if best < margin:
            rotation, translation = relative_pose(scratch, a, row, world)
            of_face, face = best_face(shapes, a, row, rotation, translation, margin, world)
            of_edges, edge_a, side, axis = -1e30, 0, 0, n
            if of_face < margin:
                of_edges, edge_a, side, axis = best_sides(shapes, a, triangle, flip, rotation, translation, world)
            least = best + EDGE_MARGIN * size
            if ti.max(of_face, of_edges) < margin:
                limit = 1e30
                if of_face > least and of_face >= of_edges:
                    direction = -turn_back(rotation, face_plane(shapes, a, face, world)[0])
                    if supports(shapes, triangle, direction, one_sided):
                        count, _least = face_on_face(shapes, scratch, count, a, a, row, face, margin, world)
                        limit = -1.0
                    else:
                        limit = DEEPEST * smallest_half_extent(shapes, a, world)
                elif of_edges > least:
                    count = edge_on_side(
                        shapes, scratch, count, a, triangle, rotation, translation, edge_a, side, axis, of_edges, world
                    )
                    limit = -1.0
                if limit > 0.0:
                    before = count
                    count, _least = face_on_face(shapes, scratch, count, a, row, a, 0, margin, world)
                    count = drop_deep_points(scratch, before, count, limit, world)
    return count


@ti.func
def best_sides(shapes: ti.template(), a, triangle, flip, rotation, translation, world):
    """The edge of shape a and the side of a triangle whose common perpendicular separates them best.

    Only sides at which the surface is convex count, and only perpendiculars between the normals of both triangles. At
    a border these are between the normal and the direction out of the triangle.

    Args: flip: whether the triangle's other side is the outer one; rotation, translation: the mesh's frame in a's.

    Returns: separation [m], edge, side, and the axis from a to the triangle in a's frame.
    """
    best, edge_a, side, axis = -1e30, 0, 0, ti.Vector([0.0, 0.0, 1.0])
    upwards = triangle_plane(shapes, triangle)[0]
    for j in range(3):
        if has_flag(shapes, triangle, NOT_FLAT, j):
            start, along, inwards, beyond, shared = side_of(shapes, triangle, j, upwards)
            n, other = upwards, -inwards
            if shared:
                other = beyond.cross(along) / along.norm()
            if flip:
                n = -n
                if shared:
                    other = -other
            if not shared or beyond.dot(n) < 0.0:
                q, e = turn(rotation, start) + translation, turn(rotation, along)
                c, d = turn(rotation, n), turn(rotation, other)  # left and right of e, seen from outside
                if flip:
                    c, d = d, c
                for i in range(shapes.integers[a, STRUCTURE.edge_count]):
                    left, right = adjacent_normals(shapes, a, i, world)
                    over = left.dot(e)
                    if over * right.dot(e) < 0.0:
                        p, g = edge(shapes, a, i, world)
                        before = c.dot(g)
                        if before * d.dot(g) < 0.0 and before * over > 0.0:
                            across = g.cross(e)
                            length = across.norm_sqr()
                            if length > 1e-6 * g.norm_sqr() * e.norm_sqr():
                                across = across / ti.sqrt(length)
                                if across.dot(left + right) < 0.0:
                                    across = -across
                                separation = across.dot(q - p)
                                if separation > best:
                                    best, edge_a, side, axis = separation, i, j, across
    return best, edge_a, side, axis


@ti.func
def edge_on_side(
    shapes: ti.template(), scratch: ti.template(), count, a, triangle, rotation, translation, edge_a, side, axis, gap,
    world,
):  # fmt: skip
    """Collect the nearest point of an edge of shape a and a side of a triangle. Args: see `best_sides`; gap: [m]."""
    p, g = edge(shapes, a, edge_a, world)
    start, along, _, _, _ = side_of(shapes, triangle, side, triangle_plane(shapes, triangle)[0])
    s, _ = nearest_points(p, g, turn(rotation, start) + translation, turn(rotation, along))
    place = origin_of(scratch, a, world) + to_world(scratch, a, p + s * g, world)
    return add_point(scratch, count, place, -to_world(scratch, a, axis, world), gap, -1 - edge_a, world)


@ti.func
def supports(shapes: ti.template(), triangle, direction, one_sided):
    """Whether the surface lets the highest part of a triangle along a direction bear: its corner, side or face.

    Args: direction: unit vector in the mesh's frame; others: see `is_normal_of_edge`.
    """
    n = triangle_plane(shapes, triangle)[0]
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
    result = True
    if level == 0:
        result = is_normal_of_vertex(shapes, shapes.meshes.triangles[triangle, TRIANGLE.corner + top], direction, SLACK)
        if one_sided and direction.dot(n) < -0.5:
            result = False
    elif level == 1:
        _, _, inwards, beyond, shared = side_of(shapes, triangle, side, n)
        result = is_normal_of_edge(n, direction, inwards, beyond, shared, one_sided, SLACK)
    return result


@ti.func
def smallest_half_extent(shapes: ti.template(), a, world):
    """The least half extent of a shape along the axes of its frame [m]."""
    half = load_vector(shapes.numbers, a, SHAPE.half_extent, world)
    return ti.min(half[0], half[1], half[2])


@ti.func
def drop_deep_points(scratch: ti.template(), begin, count, limit, world):
    """Leave out the collected points from `begin` on that are deeper than a limit [m]. Returns: how many are left."""
    first, kept = first_point(scratch), begin
    for k in range(begin, count):
        if scratch.clips[world, first + k, CLIP.gap] >= -limit:
            if kept < k:
                swap_points(scratch, first + k, first + kept, world)
            kept += 1
    return kept
