"""Contacts of the user's own particles with the shapes of bodies."""

import taichi as ti

from pbd.integrate import position
from rigid.collision.data import HEAD, PAIR, POINT, SHAPE, STRUCTURE
from rigid.collision.narrow_phase import shape_distance
from rigid.kernels.vectors import store_vector
from rigid.solvers.verlet.contact_sides import PARTICLE


@ti.func
def find_particle_contacts(s: ti.template(), i, world):
    """Add the contact points of the user's particle i, a ball, with all shapes near it."""
    radius = s.particles.radius[i, world]
    if radius > 0.0 and s.particles.position[i, world][3] >= 0.0:
        x = s.particles.previous_position[i, world]
        distance_moved = (position(s, i, world) - x).norm()
        for shape in range(s.hooked.shapes.lists[HEAD.shape_count]):
            body = s.hooked.shapes.integers[shape, STRUCTURE.body]
            margin = radius + distance_moved
            if body >= 0:
                margin += s.hooked.margins[body, world]
            distance, normal = shape_distance(s.hooked.shapes, shape, s.hooked.poses, x, world)
            if distance < margin:
                add_particle_contact(s, i, shape, x, normal, distance - radius, world)


@ti.func
def add_particle_contact(s: ti.template(), i, shape, x, normal, gap, world):
    """Add the contact point of the user's particle i, at x, with a shape.

    It has no shapes in PAIR: the contact cache does not store it, and nothing rolls.
    """
    points = ti.static(s.hooked.points)
    c = points.count[world]
    points.count[world] = c + 1
    if c < points.integers.shape[1]:
        points.integers[world, c, PAIR.shape_a] = -1
        points.integers[world, c, PAIR.shape_b] = -1
        points.integers[world, c, PAIR.body_a] = PARTICLE - i
        points.integers[world, c, PAIR.body_b] = s.hooked.shapes.integers[shape, STRUCTURE.body]
        # The impulse acts half a gap below this point: at the particle's centre, because a particle cannot rotate.
        store_vector(points.numbers, c, POINT.position, x + 0.5 * gap * normal, world)
        store_vector(points.numbers, c, POINT.normal, normal, world)
        points.numbers[world, c, POINT.gap] = gap
        points.numbers[world, c, POINT.friction] = s.hooked.shapes.numbers[world, shape, SHAPE.friction]
        points.numbers[world, c, POINT.restitution] = 0.0
