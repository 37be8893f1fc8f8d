"""Constraint types for limits of joints: a coordinate beyond its limits is projected to the nearer one.

All of them act on the corners of two frames, the first's four and then the second's (relative_rotation.py). If the
parent is the ground, four pinned particles are its frame.

Of Jakobsen's three ways to limit an angle (Advanced Character Physics, 2001, section 6) these use the bound on a dot
product, of the frames' own axes. So no joint needs extra particles, limits may be anything up to a full turn, and the
width does not change how well a limit holds. A one-sided stick between two corners would need a pair with a lever at
both limits, and it limits a distance, not an angle. A plane has only one side.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import taichi as ti

from pbd.constraints.constraint_type import ConstraintType, scalar_constraint
from rigid.solvers.verlet.joint_coordinates import (
    angle_of,
    swing_gradient,
    torque_gradient,
    twist_cosine_sine,
    twist_gradient,
    unwrap_angle,
    vectors,
)
from rigid.solvers.verlet.relative_rotation import (
    axes_of,
    change_along,
    closing_change,
    corner_gradients,
    fixed_vector,
    impulse_pose,
    joint_gap,
    joint_system,
    jointed_response,
    move_corners,
    multiplier_change,
    project_equality,
)


@ti.func
def beyond(sine, cosine, p, half: ti.template()):
    """Sine and cosine of |angle| - half, both times one length.

    Args: sine, cosine: of the angle, times that length; p[half], p[half + 1]: cosine and sine of half.
    """
    return ti.abs(sine) * p[half] - cosine * p[half + 1], cosine * p[half] + ti.abs(sine) * p[half + 1]


@cache
def angle_limit(coordinate):
    """Constraint type for limits of an angle, less than a turn wide.

    The parent's m_1 and m_2 are rotated to their middle, so the limits are ± half the width, and a joint beyond them
    goes back to the limit that is nearer on the circle. Numbers: those of the angle, cosine and sine of half the width.
    """

    @ti.func
    def parts(of, p):
        a, n = of[0], fixed_vector(of[1], p, 6)
        return fixed_vector(a, p, 0).dot(n), fixed_vector(a, p, 3).dot(n)

    @ti.func
    def is_satisfied(x, p):
        # sin(|q| - half) <= 0 is |q| <= half for every half in [0, π], without a root or an inverse function.
        cosine, sine = parts(axes_of(x, 2), p)
        return beyond(sine, cosine, p, 15)[0] <= 0.0

    @ti.func
    def excess(of, p, closing):
        """How far the angle is beyond the nearer limit when the joint has closed, signed [rad].

        Args: of: axes of both frames; closing: change of the angle when the joint closes [rad].
        """
        cosine, sine = parts(of, p)
        outside, inside = beyond(sine, cosine, p, 15)
        side = ti.select(sine < 0.0, -1.0, 1.0)
        return side * ti.max(ti.atan2(outside, inside) + side * closing, 0.0)

    @ti.func
    def value(x, p):
        return ti.abs(excess(axes_of(x, 2), p, 0.0))

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        of, y = axes_of(x, 2), impulse_pose(x, start, 2, from_start)
        gradient = torque_gradient(angle_of(of[0], of[1], p)[1])
        moves = coordinate.respond(y, w, p)
        closing = coordinate.closing(x, moves, w, p)
        return project_equality(x, y, excess(of, p, closing), gradient, moves), multiplier

    @ti.func
    def function(x, p):
        of = axes_of(x, 2)
        cosine, sine = parts(of, p)
        outside, inside = beyond(sine, cosine, p, 15)
        torque = ti.select(sine < 0.0, 1.0, -1.0) * angle_of(of[0], of[1], p)[1]
        return -ti.atan2(outside, inside), corner_gradients(x, of, torque_gradient(torque), 2)

    numbers = (*coordinate.numbers, "cosine", "sine")
    direct = {"function": function, "at_least": True}
    return ConstraintType("angle limit", 8, numbers, project, value, is_satisfied=is_satisfied, **direct)


@ti.func
def scaled(gradient, factor):
    """A gradient times a number."""
    return [factor * gradient[k] for k in ti.static(range(4))]


@cache
def coordinate_limit(coordinate):
    """Constraint type for limits of a coordinate that is counted over full turns, or of a shift.

    Numbers: those of the coordinate, low, high; for an angle also its last value.
    """
    low = len(coordinate.numbers)

    @ti.func
    def counted(q, p):
        if ti.static(coordinate.turns):
            q = unwrap_angle(q, p[low + 2])
        return q

    @ti.func
    def value(x, p):
        q = counted(coordinate.read(x, p)[0], p)
        return q - ti.min(ti.max(q, p[low]), p[low + 1])

    @ti.func
    def is_satisfied(x, p):
        return value(x, p) == 0.0

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        q, gradient = coordinate.read(x, p)
        q = counted(q, p)
        y = impulse_pose(x, start, 2, from_start)
        moves = coordinate.respond(y, w, p)
        closed = q + coordinate.closing(x, moves, w, p)
        C = closed - ti.min(ti.max(closed, p[low]), p[low + 1])
        return project_equality(x, y, C, gradient, moves), multiplier, [q]

    @ti.func
    def function(x, p):
        q, gradient = coordinate.read(x, p)
        q = counted(q, p)
        side = ti.select(q - p[low] < p[low + 1] - q, 1.0, -1.0)
        return ti.min(q - p[low], p[low + 1] - q), corner_gradients(x, axes_of(x, 2), scaled(gradient, side), 2), [q]

    numbers, direct = (*coordinate.numbers, "low", "high"), {"function": function, "at_least": True}
    if coordinate.turns:
        return ConstraintType("counted angle limit", 8, (*numbers, "last"), project, value, state_size=1, **direct)
    return ConstraintType("shift limit", 8, numbers, project, value, is_satisfied=is_satisfied, **direct)


@ti.func
def start_unless_turned(before, now):
    """A torque at the start of the step, or as it is now if the two differ by more than 60°."""
    return ti.select(before.dot(now) > 0.5 * now.norm_sqr(), before, now)


def _ball_limit():
    @ti.func
    def axes(frames, p):
        """m_0, n_0, m_1, m_2, n_1. Args: frames: axes of both."""
        a, b = frames[0], frames[1]
        m = [fixed_vector(a, p, 0), fixed_vector(a, p, 6), fixed_vector(a, p, 9)]
        n = [fixed_vector(b, p, 3), fixed_vector(b, p, 12)]
        return m[0], n[0], m[1], m[2], n[1]

    @ti.func
    def swing_beyond(of, p):
        """Sine and cosine of the swing's excess over its limit."""
        cosine = of[0].dot(of[1])
        return beyond(ti.sqrt(ti.max(1.0 - cosine * cosine, 0.0)), cosine, p, 21)

    @ti.func
    def twist_beyond(of, p):
        """Sine and cosine of the twist's excess over its limit, and its sign."""
        cosine, sine = twist_cosine_sine(of[0], of[2], of[3], of[1], of[4])
        outside, inside = beyond(sine, cosine, p, 23)
        return outside, inside, ti.select(sine < 0.0, -1.0, 1.0)

    @ti.func
    def is_satisfied(x, p):
        of = axes(axes_of(x, 2), p)
        return of[0].dot(of[1]) >= p[21] and twist_beyond(of, p)[0] <= 0.0

    @ti.func
    def value(x, p):
        of = axes(axes_of(x, 2), p)
        swung, twisted = swing_beyond(of, p), twist_beyond(of, p)
        return ti.max(ti.atan2(swung[0], swung[1]), ti.atan2(twisted[0], twisted[1]), 0.0)

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        of = axes(axes_of(x, 2), p)
        swung, twisted = swing_beyond(of, p), twist_beyond(of, p)
        y = impulse_pose(x, start, 2, from_start)
        frames_y = axes_of(y, 2)
        of_y = axes(frames_y, p)
        joint, gap = joint_system(y, w, fixed_vector(frames_y[1], p, 18)), joint_gap(x, p, 15)
        nothing = ti.Vector([0.0, 0.0, 0.0])
        both = [nothing, nothing, nothing, nothing]
        twist_now = twist_gradient(of[0], of[1])
        twist_change = 0.0  # by the swing's impulse
        if swung[0] > 0.0:
            now = swing_gradient(of[0], of[1])
            # A swing that passed near the middle within the step has changed its axis.
            moves = jointed_response(joint, w, start_unless_turned(swing_gradient(of_y[0], of_y[1]), now))
            C = ti.max(ti.atan2(swung[0], swung[1]) + closing_change(moves, w, gap), 0.0)
            change = multiplier_change(C, change_along(torque_gradient(now), moves, 2))
            twist_change = change * change_along(torque_gradient(twist_now), moves, 2)
            for k in ti.static(range(4)):
                both[k] += change * moves[k]
        if twisted[0] > 0.0:
            moves = jointed_response(joint, w, start_unless_turned(twist_gradient(of_y[0], of_y[1]), twist_now))
            changed = twist_change + closing_change(moves, w, gap)
            C = ti.max(ti.atan2(twisted[0], twisted[1]) + twisted[2] * changed, 0.0)
            change = multiplier_change(twisted[2] * C, change_along(torque_gradient(twist_now), moves, 2))
            for k in ti.static(range(4)):
                both[k] += change * moves[k]
        return move_corners(x, y, both, 1.0, 2), multiplier

    @ti.func
    def function(x, p):
        """The slack of the swing, or of the twist if the last number is 1."""
        frames = axes_of(x, 2)
        of = axes(frames, p)
        outside, inside = swing_beyond(of, p)
        torque = -swing_gradient(of[0], of[1])
        if p[25] > 0.5:
            twisted = twist_beyond(of, p)
            outside, inside = twisted[0], twisted[1]
            torque = -twisted[2] * twist_gradient(of[0], of[1])
        return -ti.atan2(outside, inside), corner_gradients(x, frames, torque_gradient(torque), 2)

    widths = ("swing_cosine", "swing_sine", "twist_cosine", "twist_sine")
    numbers = (*vectors("m0", "n0", "m1", "m2", "n1", "anchor_1", "anchor_2"), *widths)
    one = scalar_constraint("swing or twist limit", 8, (*numbers, "is_twist"), function, "at_least")
    rows = replace(one, function=function, at_least=True), np.array([[0.0], [1.0]])
    return ConstraintType("ball limit", 8, numbers, project, value, is_satisfied=is_satisfied, rows=rows)


# Swing and twist limits of a ball joint. The parent's m_1 and m_2 are rotated about m_0 to the middle of the twist's
# limits.
# Numbers: m_0, n_0, m_1, m_2, n_1, both anchors; cosine and sine of the swing's limit and of half the twist's
# width, (-1, 0) for none.
BALL_LIMIT = _ball_limit()
