"""Which systems run with worlds in lanes (pbd/core/lanes), and in how many."""

from pbd.core.messages import shown
from pbd.core.runtime import on_cpu
from pbd.core.shapes import GRID
from pbd.core.validate import whole

# More lanes than a processor's registers have let it work on one part while it waits for another. A figure of
# particles in 64 bits makes 2.8 times the steps of scalar code in 4 lanes, 4.7 in 8, 6.7 in 16 (AVX-512).
NUMBERS_OF_LANES = (1, 4, 8, 16)
FEWEST_WORLDS = 4


def choose_lanes(wanted, worlds, reason):
    """Choose how many worlds lie in the lanes of a vector.

    Args: wanted: the user's number, or None; worlds: how many; reason: why the system does not run in lanes, or "".

    Returns: a number; 1 for no lanes.

    Raises: ValueError for a number that is none of NUMBERS_OF_LANES, or where there is a reason against lanes.
    """
    if wanted is not None:
        if whole("lanes", wanted) not in NUMBERS_OF_LANES:
            raise ValueError(f"lanes is {shown(wanted)}: expected one of {NUMBERS_OF_LANES}")
        if wanted > 1 and reason:
            raise ValueError(f"lanes is {wanted} with {reason}: expected lanes=1")
        return wanted
    if reason or worlds < FEWEST_WORLDS:
        return 1
    return next((lanes for lanes in NUMBERS_OF_LANES[1:] if lanes >= worlds), NUMBERS_OF_LANES[-1])


def why_no_lanes(description, schedule, plan):
    """Why a system runs one world at a time, in words; "" if worlds can lie in lanes.

    Args: description: a Particles; schedule: a Schedule; plan: a pbd.direct.rows.Plan.
    """
    if not on_cpu():
        return "a graphics card"
    if not schedule.is_one_cluster:
        return "a world on several threads"
    if len(plan.rows):
        return "a direct solve"
    if description.particle_contacts is not None:
        return "contacts between particles"
    if description.colliders and len(description.contact_elements()[0]):
        return "contact elements"
    if any(collider.shape.kind == GRID for collider in description.colliders):
        return "a mesh as a collider"
    return ""
