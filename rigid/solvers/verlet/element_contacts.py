"""Contacts of surfaces, triangles and segments of the user's particles, with the shapes of bodies.

The point of a triangle or segment that is deepest in a shape, p = Σ c_k x_k, is kept out of it, as that of an element
of pbd is kept out of a collider (pbd/collision/elements.py). It is found at the start of the substep, like all contacts
of bodies. The tree over the surfaces finds the elements near a shape (pbd/collision/surfaces/search.py).

A shape that lies on a triangle would rock about one point, and so its corners have contacts with the triangle under
them, too. These are on the side of the triangle on which the middle of the shape is.

Particles with a radius have contacts of their own (particle_contacts.py), and so no element has one there. Elements
with a particle that is solved directly have none: their particles bear the load.
"""

import taichi as ti

from pbd.collision.elements import deepest_point, row_of
from pbd.constraints.contact_point import weighted_sum
from pbd.core.shapes import CAPSULE
from pbd.data import SURFACE, SURFACE_NUMBER
from pbd.integrate import position
from rigid.collision.broad_phase import origin_of, to_world
from rigid.collision.corners import corner
from rigid.collision.data import PLACEMENT, STRUCTURE
from rigid.collision.narrow_phase import shape_distance
from rigid.collision.rounded import core_segment
from rigid.solvers.verlet.contact_sides import PARTICLE, barycentric, corner_of, inverse_mass_of_element
from rigid.solvers.verlet.data import SIZE
from rigid.solvers.verlet.nearest_parts import is_nearest_around, may_touch
from rigid.solvers.verlet.particle_contacts import add_particle_contact, count_shapes, is_fixed

# A point of an element is on its border if a corner has at most this part of its weight.
ON_BORDER = 1e-3


@ti.func
def find_element_contacts(s: ti.template(), world):
    """Add the contact points of all elements with all shapes near them."""
    nodes = s.surface.nodes.shape[0]
    for shape in range(count_shapes(s)):
        node = 0
        while node < nodes:
            next_node = s.surface.nodes[node, 1]
            if is_near(s, node, shape, world):
                next_node = node + 1
                if s.surface.nodes[node, 0] >= 0:
                    find_element_contact(s, s.surface.nodes[node, 0], shape, world)
            node = next_node


@ti.func
def is_near(s: ti.template(), node, shape, world):
    """Whether the box of a node and that of a shape, with its margin, overlap."""
    placements = ti.static(s.hooked.scratch.placements)
    result = True
    for k in ti.static(range(3)):
        middle = placements[world, shape, PLACEMENT.origin + k]
        half = placements[world, shape, PLACEMENT.half_extent + k] + placements[world, shape, PLACEMENT.margin]
        if s.surface.lower[node, world][k] > middle + half or s.surface.upper[node, world][k] < middle - half:
            result = False
    return result


@ti.func
def shape_contact(s: ti.template(), before, after, shape, x, world):
    """Contact of a point with a shape at the start of the substep, as `collider_contact`."""
    distance, normal = shape_distance(s.hooked.shapes, shape, s.hooked.poses, x, world)
    return distance, normal, ti.Vector([0.0, 0.0, 0.0])


@ti.func
def find_element_contact(s: ti.template(), e, shape, world):
    """Add the contact point of element e with a shape, if they may touch within the substep."""
    body, side = s.hooked.shapes.integers[shape, STRUCTURE.body], PARTICLE - s.hooked.sizes[SIZE.particles] - e
    x = ti.Matrix([[0.0, 0.0, 0.0] for _ in ti.static(range(4))])
    count, moved = 0, 0.0
    for k in ti.static(range(3)):
        i = corner_of(s, side, k)
        if i >= 0:
            start = s.particles.previous_position[i, world]
            for axis in ti.static(range(3)):
                x[k, axis] = start[axis]
            count += 1
            moved = ti.max(moved, (position(s, i, world) - start).norm())
    if may_have_contact(s, side, body, world):
        radius = s.surface.numbers[e, SURFACE_NUMBER.radius]
        margin = radius + moved + s.hooked.scratch.placements[world, shape, PLACEMENT.margin]
        c = deepest_point(s, shape_contact, 0, shape, x, count, margin, 0.0, world)
        p = weighted_sum(x, c)
        distance, normal = shape_distance(s.hooked.shapes, shape, s.hooked.poses, p, world)
        if distance < margin and has_contact(s, e, c, p, normal, body, world):
            add_point(s, side, shape, c, p, normal, distance - radius, world)
        if distance < margin and count == 3:
            find_corner_contacts(s, side, shape, x, distance, radius, margin, world)


@ti.func
def may_have_contact(s: ti.template(), side, body, world):
    """Whether an element may have contacts with a body: all of its corners are there, and may."""
    result = True
    for k in ti.static(range(3)):
        i = corner_of(s, side, k)
        if i >= 0:
            if s.particles.position[i, world][3] < 0.0 or not may_touch(s, i, body):
                result = False
    return result


@ti.func
def add_point(s: ti.template(), side, shape, c, p, normal, gap, world):
    """Add the contact point of an element with a shape, unless neither moves. Args: c: weights of its corners."""
    body = s.hooked.shapes.integers[shape, STRUCTURE.body]
    if inverse_mass_of_element(s, side, c, world) > 0.0 or not is_fixed(s, body, world):
        add_particle_contact(s, PARTICLE - side, shape, p, normal, gap, world)


@ti.func
def find_corner_contacts(s: ti.template(), side, shape, x, distance, radius, margin, world):
    """Add the contact points of a shape's corners, or a capsule's ends, over a triangle and near it.

    A corner below the plane of a triangle that is outside of the shape has gone round an edge of the triangle, and so
    has no contact with it.

    Args: x: corners of the triangle (4, 3) [m]; distance: of the shape from the triangle; radius: half its thickness;
    margin: see `find_element_contact` [m].
    """
    shapes, scratch = ti.static(s.hooked.shapes, s.hooked.scratch)
    first, middle = row_of(x, 0), origin_of(scratch, shape, world)
    normal = (row_of(x, 1) - first).cross(row_of(x, 2) - first).normalized()
    if normal.dot(middle - first) < 0.0:
        normal = -normal
    kind, count, round_by = shapes.integers[shape, STRUCTURE.kind], shapes.integers[shape, STRUCTURE.vertex_count], 0.0
    start, way, core_radius = core_segment(shapes, scratch, shape, world)
    if kind == CAPSULE:
        count, round_by = 2, core_radius
    for k in range(count):
        v = start + ti.cast(k, float) * way
        if kind != CAPSULE:
            v = middle + to_world(scratch, shape, corner(shapes, shape, k, world), world)
        height = normal.dot(v - first)
        gap = height - round_by - radius
        c = barycentric(s, side, v, world)
        is_above = height >= round_by or distance < 0.0
        if is_above and ti.abs(height - round_by) < margin and c.min() > 0.0:  # never where a triangle has no area
            add_point(s, side, shape, c, v - height * normal, -normal, gap, world)


@ti.func
def has_contact(s: ti.template(), e, c, p, normal, body, world):
    """Whether an element has a contact: its deepest point is inside it, or on its border and the nearest one around.

    Particles with a radius have contacts of their own. Args: e: element; c: weights of its corners (4,); p: the point
    (3,) [m]; normal: of the shape there; body: that has the shape.
    """
    i, j, corners = -1, -1, 0
    for k in ti.static(range(3)):
        if c[k] > ON_BORDER:
            i, j = s.surface.elements[e, SURFACE.members + k], i
            corners += 1
    result = True
    if corners == 1:
        result = s.particles.radius[i, world] <= 0.0
    if corners < 3:
        result = result and is_nearest_around(s, i, j, p, normal, body, world)
    return result
