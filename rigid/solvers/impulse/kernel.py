"""The kernel of a solver: which step it makes."""

from functools import cache

from pbd.core.kernels import left_out, make_kernel
from rigid.collision.narrow_phase import point_finder
from rigid.solvers.impulse import maximal, packs
from rigid.solvers.impulse.data import Data
from rigid.solvers.impulse.soft import advance_substep_soft
from rigid.solvers.impulse.step import advance_substep
from rigid.solvers.impulse.variational import advance_substep_variational
from rigid.solvers.sequential.prepare import scale_impulses
from rigid.solvers.substeps import over_worlds


@cache
def step_kernel(features):
    """Make the kernel for some features.

    Besides the data it takes substeps, iterations and a first world. Args: features.
    """
    advance = advance_substep
    if features.variational:
        advance = advance_substep_variational
    elif features.small_steps:
        advance = advance_substep_soft
    find_points = None
    if features.contacts:
        find_points = point_finder(features.pair_types, keeps=features.keeps_contacts)
    return make_kernel(
        over_worlds(advance, scale_impulses, features), Data, features.lanes, features.packs,
        features=features, formulation=packs if features.packs else maximal, find_points=find_points,
        **left_out(features),
    )  # fmt: skip
