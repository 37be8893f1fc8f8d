"""Contacts of the user's own particles with the shapes of bodies.

Contacts of directly solved particles with fixed shapes, those of the ground and of bodies on paths, are a part of the
direct solve (pbd/direct/contacts.py). Here it finds the surfaces, and its impulses are stored for readings.
"""

import taichi as ti

from pbd.core.kernels import store_vector
from pbd.data import REPORT
from pbd.direct.contacts import impulse_at, number_of
from pbd.integrate import gravity, position
from pbd.step_hooks import FixedShapes
from rigid.collision.data import HEAD, PAIR, POINT, SHAPE, STRUCTURE
from rigid.collision.narrow_phase import shape_distance
from rigid.solvers.verlet.contact_sides import PARTICLE, is_particle, sides_of
from rigid.solvers.verlet.contacts import axes_of, correction, is_impact
from rigid.solvers.verlet.contacts_in_lanes import contact_count
from rigid.solvers.verlet.data import CONTACT
from rigid.solvers.verlet.frame_motion import at_start_of_step, corner, direction_now
from rigid.solvers.verlet.nearest_parts import is_nearest_around

# Contacts of directly solved particles with bodies that move are loaded (loaded_contacts.py). Those for which there is
# no place are projected between direct solves. If a particle bears more than this many times its weight on a body then,
# as in a rope under tension, the two do not converge.
LOADED = 10.0


@ti.func
def find_particle_contacts(s: ti.template(), i, world):
    """Add the contact points of the user's particle i, a ball, with all shapes near it."""
    radius = s.particles.radius[i, world]
    if radius > 0.0 and s.particles.position[i, world][3] >= 0.0:
        x = s.particles.previous_position[i, world]
        distance_moved = (position(s, i, world) - x).norm()
        for shape in range(count_shapes(s)):
            body = s.hooked.shapes.integers[shape, STRUCTURE.body]
            margin = radius + distance_moved
            if body >= 0:
                margin += s.hooked.margins[body, world]
            distance, normal = shape_distance(s.hooked.shapes, shape, s.hooked.poses, x, world)
            touches = distance < margin and (body < 0 or body != s.hooked.attached_to[i])
            if ti.static(s.features.surface_contacts):
                touches = touches and (
                    s.hooked.solved_directly[i] == 1 or is_nearest_around(s, i, -1, x, normal, body, world)
                )
            if touches:
                add_particle_contact(s, i, shape, x, normal, distance - radius, world)


@ti.func
def add_particle_contact(s: ti.template(), i, shape, x, normal, gap, world):
    """Add the contact point of the user's particle i, or of an element, at x, with a shape.

    It has no first shape in PAIR: the contact cache does not store it, and nothing rolls.

    Args: i: of the side PARTICLE - i; shape: index; x (3,) [m]; normal (3,); gap [m].
    """
    points = ti.static(s.hooked.points)
    c = points.count[world]
    points.count[world] = c + 1
    if c < points.integers.shape[1]:
        points.integers[world, c, PAIR.shape_a] = -1
        points.integers[world, c, PAIR.shape_b] = shape
        points.integers[world, c, PAIR.body_a] = PARTICLE - i
        points.integers[world, c, PAIR.body_b] = s.hooked.shapes.integers[shape, STRUCTURE.body]
        # The impulse acts half a gap below this point: at x, because particles cannot rotate.
        store_vector(points.numbers, c, POINT.position, x + 0.5 * gap * normal, world)
        store_vector(points.numbers, c, POINT.normal, normal, world)
        points.numbers[world, c, POINT.gap] = gap
        points.numbers[world, c, POINT.friction] = friction_of(s, shape, world)
        points.numbers[world, c, POINT.restitution] = 0.0


# Contacts of the direct solve -----------------------------------------------------------------------------------------


@ti.func
def is_fixed(s: ti.template(), body, world):
    """Whether a body is the ground or follows a path."""
    result = body < 0
    if body >= 0:
        result = s.particles.position[corner(s, body, 0), world][3] == 0.0
    return result


@ti.func
def solved_directly(s: ti.template(), c, world):
    """Whether contact c is a part of the direct solve."""
    result = False
    if ti.static(s.features.has_fixed_shapes):
        a, b = sides_of(s, c, world)
        if is_particle(s, a):
            result = s.touch.is_direct[PARTICLE - a] == 1 and is_fixed(s, b, world)
    return result


@ti.func
def read_direct_impulses(s: ti.template(), world):
    """Store the impulses that the direct solve has found, for readings."""
    if ti.static(s.features.has_fixed_shapes):
        for c in range(contact_count(s, world)):
            if solved_directly(s, c, world):
                i = PARTICLE - sides_of(s, c, world)[0]
                number = number_of(s, s.hooked.points.integers[world, c, PAIR.shape_b])
                impulse = impulse_at(s, i, ti.cast(number, float), world)
                n, t, u = axes_of(s, c, world)
                along = ti.Vector([impulse.dot(n), impulse.dot(t), impulse.dot(u)])
                store_vector(s.hooked.contacts, c, CONTACT.impulse, along, world)


@ti.func
def report_load(s: ti.template(), world):
    """Report a particle of the direct solve that bears more than its weight on a body that moves, see LOADED."""
    for c in range(contact_count(s, world)):
        a, b = sides_of(s, c, world)
        if is_particle(s, a) and not is_fixed(s, b, world):
            i = PARTICLE - a
            displacement = s.particles.position[i, world][3] * s.hooked.contacts[world, c, CONTACT.impulse]
            heavy = displacement > LOADED * gravity(s, 0).norm() * s.settings.h**2 and not is_impact(s, c, world)
            if s.hooked.solved_directly[i] == 1 and heavy and s.hooked.contacts[world, c, CONTACT.is_loaded] == 0.0:
                s.report[world, REPORT.loaded_particle] = ti.cast(i, float)


@ti.func
def gap_now(s: ti.template(), c, world):
    """Gap between a particle and the body of contact c, where both are now [m].

    What overlapped at the start of the substep is corrected as slowly as an overlap of two bodies at rest, because all
    that hangs on the particle moves with it.
    """
    a, b = sides_of(s, c, world)
    i, shape = PARTICLE - a, s.hooked.points.integers[world, c, PAIR.shape_b]
    x = at_start_of_step(s, b, position(s, i, world), world)
    gap = shape_distance(s.hooked.shapes, shape, s.hooked.poses, x, world)[0] - s.particles.radius[i, world]
    overlap = ti.max(-s.hooked.points.numbers[world, c, POINT.gap], 0.0)
    return gap + overlap - correction(s, overlap, True)


@ti.func
def count_shapes(s: ti.template()):
    """Number of all shapes."""
    return s.hooked.shapes.lists[HEAD.shape_count]


@ti.func
def fixed_contact(s: ti.template(), before, after, shape, x, world):
    """Contact of a point with a fixed shape, as `collider_contact`: before == after means the start of the substep."""
    distance, normal, drift = ti.math.inf, ti.Vector([0.0, 0.0, 1.0]), ti.Vector([0.0, 0.0, 0.0])
    body = s.hooked.shapes.integers[shape, STRUCTURE.body]
    if is_fixed(s, body, world):
        follows_path = body >= 0 and before != after
        if follows_path:
            drift = x - at_start_of_step(s, body, x, world)
        distance, normal = shape_distance(s.hooked.shapes, shape, s.hooked.poses, x - drift, world)
        if follows_path:
            normal = direction_now(s, body, normal, world)
    return distance, normal, drift


@ti.func
def friction_of(s: ti.template(), shape, world):
    """μ of a particle's contact with a shape."""
    return s.hooked.shapes.numbers[world, shape, SHAPE.friction]


FIXED_SHAPES = FixedShapes(count_shapes, fixed_contact, friction_of)
