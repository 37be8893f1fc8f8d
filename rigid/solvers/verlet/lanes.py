"""The choice of lanes for a model (pbd/core/kernels/lanes)."""

from pbd.core.kernels import choose_lanes
from rigid.collision.upload import pair_types

# As COSTS of pbd/core/kernels/lanes/choice.py: ragdolls that lie on a floor, in 32 bits, with AVX-512.
COSTS = {1: 1.0, 4: 2.2, 8: 2.6, 16: 3.3}


def lanes_to_ask_for(models, worlds, options):
    """The lanes that a solver asks its pbd.ParticleSystem for: a number, or None for the fastest.

    Args: models: a list of rigid.Model; worlds: how many; options: a VerletOptions.

    Raises: ValueError for a number of lanes that the model rules out.
    """
    reason = why_no_lanes(models, options)
    if reason or (options.lanes is None and choose_lanes(None, worlds, "", costs=COSTS) == 1):
        return choose_lanes(options.lanes, worlds, reason or "too few worlds")
    return options.lanes


def why_no_lanes(models, options):
    """Why models run one world at a time, in words; "" if worlds can lie in lanes. Args: see `lanes_to_ask_for`."""
    if options.particles is not None:
        return "particles beside the bodies"
    if options.contacts and pair_types(models).hashed:
        return "so many shapes that a hash finds their pairs"
    if options.contacts and pair_types(models).any_mesh:
        return "meshes"
    return ""
