"""Constraint type of a wheel that rolls on a plane: the rim touches it, and does not slip within the substep.

The hub is Σ c_k x_k over the corners of the wheel's frame, and the spin axis is a = Σ a_k x_k with Σ a_k = 0. As in
rigid/constraints/joints/wheel.py, with n the plane's normal and ρ the radius from the rim's lowest point to the hub:

    height  C = n·(hub - p_0) - r sqrt(1 - (n·a)²),  ∇_k = (c_k + r (n·a)/sqrt(1 - (n·a)²) a_k) n
    slip    the point of the rim that is lowest at the start of the substep moves along n alone:
            E - n nᵀ times Σ b_k (x_k - x_k at the start) = 0, with hub - ρ = Σ b_k x_k at the start

Slip has the rows of the start, as impulses have them. The impulses act on the corners, whose shape the sticks restore.
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY, ConstraintType, scalar_constraint

# Where the numbers of a wheel begin: weights of the hub, of the axes n0 (spin), n1 and n2; the plane; the radius.
HUB, SPIN, NORMAL, OFFSET, RADIUS = 0, 4, 16, 19, 20


@ti.func
def combined(x, p, first: ti.template()):
    """Σ p_k x_k over the corners (3,). Args: first: of the weights."""
    result = ti.Vector([0.0, 0.0, 0.0])
    for k in ti.static(range(4)):
        result += p[first + k] * x[k]
    return result


@ti.func
def height(x, p):
    """C and its gradient."""
    n = ti.Vector([p[NORMAL], p[NORMAL + 1], p[NORMAL + 2]])
    along = n.dot(combined(x, p, SPIN))
    sine = ti.sqrt(ti.max(1.0 - along * along, TINY))
    lever = p[RADIUS] * along / sine
    C = n.dot(combined(x, p, HUB)) - p[OFFSET] - p[RADIUS] * sine
    return C, [(p[HUB + k] + lever * p[SPIN + k]) * n for k in ti.static(range(4))]


@ti.func
def contact_weights(start, p):
    """The b_k of the rim's lowest point at the start, as corners (4,)."""
    n, a = ti.Vector([p[NORMAL], p[NORMAL + 1], p[NORMAL + 2]]), combined(start, p, SPIN)
    rho = n - n.dot(a) * a
    rho *= p[RADIUS] / (rho.norm() + TINY)
    along_1, along_2 = rho.dot(combined(start, p, SPIN + 4)), rho.dot(combined(start, p, SPIN + 8))
    return [p[HUB + k] - along_1 * p[SPIN + 4 + k] - along_2 * p[SPIN + 8 + k] for k in ti.static(range(4))]


def _rolling_wheel():
    letters = [f"{name}_{k}" for name in ("hub", "n0", "n1", "n2") for k in range(4)]
    numbers = (*letters, "normal_x", "normal_y", "normal_z", "offset", "radius")
    rim = scalar_constraint("rim", 4, numbers, height)

    @ti.func
    def project(x, start, w, p, compliance, multiplier, from_start: ti.template()):
        on_plane, _ = rim.project(x, start, w, p, 0.0, 0.0, from_start)
        b, n = contact_weights(start, p), ti.Vector([p[NORMAL], p[NORMAL + 1], p[NORMAL + 2]])
        slip, weight = ti.Vector([0.0, 0.0, 0.0]), TINY
        for k in ti.static(range(4)):
            slip += b[k] * (on_plane[k] - start[k])
            weight += w[k] * b[k] * b[k]
        slip -= n.dot(slip) * n
        return [on_plane[k] - (w[k] * b[k] / weight) * slip for k in ti.static(range(4))], multiplier

    return ConstraintType("rolling wheel", 4, numbers, project, rim.value)


# Numbers: weights c_k of the hub, and of the axes n0, n1, n2; the plane's normal and distance from the origin [m]; the
# radius [m].
ROLLING_WHEEL = _rolling_wheel()
