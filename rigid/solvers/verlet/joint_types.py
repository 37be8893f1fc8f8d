"""Kinds of constraint between frames: limits, friction, motors, springs, locks and gears of joints.

All act on the corners of two frames, the first's four and then the second's, by rigid/solvers/verlet/relative_rotation.py; where the
parent is the ground, four pinned particles stand for its frame. In a force's equation q is the coordinate at the end of
the substep, q_0 at its start, h the substep and λ the impulse on positions [effort times s²], kept over the sweeps:

    limit     q in [low, high]: what lies beyond is projected back to the nearer one
    servo     q = q_0 + h speed + h rate (position - q_0)/(1 + h rate),  |λ| <= effort h²
    spring    λ = -(k h² (q - position) + c h (q - q_0))

A servo of speed and rate zero is friction, one of rate zero a motor that keeps its speed, and one of speed zero one
that holds a position, which it approaches at a speed of rate times what is left, by implicit Euler. A spring is
implicit Euler's, whatever k, c and h: x'' with the Verlet difference on its left (Macklin, Müller, Chentanez 2016,
eq. 26, with β = c; written so that k may be zero).

Of the source's three ways to limit an angle (Jakobsen 2001, section 6) it is the bound on the dot product everywhere:
of the frames' own axes, so that no joint needs particles on purpose, limits may be any up to a full turn, and how wide
they are does not change how well they hold. A one-sided stick between two corners needs a pair with a lever at both
limits, and holds a distance, not an angle; a plane has one side only.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import taichi as ti

from pbd.constraints.constraint_type import TINY, ConstraintType
from rigid.solvers.verlet.relative_rotation import (
    angle,
    effect,
    fixed_in,
    joined,
    moved,
    nearest_turn,
    opposite,
    push_angle,
    push_shift,
    response_at_joint,
    shift,
    swing_torque,
    triad,
    twist_parts,
    twist_torque,
    where_impulses_act,
)


class Coordinate(NamedTuple):
    """A coordinate of two frames: (x, p) -> q and gradient; (y, w, p) -> what an impulse on it moves; the names of its
    numbers; whether it goes round."""

    read: Any
    push: Any
    numbers: tuple
    turns: bool


def vectors(*names):
    """Names of three numbers for each."""
    return tuple(f"{name}_{k}" for name in names for k in range(3))


ANGLE = Coordinate(angle, push_angle, vectors("m1", "m2", "n", "anchor"), True)
SHIFT = Coordinate(shift, push_shift, vectors("m0", "anchor_1", "anchor_2"), False)


@ti.func
def row(x, y, C, gradient, moves):
    """Corners of two frames with C = 0 to first order."""
    return moved(x, y, moves, solved(C, effect(gradient, moves, 2)), 2)


@ti.func
def solved(error, weight):
    """Change of λ that makes an error vanish; none where nothing could move."""
    return ti.select(weight > TINY, -error / ti.max(weight, TINY), 0.0)


# No bound on an impulse; its square is still a number in 32 bits.
UNBOUNDED = 1e18


# Limits ---------------------------------------------------------------------------------------------------------------


@ti.func
def beyond(sine, cosine, p, half: ti.template()):
    """Sine and cosine, both times one length, of |angle| - half, from those of the angle; p[half]: cos, sin of half."""
    return ti.abs(sine) * p[half] - cosine * p[half + 1], cosine * p[half] + ti.abs(sine) * p[half + 1]


def _angle_limit():
    @ti.func
    def parts(x, p):
        a, n = triad(x, 0), fixed_in(triad(x, 1), p, 6)
        return fixed_in(a, p, 0).dot(n), fixed_in(a, p, 3).dot(n)

    @ti.func
    def holds(x, p):
        # sin(|q| - half) <= 0, which is |q| <= half for every half in [0, π]: no root, no arc, and no scale
        cosine, sine = parts(x, p)
        return beyond(sine, cosine, p, 12)[0] <= 0.0

    @ti.func
    def excess(x, p):
        """How far the angle is beyond the nearer limit, with its sign."""
        cosine, sine = parts(x, p)
        outside, inside = beyond(sine, cosine, p, 12)
        return ti.select(sine < 0.0, -1.0, 1.0) * ti.max(ti.atan2(outside, inside), 0.0)

    @ti.func
    def value(x, p):
        return ti.abs(excess(x, p))

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        y = where_impulses_act(x, start, 2, from_start)
        return row(x, y, excess(x, p), angle(x, p)[1], push_angle(y, w, p)), multiplier

    numbers = (*ANGLE.numbers, "cosine", "sine")
    return ConstraintType("angle limit", 8, numbers, project, value, is_satisfied=holds)


# Limits less than a turn wide. The angle is counted from their middle, which turns the parent's m_1 and m_2, so that
# they are ± half the width, and a joint that is beyond goes back to the limit that is nearer round the circle. Numbers:
# those of the angle, cosine and sine of half the width.
ANGLE_LIMIT = _angle_limit()


@lru_cache
def limit(coordinate):
    """Limits low and high of a coordinate that is counted, however far: of a slider, or of an angle past full turns."""
    low = len(coordinate.numbers)

    @ti.func
    def counted(q, p):
        if ti.static(coordinate.turns):
            q = nearest_turn(q, p[low + 2])
        return q

    @ti.func
    def value(x, p):
        q = counted(coordinate.read(x, p)[0], p)
        return q - ti.min(ti.max(q, p[low]), p[low + 1])

    @ti.func
    def holds(x, p):
        return value(x, p) == 0.0

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        q, gradient = coordinate.read(x, p)
        q = counted(q, p)
        y = where_impulses_act(x, start, 2, from_start)
        C = q - ti.min(ti.max(q, p[low]), p[low + 1])
        return row(x, y, C, gradient, coordinate.push(y, w, p)), multiplier, [q]

    numbers = (*coordinate.numbers, "low", "high")
    if coordinate.turns:
        return ConstraintType("counted angle limit", 8, (*numbers, "last"), project, value, state_size=1)
    return ConstraintType("shift limit", 8, numbers, project, value, is_satisfied=holds)


@ti.func
def unless_turned(before, now):
    """A torque as it was, or as it is, where that is more than 60° off."""
    return ti.select(before.dot(now) > 0.5 * now.norm_sqr(), before, now)


def _ball_limit():
    @ti.func
    def axes(x, p):
        """m_0, n_0, m_1, m_2, n_1 and the second frame's anchor."""
        a, b = triad(x, 0), triad(x, 1)
        m = [fixed_in(a, p, 0), fixed_in(a, p, 6), fixed_in(a, p, 9)]
        n = [fixed_in(b, p, 3), fixed_in(b, p, 12), fixed_in(b, p, 15)]
        return m[0], n[0], m[1], m[2], n[1], n[2]

    @ti.func
    def swing_beyond(of, p):
        """Sine and cosine of what the swing is beyond its limit."""
        cosine = of[0].dot(of[1])
        return beyond(ti.sqrt(ti.max(1.0 - cosine * cosine, 0.0)), cosine, p, 18)

    @ti.func
    def twist_beyond(of, p):
        """The same of the twist, and its sign."""
        cosine, sine = twist_parts(of[0], of[2], of[3], of[1], of[4])
        outside, inside = beyond(sine, cosine, p, 20)
        return outside, inside, ti.select(sine < 0.0, -1.0, 1.0)

    @ti.func
    def holds(x, p):
        of = axes(x, p)
        return of[0].dot(of[1]) >= p[18] and twist_beyond(of, p)[0] <= 0.0

    @ti.func
    def value(x, p):
        of = axes(x, p)
        swung, twisted = swing_beyond(of, p), twist_beyond(of, p)
        return ti.max(ti.atan2(swung[0], swung[1]), ti.atan2(twisted[0], twisted[1]), 0.0)

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        of = axes(x, p)
        swung, twisted = swing_beyond(of, p), twist_beyond(of, p)
        y = where_impulses_act(x, start, 2, from_start)
        of_y = axes(y, p)
        joint = joined(y, w, of_y[5])
        nothing = ti.Vector([0.0, 0.0, 0.0])
        both = [nothing, nothing, nothing, nothing]
        twist_now = twist_torque(of[0], of[1])
        twist_gained = 0.0  # by the swing's impulse
        if swung[0] > 0.0:
            now = swing_torque(of[0], of[1])
            # A swing that passed near the middle within the step has another axis than before.
            moves = response_at_joint(joint, w, unless_turned(swing_torque(of_y[0], of_y[1]), now))
            change = solved(ti.atan2(swung[0], swung[1]), effect(opposite(now), moves, 2))
            twist_gained = change * effect(opposite(twist_now), moves, 2)
            for k in ti.static(range(4)):
                both[k] += change * moves[k]
        if twisted[0] > 0.0:
            moves = response_at_joint(joint, w, unless_turned(twist_torque(of_y[0], of_y[1]), twist_now))
            C = ti.max(ti.atan2(twisted[0], twisted[1]) + twisted[2] * twist_gained, 0.0)
            change = solved(twisted[2] * C, effect(opposite(twist_now), moves, 2))
            for k in ti.static(range(4)):
                both[k] += change * moves[k]
        return moved(x, y, both, 1.0, 2), multiplier

    widths = ("swing_cosine", "swing_sine", "twist_cosine", "twist_sine")
    numbers = (*vectors("m0", "n0", "m1", "m2", "n1", "anchor"), *widths)
    return ConstraintType("ball limit", 8, numbers, project, value, is_satisfied=holds)


# Cone and twist of a ball joint. The parent's m_1 and m_2 are turned about m_0 to the middle of the twist's limits.
# Numbers: m_0, n_0, m_1, m_2, n_1, the child's anchor; cosine and sine of the swing's limit and of half the twist's
# width, (-1, 0) for none.
BALL_LIMIT = _ball_limit()


# Forces along a coordinate --------------------------------------------------------------------------------------------


@lru_cache
def force(coordinate):
    """A servo where its effort is above zero, else a spring, of compliance 1/k.

    Numbers: those of the coordinate, speed, position, rate [1/s], effort, damping c.
    """
    own = len(coordinate.numbers)
    speed, position, rate, effort, damping, last = range(own, own + 6)
    turns = coordinate.turns
    h = own + 5 + turns

    @ti.func
    def value(x, p):
        """What is stored in a spring."""
        q = coordinate.read(x, p)[0]
        if ti.static(turns):
            q = nearest_turn(q, p[last])
        return q - p[position]

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        q, gradient = coordinate.read(x, p)
        q_0 = coordinate.read(start, p)[0]
        if ti.static(turns):
            q = nearest_turn(q, p[last])
            q_0 = nearest_turn(q_0, q)
        # error + give λ = 0, as far as |λ| <= bound allows
        soft, give = softened(q - p[position], q - q_0, p[damping], p[h], compliance)
        approach = (p[position] - q_0) * p[h] * p[rate] / (1.0 + p[h] * p[rate])
        servo = p[effort] > 0.0
        error = ti.select(servo, q - q_0 - p[h] * p[speed] - approach, soft)
        give = ti.select(servo, 0.0, give)
        bound = ti.select(servo, p[effort] * p[h] * p[h], UNBOUNDED)
        y = where_impulses_act(x, start, 2, from_start)
        moves = coordinate.push(y, w, p)
        weight = effect(gradient, moves, 2)
        new = ti.min(ti.max(multiplier + solved(error + give * multiplier, weight + give), -bound), bound)
        return moved(x, y, moves, new - multiplier, 2), new, [q]

    name = "torque" if turns else "force"
    numbers = (*coordinate.numbers, "speed", "position", "rate", "effort", "damping", *(("last",) if turns else ()))
    compliant = ConstraintType(name, 8, numbers, project, value, compliance=True, needs_time=True, state_size=int(turns))
    return ConstraintType(name, 8, numbers, project, value, compliant=compliant, needs_time=True, state_size=int(turns))


@ti.func
def softened(C, C_since, damping, h, compliance):
    """Error and give of λ = -(k h² C + c h C_since), k h² = 1/α'. Arguments: C, and its change since the start."""
    give = 1.0 / (1.0 / compliance + damping * h)
    return give * (C / compliance + damping * h * C_since), give


@ti.func
def damped_stick(x, start, w, p, compliance, multiplier, from_start: ti.template()):
    """Projection of a spring between two particles along the line between them. Numbers: length, damping; then h."""
    between, earlier = x[1] - x[0], start[1] - start[0]
    distance, distance_before = between.norm() + TINY, earlier.norm() + TINY
    normal = between / distance
    along = normal
    if ti.static(from_start):
        if between.dot(earlier) > 0.5 * distance * distance_before:
            along = earlier / distance_before
    error, give = softened(distance - p[0], distance - distance_before, p[1], p[2], compliance)
    change = -(error + give * multiplier) / ((w[0] + w[1]) * normal.dot(along) + give)
    return [x[0] - (w[0] * change) * along, x[1] + (w[1] * change) * along], multiplier + change


@ti.func
def damped_stick_value(x, p):
    """What a spring between two particles is longer than at rest [m]."""
    return (x[1] - x[0]).norm() - p[0]


DAMPED_STICK = ConstraintType(
    "damped spring", 2, ("length", "damping"), damped_stick, damped_stick_value, needs_time=True,
    compliant=ConstraintType(
        "damped spring", 2, ("length", "damping"), damped_stick, damped_stick_value, compliance=True, needs_time=True
    ),
)  # fmt: skip
