"""Where the two ends of a joint are, the rows that several joints share, and coordinates."""

import math

import taichi as ti

from pbd.core.quaternions import rotate
from rigid.constraints.rows import put_jacobian
from rigid.kernels.columns import put_triple, quadruple, triple

# Columns of Joints.numbers: anchors in the frames of the bodies, triads likewise, n0 n1 n2 one after another; the
# rotation of the child seen in the parent at time zero; the length of a distance at time zero.
ANCHOR_I, ANCHOR_J, TRIAD_I, TRIAD_J, START, LENGTH = 0, 3, 6, 15, 24, 28
JOINT_NUMBERS = 29

# Columns of Joints.coordinates: d, a_i, a_j as those of a row, and q [m or rad].
TURN_I, TURN_J, VALUE = 3, 6, 9
COORDINATE_NUMBERS = 10


@ti.func
def ends(s: ti.template(), joint, i, j, world):
    """Both ends of a joint as the bodies lie, the parent being body i, the child j, all in the world.

    Returns: the points r_i + ξ_i and r_j + ξ_j [m], the arms ξ_i and ξ_j [m], the triads n_i and n_j, lists of three.
    """
    q_i, q_j = quadruple(s.motion.poses, i, 3, world), quadruple(s.motion.poses, j, 3, world)
    arm_i = rotate(q_i, triple(s.joints.numbers, joint, ANCHOR_I, world))
    arm_j = rotate(q_j, triple(s.joints.numbers, joint, ANCHOR_J, world))
    point_i, point_j = triple(s.motion.poses, i, 0, world) + arm_i, triple(s.motion.poses, j, 0, world) + arm_j
    n_i = [rotate(q_i, triple(s.joints.numbers, joint, TRIAD_I + 3 * k, world)) for k in ti.static(range(3))]
    n_j = [rotate(q_j, triple(s.joints.numbers, joint, TRIAD_J + 3 * k, world)) for k in ti.static(range(3))]
    return point_i, point_j, arm_i, arm_j, n_i, n_j


@ti.func
def axis(k: ti.template()):
    """The world's x, y or z."""
    return ti.Vector([1.0 if i == k else 0.0 for i in ti.static(range(3))])


@ti.func
def put_point(s: ti.template(), row, at, world):
    """Three rows: G = r_i + ξ_i - r_j - ξ_j, J_i = (E, -[ξ_i]×), J_j = (-E, [ξ_j]×). Arguments: at: of `ends`."""
    point_i, point_j, arm_i, arm_j = at[0], at[1], at[2], at[3]
    for k in ti.static(range(3)):
        e = axis(k)
        put_jacobian(s.rows, row + k, e, arm_i.cross(e), -arm_j.cross(e), point_i[k] - point_j[k], world)


@ti.func
def put_right_angle(s: ti.template(), row, n_a, n_b, world):
    """One row: G = n_a·n_b, J_ω,j = (n_b × n_a)ᵀ, J_ω,i its negative. Arguments: n_a of body i, n_b of body j."""
    turn = n_b.cross(n_a)
    put_jacobian(s.rows, row, 0.0 * turn, -turn, turn, n_a.dot(n_b), world)


@ti.func
def put_no_turn(s: ti.template(), row, n_i, n_j, world):
    """Three rows: n_i1·n_j0 = n_i2·n_j0 = n_i1·n_j2 = 0."""
    put_right_angle(s, row, n_i[1], n_j[0], world)
    put_right_angle(s, row + 1, n_i[2], n_j[0], world)
    put_right_angle(s, row + 2, n_i[1], n_j[2], world)


@ti.func
def put_coordinate(s: ti.template(), c, d, a_i, a_j, q, world):
    """Write the derivative of coordinate c, and its value."""
    put_triple(s.joints.coordinates, c, 0, d, world)
    put_triple(s.joints.coordinates, c, TURN_I, a_i, world)
    put_triple(s.joints.coordinates, c, TURN_J, a_j, world)
    s.joints.coordinates[world, c, VALUE] = q


@ti.func
def put_angle(s: ti.template(), c, n, q, world):
    """An angle about n: J_ω,i = -nᵀ, J_ω,j = nᵀ."""
    put_coordinate(s, c, 0.0 * n, -n, n, q, world)


@ti.func
def put_length(s: ti.template(), c, at, start, world):
    """The change of the distance of two points: J_i = (-nᵀ, -(ξ_i × n)ᵀ), J_j = (nᵀ, (ξ_j × n)ᵀ).

    Arguments: at: of `ends`; start: the length from which it counts [m].
    """
    point_i, point_j, arm_i, arm_j = at[0], at[1], at[2], at[3]
    between = point_j - point_i
    length = between.norm()
    n = between / ti.max(length, 1e-12)
    put_coordinate(s, c, -n, -arm_i.cross(n), arm_j.cross(n), length - start, world)


@ti.func
def counted(s: ti.template(), c, angle, world):
    """An angle counted on: of angle + 2πn the one nearest to what coordinate c was before."""
    turns = ti.round((s.joints.coordinates[world, c, VALUE] - angle) / ti.static(2 * math.pi))
    return angle + ti.static(2 * math.pi) * turns
