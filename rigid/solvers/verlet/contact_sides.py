"""The two sides of a contact: each is a body, the ground, a particle of the user's, or a triangle or segment of these.

A side is a number: the index of a body, GROUND, or PARTICLE - i for particle i. From the number of particles on, i
counts the elements of surfaces (pbd/data.py, SurfaceArrays). The point of an element is Σ c_k x_k of its corners, and
where a body has the arm of the point an element has the three c_k.
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY
from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.core.quaternions import rotate_back
from pbd.data import SURFACE
from pbd.integrate import gravity, position
from rigid.collision.data import PAIR
from rigid.solvers.verlet.data import FRAME, MOTION, SIZE
from rigid.solvers.verlet.frame_motion import rotation_by, weighted_point

GROUND, PARTICLE = -1, -2


@ti.func
def sides_of(s: ti.template(), c, world):
    """The two sides of contact c."""
    return s.hooked.points.integers[world, c, PAIR.body_a], s.hooked.points.integers[world, c, PAIR.body_b]


@ti.func
def is_particle(s: ti.template(), side):
    """Whether a side is a single particle."""
    return side <= PARTICLE and PARTICLE - side < s.hooked.sizes[SIZE.particles]


@ti.func
def is_element(s: ti.template(), side):
    """Whether a side is a triangle or segment of a surface. Without surfaces the compiler knows that none is."""
    result = False
    if ti.static(s.features.surface_contacts):
        result = PARTICLE - side >= s.hooked.sizes[SIZE.particles]
    return result


@ti.func
def corner_of(s: ti.template(), side, k):
    """The particle at corner k of an element; -1 for the third one of a segment."""
    return s.surface.elements[PARTICLE - side - s.hooked.sizes[SIZE.particles], SURFACE.members + k]


@ti.func
def point_on_element(s: ti.template(), array: ti.template(), side, weights, world):
    """The point Σ c_k x_k of an element (3,) [m]. Args: array: of positions; weights: the c_k, three or more."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if ti.static(s.features.surface_contacts):
        for k in ti.static(range(3)):
            i = corner_of(s, side, k)
            if i >= 0:
                x = array[i, world]
                result += weights[k] * ti.Vector([x[0], x[1], x[2]])
    return result


@ti.func
def point_of(s: ti.template(), array: ti.template(), side, weights, world):
    """Position of a side's contact point (3,) [m]; zero for the ground. Args: array: of positions; weights (4,)."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        result = weighted_point(s, array, side, weights, world)
    elif is_element(s, side):
        result = point_on_element(s, array, side, weights, world)
    elif side <= PARTICLE:
        x = array[PARTICLE - side, world]
        result = ti.Vector([x[0], x[1], x[2]])
    return result


@ti.func
def weights_of(s: ti.template(), side, p, world):
    """The c of p = Σ c_k x_k at the start of the step (4,), and the arm: p from the centre of mass (3,) [m].

    An element has its three c_k as both.
    """
    weights, arm = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        arm = p - load_vector(s.hooked.motion, side, MOTION.centre, world)
        y = rotate_back(
            load_quaternion(s.hooked.poses, side, 3, world), p - load_vector(s.hooked.poses, side, 0, world)
        )
        frames = ti.static(s.hooked.frames)
        for k in ti.static(range(4)):
            weights[k] = frames[world, side, FRAME.origin + k] + y.dot(
                load_vector(frames, side, FRAME.map + 3 * k, world)
            )
    elif is_element(s, side):
        arm = barycentric(s, side, p, world)
        weights = ti.Vector([arm[0], arm[1], arm[2], 0.0])
    return weights, arm


@ti.func
def barycentric(s: ti.template(), side, p, world):
    """The c_k of a point on an element at the start of the step (3,); (1, 0, 0) if it has no length or area."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if ti.static(s.features.surface_contacts):
        x = ti.static(s.particles.previous_position)
        i, j, k = corner_of(s, side, 0), corner_of(s, side, 1), corner_of(s, side, 2)
        u, v = x[j, world] - x[i, world], p - x[i, world]
        if k < 0:
            along = v.dot(u) / (u.norm_sqr() + TINY)
            result = ti.Vector([1.0 - along, along, 0.0])
        else:
            across = x[k, world] - x[i, world]
            normal = u.cross(across)
            scale = 1.0 / (normal.norm_sqr() + TINY)
            second, third = scale * v.cross(across).dot(normal), scale * u.cross(v).dot(normal)
            result = ti.Vector([1.0 - second - third, second, third])
    return result


@ti.func
def inverse_effective_mass(s: ti.template(), side, arm, direction, world):
    """Displacement of a side's point along a direction, by a unit impulse along it [1/kg]."""
    result = 0.0
    if side >= 0:
        moment = arm.cross(direction)
        inverse_mass = s.hooked.motion[world, side, MOTION.inverse_mass]
        result = inverse_mass + moment.dot(rotation_by(s, side, moment, world))
    elif is_element(s, side):
        result = inverse_mass_of_element(s, side, arm, world)
    elif side <= PARTICLE:
        result = s.particles.position[PARTICLE - side, world][3]
    return result


@ti.func
def inverse_mass_of_element(s: ti.template(), side, weights, world):
    """Σ c_k² w_k [1/kg]: displacement of an element's point by a unit impulse. Args: weights: the c_k (3,)."""
    result = 0.0
    if ti.static(s.features.surface_contacts):
        for k in ti.static(range(3)):
            i = corner_of(s, side, k)
            if i >= 0:
                result += weights[k] * weights[k] * s.particles.position[i, world][3]
    return result


@ti.func
def pending_displacement(s: ti.template(), side, arm, world):
    """Displacement of a body's point by pending impulses (3,) [m]; of particles, which have none, their position."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        motion = ti.static(s.hooked.motion)
        result = load_vector(motion, side, MOTION.linear, world) + load_vector(
            motion, side, MOTION.angular, world
        ).cross(arm)
    elif is_element(s, side):
        result = point_on_element(s, s.particles.position, side, arm, world)
    elif side <= PARTICLE:
        result = position(s, PARTICLE - side, world)
    return result


@ti.func
def apply_impulse(s: ti.template(), array: ti.template(), sign, side, arm, impulse, world):
    """Apply an impulse on positions [kg m] to a side. A body's is pending, particles move at once.

    Args: array: positions that particles have their own in; sign: 1 or -1; arm: see `weights_of`.
    """
    if side >= 0:
        motion = ti.static(s.hooked.motion)
        linear = load_vector(motion, side, MOTION.linear, world) + motion[world, side, MOTION.inverse_mass] * impulse
        angular = load_vector(motion, side, MOTION.angular, world) + rotation_by(s, side, arm.cross(impulse), world)
        store_vector(motion, side, MOTION.linear, linear, world)
        store_vector(motion, side, MOTION.angular, angular, world)
    elif is_element(s, side):
        if ti.static(s.features.surface_contacts):
            for k in ti.static(range(3)):
                i = corner_of(s, side, k)
                if i >= 0:
                    move_particle(s, array, i, sign * arm[k] * impulse, world)
    elif side <= PARTICLE:
        move_particle(s, array, PARTICLE - side, sign * impulse, world)


@ti.func
def move_particle(s: ti.template(), array: ti.template(), i, impulse, world):
    """Move particle i by an impulse on positions [kg m]. Args: array: positions that are moved."""
    step = s.particles.position[i, world][3] * impulse
    x = array[i, world]
    for k in ti.static(range(3)):
        x[k] += step[k]
    array[i, world] = x


@ti.func
def margins_at_rest(s: ti.template(), a, b, world):
    """Sum of the contact margins at rest of two sides [m]; the ground and particles have none."""
    result = 0.0
    if a >= 0:
        result += s.hooked.frames[world, a, FRAME.margin]
    if b >= 0:
        result += s.hooked.frames[world, b, FRAME.margin]
    return result


@ti.func
def closing_gravity(s: ti.template(), a, b, n, world):
    """Acceleration of side a towards side b by gravity [m/s²]; the ground and bodies on paths have none."""
    return -n.dot(gravity(s, 0)) * (gravity_scale(s, a, world) - gravity_scale(s, b, world))


@ti.func
def gravity_scale(s: ti.template(), side, world):
    """Scale of gravity of a side; zero for the ground and bodies on paths."""
    result = 1.0
    if side == GROUND:
        result = 0.0
    elif side >= 0:
        result = s.hooked.frames[world, side, FRAME.gravity_scale]
        if s.hooked.motion[world, side, MOTION.inverse_mass] == 0.0:
            result = 0.0
    elif ti.static(s.features.gravity_scales):
        i = PARTICLE - side
        if ti.static(s.features.surface_contacts):
            if is_element(s, side):
                i = corner_of(s, side, 0)
        result = s.gravity.scale[i, world]
    return result
