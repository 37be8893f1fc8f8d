"""The midpoint rule for the rotation of a free body."""

import taichi as ti

from pbd.core.quaternions import exponential, rotate, rotate_back
from pbd.core.vectors import axis
from rigid.kernels.matrices import multiply_symmetric
from rigid.kernels.motion import MASS

# Newton's method for ω ends at this part of |I ω|, or after so many iterations; above the second part it has failed.
TOLERANCE, FAILED, MOST_ITERATIONS = 1e-12, 1e-4, 8


@ti.func
def solve_midpoint(bodies: ti.template(), body, q, momentum, h, world):
    """Solve exp(h ω/2) I ω = L for ω, with the inertia at a rotation, by Newton's method.

    Args: q: the rotation, a quaternion; momentum: I⁻¹ L. Returns: ω, and whether it was found.
    """
    w = rotate_back(q, momentum)
    L = multiply_symmetric(bodies.mass, body, MASS.inertia, w, world)
    made, error = 0, ti.math.inf
    while made < MOST_ITERATIONS and error > TOLERANCE * L.norm():
        turn = exponential(0.5 * h * w)
        now = rotate(turn, multiply_symmetric(bodies.mass, body, MASS.inertia, w, world))
        error = (now - L).norm()
        columns = [ti.Vector([0.0, 0.0, 0.0]) for _ in ti.static(range(3))]
        for k in ti.static(range(3)):
            along = rotate(turn, multiply_symmetric(bodies.mass, body, MASS.inertia, axis(k), world))
            columns[k] = along + 0.5 * h * axis(k).cross(now)
        bc, ca, ab = columns[1].cross(columns[2]), columns[2].cross(columns[0]), columns[0].cross(columns[1])
        w -= ti.Vector([bc.dot(now - L), ca.dot(now - L), ab.dot(now - L)]) / columns[0].dot(bc)
        made += 1
    return rotate(q, w), error <= FAILED * L.norm()
