"""A side of a contact, a body, the ground or a particle of a person's own: where its point is, how impulses move it."""

import taichi as ti

from pbd.core.quaternions import rotate_back
from pbd.integrate import gravity, position
from rigid.solvers.verlet.data import ANGULAR, CENTRE, INVERSE_MASS, LINEAR, MAP, MARGIN, ORIGIN, triple, write_triple
from rigid.solvers.verlet.poses import combined, turned

# A body's number, the ground, or a particle of a person's own as PARTICLE - its index.
GROUND, PARTICLE = -1, -2


@ti.func
def point_of(s: ti.template(), array: ti.template(), side, weights, world):
    """Where a side's point is, in an array of positions [m]; the ground's stays at zero."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        result = combined(s, array, side, weights, world)
    elif side <= PARTICLE:
        x = array[PARTICLE - side, world]
        result = ti.Vector([x[0], x[1], x[2]])
    return result


@ti.func
def weights_of(s: ti.template(), side, p, world):
    """The c of p = Σ c_k x_k at the start of the step, and p from the centre of mass."""
    weights, arm = ti.Vector([0.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        arm = p - triple(s.hooked.motion, side, world, CENTRE)
        q = ti.Vector([s.hooked.poses[world, side, 3 + k] for k in ti.static(range(4))])
        y = rotate_back(q, p - ti.Vector([s.hooked.poses[world, side, k] for k in ti.static(range(3))]))
        for k in ti.static(range(4)):
            weights[k] = s.hooked.fit[side, world, ORIGIN + k] + y.dot(triple(s.hooked.fit, side, world, MAP + 3 * k))
    return weights, arm


@ti.func
def answer(s: ti.template(), side, arm, direction, world):
    """What a unit impulse in a direction moves a side's point in it [1/kg]."""
    result = 0.0
    if side >= 0:
        moment = arm.cross(direction)
        result = s.hooked.motion[side, world, INVERSE_MASS] + moment.dot(turned(s, side, moment, world))
    elif side <= PARTICLE:
        result = s.particles.position[PARTICLE - side, world][3]
    return result


@ti.func
def moved(s: ti.template(), side, arm, world):
    """How far impulses of this sweep have moved a side's point [m]; of a particle, where they have moved it."""
    result = ti.Vector([0.0, 0.0, 0.0])
    if side >= 0:
        result = triple(s.hooked.motion, side, world, LINEAR) + triple(s.hooked.motion, side, world, ANGULAR).cross(arm)
    elif side <= PARTICLE:
        result = position(s, PARTICLE - side, world)
    return result


@ti.func
def push(s: ti.template(), array: ti.template(), sign, side, arm, impulse, world):
    """Give a side an impulse [kg m]: a body's motion keeps it, a particle is moved at once in an array of places."""
    if side >= 0:
        linear = triple(s.hooked.motion, side, world, LINEAR) + s.hooked.motion[side, world, INVERSE_MASS] * impulse
        angular = triple(s.hooked.motion, side, world, ANGULAR) + turned(s, side, arm.cross(impulse), world)
        write_triple(s.hooked.motion, side, world, LINEAR, linear)
        write_triple(s.hooked.motion, side, world, ANGULAR, angular)
    elif side <= PARTICLE:
        i = PARTICLE - side
        step = sign * s.particles.position[i, world][3] * impulse
        x = array[i, world]
        for k in ti.static(range(3)):
            x[k] += step[k]
        array[i, world] = x


@ti.func
def margins(s: ti.template(), a, b, world):
    """The margins of two sides together [m]; the ground and particles have none."""
    result = 0.0
    if a >= 0:
        result += s.hooked.fit[a, world, MARGIN]
    if b >= 0:
        result += s.hooked.fit[b, world, MARGIN]
    return result


@ti.func
def pull(s: ti.template(), a, b, n):
    """What gravity gives sides a and b towards one another [m/s²]; none to the ground."""
    return -n.dot(gravity(s, 0)) * ((a != GROUND) - ti.cast(b != GROUND, float))
