"""The choice of how many worlds lie in the lanes of a vector."""

import math

from pbd.core.kernels import runtime
from pbd.core.kernels.mode import KERNELS
from pbd.core.messages import shown
from pbd.core.validate import whole

# Time of a step of as many worlds as there are lanes, in that of one world: the mean of figures of particles in 32 bits
# (1.4, 1.4, 1.7) and in 64 (1.4, 1.7, 2.4), with AVX-512.
COSTS = {1: 1.0, 4: 1.4, 8: 1.6, 16: 2.0}


def choose_lanes(wanted, worlds, reason, threads=None, costs=None):
    """Choose how many worlds lie in the lanes of a vector.

    Args: wanted: the user's number, or None for the fastest; worlds: how many; reason: why the system does not run in
    lanes, or ""; threads: how many share the groups of lanes, None for Taichi's; costs: as COSTS, None for these.

    Returns: a number; 1 for no lanes.

    Raises: ValueError for a number that is none of COSTS, or where there is a reason against lanes.
    """
    if KERNELS != "quick":
        reason = f"{KERNELS} kernels"
    if wanted is not None:
        if whole("lanes", wanted) not in COSTS:
            raise ValueError(f"lanes is {shown(wanted)}: expected one of {tuple(COSTS)}")
        if wanted > 1 and reason:
            raise ValueError(f"lanes is {wanted} with {reason}: expected lanes=1")
        return wanted
    if reason:
        return 1
    threads, costs = threads or runtime.threads(), costs or COSTS
    return min(costs, key=lambda lanes: costs[lanes] * math.ceil(math.ceil(worlds / lanes) / threads))
