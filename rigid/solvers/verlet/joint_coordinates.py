"""Coordinates of joints: functions of two frames, their gradients, and displacements by impulses on them.

A `read` function (x, p) returns a coordinate q and its gradient: f and t of the first frame, f and t of the second. A
`respond` function (y, w, p) returns the displacements by a unit impulse on q: shift and rotation of the first frame,
then of the second (rigid/solvers/verlet/relative_rotation.py). With these, a `closing` function (x, moves, w, p)
returns the change of q when the joint closes. p holds the numbers of a constraint.
"""

from typing import Any, NamedTuple

import taichi as ti

from pbd.constraints.constraint_type import TINY, ConstraintType
from pbd.core.vectors import length_or_huge
from rigid.solvers.verlet.relative_rotation import (
    centre,
    closing_change,
    fixed_vector,
    frame_axes,
    free_response,
    joint_gap,
    joint_system,
    jointed_response,
)


class Coordinate(NamedTuple):
    """A coordinate of two frames.

    Attributes: read: (x, p) -> q and its gradient; respond: (y, w, p) -> displacements by a unit impulse on it;
    closing: (x, moves, w, p) -> its change when the joint closes; numbers: names of its numbers; turns: whether it is
    an angle, which is counted over full turns.
    """

    read: Any
    respond: Any
    closing: Any
    numbers: tuple
    turns: bool


def vectors(*names):
    """Names of three numbers for each vector."""
    return tuple(f"{name}_{k}" for name in names for k in range(3))


@ti.func
def torque_gradient(torque):
    """The gradient of an angle: no forces, a torque on the second frame and its opposite on the first."""
    return [0.0 * torque, -torque, 0.0 * torque, torque]


@ti.func
def nothing_to_close(x, moves, w, p):
    """The closing of frames that nothing joins at a point."""
    return 0.0


@ti.func
def angle(x, p):
    """Angle q = atan2(m_2·n, m_1·n) [rad] of the second frame's axis n in the plane of the first frame's m_1 and m_2.

    For a hinge n is n_1. For a universal joint with R = R(n_0, a) R(n_1, b) it gives the angle a, too. It gives b if
    the frames are exchanged, because n_0·m_0 = cos b and n_2·m_0 = sin b: the child's n_0 and n_2 take the place of m_1
    and m_2, and the parent's m_0 that of n. The angle is right-handed about m_1 × m_2 from the first frame to the
    second. With exchanged frames the axis n_0 × n_2 = -n_1 changes its sign as well, so b is right-handed from parent
    to child again.

    Numbers: m_1, m_2, n; both anchors, for `angle_response`.

    Returns: q and its gradient.
    """
    q, torque = angle_of(frame_axes(x, 0), frame_axes(x, 1), p)
    return q, torque_gradient(torque)


@ti.func
def angle_of(a, b, p):
    """The angle q, and t on the second frame. Args: a, b: axes of both frames; p: numbers."""
    m_1, m_2, n = fixed_vector(a, p, 0), fixed_vector(a, p, 3), fixed_vector(b, p, 6)
    cosine, sine = m_1.dot(n), m_2.dot(n)
    return ti.atan2(sine, cosine), n.cross(cosine * m_2 - sine * m_1) / (cosine * cosine + sine * sine + TINY)


@ti.func
def angle_response(y, w, p):
    """Displacements by a unit impulse on the angle; the frames stay joined."""
    b = frame_axes(y, 1)
    return jointed_response(joint_system(y, w, fixed_vector(b, p, 12)), w, angle_of(frame_axes(y, 0), b, p)[1])


@ti.func
def angle_closing(x, moves, w, p):
    """Change of the angle when the joint closes, see `closing_change`."""
    return closing_change(moves, w, joint_gap(x, p, 9))


@ti.func
def free_angle_response(y, w, p):
    """Displacements by a unit impulse on the angle; nothing joins the frames at a point."""
    return free_response(y, w, torque_gradient(angle_of(frame_axes(y, 0), frame_axes(y, 1), p)[1]))


@ti.func
def shift(x, p):
    """Shift q = (P_2 - P_1)·m_0 [m] of the second frame's anchor from the first's, along an axis of the first.

    The force acts on both frames at P_2. On the first that equals -m_0 at P_1, and the torque that rotates m_0 after
    P_2.

    Numbers: m_0, P_1 and P_2, each from its frame's centre.

    Returns: q and its gradient.
    """
    a, b = frame_axes(x, 0), frame_axes(x, 1)
    axis, arm = fixed_vector(a, p, 0), fixed_vector(b, p, 6)
    reach = centre(x, 1) + arm - centre(x, 0)
    return (reach - fixed_vector(a, p, 3)).dot(axis), [-axis, -reach.cross(axis), axis, arm.cross(axis)]


@ti.func
def shift_response(y, w, p):
    """Displacements by a unit impulse on the shift."""
    return free_response(y, w, shift(y, p)[1])


ANGLE = Coordinate(angle, angle_response, angle_closing, vectors("m1", "m2", "n", "anchor_1", "anchor_2"), True)
FREE_ANGLE = ANGLE._replace(respond=free_angle_response, closing=nothing_to_close)  # of joints that slide
SHIFT = Coordinate(shift, shift_response, nothing_to_close, vectors("m0", "anchor_1", "anchor_2"), False)


@ti.func
def unwrap_angle(q, reference):
    """The angle q + 2πn nearest to a reference [rad]. Its bits depend on q and the integer n alone."""
    turns = ti.round((reference - q) / 6.283185307179586)
    return q + 6.283185307179586 * turns


def _turn_counter():
    @ti.func
    def value(x, p):
        return 0.0

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        return x, multiplier, [unwrap_angle(angle_of(frame_axes(x, 0), frame_axes(x, 1), p)[0], p[15])]

    return ConstraintType("turn counter", 8, (*ANGLE.numbers, "last"), project, value, state_size=1, sensor=True)


# Counts the full turns of an angle that has no drive or limit which counts them. Numbers: those of the angle; its last
# value.
TURN_COUNTER = _turn_counter()


# Swing and twist of a ball joint, from axes m of the first frame and n of the second ----------------------------------


@ti.func
def swing_gradient(m_0, n_0):
    """t of the swing, the angle in [0, π] between m_0 and n_0."""
    across = m_0.cross(n_0)
    return across / length_or_huge(across)


@ti.func
def twist_gradient(m_0, n_0):
    """t of the twist. A rotation about n_0 is all twist, one about m_0 × n_0 is all swing.

    At a swing of π the twist is undefined, and t is zero.
    """
    return (m_0 + n_0) / (1.0 + m_0.dot(n_0) + TINY)


@ti.func
def twist_cosine_sine(m_0, m_1, m_2, n_0, n_1):
    """Cosine and sine of the twist, see rigid.rotation.swing_twist_angles, both times 1 + m_0·n_0 >= 0.

    It is the angle of n_1 in the plane of m_1' and m_2', which are m_1 and m_2 rotated the shortest way from m_0 to
    n_0: m_i' = m_i - (m_i·n_0)/(1 + m_0·n_0) (m_0 + n_0) by Rodrigues, and n_0·n_1 = 0.
    """
    near, side = 1.0 + m_0.dot(n_0), m_0.dot(n_1)
    return near * m_1.dot(n_1) - m_1.dot(n_0) * side, near * m_2.dot(n_1) - m_2.dot(n_0) * side


# Rotation between two triads -----------------------------------------------------------------------------------------


@ti.func
def rotation_sine(x, p):
    """½ Σ m_i × n_i, which is sin φ times the axis of the rotation by φ from axes m to axes n; and 1 + 2 cos φ."""
    a, b = frame_axes(x, 0), frame_axes(x, 1)
    across, along = ti.Vector([0.0, 0.0, 0.0]), 0.0
    for k in ti.static(range(3)):
        m, n = fixed_vector(a, p, 3 * k), fixed_vector(b, p, 9 + 3 * k)
        across += 0.5 * m.cross(n)
        along += m.dot(n)
    return across, along


@ti.func
def rotation_vector(x, p):
    """Rotation vector from axes m to axes n (3,) [rad]; zero at half a turn, where the axis is undefined."""
    across, along = rotation_sine(x, p)
    sine = across.norm()
    return (ti.atan2(sine, 0.5 * (along - 1.0)) / (sine + TINY)) * across
