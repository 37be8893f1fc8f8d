"""Shapes against meshes: the triangles near a shape, and the points of all of them.

A kernel follows the tree of boxes about the triangles (mesh_tables.py) in the frame of the mesh, so a mesh may move. It
meets triangles in the order of their indices. What they have in common is left out, and the rest is reduced to
POINTS_ON_MESH: the deepest, and those farthest apart in position and in direction.
"""

import taichi as ti

from pbd.core.kernels import load_vector
from pbd.core.shapes import CAPSULE, SPHERE
from rigid.collision.broad_phase import axis_of, contact_margin, origin_of, to_frame, to_world
from rigid.collision.data import NODE, SHAPE, STRUCTURE, TRIANGLE
from rigid.collision.manifold import (
    POINTS_ON_MESH,
    add_point,
    first_point,
    merge_points,
    number_features,
    reduce_manifold,
)
from rigid.collision.mesh_tables import FIRST_OF_VERTEX
from rigid.collision.polyhedron_on_triangle import place_triangle_row, polyhedron_on_triangle
from rigid.collision.rounded import core_segment
from rigid.collision.rounded_on_triangle import rounded_on_triangle
from rigid.collision.triangles import has_flag, triangle_corner, triangle_plane

# Most points that one triangle adds: a polygon's corners are counted apart.
POINTS_OF_TRIANGLE = 12
# Points nearer than this part of a shape's bounding radius are one.
SAME_PLACE = 1e-4


@ti.func
def convex_on_mesh(
    shapes: ti.template(), scratch: ti.template(), a, b, rounded: ti.template(), solid: ti.template(), world
):  # fmt: skip
    """Collect the points of a convex shape on a mesh.

    Args: a, b: shape and mesh; rounded, solid: whether a may be a sphere or capsule, and a polyhedron.

    Returns: how many points there are.
    """
    nodes, bounds = ti.static(shapes.meshes.nodes, shapes.meshes.bounds)
    margin, bound = contact_margin(scratch, a, b, world), shapes.numbers[world, a, SHAPE.bounding_radius]
    centre = to_frame(scratch, b, origin_of(scratch, a, world) - origin_of(scratch, b, world), world)
    half = half_extent_in(shapes, scratch, a, b, world) + margin
    kind = shapes.integers[a, STRUCTURE.kind]
    is_rounded = kind == SPHERE or kind == CAPSULE
    p, d, radius = centre, 0.0 * centre, 0.0
    if ti.static(rounded):
        if is_rounded:
            start, way, radius_of_core = core_segment(shapes, scratch, a, world)
            p = to_frame(scratch, b, start - origin_of(scratch, b, world), world)
            d, radius = to_frame(scratch, b, way, world), radius_of_core
    if ti.static(solid):
        place_triangle_row(shapes, scratch, b, world)
    count = 0
    node, end = shapes.integers[b, STRUCTURE.first_node], shapes.integers[b, STRUCTURE.end_node]
    while node < end:
        following = node + 1
        near = True
        for k in ti.static(range(3)):
            if bounds[node, k] > centre[k] + half[k] or bounds[node, 3 + k] < centre[k] - half[k]:
                near = False
        if near:
            first = nodes[node, NODE.first]
            for triangle in range(first, first + nodes[node, NODE.count]):
                n, offset = triangle_plane(shapes, triangle)
                if ti.abs(n.dot(centre) - offset) < bound + margin:
                    count = make_room(scratch, count, bound, world)
                    if ti.static(rounded):
                        if is_rounded:
                            count = rounded_on_triangle(shapes, scratch, count, a, b, triangle, p, d, radius, world)
                    if ti.static(solid):
                        if not is_rounded:
                            count = polyhedron_on_triangle(shapes, scratch, count, a, b, triangle, centre, world)
        else:
            following = nodes[node, NODE.skip]
        node = following
    return finished_points(scratch, count, bound, world)


@ti.func
def half_extent_in(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Half edges of the box about shape a along the axes of b's frame (3,) [m]."""
    half = load_vector(shapes.numbers, a, SHAPE.half_extent, world)
    result = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(3)):
        result += half[k] * ti.abs(to_frame(scratch, b, axis_of(scratch, a, k, world), world))
    return result


@ti.func
def make_room(scratch: ti.template(), count, size, world):
    """Reduce the collected points if there may be too many for those of one more triangle.

    Args: size: bounding radius of the shape [m]. Returns: how many points are left.
    """
    result = count
    if count + POINTS_OF_TRIANGLE > scratch.marks.shape[0] - first_point(scratch):
        result = merge_points(scratch, count, SAME_PLACE * size, world)
        result = reduce_manifold(scratch, result, world, POINTS_ON_MESH, True, size)
    return result


@ti.func
def finished_points(scratch: ti.template(), count, size, world):
    """Merge, reduce and number the collected points. Args, returns: see `make_room`."""
    result = count
    if count > 0:
        result = merge_points(scratch, count, SAME_PLACE * size, world)
        result = reduce_manifold(scratch, result, world, POINTS_ON_MESH, True, size)
        number_features(scratch, result, world)
    return result


@ti.func
def mesh_on_plane(shapes: ti.template(), scratch: ti.template(), a, b, world):
    """Collect every vertex of a mesh below the contact margin of a plane. Returns: how many points are left."""
    nodes, bounds = ti.static(shapes.meshes.nodes, shapes.meshes.bounds)
    up = axis_of(scratch, b, 2, world)
    margin, size = contact_margin(scratch, a, b, world), shapes.numbers[world, a, SHAPE.bounding_radius]
    origin = origin_of(scratch, a, world)
    height = (origin - origin_of(scratch, b, world)).dot(up)
    local = to_frame(scratch, a, up, world)
    count = 0
    node, end = shapes.integers[a, STRUCTURE.first_node], shapes.integers[a, STRUCTURE.end_node]
    while node < end:
        following = node + 1
        lowest = height
        for k in ti.static(range(3)):
            lowest += ti.min(local[k] * bounds[node, k], local[k] * bounds[node, 3 + k])
        if lowest < margin:
            first = nodes[node, NODE.first]
            for triangle in range(first, first + nodes[node, NODE.count]):
                count = make_room(scratch, count, size, world)
                for k in range(3):
                    if has_flag(shapes, triangle, FIRST_OF_VERTEX, k):
                        v = triangle_corner(shapes, triangle, k)
                        gap = height + local.dot(v)
                        if gap < margin:
                            vertex = shapes.meshes.triangles[triangle, TRIANGLE.corner + k]
                            count = add_point(
                                scratch, count, origin + to_world(scratch, a, v, world), up, gap, vertex, world
                            )
        else:
            following = nodes[node, NODE.skip]
        node = following
    return finished_points(scratch, count, size, world)
