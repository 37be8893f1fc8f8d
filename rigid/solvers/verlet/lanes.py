"""Which models run with worlds in lanes (pbd/core/lanes)."""

from pbd.lanes import choose_lanes
from rigid.collision.setup import pair_types

# Fewer worlds are not faster in lanes: ragdolls in four lanes take the time of 2.2 ragdolls.
FEWEST_WORLDS = 3


def lanes_to_ask_for(models, worlds, options):
    """The lanes that a solver asks its pbd.ParticleSystem for: a number, or None for the fastest.

    Args: models: a list of rigid.Model; worlds: how many; options: a VerletOptions.

    Raises: ValueError for a number of lanes that the model rules out.
    """
    reason = why_no_lanes(models, options)
    if reason or (options.lanes is None and worlds < FEWEST_WORLDS):
        return choose_lanes(options.lanes, worlds, reason or "few worlds")
    return options.lanes


def why_no_lanes(models, options):
    """Why models run one world at a time, in words; "" if worlds can lie in lanes. Args: see `lanes_to_ask_for`."""
    if options.solve != "iterative" and any(model.joints for model in models):
        return "joints that are solved directly"  # contacts do not wait while other worlds make more parts of a substep
    if options.particles is not None:
        return "particles beside the bodies"
    if options.contacts and pair_types(models).hashed:
        return "so many shapes that a hash finds their pairs"
    return ""
