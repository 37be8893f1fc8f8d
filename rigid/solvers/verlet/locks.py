"""Kinds of constraint between frames that are no force along one coordinate: what sliders and universal joints lock,
what acts about all axes of a ball, and gears. Who acts on what, and how, is in rigid/solvers/verlet/relative_rotation.py and joint_types.py.
"""

from dataclasses import replace
from functools import lru_cache

import taichi as ti

from pbd.constraints.constraint_type import TINY, ConstraintType, scalar_constraint
from pbd.constraints.volume import volume
from rigid.solvers.verlet.joint_types import UNBOUNDED, row, softened, solved, vectors
from rigid.solvers.verlet.relative_rotation import (
    effect,
    fixed_in,
    inverse_inertia,
    joined,
    lightness_at_joint,
    moved,
    nearest_turn,
    opposite,
    response,
    response_at_joint,
    shift,
    sides,
    solve,
    times,
    triad,
    turned_since,
    where_impulses_act,
)


@ti.func
def half_turn(x, p):
    """½ Σ m_i × n_i, which is sin φ times the axis of the rotation by φ from triad m to triad n; and 1 + 2 cos φ."""
    a, b = triad(x, 0), triad(x, 1)
    across, along = ti.Vector([0.0, 0.0, 0.0]), 0.0
    for k in ti.static(range(3)):
        m, n = fixed_in(a, p, 3 * k), fixed_in(b, p, 9 + 3 * k)
        across += 0.5 * m.cross(n)
        along += m.dot(n)
    return across, along


@ti.func
def rotation_vector(x, p):
    """Rotation vector from triad m to triad n [rad]; zero, for want of an axis, where it is half a turn."""
    across, along = half_turn(x, p)
    sine = across.norm()
    return (ti.atan2(sine, 0.5 * (along - 1.0)) / (sine + TINY)) * across


# Locks ----------------------------------------------------------------------------------------------------------------


def _right_handed():
    at_least = scalar_constraint("right-handed", 4, ("volume",), volume, "at_least")

    @ti.func
    def holds(x, p):
        return (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0])) >= 6.0 * p[0]

    return replace(at_least, is_satisfied=holds, compliant=None)


# Keeps a frame from turning inside out: its mirror image has the same sticks. What meets a limit at speed with five
# sweeps a step did so. Numbers: the least volume [m³].
RIGHT_HANDED = _right_handed()


@ti.func
def right_angle(x, p):
    """C = m_0·n_1, t = n_1 × m_0. Numbers: m_0, n_1."""
    m_0, n_1 = fixed_in(triad(x, 0), p, 0), fixed_in(triad(x, 1), p, 3)
    return m_0.dot(n_1), opposite(n_1.cross(m_0))


def _right_angle():
    @ti.func
    def value(x, p):
        return right_angle(x, p)[0]

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        C, gradient = right_angle(x, p)
        y = where_impulses_act(x, start, 2, from_start)
        joint = joined(y, w, fixed_in(triad(y, 1), p, 6))
        return row(x, y, C, gradient, response_at_joint(joint, w, right_angle(y, p)[1][3])), multiplier

    numbers = vectors("m0", "n1", "anchor")
    return ConstraintType("right angle", 8, numbers, project, value)


# The axes of a universal joint: the parent's m_0 and the child's n_1 stay at a right angle [rad, nearly].
RIGHT_ANGLE = _right_angle()


def _slider():
    @ti.func
    def across(x, p, axis: ti.template()):
        """Shift along the parent's m_axis, which is to be none."""
        return shift(x, [p[3 * axis + k] if ti.static(k < 3) else p[15 + k] for k in ti.static(range(9))])

    @ti.func
    def value(x, p):
        turn = half_turn(x, p)[0]
        first = across(x, p, 1)[0]
        second = across(x, p, 2)[0]
        return ti.max(turn.norm(), ti.sqrt(first * first + second * second))

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        y = where_impulses_act(x, start, 2, from_start)
        K_1, K_2 = inverse_inertia(sides(y, 0), w[0]), inverse_inertia(sides(y, 1), w[4])
        impulse = solve([K_1[k] + K_2[k] for k in ti.static(range(3))], half_turn(x, p)[0])
        nothing = 0.0 * impulse
        straight = moved(x, y, [nothing, times(K_1, impulse), nothing, -times(K_2, impulse)], 1.0, 2)
        C_1, gradient_1 = across(straight, p, 1)
        nearer = row(straight, y, C_1, gradient_1, response(y, w, across(y, p, 1)[1]))
        C_2, gradient_2 = across(nearer, p, 2)
        return row(nearer, y, C_2, gradient_2, response(y, w, across(y, p, 2)[1])), multiplier

    names = vectors("m0", "m1", "m2", "n0", "n1", "n2", "anchor_1", "anchor_2")
    return ConstraintType("slider", 8, names, project, value)


# A slider: no turn between the triads m and n, and the child's anchor on the parent's line, in that order [rad or m,
# whichever is worse]. Numbers: both triads, both anchors from their frames' centres.
SLIDER = _slider()


# About all axes of a ball joint ---------------------------------------------------------------------------------------
# λ is a vector: it stands in the kind's memory, and the one number that the system keeps, and sets to zero before the
# first sweep, only says whether it is of this substep.


def _ball_force():
    anchor, effort, damping, impulse, h = 18, 21, 22, 23, 26

    @ti.func
    def value(x, p):
        return rotation_vector(x, p).norm()

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        y = where_impulses_act(x, start, 2, from_start)
        joint = joined(y, w, fixed_in(triad(y, 1), p, anchor))
        light = lightness_at_joint(joint)
        before = multiplier * ti.Vector([p[impulse], p[impulse + 1], p[impulse + 2]])
        since = turned_since(x, start, 1) - turned_since(x, start, 0)
        soft, give = softened(rotation_vector(x, p), since, p[damping], p[h], compliance)
        rubs = p[effort] > 0.0
        error = ti.select(rubs, since, soft)
        give = ti.select(rubs, 0.0, give)
        bound = ti.select(rubs, p[effort] * p[h] * p[h], UNBOUNDED)
        soft_columns = [
            light[0] + ti.Vector([give, 0.0, 0.0]),
            light[1] + ti.Vector([0.0, give, 0.0]),
            light[2] + ti.Vector([0.0, 0.0, give]),
        ]
        new = before - solve(soft_columns, error + give * before)
        new *= ti.min(1.0, bound / (new.norm() + TINY))
        moves = response_at_joint(joint, w, new - before)
        return moved(x, y, moves, 1.0, 2), 1.0, new

    numbers = (*vectors("m0", "m1", "m2", "n0", "n1", "n2", "anchor"), "effort", "damping", *vectors("impulse"))
    compliant = ConstraintType("ball torque", 8, numbers, project, value, compliance=True, needs_time=True, state_size=3)
    return ConstraintType("ball torque", 8, numbers, project, value, compliant=compliant, needs_time=True, state_size=3)


# A torque about all axes: friction where its effort τ is above zero, |λ| <= τ h² against the relative angular velocity;
# else a spring, torque -k φ - c ω with φ the rotation vector since time zero, of compliance 1/k. Numbers: the parent's
# triad and the child's, equal at time zero; the child's anchor; effort [N m]; damping c.
BALL_FORCE = _ball_force()


# Gears ----------------------------------------------------------------------------------------------------------------


@lru_cache
def gear(a, b, frames):
    """q_b = ratio q_a, both counted on past full turns, so that no error of a ratio adds up.

    Arguments: a, b: Coordinates; frames: which frame of the constraint is parent and child of a, parent and child of b.
    Numbers: those of a, those of b, ratio; then the last angles.
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
        """What frames do in both joints: b's share less ratio times a's."""
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
            q_a = nearest_turn(q_a, p[ratio + 1])
        if ti.static(b.turns):
            q_b = nearest_turn(q_b, p[ratio + 2])
        return q_a, q_b, together(gradient_a, gradient_b, p)

    @ti.func
    def value(x, p):
        of_both = read(x, p)
        return of_both[1] - p[ratio] * of_both[0]

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        q_a, q_b, gradient = read(x, p)
        y = where_impulses_act(x, start, count, from_start)
        moves = together(a.push(of_a(y), of_a(w), p), b.push(of_b(y), of_b(w), numbers_of_b(p)), p)
        weight = effect(gradient, moves, count)
        return moved(x, y, moves, solved(q_b - p[ratio] * q_a, weight), count), multiplier, [q_a, q_b]

    numbers = (*(f"a_{name}" for name in a.numbers), *(f"b_{name}" for name in b.numbers), "ratio", "last_a", "last_b")
    return ConstraintType("gear", 4 * count, numbers, project, value, state_size=2)
