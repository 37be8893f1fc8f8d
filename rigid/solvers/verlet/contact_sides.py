"""The two sides of a contact: each is a body, the ground or a particle of the user's.

A side is a number: the index of a body, GROUND, or PARTICLE - i for particle i.
"""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.core.quaternions import rotate_back
from pbd.integrate import gravity, position
from rigid.collision.data import PAIR
from rigid.solvers.verlet.data import FRAME, MOTION
from rigid.solvers.verlet.frame_motion import rotation_by, weighted_point

GROUND, PARTICLE = -1, -2


@ti.func
def sides_of(s: ti.template(), c, world):
    """The two sides of contact c."""
    return s.hooked.points.integers[world, c, PAIR.body_a], s.hooked.points.integers[world, c, PAIR.body_b]


@ti.func
def point_of(s: ti.template(), array: ti.template(), side, weights, world):
    """Position of a side's contact point (3,) [m]; zero for the ground. Args: array: of positions; weights (4,)."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        result = weighted_point(s, array, side, weights, world)
    elif side <= PARTICLE:
        x = array[PARTICLE - side, world]
        result = ti.Vector([x[0], x[1], x[2]])
    return result


@ti.func
def weights_of(s: ti.template(), side, p, world):
    """The c of p = Σ c_k x_k at the start of the step (4,), and p from the centre of mass (3,) [m]."""
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
    return weights, arm


@ti.func
def inverse_effective_mass(s: ti.template(), side, arm, direction, world):
    """Displacement of a side's point along a direction, by a unit impulse along it [1/kg]."""
    result = 0.0
    if side >= 0:
        moment = arm.cross(direction)
        inverse_mass = s.hooked.motion[world, side, MOTION.inverse_mass]
        result = inverse_mass + moment.dot(rotation_by(s, side, moment, world))
    elif side <= PARTICLE:
        result = s.particles.position[PARTICLE - side, world][3]
    return result


@ti.func
def pending_displacement(s: ti.template(), side, arm, world):
    """Displacement of a body's point by pending impulses (3,) [m]; of a particle, which has none, its position."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        motion = ti.static(s.hooked.motion)
        result = load_vector(motion, side, MOTION.linear, world) + load_vector(
            motion, side, MOTION.angular, world
        ).cross(arm)
    elif side <= PARTICLE:
        result = position(s, PARTICLE - side, world)
    return result


@ti.func
def apply_impulse(s: ti.template(), array: ti.template(), sign, side, arm, impulse, world):
    """Apply an impulse on positions [kg m] to a side. A body's is pending, a particle moves at once.

    Args: array: positions that the particle has its own in; sign: 1 or -1; arm: from the centre of mass (3,) [m].
    """
    if side >= 0:
        motion = ti.static(s.hooked.motion)
        linear = load_vector(motion, side, MOTION.linear, world) + motion[world, side, MOTION.inverse_mass] * impulse
        angular = load_vector(motion, side, MOTION.angular, world) + rotation_by(s, side, arm.cross(impulse), world)
        store_vector(motion, side, MOTION.linear, linear, world)
        store_vector(motion, side, MOTION.angular, angular, world)
    elif side <= PARTICLE:
        i = PARTICLE - side
        step = sign * s.particles.position[i, world][3] * impulse
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
        result = s.gravity.scale[PARTICLE - side, world]
    return result
