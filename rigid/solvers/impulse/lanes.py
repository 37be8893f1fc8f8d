"""Reasons against worlds in lanes (pbd/core/kernels/lanes)."""

from pbd.core.kernels import on_cpu

# As COSTS of pbd/core/kernels/lanes/choice.py: ragdolls that lie on a floor, in 32 bits, with AVX-512.
COSTS = {1: 1.0, 4: 1.9, 8: 2.1, 16: 2.7}


def why_no_lanes(options, pair_types):
    """Why a solver runs one world at a time, in words; "" if worlds can lie in lanes.

    Args: options: an ImpulseOptions; pair_types: a rigid.collision.data.PairTypes, or None if nothing can touch.
    """
    if not on_cpu():
        return "a graphics card"
    if options.integrator == "variational":
        return "the variational integrator"
    if options.sleep_speed > 0:
        return "bodies that sleep"
    if options.small_steps:
        return "small steps"
    if options.coloured:
        return "coloured contacts"
    if pair_types is not None and pair_types.hashed:
        return "so many shapes that a hash finds their pairs"
    if pair_types is not None and pair_types.any_mesh:
        return "meshes"
    return ""
