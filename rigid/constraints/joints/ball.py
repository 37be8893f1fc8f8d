"""Ball: two points coincide (locks.py). Its coordinates are swing and twist.

m and n are the axes of parent and child. The swing is the angle between m_0 and n_0, about m_0 × n_0. The twist is
about n_0 (rigid.Ball, rigid/rotation.py: swing_twist); its rate is ω·(m_0 + n_0)/(1 + m_0·n_0), because a rotation
about n_0 counts in full, and one about m_0 × n_0 is all swing. At a swing of π the twist is undefined.

Friction bounds the torque as a vector. The spring pulls back along the rotation vector φ since time zero: its energy
k φ²/2 has the gradient k φ.
"""

import taichi as ti

from pbd.core.kernels import load_quaternion
from pbd.core.quaternions import conjugate, multiply
from pbd.core.vectors import axis
from rigid.constraints.joints.data import FRAMES, JOINT
from rigid.constraints.joints.frames import write_rotation
from rigid.constraints.rows import write_jacobian
from rigid.kernels.motion import POSE


@ti.func
def write_ball(s: ti.template(), joint, row, c, ends, world):
    """Write the coordinates of a ball, and the rows of its friction and spring. Args: see special.py."""
    m, n = ends[4], ends[5]
    across, cosine = m[0].cross(n[0]), m[0].dot(n[0])
    sine, near = across.norm(), 1.0 + cosine
    write_rotation(s, c, across / (sine + 1e-30), ti.atan2(sine, cosine), world)
    # n_1 in the plane of m_1 and m_2, after the shortest rotation of these from m_0 to n_0 (Rodrigues), times `near`.
    side = m[0].dot(n[1])
    twist = ti.atan2(near * m[2].dot(n[1]) - m[2].dot(n[0]) * side, near * m[1].dot(n[1]) - m[1].dot(n[0]) * side)
    write_rotation(s, c + 1, (m[0] + n[0]) / (near + 1e-30), twist, world)
    write_rotation_rows(s, joint, s.joints.integers[joint, JOINT.body_i], s.joints.integers[joint, JOINT.body_j], world)


@ti.func
def write_rotation_rows(s: ti.template(), joint, i, j, world):
    """Write the rows of a ball's friction and spring: three each of the child's angular velocity to the parent's."""
    for spring in range(2):
        row = s.joints.integers[joint, JOINT.friction_row + spring]  # the next column is that of the spring
        if row >= 0:
            error = ti.Vector([0.0, 0.0, 0.0])
            if spring == 1:
                error = rotation_since_start(s, joint, i, j, world)
            for k in ti.static(range(3)):
                e = axis(k)
                write_jacobian(s.rows, row + k, 0.0 * e, -e, e, error[k], world)


@ti.func
def rotation_since_start(s: ti.template(), joint, i, j, world):
    """Rotation vector of the child relative to the parent since time zero, in the world, at most π long [rad]."""
    start = multiply(
        load_quaternion(s.bodies.pose, i, POSE.rotation, world),
        load_quaternion(s.joints.frames, joint, FRAMES.start, world),
    )
    q = multiply(load_quaternion(s.bodies.pose, j, POSE.rotation, world), conjugate(start))
    v = ti.Vector([q[1], q[2], q[3]])
    sine, cosine = v.norm(), q[0]
    scale = 2.0  # of φ to v, as both go to zero
    if cosine < 0.0:
        sine, cosine, scale = -sine, -cosine, -2.0
    if ti.abs(sine) > 1e-12:
        scale = 2.0 * ti.atan2(sine, cosine) / v.norm()
    return scale * v
