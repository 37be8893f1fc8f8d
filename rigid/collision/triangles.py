"""Triangles of a mesh, as kernels read them, and the contact normals that the surface allows at each.

The contact normals of a surface at an edge lie between those of its two triangles, if it is convex there, and at a
vertex in the cone of directions in which no neighbour of the vertex is higher. Each function keeps to these, so a body
never touches an edge from within a surface. What a triangle finds is as it would be on the whole surface:

- over a triangle the normal is the triangle's
- an edge or vertex that is not convex has no contact points of its own
- an edge or vertex that triangles share is tested by one of them (flags of mesh_tables.py)

Triangles push to one side, or to the side that most of the shape is on.

Source: Terdiman, Contact Generation for Meshes (2015), for the regions of edges; Ericson, Real-Time Collision Detection
(2005), section 5.1, for nearest points; Gregorius, The Separating Axis Test between Convex Polyhedra (2013), for the
arcs of edges on the Gauss map.
"""

import taichi as ti

from rigid.collision.data import NODE, STRUCTURE, TRIANGLE

# Sines of angles up to these count as zero where a direction may be outside of an edge's or vertex' normals: for shapes
# with corners, whose faces lie on triangles, and for round ones, whose normals change with their position.
SLACK, ROUND_SLACK = 1e-3, 1e-4


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
