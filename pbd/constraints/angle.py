"""Angle limit at a vertex, as a bound on the dot product of its two unit arms.

    C = cos θ_limit - u·v,   u = (x1 - x0)/|x1 - x0|,   v = (x2 - x0)/|x2 - x0|

θ >= minimum is C >= 0, θ <= maximum is C <= 0. With a = |x1 - x0|, b = |x2 - x0|:
∇_1 C = -(v - (u·v) u)/a,  ∇_2 C = -(u - (u·v) v)/b,  ∇_0 C = -∇_1 C - ∇_2 C.

Source: Jakobsen (2001), section 6, whose dot product is of the arms themselves; with unit arms the limit is an angle
whatever the arms' lengths. The gradient vanishes where the arms are exactly in line: there the limit does nothing until
something else moves a particle aside. The other two forms of the source are a one-sided stick between x1 and x2
(stick.py) and a plane (plane.py).

Parameters: the cosine of the limit. Particles: (vertex, first, second).
"""

import taichi as ti

from pbd.constraints.kind import TINY, scalar_constraint


@ti.func
def angle(x, parameters):
    """C = cos θ_limit - cos θ and its gradient."""
    first, second = x[1] - x[0], x[2] - x[0]
    a, b = first.norm() + TINY, second.norm() + TINY
    u, v = first / a, second / b
    cosine = u.dot(v)
    gradient_1 = -(v - cosine * u) / a
    gradient_2 = -(u - cosine * v) / b
    return parameters[0] - cosine, [-gradient_1 - gradient_2, gradient_1, gradient_2]


ANGLE_AT_LEAST = scalar_constraint("angle at least", 3, ("cosine",), angle, "at_least")
ANGLE_AT_MOST = scalar_constraint("angle at most", 3, ("cosine",), angle, "at_most")
