"""Angle limit at a vertex: a bound on the dot product of its two unit arms.

    u·v <= cos θ_limit as C = θ - θ_limit >= 0,   u = (x1 - x0)/|x1 - x0|,   v = (x2 - x0)/|x2 - x0|

and with the opposite sign for a largest angle. With a = |x1 - x0|, b = |x2 - x0| and θ = atan2(|u × v|, u·v):
∇_1 C = -(v - (u·v) u)/(a sin θ),  ∇_2 C = -(u - (u·v) v)/(b sin θ),  ∇_0 C = -∇_1 C - ∇_2 C.

Source: Jakobsen (2001), section 6, with two departures. The arms have unit length, so that the limit is an angle for
arms of any length. And C is the angle instead of the dot product: the slope sin θ of the dot product vanishes where the
arms are in line, so one projection of nearly folded arms would move them far too much. If the arms are exactly in line,
the direction is undefined, and the limit does nothing. The other two forms of the source are a one-sided stick between
x1 and x2 (stick.py) and a plane (plane.py).

Parameters: the limit [rad]. Particles: (vertex, first, second).
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY, scalar_constraint
from pbd.core.vectors import length_or_huge


@ti.func
def angle(x, parameters):
    """C = θ - θ_limit and its gradient."""
    first, second = x[1] - x[0], x[2] - x[0]
    a, b = length_or_huge(first), length_or_huge(second)
    u, v = first / a, second / b
    cosine, sine = u.dot(v), u.cross(v).norm()
    gradient_1 = -(v - cosine * u) / (a * sine + TINY)
    gradient_2 = -(u - cosine * v) / (b * sine + TINY)
    return ti.atan2(sine, cosine) - parameters[0], [-gradient_1 - gradient_2, gradient_1, gradient_2]


ANGLE_AT_LEAST = scalar_constraint("angle at least", 3, ("limit",), angle, "at_least")
ANGLE_AT_MOST = scalar_constraint("angle at most", 3, ("limit",), angle, "at_most")
