"""Structures of numbers in kernels of the direct solve, in the precision of `ti.init`.

A module that calls `ti.types.struct` while it is imported gets real numbers of 32 bits if Taichi starts later. So types
are made when kernels are compiled: `structure(SEARCH)(halvings=0.0, ...)`.
"""

from functools import cache

import taichi as ti

from pbd.core.kernels import in_taichi, real_bits

# What `evaluate` finds (pbd/direct/solve.py): the largest violation, the largest by the size of its row, the least
# alignment of a gradient with that in the factor (`evaluate_row`), and whether other inequalities are active than
# before.
EVALUATION = ("worst", "by_size", "alignment", "changed")

# What `measure` finds (pbd/direct/limits.py), by limits: the largest of all; the same with one limit of violations for
# all lengths; the vibration; and whether the part has arrived at another solution of the constraints, as a particle
# that has passed to its mirror image.
MEASURES = ("largest", "by_fixed_limits", "vibration", "mirrored")

# The search for the lengths of parts in a substep (pbd/direct/adaptive.py); lengths are parts of it.
SEARCH = (
    "halvings",  # a part has the length 2^-halvings
    "done",  # length of all parts that are made
    "length",  # of the present part
    "tries",  # parts so far, accepted or not
    "implied",  # violation of implied constraints at the start of the part, by size
    "least",  # the least that was beyond limits since the last accepted part
    "in_vain",  # halvings since then that have not helped
    "along_present",  # whether the part is made along present gradients, because halving does not help
)

# Members that are true or false.
FLAGS = ("changed", "mirrored", "along_present")


@in_taichi
def structure(members):
    """The type of a structure in kernels. Args: members: names."""
    return structure_in(members, real_bits())


@cache
def structure_in(members, bits):
    """The same in 64 or 32 bits."""
    real = ti.f64 if bits == 64 else ti.f32
    return ti.types.struct(**{name: bool if name in FLAGS else real for name in members})
