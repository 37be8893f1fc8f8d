"""The choice of lanes of a system: none, or worlds or bands in some number of lanes (pbd/core/kernels/lanes)."""

from pbd.core.kernels import KERNELS, choose_lanes, on_cpu, real_bits
from pbd.core.shapes import GRID

# How many bands a cloth is cut into (bands.py), in the order in which numbers are tried: what vectors of 512 bits hold,
# or half of that. Bits depend on it, so it does not depend on the processor.
NUMBERS_OF_BANDS = {32: (16, 8), 64: (8, 4)}

# Time of a step of as many rods as there are lanes, in that of one: 2,000 strands of 20 segments, 64 bits, AVX-512. 16
# lanes gain 7 % on 8, and take longer to compile.
COSTS_OF_RODS = {1: 1.0, 4: 1.6, 8: 2.6}


def numbers_of_bands(description, solved):
    """Into how many bands a description may be cut.

    Args: description: a Particles; solved: how many rows and particles are solved together.
    """
    fits = on_cpu() and KERNELS == "quick" and not solved and not why_no_surfaces_in_lanes(description)
    return NUMBERS_OF_BANDS[real_bits()] if fits else ()


def lanes_of(wanted, worlds, description, schedule, together):
    """Choose what lies in lanes: bands of each world if the schedule has them, otherwise worlds.

    Args: wanted, worlds: see `choose_lanes`; description: a Particles; schedule: a Schedule; together: whether elements
    are solved together, as rods are.

    Returns: how many lanes, and the pbd.execution.bands.Bands in them; None for worlds.
    """
    bands = schedule.bands
    if bands and wanted in (None, bands.lanes):
        return bands.lanes, bands
    costs = COSTS_OF_RODS if together else None
    return choose_lanes(wanted, worlds, why_no_lanes(description, schedule), costs=costs), None


def counts_in_lanes(counts, lanes, bands, strands, arrays):
    """Counts for kernels in lanes.

    Args: counts: without; lanes; bands: a Bands, or strands: a Strands, None for worlds; arrays: a Data.
    """
    if strands is not None:
        rows = arrays.constraints.multipliers.lanes.rows
        each = {"particles": strands.particles, "multipliers": rows, "implicit": len(strands.implicit),
                "kinematic": len(strands.moving)}  # fmt: skip
        return counts._replace(worlds=-(-strands.count // lanes), **each)
    if bands is None:
        return counts._replace(worlds=-(-counts.worlds // lanes))
    rows = arrays.constraints.multipliers.lanes.rows if counts.multipliers else 0
    return counts._replace(particles=bands.length, multipliers=rows, halo=len(bands.halo))


def why_no_lanes(description, schedule):
    """Why a system runs one world at a time, in words; "" if worlds can lie in lanes.

    Args: description: a Particles; schedule: a Schedule.
    """
    if not on_cpu():
        return "a graphics card"
    if not schedule.is_one_cluster:
        return "a world on several threads"
    if description.particle_contacts is not None:
        return "contacts between particles"
    if description.surfaces:
        return "contacts of surfaces"
    if description.membranes or description.solids or description.gases:
        return "membranes, solids or gases"
    return why_no_surfaces_in_lanes(description)


def why_no_surfaces_in_lanes(description):
    """Why lanes do not do the surfaces of a description, in words; "" if they do. Args: description: a Particles."""
    if description.colliders and len(description.contact_elements()[0]):
        return "contact elements"
    if any(collider.shape.kind == GRID for collider in description.colliders):
        return "a mesh as a collider"
    return ""
