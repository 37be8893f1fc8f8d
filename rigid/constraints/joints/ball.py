"""Ball: two points kept together; three rows. What limits it: a cone for the swing, and the twist.

Coordinates, with m and n the triads of parent and child: the swing, the angle between m_0 and n_0, about m_0 × n_0; and
the twist about n_0 (rigid.Ball, rigid/rotation.py: swing_twist), whose rate is ω·(m_0 + n_0)/(1 + m_0·n_0): a turn
about n_0 counts in full, one about m_0 × n_0 is all swing. Where the swing is π, the twist means nothing.

Friction bounds the torque as a vector; the spring pulls back along the rotation vector φ since time zero, whose energy
k φ²/2 has the gradient k φ.
"""

import taichi as ti

from rigid.constraints.joints.place import START, axis, put_angle, put_point
from rigid.constraints.rows import put_jacobian
from rigid.kernels.columns import quadruple
from rigid.kernels.motion import conjugate, product


@ti.func
def put_ball(s: ti.template(), joint, row, c, at, world):
    """Rows and coordinates of a ball. Arguments: its first row and coordinate; at: of `ends`."""
    if row >= 0:
        put_point(s, row, at, world)
    m, n = at[4], at[5]
    across, cosine = m[0].cross(n[0]), m[0].dot(n[0])
    sine, near = across.norm(), 1.0 + cosine
    put_angle(s, c, across / (sine + 1e-30), ti.atan2(sine, cosine), world)
    # n_1 in the plane of m_1 and m_2, these turned the shortest way from m_0 to n_0 (Rodrigues), times `near`.
    side = m[0].dot(n[1])
    twist = ti.atan2(near * m[2].dot(n[1]) - m[2].dot(n[0]) * side, near * m[1].dot(n[1]) - m[1].dot(n[0]) * side)
    put_angle(s, c + 1, (m[0] + n[0]) / (near + 1e-30), twist, world)


@ti.func
def put_turns(s: ti.template(), row, error, world):
    """Three rows on the angular velocity of the child against the parent. Arguments: error: of each [rad]."""
    for k in ti.static(range(3)):
        e = axis(k)
        put_jacobian(s.rows, row + k, 0.0 * e, -e, e, error[k], world)


@ti.func
def turned_since_start(s: ti.template(), joint, i, j, world):
    """Rotation vector of the child against the parent since time zero, in the world, no longer than π [rad]."""
    then = product(quadruple(s.motion.poses, i, 3, world), quadruple(s.joints.numbers, joint, START, world))
    q = product(quadruple(s.motion.poses, j, 3, world), conjugate(then))
    v = ti.Vector([q[1], q[2], q[3]])
    sine, cosine = v.norm(), q[0]
    scale = 2.0  # of φ to v, as both go to zero
    if cosine < 0.0:
        sine, cosine, scale = -sine, -cosine, -2.0
    if ti.abs(sine) > 1e-12:
        scale = 2.0 * ti.atan2(sine, cosine) / v.norm()
    return scale * v
