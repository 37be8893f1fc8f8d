"""Position correction by pseudo-velocities: its start and its limit."""

import taichi as ti

from rigid.kernels.motion import PSEUDO, VELOCITY, clear_pseudo_velocity
from rigid.kernels.vectors import load_vector
from rigid.solvers.sequential.prepare import prepare_correction
from rigid.solvers.sequential.sleep import group_sleeps

# Position correction turns a body by this much in a substep at most [rad].
LARGEST_CORRECTION = 0.1


@ti.func
def prepare_corrections(s: ti.template(), groups, world):
    """Find what all groups demand of the pseudo-velocities, and clear these. Returns: the largest, see statistics()."""
    for body in range(s.bodies.pose.shape[1] - 1):
        clear_pseudo_velocity(s.bodies, body, world)
    bias = 0.0
    for group in range(groups):
        if not group_sleeps(s, group, world):
            bias = ti.max(bias, prepare_correction(s, group, world))
    return bias


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
