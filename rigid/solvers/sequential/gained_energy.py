"""The bound of the energy for the integrator "variational": what bodies gain without work.

The kinetic energy T of bodies on which no row acts, other than hard joints, should change by the work of forces alone.
A substep is not exact: T oscillates, and where bodies turn fast it may rise. If the sum of what T gains is above
MOST_GAIN of its largest value, the velocities of the bodies are scaled by a common factor, which keeps J V = 0. The
bodies are those of a tree ("articulated"), or of an assembly ("impulse").
"""

import taichi as ti

from pbd.core.kernels import Columns

# Kinetic energies: at the start of a substep, with the work of forces in it; at its end; what has been gained without
# work, and the largest one, since rows have acted [J].
FREE_ENERGY = Columns(before=1, after=1, gained=1, largest=1)

# What the kinetic energy may gain without work, in parts of its largest value.
MOST_GAIN = 0.02


@ti.func
def bounding_factor(energy: ti.template(), index, free, solved, world):
    """Count what bodies have gained, and find the factor of their velocities that keeps the bound.

    Args: energy: (worlds, ..., FREE_ENERGY); index: of the bodies; free: whether no row and no external force acts on
    them; solved: whether the equations of the substep had a solution.
    """
    gained, largest, factor = 0.0, 0.0, 1.0
    if free:
        after = energy[world, index, FREE_ENERGY.after]
        change = after - energy[world, index, FREE_ENERGY.before]
        gained, largest = energy[world, index, FREE_ENERGY.gained], energy[world, index, FREE_ENERGY.largest]
        # What the first projection, and steps without a solution, lose pays for nothing.
        if change > 0.0 or (solved and largest > 0.0):
            gained += change
        largest = ti.max(largest, after - ti.max(change, 0.0))
        excess = gained - MOST_GAIN * largest
        if excess > 0.0:
            gained -= excess
            factor = factor_of_excess(after, excess)
    energy[world, index, FREE_ENERGY.gained], energy[world, index, FREE_ENERGY.largest] = gained, largest
    return factor


@ti.func
def factor_of_excess(kinetic, excess):
    """The factor of velocities that takes an excess from their kinetic energy [J]."""
    return ti.sqrt(ti.max(kinetic - excess, 0.0) / ti.max(kinetic, 1e-30))
