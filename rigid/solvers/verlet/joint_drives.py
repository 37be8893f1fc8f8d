"""Constraint types for drives of joints: friction, motors, springs and rotors.

In the equations q is a coordinate at the end of the substep, q_0 at its start, h the substep and λ the impulse on
positions [effort times s²], accumulated over the iterations:

    servo     q = q_0 + h speed + h gain (position - q_0)/(1 + h gain),  |λ| <= effort h²
    spring    λ = -(k h² (q - position) + c h (q - q_0 - h speed)),  |λ| <= -effort h² if effort < 0: a compliant motor
    rotor     λ = -a (q - q_0 - h u),  and u := u - λ/(a h) after the substep

A servo with speed and gain zero is friction. With gain zero it is a motor that keeps a speed. With speed zero it
approaches a position, at a speed of gain times the distance, by implicit Euler. A spring is implicit Euler's for any k,
c and h, with the Verlet difference in place of x'' (Macklin, Müller, Chentanez 2016, eq. 26, with β = c; written so
that k may be zero).

A rotor has the armature a of a joint (rigid/constraints/joints/rotors.py). Its speed u is (q - q_0)/h of the substep
before, so that λ is a Verlet difference of second order, and a rotor has momentum whatever the iterations leave.

A servo without a bound needs no λ and no compliance. It is an equality, and may be solved directly (pbd/direct).
"""

from functools import cache

import taichi as ti

from pbd.constraints.constraint_type import TINY, ConstraintType
from pbd.core.vectors import length_or_huge
from rigid.solvers.verlet.joint_coordinates import rotation_vector, unwrap_angle, vectors
from rigid.solvers.verlet.relative_rotation import (
    axes_of,
    change_along,
    corner_gradients,
    fixed_vector,
    frame_axes,
    impulse_pose,
    joint_system,
    jointed_response,
    move_corners,
    multiplier_change,
    relative_compliance,
    rotation_since,
    solve_symmetric,
)

# No bound on an impulse; its square is still a number in 32 bits.
UNBOUNDED = 1e18


@ti.func
def soft_constraint(C, C_since, damping, h, compliance):
    """Error and compliance of λ = -(k h² C + c h C_since), with k h² = 1/α'.

    Args: C; C_since: its change since the start; damping: c; compliance: α'.
    """
    softness = 1.0 / (1.0 / compliance + damping * h)
    return softness * (C / compliance + damping * h * C_since), softness


@cache
def coordinate_drive(coordinate):
    """Constraint type for a drive along a coordinate: a servo if its effort is above zero, else a spring of compliance
    1/k.

    Numbers: those of the coordinate, speed, position, position gain [1/s], effort, damping c, the largest speed towards
    the position; for an angle also its last value.
    """
    own = len(coordinate.numbers)
    speed, position, gain, effort, damping, most_speed, last = range(own, own + 7)
    turns = coordinate.turns
    h = own + 6 + turns

    @ti.func
    def value(x, p):
        """Extension of the spring."""
        q = coordinate.read(x, p)[0]
        if ti.static(turns):
            q = unwrap_angle(q, p[last])
        return q - p[position]

    @ti.func
    def read(x, start, p):
        """q, its gradient, q_0 and the error of a servo."""
        q, gradient = coordinate.read(x, p)
        q_0 = coordinate.read(start, p)[0]
        if ti.static(turns):
            q = unwrap_angle(q, p[last])
            q_0 = unwrap_angle(q_0, q)
        approach = (p[position] - q_0) * p[h] * p[gain] / (1.0 + p[h] * p[gain])
        approach = ti.min(ti.max(approach, -p[h] * p[most_speed]), p[h] * p[most_speed])
        return q, gradient, q_0, q - q_0 - p[h] * p[speed] - approach

    @ti.func
    def function(x, start, p):
        """A servo without a bound."""
        q, gradient, _, error = read(x, start, p)
        return error, corner_gradients(x, axes_of(x, 2), gradient, 2), [q]

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        q, gradient, q_0, off = read(x, start, p)
        # error + softness λ = 0, as far as |λ| <= bound allows
        since = q - q_0 - p[h] * p[speed]
        soft, softness = soft_constraint(q - p[position], since, p[damping], p[h], ti.max(compliance, TINY))
        servo = p[effort] > 0.0
        error = ti.select(servo, off, soft)
        softness = ti.select(servo, 0.0, softness)
        bound = ti.select(p[effort] == 0.0, UNBOUNDED, ti.abs(p[effort]) * p[h] * p[h])
        y = impulse_pose(x, start, 2, from_start)
        moves = coordinate.respond(y, w, p)
        weight = change_along(gradient, moves, 2)
        change = multiplier_change(error + softness * multiplier, weight + softness)
        new = ti.min(ti.max(multiplier + change, -bound), bound)
        return move_corners(x, y, moves, new - multiplier, 2), new, [q]

    name = "torque" if turns else "force"
    drive = "speed", "position", "gain", "effort", "damping", "most_speed"
    numbers = (*coordinate.numbers, *drive, *(("last",) if turns else ()))
    given = {"needs_time": True, "state_size": int(turns)}
    compliant = ConstraintType(name, 8, numbers, project, value, compliance=True, **given)
    return ConstraintType(name, 8, numbers, project, value, compliant=compliant, function=function, **given)


@cache
def rotor_drive(coordinate):
    """Constraint type for the rotor of a coordinate. The scalar λ that the system accumulates, and resets in each
    substep, only says whether the impulse is of this substep.

    Numbers: those of the coordinate, armature a, the impulse λ, the rotor's speed in this substep and in the next one;
    for an angle also its last value.
    """
    own = len(coordinate.numbers)
    armature, impulse, speed, next_speed, last = range(own, own + 5)
    turns = coordinate.turns
    h = own + 4 + turns

    @ti.func
    def value(x, p):
        return 0.0  # a rotor stores no potential energy

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        q, gradient = coordinate.read(x, p)
        q_0 = coordinate.read(start, p)[0]
        if ti.static(turns):
            q = unwrap_angle(q, p[last])
            q_0 = unwrap_angle(q_0, q)
        begins = multiplier == 0.0
        u, before = ti.select(begins, p[next_speed], p[speed]), ti.select(begins, 0.0, p[impulse])
        softness = 1.0 / ti.max(p[armature], TINY)
        y = impulse_pose(x, start, 2, from_start)
        moves = coordinate.respond(y, w, p)
        error = q - q_0 - p[h] * u + softness * before
        change = multiplier_change(error, change_along(gradient, moves, 2) + softness)
        new = before + change
        return move_corners(x, y, moves, change, 2), 1.0, [new, u, u - softness * new / p[h], q]

    state = ("impulse", "speed", "next_speed", *(("last",) if turns else ()))
    given = "rotor torque" if turns else "rotor force", 8, (*coordinate.numbers, "armature", *state), project, value
    options = {"needs_time": True, "state_size": len(state)}
    return ConstraintType(*given, compliant=ConstraintType(*given, compliance=True, **options), **options)


def _ball_drive():
    anchor, effort, damping, impulse, h = 18, 21, 22, 23, 26

    @ti.func
    def value(x, p):
        return rotation_vector(x, p).norm()

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        y = impulse_pose(x, start, 2, from_start)
        joint = joint_system(y, w, fixed_vector(frame_axes(y, 1), p, anchor))
        light = relative_compliance(joint)
        before = multiplier * ti.Vector([p[impulse], p[impulse + 1], p[impulse + 2]])
        since = rotation_since(x, start, 1) - rotation_since(x, start, 0)
        soft, softness = soft_constraint(rotation_vector(x, p), since, p[damping], p[h], compliance)
        is_friction = p[effort] > 0.0
        error = ti.select(is_friction, since, soft)
        softness = ti.select(is_friction, 0.0, softness)
        bound = ti.select(is_friction, p[effort] * p[h] * p[h], UNBOUNDED)
        soft_columns = [
            light[0] + ti.Vector([softness, 0.0, 0.0]),
            light[1] + ti.Vector([0.0, softness, 0.0]),
            light[2] + ti.Vector([0.0, 0.0, softness]),
        ]
        new = before - solve_symmetric(soft_columns, error + softness * before)
        new *= ti.min(1.0, bound / (new.norm() + TINY))
        moves = jointed_response(joint, w, new - before)
        return move_corners(x, y, moves, 1.0, 2), 1.0, new

    numbers = (*vectors("m0", "m1", "m2", "n0", "n1", "n2", "anchor"), "effort", "damping", *vectors("impulse"))
    given = {"needs_time": True, "state_size": 3}
    compliant = ConstraintType("ball torque", 8, numbers, project, value, compliance=True, **given)
    return ConstraintType("ball torque", 8, numbers, project, value, compliant=compliant, **given)


# A drive about all axes of a ball joint. If its effort τ is above zero, it is friction: |λ| <= τ h² against the
# relative angular velocity. Otherwise it is a spring of compliance 1/k: torque -k φ - c ω, with φ the rotation since
# time zero. λ is a vector and one of the numbers that the constraint updates. The scalar λ that the system accumulates,
# and resets in each substep, only says whether the vector is of this substep. Numbers: the parent's axes and the
# child's, equal at time zero; the child's anchor; effort [N m]; damping c; the vector λ.
BALL_DRIVE = _ball_drive()


@ti.func
def damped_stick(x, start, w, p, compliance, multiplier, from_start: ti.template()):
    """Project a spring between two particles along the line between them.

    Numbers: length [m], damping; then h.
    """
    between, earlier = x[1] - x[0], start[1] - start[0]
    distance, distance_before = between.norm(), earlier.norm()
    normal = between / length_or_huge(between)
    along = normal
    if ti.static(from_start):
        if between.dot(earlier) > 0.5 * distance * distance_before:
            along = earlier / length_or_huge(earlier)
    error, softness = soft_constraint(distance - p[0], distance - distance_before, p[1], p[2], compliance)
    change = -(error + softness * multiplier) / ((w[0] + w[1]) * normal.dot(along) + softness)
    return [x[0] - (w[0] * change) * along, x[1] + (w[1] * change) * along], multiplier + change


@ti.func
def damped_stick_value(x, p):
    """Extension of a spring between two particles [m]."""
    return (x[1] - x[0]).norm() - p[0]


DAMPED_STICK = ConstraintType(
    "damped spring", 2, ("length", "damping"), damped_stick, damped_stick_value, needs_time=True,
    compliant=ConstraintType(
        "damped spring", 2, ("length", "damping"), damped_stick, damped_stick_value, compliance=True, needs_time=True
    ),
)  # fmt: skip
