"""Poses from coordinates, and the integration of coordinates: from the roots outward."""

import taichi as ti

from pbd.core.kernels import compiled_once, load_quaternion, load_vector, store_quaternion, store_vector
from pbd.core.quaternions import axis_rotation, exponential, multiply, rotate, rotate_back
from pbd.core.vectors import axis
from rigid.kernels.motion import MASS, POSE
from rigid.solvers.articulated.links import AXIS, LINK, LINK_FRAMES, MOTION, SpeedKind
from rigid.solvers.articulated.spanning_trees import LinkKind


@ti.func
def load_rotation(s: ti.template(), at, world):
    """Four coordinates of a tree, a quaternion. Args: at: the first one."""
    return ti.Vector([s.trees.coordinates[world, at + k] for k in ti.static(range(4))])


@ti.func
def joint_frame(s: ti.template(), link, world):
    """The rotation of a joint's axes in the parent to the world."""
    parent = load_quaternion(s.bodies.pose, s.trees.links[link, LINK.parent_body], POSE.rotation, world)
    return multiply(parent, load_quaternion(s.trees.frames, link, LINK_FRAMES.frame, world))


@ti.func
def store_axis(s: ti.template(), speed, linear, angular, world):
    """Write s of a speed: the velocity of the link's centre of mass, and its angular velocity."""
    store_vector(s.trees.axes, speed, AXIS.linear, linear, world)
    store_vector(s.trees.axes, speed, AXIS.angular, angular, world)


@ti.func
def axis_of_motion(s: ti.template(), speed):
    """The axis of a declared coordinate in the frame that carries it."""
    k = s.trees.motions[speed, MOTION.axis]
    return ti.Vector([ti.select(k == i, 1.0, 0.0) for i in ti.static(range(3))])


@compiled_once("bodies", "trees")
def compute_poses(s: ti.template(), world):
    """Compute poses of all bodies from the coordinates, and the axes along which speeds move them."""
    links = ti.static(s.trees.links)
    for link in range(links.shape[0]):
        kind, body = links[link, LINK.kind], links[link, LINK.body]
        at, speed = links[link, LINK.first_coordinate], links[link, LINK.first_speed]
        q, x = ti.Vector([1.0, 0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
        if kind == LinkKind.FREE:
            x = ti.Vector([s.trees.coordinates[world, at + k] for k in ti.static(range(3))])
            q = load_rotation(s, at + 3, world)
            for k in ti.static(range(3)):
                store_axis(s, speed + k, axis(k), 0.0 * x, world)
                store_axis(s, speed + 3 + k, 0.0 * x, axis(k), world)
        else:
            parent = links[link, LINK.parent_body]
            start = joint_frame(s, link, world)
            shift = ti.Vector([0.0, 0.0, 0.0])
            if kind == LinkKind.BALL:
                q = load_rotation(s, at, world)
            else:
                for k in range(links[link, LINK.speeds]):
                    n, value = axis_of_motion(s, speed + k), s.trees.coordinates[world, at + k]
                    if s.trees.motions[speed + k, MOTION.kind] == SpeedKind.SLIDE:
                        shift += value * rotate(start, n)
                    else:
                        q = multiply(q, axis_rotation(n, value))
            turned = multiply(start, q)
            q = multiply(turned, load_quaternion(s.trees.frames, link, LINK_FRAMES.inverse_child_frame, world))
            arm = rotate(q, load_vector(s.trees.frames, link, LINK_FRAMES.point_child, world))
            parent_arm = rotate(
                load_quaternion(s.bodies.pose, parent, POSE.rotation, world),
                load_vector(s.trees.frames, link, LINK_FRAMES.point_parent, world),
            )
            x = load_vector(s.bodies.pose, parent, POSE.position, world) + parent_arm + shift - arm
            if kind == LinkKind.BALL:
                for k in ti.static(range(3)):
                    store_axis(s, speed + k, arm.cross(axis(k)), axis(k), world)
            else:
                for k in range(links[link, LINK.speeds]):
                    motion, carrier = s.trees.motions[speed + k, MOTION.kind], start
                    if motion == SpeedKind.SECOND_TURN:
                        carrier = turned
                    n = rotate(carrier, axis_of_motion(s, speed + k))
                    if motion == SpeedKind.SLIDE:
                        store_axis(s, speed + k, n, 0.0 * n, world)
                    else:
                        store_axis(s, speed + k, arm.cross(n), n, world)
        q /= q.norm()
        store_vector(s.bodies.pose, body, POSE.position, x, world)
        store_quaternion(s.bodies.pose, body, POSE.rotation, q, world)


@ti.func
def integrate_coordinates(s: ti.template(), stage: ti.template(), world):
    """Integrate the coordinates for one substep. Poses stay. Args: stage: 0 for speeds, 1 for pseudo-speeds."""
    links, q, u = ti.static(s.trees.links, s.trees.coordinates, s.trees.speeds)
    for link in range(links.shape[0]):
        kind, at, speed = links[link, LINK.kind], links[link, LINK.first_coordinate], links[link, LINK.first_speed]
        if ti.static(s.features.paths):
            if follows_path(s, links[link, LINK.body], world):
                for k in ti.static(range(POSE.total)):
                    q[world, at + k] = s.bodies.pose[world, links[link, LINK.body], k]
        if kind == LinkKind.FREE or kind == LinkKind.BALL:
            first, turning = at, speed  # of the quaternion, and of the angular velocity in the axes that carry it
            if kind == LinkKind.FREE:
                for k in ti.static(range(3)):
                    q[world, at + k] = q[world, at + k] + s.step.h * u[world, stage, speed + k]
                first, turning = at + 3, speed + 3
            w = ti.Vector([u[world, stage, turning + k] for k in ti.static(range(3))])
            if kind == LinkKind.BALL:
                w = rotate_back(joint_frame(s, link, world), w)
            rotation = multiply(exponential(s.step.h * w), load_rotation(s, first, world))
            rotation /= rotation.norm()
            for k in ti.static(range(4)):
                q[world, first + k] = rotation[k]
        else:
            for k in range(links[link, LINK.speeds]):
                q[world, at + k] = q[world, at + k] + s.step.h * u[world, stage, speed + k]


@ti.func
def follows_path(s: ti.template(), body, world):
    """Whether a body follows a path, which writes its pose and velocity before each substep."""
    return s.bodies.mass[world, body, MASS.inverse_mass] == 0.0


@ti.func
def carried_velocity(s: ti.template(), link, array: ti.template(), row, column, world):
    """The velocity that a link has from its parent's motion: linear at its centre of mass, and angular.

    Args: array, row, column: where the parent's velocity is, six columns; not read if the parent is the ground.
    """
    v, w = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
    if s.trees.links[link, LINK.parent] >= 0:
        w = load_vector(array, row, column + 3, world)
        v = load_vector(array, row, column, world) + w.cross(offset(s, link, world))
    return v, w


@ti.func
def offset(s: ti.template(), link, world):
    """From the centre of mass of a link's parent to its own [m]."""
    body, parent = s.trees.links[link, LINK.body], s.trees.links[link, LINK.parent_body]
    here = load_vector(s.bodies.pose, body, POSE.position, world)
    return here - load_vector(s.bodies.pose, parent, POSE.position, world)
