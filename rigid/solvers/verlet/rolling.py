"""Rolling: a body that rolls touches with another point at the end of a step than at its start.

Where A turns by θ against B, and their radii of curvature are r, the point of A that touched rises from B by
ρ (1 - cos θ), 1/ρ = 1/r_a + 1/r_b. A contact that keeps this point from rising would let the body sink as far in each
step: a ball of 10 cm radius that rolls at 4 m/s sinks 1 mm in each 1/240 s. So the rise, ρ |θ × n|²/2 to second order,
is subtracted from D.
"""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.core.quaternions import rotate_back
from pbd.core.shapes import CAPSULE, CYLINDER, PLANE, SPHERE
from rigid.collision.broad_phase import axis_of
from rigid.collision.data import PAIR, SHAPE, STRUCTURE
from rigid.solvers.verlet.contact_sides import sides_of
from rigid.solvers.verlet.data import CONTACT, FRAME
from rigid.solvers.verlet.frame_motion import weighted_point

# A cylinder rolls on its rims if the sine of the angle between its axis and the normal is above this.
LEAST_SINE = 0.5


@ti.func
def rotated_normal(s: ti.template(), side, n, world):
    """The normal n at the start of the step (3,), rotated as a side has rotated since."""
    result = n
    if side >= 0:
        local = rotate_back(load_quaternion(s.hooked.poses, side, 3, world), n)
        frames = ti.static(s.hooked.frames)
        weights = ti.Vector(
            [local.dot(load_vector(frames, side, FRAME.map + 3 * k, world)) for k in ti.static(range(4))]
        )
        result = weighted_point(s, s.particles.position, side, weights, world)
    return result


@ti.func
def relative_turn(s: ti.template(), c, world):
    """θ × n of contact c (3,): the difference of the normal as both sides have rotated it."""
    a, b = sides_of(s, c, world)
    n = load_vector(s.hooked.contacts, c, CONTACT.normal, world)
    return rotated_normal(s, a, n, world) - rotated_normal(s, b, n, world)


@ti.func
def prepare_rolling(s: ti.template(), c, world):
    """Write sqrt(ρ/2) e for contact c, e the unit vector of θ × n as predicted; zero if nothing rolls.

    A cylinder rolls about its axis alone.
    """
    e, radius = ti.Vector([0.0, 0.0, 0.0]), 0.0
    structure, shapes = ti.static(s.hooked.shapes.integers, s.hooked.shapes.numbers)
    a, b = s.hooked.points.integers[world, c, PAIR.shape_a], s.hooked.points.integers[world, c, PAIR.shape_b]
    if a >= 0:
        n = load_vector(s.hooked.contacts, c, CONTACT.normal, world)
        curvature = 0.0
        for k in ti.static((PAIR.shape_a, PAIR.shape_b)):
            shape = s.hooked.points.integers[world, c, k]
            kind = structure[shape, STRUCTURE.kind]
            if kind == SPHERE or kind == CAPSULE:
                curvature += 1.0 / shapes[world, shape, SHAPE.size]
        if curvature > 0.0:
            e, radius = relative_turn(s, c, world), 1.0 / curvature
            e -= n.dot(e) * n
        elif structure[a, STRUCTURE.kind] == CYLINDER and structure[b, STRUCTURE.kind] == PLANE:
            e = n.cross(axis_of(s.hooked.scratch, a, 2, world))
            if e.norm() > LEAST_SINE:
                radius = shapes[world, a, SHAPE.size] / e.norm()
        if e.norm_sqr() > 0.0:
            e /= e.norm()
    store_vector(s.hooked.contacts, c, CONTACT.rolling_axis, ti.sqrt(0.5 * radius) * e, world)


@ti.func
def rolling_rise(s: ti.template(), c, world):
    """Distance by which rolling alone has separated the two points of contact c [m]."""
    e, result = load_vector(s.hooked.contacts, c, CONTACT.rolling_axis, world), 0.0
    if e.norm_sqr() > 0.0:
        result = relative_turn(s, c, world).dot(e) ** 2
    return result


@ti.func
def growth(s: ti.template(), c, world):
    """Distance by which strains of the frames separate the two points of contact c if it rolls [m].

    Corners are predicted along their tangents, so a rotating frame grows, and its sticks have not restored it yet. A
    contact that took this for motion would push a wheel off its line: with two points, one of them first.
    """
    result = 0.0
    if load_vector(s.hooked.contacts, c, CONTACT.rolling_axis, world).norm_sqr() > 0.0:
        a, b = sides_of(s, c, world)
        contacts = ti.static(s.hooked.contacts)
        n = load_vector(contacts, c, CONTACT.normal, world)
        result += growth_of(s, a, n, load_quaternion(contacts, c, CONTACT.weights_a, world), world)
        result -= growth_of(s, b, n, load_quaternion(contacts, c, CONTACT.weights_b, world), world)
    return result


@ti.func
def growth_of(s: ti.template(), side, n, weights, world):
    """Distance by which the strain of a side's frame moves a point along n [m]: ½ (Fn·Fr - n·r).

    F maps from the start of the step, and r is the point from the centre of mass. FᵀF - E is twice the strain.

    Args: n: (3,), at the start of the step; weights: of the point (4,).
    """
    result = 0.0
    if side >= 0:
        x, before = ti.static(s.particles.position, s.particles.previous_position)
        w = weights - load_quaternion(s.hooked.frames, side, FRAME.origin, world)
        arm, earlier = weighted_point(s, x, side, w, world), weighted_point(s, before, side, w, world)
        result = 0.5 * (rotated_normal(s, side, n, world).dot(arm) - n.dot(earlier))
    return result
