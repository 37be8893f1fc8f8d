"""Boxes, cylinders and hulls against one triangle of a mesh, see triangles.py."""

import taichi as ti

from pbd.core.kernels import load_vector, store_vector
from pbd.core.segments import nearest_points
from rigid.collision.broad_phase import contact_margin, origin_of, to_frame, to_world
from rigid.collision.corners import adjacent_normals, corner, edge, face_plane
from rigid.collision.data import CLIP, HEAD, PLACEMENT, SHAPE, STRUCTURE, TRIANGLE
from rigid.collision.manifold import add_point, first_point, swap_points
from rigid.collision.mesh_tables import NOT_FLAT
from rigid.collision.polyhedra import best_face, face_on_face, relative_pose, turn, turn_back
from rigid.collision.rounded import EDGE_MARGIN
from rigid.collision.triangles import (
    SLACK,
    has_flag,
    is_normal_of_edge,
    mesh_vertex,
    side_of,
    surface_within,
    triangle_corner,
    triangle_plane,
)

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
                        count, _, _ = face_on_face(shapes, scratch, count, a, a, row, face, margin, world)
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
                count, _, _ = face_on_face(shapes, scratch, count, a, row, a, 0, margin, world)
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
    # Each has a name: variables of packs (rigid/solvers/impulse/packs.py) keep their type.
    start, along, _inwards, _beyond, _shared = side_of(shapes, triangle, side, triangle_plane(shapes, triangle)[0])
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
