"""Constraint types of a wheel that rolls on a plane: the rim touches it, and does not slip within the substep.

The hub is Σ c_k x_k over the corners of the wheel's frame, and the spin axis is a = Σ a_k x_k with Σ a_k = 0. As in
rigid/constraints/joints/wheel.py, with n the plane's normal, t a direction along it, and ρ the radius from the rim's
lowest point to the hub:

    height  C = n·(hub - p_0) - r sqrt(1 - (n·a)²),  ∇_k = (c_k + r (n·a)/sqrt(1 - (n·a)²) a_k) n
    slip    C = t·Σ b_k (x_k - x_k at the start),    ∇_k = b_k t,  with hub - ρ = Σ b_k x_k in the middle

The point of the rim that is lowest in the middle of the substep has the same place at its start and its end, to second
order. The point that is lowest at the start has not: where a rolling wheel turns, it accelerates sideways. Impulses act
at the start of the substep, along the b_k of the start. So the scheme is the same if time is reversed, and of second
order. The impulses act on the corners, whose shape the sticks restore.
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY, ConstraintType, scalar_constraint
from pbd.core.vectors import length_or_huge

# Where numbers of both types begin: weights of the hub and of the spin axis n0.
HUB, SPIN = 0, 4
# Then of the rim: the plane's normal and its distance from the origin; the radius.
RIM_NORMAL, RIM_OFFSET, RIM_RADIUS = 8, 11, 12
# Of slip: weights of the axes n1 and n2; the plane's normal; the radius; the direction.
ACROSS, NORMAL, RADIUS, DIRECTION = 8, 16, 19, 20


def weights(*names):
    """Names of four numbers for each vector."""
    return tuple(f"{name}_{k}" for name in names for k in range(4))


def directions(*names):
    """Names of three numbers for each vector."""
    return tuple(f"{name}_{axis}" for name in names for axis in "xyz")


@ti.func
def combined(x, p, first: ti.template()):
    """Σ p_k x_k over the corners (3,). Args: first: of the weights."""
    result = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(4)):
        result += p[first + k] * x[k]
    return result


@ti.func
def vector(p, first: ti.template()):
    """Three numbers from p[first] on (3,)."""
    return ti.Vector([p[first], p[first + 1], p[first + 2]])


@ti.func
def height(x, p):
    """C of the height and its gradient."""
    n = vector(p, RIM_NORMAL)
    along = n.dot(combined(x, p, SPIN))
    sine = ti.sqrt(ti.max(1.0 - along * along, TINY))
    lever = p[RIM_RADIUS] * along / sine
    C = n.dot(combined(x, p, HUB)) - p[RIM_OFFSET] - p[RIM_RADIUS] * sine
    return C, [(p[HUB + k] + lever * p[SPIN + k]) * n for k in ti.static(range(4))]


# Numbers: weights c_k of the hub and of the axis n0; the plane's normal and distance from the origin [m]; the radius
# [m].
RIM = scalar_constraint("rim", 4, (*weights("hub", "n0"), *directions("normal"), "offset", "radius"), height)


@ti.func
def contact_weights(x, p):
    """The b_k of the rim's lowest point, with the corners at x (4,).

    Between two poses the axes n1 and n2 are shorter than one, cos(θ/2) for a turn θ. So is the part of ρ along them,
    and the hub moves by r sin θ: as much as the angular momentum Σ m x* × (x - x*) has it.
    """
    n, a = vector(p, NORMAL), combined(x, p, SPIN)
    rho = n - n.dot(a) * a
    rho *= p[RADIUS] / length_or_huge(rho)
    along_1, along_2 = rho.dot(combined(x, p, ACROSS)), rho.dot(combined(x, p, ACROSS + 4))
    return [p[HUB + k] - along_1 * p[ACROSS + k] - along_2 * p[ACROSS + 4 + k] for k in ti.static(range(4))]


def _no_slip():
    @ti.func
    def value(x, p):
        return 0.0

    @ti.func
    def function(x, start, p):
        b, t = contact_weights([0.5 * (start[k] + x[k]) for k in ti.static(range(4))], p), vector(p, DIRECTION)
        C = 0.0
        for k in ti.static(range(4)):
            C += b[k] * t.dot(x[k] - start[k])
        return C, [b[k] * t for k in ti.static(range(4))]

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        C, gradient = function(x, start, p)
        along, weight = function(start, start, p)[1], TINY
        for k in ti.static(range(4)):
            weight += w[k] * gradient[k].dot(along[k])
        return [x[k] - (w[k] * C / weight) * along[k] for k in ti.static(range(4))], multiplier

    numbers = (*weights("hub", "n0", "n1", "n2"), *directions("normal"), "radius", *directions("tangent"))
    return ConstraintType("no slip", 4, numbers, project, value, function=function, needs_time=True)


# Numbers: weights c_k of the hub, and of the axes n0, n1, n2; the plane's normal; the radius [m]; a direction along the
# plane.
NO_SLIP = _no_slip()
