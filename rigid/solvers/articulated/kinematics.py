"""Poses from coordinates, and coordinates moved on by speeds: from the roots to the leaves."""

import taichi as ti

from pbd.core.quaternions import rotate, rotate_back
from rigid.constraints.joints.place import axis
from rigid.kernels.columns import put_triple, quadruple, triple
from rigid.kernels.motion import exponential, product
from rigid.solvers.articulated.links import (
    AXIS,
    BACK,
    COORDINATE,
    FRAME,
    FREEDOMS,
    KIND,
    PARENT,
    PARENT_BODY,
    POINT_CHILD,
    POINT_PARENT,
    SPEED,
)
from rigid.solvers.articulated.links import BODY as LINK_BODY
from rigid.solvers.articulated.tree import BALL, FREE, HINGE, SLIDER, UNIVERSAL


@ti.func
def unit(k: ti.template(), angle):
    """The quaternion of a turn about x or y, k being 0 or 1."""
    sine = ti.sin(0.5 * angle)
    v = sine * axis(k)
    return ti.Vector([ti.cos(0.5 * angle), v[0], v[1], v[2]])


@ti.func
def four(s: ti.template(), at, world):
    """Four coordinates of a tree, a quaternion."""
    return ti.Vector([s.trees.coordinates[world, at + k] for k in ti.static(range(4))])


@ti.func
def joint_frame(s: ti.template(), link, world):
    """The rotation of a joint's axes in the parent to the world."""
    parent = quadruple(s.motion.poses, s.trees.integers[link, PARENT_BODY], 3, world)
    return product(parent, quadruple(s.trees.numbers, link, FRAME, world))


@ti.func
def put_axis(s: ti.template(), speed, linear, angular, world):
    """Write s of a speed: the velocity of the link's centre of mass, and its angular velocity."""
    put_triple(s.trees.axes, speed, AXIS, linear, world)
    put_triple(s.trees.axes, speed, AXIS + 3, angular, world)


@ti.func
def place(s: ti.template(), world):
    """Poses of all bodies from the coordinates, and the axes along which speeds move them."""
    of = ti.static(s.trees.integers)
    for link in range(of.shape[0]):
        kind, body, at, speed = of[link, KIND], of[link, LINK_BODY], of[link, COORDINATE], of[link, SPEED]
        q, x = ti.Vector([1.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
        if kind == FREE:
            x = ti.Vector([s.trees.coordinates[world, at + k] for k in ti.static(range(3))])
            q = four(s, at + 3, world)
            for k in ti.static(range(3)):
                put_axis(s, speed + k, axis(k), 0.0 * x, world)
                put_axis(s, speed + 3 + k, 0.0 * x, axis(k), world)
        else:
            parent = of[link, PARENT_BODY]
            start = joint_frame(s, link, world)
            n, shift = rotate(start, axis(0)), 0.0
            if kind == HINGE:
                q = unit(0, s.trees.coordinates[world, at])
            elif kind == UNIVERSAL:
                q = product(unit(0, s.trees.coordinates[world, at]), unit(1, s.trees.coordinates[world, at + 1]))
            elif kind == BALL:
                q = four(s, at, world)
            elif kind == SLIDER:
                shift = s.trees.coordinates[world, at]
            turned = product(start, q)
            q = product(turned, quadruple(s.trees.numbers, link, BACK, world))
            arm = rotate(q, triple(s.trees.numbers, link, POINT_CHILD, world))
            held = rotate(
                quadruple(s.motion.poses, parent, 3, world), triple(s.trees.numbers, link, POINT_PARENT, world)
            )
            x = triple(s.motion.poses, parent, 0, world) + held + shift * n - arm
            if kind == SLIDER:
                put_axis(s, speed, n, 0.0 * n, world)
            elif kind == BALL:
                for k in ti.static(range(3)):
                    put_axis(s, speed + k, arm.cross(axis(k)), axis(k), world)
            elif kind == HINGE or kind == UNIVERSAL:
                put_axis(s, speed, arm.cross(n), n, world)
                if kind == UNIVERSAL:
                    second = rotate(turned, axis(1))
                    put_axis(s, speed + 1, arm.cross(second), second, world)
        q /= q.norm()
        put_triple(s.motion.poses, body, 0, x, world)
        for k in ti.static(range(4)):
            s.motion.poses[world, body, 3 + k] = q[k]


@ti.func
def move_on(s: ti.template(), stage, world):
    """Coordinates after a step of h at the speeds of a stage. Poses are left as they are."""
    of, u = ti.static(s.trees.integers, s.trees.speeds)
    for link in range(of.shape[0]):
        kind, at, speed = of[link, KIND], of[link, COORDINATE], of[link, SPEED]
        if kind == FREE or kind == BALL:
            first = at  # of the quaternion, and of its angular velocity, in the axes that carry it
            turning = speed
            if kind == FREE:
                for k in ti.static(range(3)):
                    s.trees.coordinates[world, at + k] = (
                        s.trees.coordinates[world, at + k] + s.h * u[world, stage, speed + k]
                    )
                first, turning = at + 3, speed + 3
            spin = ti.Vector([u[world, stage, turning + k] for k in ti.static(range(3))])
            if kind == BALL:
                spin = rotate_back(joint_frame(s, link, world), spin)
            q = product(exponential(s.h * spin), four(s, first, world))
            q /= q.norm()
            for k in ti.static(range(4)):
                s.trees.coordinates[world, first + k] = q[k]
        else:
            for k in range(of[link, FREEDOMS]):
                s.trees.coordinates[world, at + k] = (
                    s.trees.coordinates[world, at + k] + s.h * u[world, stage, speed + k]
                )


@ti.func
def carried(s: ti.template(), link, array: ti.template(), row, column, world):
    """What a velocity in six columns of a row, the parent's, gives a link: linear at its centre of mass, and angular.

    Arguments: row: the parent's in this array, or one that is not looked at where the parent is the ground.
    """
    v, w = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    if s.trees.integers[link, PARENT] >= 0:
        w = triple(array, row, column + 3, world)
        v = triple(array, row, column, world) + w.cross(offset(s, link, world))
    return v, w


@ti.func
def offset(s: ti.template(), link, world):
    """From the centre of mass of a link's parent to its own [m]."""
    here, parent = s.trees.integers[link, LINK_BODY], s.trees.integers[link, PARENT_BODY]
    return triple(s.motion.poses, here, 0, world) - triple(s.motion.poses, parent, 0, world)
