"""Coordinates, speeds and poses that agree, after a state is set."""

from functools import cache

import taichi as ti

from pbd.core.kernels import make_kernel
from rigid.solvers.articulated.data import Data
from rigid.solvers.articulated.dynamics import inward_pass, outward_pass
from rigid.solvers.articulated.joint_forces import store_starts
from rigid.solvers.articulated.kinematics import compute_poses


@cache
def settle_kernel(features):
    """Make the kernel that computes poses from the coordinates, and the speeds nearest to the velocities."""

    @ti.func
    def settle(s: ti.template()):
        for world in range(s.report.shape[0]):
            compute_poses(s, world)
            store_starts(s, world)
            inward_pass(s, world)
            outward_pass(s, world)

    return make_kernel(settle, Data, features=features, formulation=None, find_points=None)
