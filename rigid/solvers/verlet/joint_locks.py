"""Constraint types for equalities of joints: right angles, sliders, gears, and frames that may not invert.

All but RIGHT_HANDED act on the corners of several frames (relative_rotation.py).
"""

from dataclasses import replace
from functools import cache

import taichi as ti

from pbd.constraints.constraint_type import ConstraintType, scalar_constraint
from pbd.constraints.volume import volume
from rigid.solvers.verlet.joint_coordinates import (
    nothing_to_close,
    rotation_sine,
    shift,
    torque_gradient,
    unwrap_angle,
    vectors,
)
from rigid.solvers.verlet.relative_rotation import (
    axes_of,
    change_along,
    closing_change,
    corner_gradients,
    fixed_vector,
    frame_axes,
    free_response,
    impulse_pose,
    inverse_inertia,
    joint_gap,
    joint_system,
    jointed_response,
    matrix_times,
    move_corners,
    multiplier_change,
    project_equality,
    sides,
    solve_symmetric,
)


def _right_handed():
    at_least = scalar_constraint("right-handed", 4, ("volume",), volume, "at_least")

    @ti.func
    def is_satisfied(x, p):
        return (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0])) >= 6.0 * p[0]

    return replace(at_least, is_satisfied=is_satisfied, compliant=None)


# Keeps a frame from turning inside out: its mirror image has the same sticks. Without it, frames turned inside out when
# fast joints reached a limit, with five iterations a step. Numbers: the least volume [m³].
RIGHT_HANDED = _right_handed()


@ti.func
def right_angle(x, p):
    """C = m_0·n_1 and its gradient, with t = n_1 × m_0. Numbers: m_0, n_1."""
    m_0, n_1 = fixed_vector(frame_axes(x, 0), p, 0), fixed_vector(frame_axes(x, 1), p, 3)
    return m_0.dot(n_1), torque_gradient(n_1.cross(m_0))


@ti.func
def joined_right_angle_response(y, w, p):
    """Displacements by a unit impulse on the product; the frames stay joined."""
    joint = joint_system(y, w, fixed_vector(frame_axes(y, 1), p, 9))
    return jointed_response(joint, w, right_angle(y, p)[1][3])


@ti.func
def right_angle_closing(x, moves, w, p):
    """Change of the product when the joint closes, see `closing_change`."""
    return closing_change(moves, w, joint_gap(x, p, 6))


@ti.func
def free_right_angle_response(y, w, p):
    """Displacements by a unit impulse on the product; nothing joins the frames at a point."""
    return free_response(y, w, right_angle(y, p)[1])


def _right_angle(respond, closing):
    @ti.func
    def value(x, p):
        return right_angle(x, p)[0]

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        C, gradient = right_angle(x, p)
        y = impulse_pose(x, start, 2, from_start)
        moves = respond(y, w, p)
        return project_equality(x, y, C + closing(x, moves, w, p), gradient, moves), multiplier

    numbers = vectors("m0", "n1", "anchor_1", "anchor_2")
    return ConstraintType("right angle", 8, numbers, project, value)


# An axis m_0 of the parent and an axis n_1 of the child stay at a right angle. The violation is nearly an angle [rad].
RIGHT_ANGLE = _right_angle(joined_right_angle_response, right_angle_closing)
FREE_RIGHT_ANGLE = _right_angle(free_right_angle_response, nothing_to_close)


def _slider():
    @ti.func
    def across(x, p, axis: ti.template()):
        """Shift along the parent's m_axis, which is to be zero [m]."""
        return shift(x, [p[3 * axis + k] if ti.static(k < 3) else p[15 + k] for k in ti.static(range(9))])

    @ti.func
    def value(x, p):
        turn = rotation_sine(x, p)[0]
        first = across(x, p, 1)[0]
        second = across(x, p, 2)[0]
        return ti.max(turn.norm(), ti.sqrt(first * first + second * second))

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        y = impulse_pose(x, start, 2, from_start)
        K_1, K_2 = inverse_inertia(sides(y, 0), w[0]), inverse_inertia(sides(y, 1), w[4])
        impulse = solve_symmetric([K_1[k] + K_2[k] for k in ti.static(range(3))], rotation_sine(x, p)[0])
        nothing = 0.0 * impulse
        moves = [nothing, matrix_times(K_1, impulse), nothing, -matrix_times(K_2, impulse)]
        straight = move_corners(x, y, moves, 1.0, 2)
        C_1, gradient_1 = across(straight, p, 1)
        nearer = project_equality(straight, y, C_1, gradient_1, free_response(y, w, across(y, p, 1)[1]))
        C_2, gradient_2 = across(nearer, p, 2)
        return project_equality(nearer, y, C_2, gradient_2, free_response(y, w, across(y, p, 2)[1])), multiplier

    names = vectors("m0", "m1", "m2", "n0", "n1", "n2", "anchor_1", "anchor_2")
    return ConstraintType("slider", 8, names, project, value)


# A slider: no rotation between the axes m and n, and the child's anchor on the parent's line, in that order. The
# violation is the larger one [rad or m]. Numbers: both sets of axes, both anchors from their frames' centres.
SLIDER = _slider()


@cache
def gear(a, b, frames):
    """Constraint type for q_b = ratio q_a, with both coordinates counted over full turns, so that errors do not add up.

    Args: a, b: Coordinates; frames: which frame of the constraint is parent and child of a, and parent and child of b.

    Numbers: those of a, those of b, ratio; the last values of both.
    """
    count = max(frames) + 1
    corners = [4 * frame + k for frame in frames for k in range(4)]
    middle, ratio = len(a.numbers), len(a.numbers) + len(b.numbers)

    @ti.func
    def of_a(values):
        """Positions or weights of the two frames of a."""
        return [values[k] for k in ti.static(corners[:8])]

    @ti.func
    def of_b(values):
        return [values[k] for k in ti.static(corners[8:])]

    @ti.func
    def numbers_of_b(p):
        return [p[k] for k in ti.static(range(middle, ratio))]

    @ti.func
    def together(first, second, p):
        """Displacements or gradients of all frames: b's minus ratio times a's."""
        result = [ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(2 * count))]
        for k in ti.static(range(4)):
            result[2 * frames[k // 2] + k % 2] -= p[ratio] * first[k]
        for k in ti.static(range(4)):
            result[2 * frames[2 + k // 2] + k % 2] += second[k]
        return result

    @ti.func
    def read(x, p):
        q_a, gradient_a = a.read(of_a(x), p)
        q_b, gradient_b = b.read(of_b(x), numbers_of_b(p))
        if ti.static(a.turns):
            q_a = unwrap_angle(q_a, p[ratio + 1])
        if ti.static(b.turns):
            q_b = unwrap_angle(q_b, p[ratio + 2])
        return q_a, q_b, together(gradient_a, gradient_b, p)

    @ti.func
    def value(x, p):
        of_both = read(x, p)
        return of_both[1] - p[ratio] * of_both[0]

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        q_a, q_b, gradient = read(x, p)
        y = impulse_pose(x, start, count, from_start)
        moves = together(a.respond(of_a(y), of_a(w), p), b.respond(of_b(y), of_b(w), numbers_of_b(p)), p)
        weight = change_along(gradient, moves, count)
        return move_corners(x, y, moves, multiplier_change(q_b - p[ratio] * q_a, weight), count), multiplier, [q_a, q_b]

    @ti.func
    def function(x, p):
        q_a, q_b, gradient = read(x, p)
        return q_b - p[ratio] * q_a, corner_gradients(x, axes_of(x, count), gradient, count), [q_a, q_b]

    numbers = (*(f"a_{name}" for name in a.numbers), *(f"b_{name}" for name in b.numbers), "ratio", "last_a", "last_b")
    return ConstraintType("gear", 4 * count, numbers, project, value, state_size=2, function=function)
