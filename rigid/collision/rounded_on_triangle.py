"""Spheres and capsules against one triangle of a mesh, see triangles.py."""

import taichi as ti

from pbd.core.segments import nearest_points
from rigid.collision.broad_phase import contact_margin, origin_of, to_world
from rigid.collision.data import SHAPE, TRIANGLE
from rigid.collision.manifold import add_point
from rigid.collision.mesh_tables import TESTS_EDGE, TESTS_VERTEX
from rigid.collision.rounded import EDGE_MARGIN, NEGLIGIBLE, PARALLEL
from rigid.collision.triangles import (
    ROUND_SLACK,
    has_flag,
    is_normal_of_edge,
    is_normal_of_vertex,
    side_of,
    triangle_corner,
    triangle_plane,
)


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
