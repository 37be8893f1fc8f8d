"""Where a frame's body is, read from its particles within a step: pose, and what it answers an impulse with."""

import taichi as ti

from pbd.integrate import position
from rigid.solvers.verlet.data import (
    ANGULAR,
    CENTRE,
    INVERSE_INERTIA,
    INVERSE_MASS,
    LINEAR,
    MARGIN,
    ORIGIN,
    triple,
    write_triple,
)

# Iterations of the polar decomposition: each squares the frame's strain, of some hundredths at the worst.
POLAR = 3


@ti.func
def corner(s: ti.template(), body, k):
    """Particle at corner k of a body."""
    return s.hooked.members[s.hooked.firsts[body] + k]


@ti.func
def combined(s: ti.template(), array: ti.template(), body, weights, world):
    """The point Σ c_k x_k of a body's corners [m], from an array of positions."""
    result = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(4)):
        x = array[corner(s, body, k), world]
        result += weights[k] * ti.Vector([x[0], x[1], x[2]])
    return result


@ti.func
def read_pose(s: ti.template(), body, world):
    """Write the pose of a body at the start of the step, and how far from there it looks for others.

    The corners are F y + origin, of corners y in the body's frame; its rotation is the polar part of F, by Higham's
    iteration R <- (R + R⁻ᵀ)/2 (Computing the polar decomposition, 1986).
    """
    a, b, c = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])  # columns of F
    origin = ti.Vector([0.0, 0.0, 0.0])
    farthest = 0.0
    for k in ti.static(range(4)):
        i = corner(s, body, k)
        x = s.particles.previous_position[i, world]
        a += s.hooked.fit[body, world, 3 * k] * x
        b += s.hooked.fit[body, world, 3 * k + 1] * x
        c += s.hooked.fit[body, world, 3 * k + 2] * x
        origin += s.hooked.fit[body, world, ORIGIN + k] * x
        farthest = ti.max(farthest, (position(s, i, world) - x).norm_sqr())
    for _ in ti.static(range(POLAR)):
        u, v, w = b.cross(c), c.cross(a), a.cross(b)
        over = 1.0 / a.dot(u)
        a, b, c = 0.5 * (a + over * u), 0.5 * (b + over * v), 0.5 * (c + over * w)
    q = quaternion(a, b, c)
    for k in ti.static(range(3)):
        s.hooked.poses[world, body, k] = origin[k]
    for k in ti.static(range(4)):
        s.hooked.poses[world, body, 3 + k] = q[k]
    # A point of the body is at most some twice as far out as a corner, and moves so much more.
    s.hooked.reach[body, world] = 2.0 * ti.sqrt(farthest) + s.hooked.fit[body, world, MARGIN]


@ti.func
def quaternion(a, b, c):
    """Unit quaternion (w, x, y, z) of the rotation matrix with columns a, b, c: the largest of its four is a root.

    Source: Shepperd, Quaternion from rotation matrix (1978).
    """
    trace = a[0] + b[1] + c[2]
    q = ti.Vector([1.0 + trace, b[2] - c[1], c[0] - a[2], a[1] - b[0]])
    if a[0] >= b[1] and a[0] >= c[2] and a[0] > trace:
        q = ti.Vector([b[2] - c[1], 1.0 + a[0] - b[1] - c[2], a[1] + b[0], c[0] + a[2]])
    elif b[1] >= c[2] and b[1] > trace:
        q = ti.Vector([c[0] - a[2], a[1] + b[0], 1.0 + b[1] - a[0] - c[2], b[2] + c[1]])
    elif c[2] > trace:
        q = ti.Vector([a[1] - b[0], c[0] + a[2], b[2] + c[1], 1.0 + c[2] - a[0] - b[1]])
    return q / q.norm()


@ti.func
def read_inertia(s: ti.template(), array: ti.template(), body, world):
    """Write inverse mass, centre of mass and inverse inertia of a body's particles, from an array of positions.

    A joint's particle counts with all its mass; a pinned one is none of the body's.
    """
    mass, centre = 0.0, ti.Vector([0.0, 0.0, 0.0])
    for m in range(s.hooked.firsts[body], s.hooked.firsts[body + 1]):
        i = s.hooked.members[m]
        w = s.particles.position[i, world][3]
        if w > 0.0:
            x = array[i, world]
            mass += 1.0 / w
            centre += ti.Vector([x[0], x[1], x[2]]) / w
    centre /= mass
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for m in range(s.hooked.firsts[body], s.hooked.firsts[body + 1]):
        i = s.hooked.members[m]
        w = s.particles.position[i, world][3]
        if w > 0.0:
            x = array[i, world]
            r = ti.Vector([x[0], x[1], x[2]]) - centre
            xx += r[0] * r[0] / w
            yy += r[1] * r[1] / w
            zz += r[2] * r[2] / w
            xy += r[0] * r[1] / w
            xz += r[0] * r[2] / w
            yz += r[1] * r[2] / w
    # I = tr(S) E - S, and its inverse by cofactors
    a, b, c, d, e, f = yy + zz, xx + zz, xx + yy, -xy, -xz, -yz
    A, B, C = b * c - f * f, a * c - e * e, a * b - d * d
    D, E, F = e * f - d * c, d * f - e * b, d * e - a * f
    over = 1.0 / (a * A + d * D + e * E)
    s.hooked.motion[body, world, INVERSE_MASS] = 1.0 / mass
    write_triple(s.hooked.motion, body, world, CENTRE, centre)
    write_triple(s.hooked.motion, body, world, INVERSE_INERTIA, ti.Vector([A, B, C]) * over)
    write_triple(s.hooked.motion, body, world, INVERSE_INERTIA + 3, ti.Vector([D, E, F]) * over)
    rest(s, body, world)


@ti.func
def turned(s: ti.template(), body, torque, world):
    """I⁻¹ times an impulse's moment about the centre of mass: the rotation it makes."""
    p = triple(s.hooked.motion, body, world, INVERSE_INERTIA)
    q = triple(s.hooked.motion, body, world, INVERSE_INERTIA + 3)
    return ti.Vector(
        [
            p[0] * torque[0] + q[0] * torque[1] + q[1] * torque[2],
            q[0] * torque[0] + p[1] * torque[1] + q[2] * torque[2],
            q[1] * torque[0] + q[2] * torque[1] + p[2] * torque[2],
        ]
    )


@ti.func
def rest(s: ti.template(), body, world):
    """Forget the motion that impulses have given a body since it was last moved."""
    for k in ti.static(range(6)):
        s.hooked.motion[body, world, LINEAR + k] = 0.0


@ti.func
def move(s: ti.template(), array: ti.template(), arms: ti.template(), body, sign, world):
    """Give a body's particles the motion that impulses have given the body.

    Arguments: array: of positions, which are moved; arms: of positions, from which read_inertia read; sign: 1 or -1.
    """
    linear, angular = triple(s.hooked.motion, body, world, LINEAR), triple(s.hooked.motion, body, world, ANGULAR)
    if linear.norm_sqr() + angular.norm_sqr() > 0.0:
        centre = triple(s.hooked.motion, body, world, CENTRE)
        for m in range(s.hooked.firsts[body], s.hooked.firsts[body + 1]):
            i = s.hooked.members[m]
            if s.particles.position[i, world][3] > 0.0:
                y = arms[i, world]
                step = sign * (linear + angular.cross(ti.Vector([y[0], y[1], y[2]]) - centre))
                x = array[i, world]
                for k in ti.static(range(3)):
                    x[k] += step[k]
                array[i, world] = x
