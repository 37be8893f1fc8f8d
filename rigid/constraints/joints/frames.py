"""Where the two ends of a joint are, and coordinates."""

import taichi as ti

from pbd.core.kernels import load_quaternion, load_vector, store_vector
from pbd.core.quaternions import rotate
from rigid.constraints.joints.data import COORDINATE, FRAMES
from rigid.kernels.motion import POSE


@ti.func
def joint_ends(s: ti.template(), joint, i, j, world):
    """Both ends of a joint in the world; the parent is body i, the child body j.

    Returns: the points r_i + ξ_i and r_j + ξ_j [m], the arms ξ_i and ξ_j [m], the axes n_i and n_j, lists of three.
    """
    pose, frames = ti.static(s.bodies.pose, s.joints.frames)
    q_i = load_quaternion(pose, i, POSE.rotation, world)
    q_j = load_quaternion(pose, j, POSE.rotation, world)
    arm_i = rotate(q_i, load_vector(frames, joint, FRAMES.anchor_i, world))
    arm_j = rotate(q_j, load_vector(frames, joint, FRAMES.anchor_j, world))
    point_i = load_vector(pose, i, POSE.position, world) + arm_i
    point_j = load_vector(pose, j, POSE.position, world) + arm_j
    n_i = [rotate(q_i, load_vector(frames, joint, FRAMES.axes_i + 3 * k, world)) for k in ti.static(range(3))]
    n_j = [rotate(q_j, load_vector(frames, joint, FRAMES.axes_j + 3 * k, world)) for k in ti.static(range(3))]
    return point_i, point_j, arm_i, arm_j, n_i, n_j


@ti.func
def write_coordinate(s: ti.template(), c, linear, angular_i, angular_j, q, world):
    """Write the derivative of coordinate c, and its value."""
    store_vector(s.joints.coordinates, c, COORDINATE.linear, linear, world)
    store_vector(s.joints.coordinates, c, COORDINATE.angular_i, angular_i, world)
    store_vector(s.joints.coordinates, c, COORDINATE.angular_j, angular_j, world)
    s.joints.coordinates[world, c, COORDINATE.value] = q


@ti.func
def write_rotation(s: ti.template(), c, n, q, world):
    """Write an angle about n as a coordinate: J_ω,i = -nᵀ, J_ω,j = nᵀ."""
    write_coordinate(s, c, 0.0 * n, -n, n, q, world)


@ti.func
def write_length(s: ti.template(), c, ends, start, world):
    """Write the change of the distance of two points: J_i = (-nᵀ, -(ξ_i × n)ᵀ), J_j = (nᵀ, (ξ_j × n)ᵀ).

    Args: ends: from `joint_ends`; start: the length at which it is zero [m].
    """
    point_i, point_j, arm_i, arm_j = ends[0], ends[1], ends[2], ends[3]
    between = point_j - point_i
    length = between.norm()
    n = between / ti.max(length, 1e-12)
    write_coordinate(s, c, -n, -arm_i.cross(n), arm_j.cross(n), length - start, world)


@ti.func
def axis_of(axes, k):
    """The k-th of three axes."""
    n = axes[0]
    if k == 1:
        n = axes[1]
    if k == 2:
        n = axes[2]
    return n
