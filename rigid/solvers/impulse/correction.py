"""The limit of position correction by pseudo-velocities."""

import taichi as ti

from pbd.core.kernels import load_vector
from rigid.kernels.motion import PSEUDO, VELOCITY

# Position correction turns a body by this much in a substep at most [rad].
LARGEST_CORRECTION = 0.1


@ti.func
def limit_correction(s: ti.template(), world):
    """Scale all pseudo-velocities if one would turn a body by more than LARGEST_CORRECTION.

    Rows are linear in the rotation: a larger correction leads to larger errors, as far as it has converged at all.
    """
    largest = 0.0
    for body in range(s.bodies.pose.shape[1] - 1):
        turn = load_vector(s.bodies.velocity, body, VELOCITY.pseudo_angular, world).norm()
        largest = ti.max(largest, s.step.h * turn)
    if largest > LARGEST_CORRECTION:
        factor = LARGEST_CORRECTION / largest
        for body in range(s.bodies.pose.shape[1] - 1):
            for k in ti.static(range(PSEUDO, VELOCITY.total)):
                s.bodies.velocity[world, body, k] = factor * s.bodies.velocity[world, body, k]
