"""Which contacts of surfaces with bodies count: those of the parts of a surface that are nearest to the shape around.

A vertex or an edge may be the nearest part of a triangle to a shape, although the next triangle is nearer. A contact
there would have a normal that leans, and hold up what slides along the surface: a cloth that is pulled away below a box
would throw it. So a contact at a vertex or an edge counts only if the surface recedes on all sides of it.

Source: the Voronoi regions of features, Ericson, Real-Time Collision Detection (2005), section 9.5.
"""

import taichi as ti

# A surface recedes if it comes nearer by at most this part of the way: flat surfaces touch flat sides everywhere.
SLOPE = 0.02


@ti.func
def is_nearest_around(s: ti.template(), i, j, p, normal, body, world):
    """Whether a surface recedes from a shape on all sides of a point, at the start of the substep.

    Args: i: the particle that the point is at, or with j the edge that it is on; j: -1 for none; p: the point (3,) [m];
    normal: of the shape there; body: that has the shape.
    """
    result = True
    for place in range(s.surface.rings[i], s.surface.rings[i + 1]):
        k = s.surface.rings[place]
        way = s.particles.previous_position[k, world] - p
        is_around = True
        if j >= 0:  # not `j < 0 or are_joined(...)`: Taichi runs the loop of a function whatever is before it
            is_around = are_joined(s, j, k)
        if is_around and normal.dot(way) < -SLOPE * way.norm() and may_touch(s, k, body):
            result = False
    return result


@ti.func
def are_joined(s: ti.template(), i, k):
    """Whether an edge of a surface joins particles i and k."""
    result = False
    for place in range(s.surface.rings[i], s.surface.rings[i + 1]):
        result = result or s.surface.rings[place] == k
    return result


@ti.func
def may_touch(s: ti.template(), i, body):
    """Whether elements with particle i may have contacts with a body."""
    return s.hooked.solved_directly[i] == 0 and (body < 0 or s.hooked.attached_to[i] != body)
