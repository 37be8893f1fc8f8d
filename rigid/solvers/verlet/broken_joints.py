"""Constraints of joints that break: they are switched off by their numbers, in each world by itself.

The particles of a joint that breaks belong to its parent, or are pinned to the ground. Sticks connect them to the
corners of the child, and nothing else does. So a broken joint leaves two complete bodies, whose masses and momenta are
unchanged. Other joints share particles, of which each body has its part.
"""

from functools import cache

import numpy as np
import taichi as ti

from pbd.constraints.constraint_type import scalar_constraint
from pbd.constraints.stick import stick
from pbd.host.constraint_values import CUT_COMPLIANCE
from rigid.solvers.verlet.vector_product import VECTOR_PRODUCT

# Stands for infinity in limits and efforts. Its square is still a number in 32 bits.
UNLIMITED = 1e18

# Numbers with which constraints do nothing, by their names: sticks; limits; drives; products.
OFF = {
    "whole": 0.0,
    "low": -UNLIMITED, "high": UNLIMITED, "cosine": -1.0, "sine": 0.0,
    "swing_cosine": -1.0, "swing_sine": 0.0, "twist_cosine": -1.0, "twist_sine": 0.0,
    "effort": 0.0, "damping": 0.0, "armature": 0.0, "compliance": CUT_COMPLIANCE,
    **dict.fromkeys(VECTOR_PRODUCT.parameters, 0.0),
}  # fmt: skip


@cache
def joint_stick(bound):
    """Constraint type for a stick of a joint that breaks. Numbers: its length; 1, or 0 if it is off."""

    @ti.func
    def function(x, p):
        C, gradient = stick(x, p)
        return p[1] * C, [p[1] * gradient[0], p[1] * gradient[1]]

    return scalar_constraint("joint stick", 2, ("length", "whole"), function, bound)


class Switches:
    """The constraints of some joints, which can be switched off.

    Args: constraints: a pbd ConstraintValues; of_joints: for each joint, a list of (constraint type, its number among
    those of its type), as they were added; as_rows: whether types have their `rows` instead.
    """

    def __init__(self, constraints, of_joints, as_rows):
        self._constraints, self._rows, self._off = constraints, [], []
        for pairs in of_joints:
            rows, off = [], []
            for constraint_type, number in pairs:
                numbers = [number]
                if as_rows and constraint_type.rows:
                    constraint_type, more = constraint_type.rows
                    numbers = range(number * len(more), (number + 1) * len(more))
                names = (*constraint_type.parameters, "compliance")[: constraint_type.width]
                for name in [name for name in names if name in OFF]:
                    rows += [constraints.row_of(constraint_type, each, name) for each in numbers]
                    off += [OFF[name]] * len(numbers)
            self._rows.append(np.array(rows, int))
            self._off.append(np.reshape(off, (-1, 1)))
        self._on = [constraints.read(rows) for rows in self._rows]
        self._written = None

    def write(self, broken):
        """Switch constraints off, and those on again that were off. Args: broken: a mask (worlds, joints)."""
        before = np.zeros_like(broken) if self._written is None else self._written
        for rows, off, on, now, was in zip(self._rows, self._off, self._on, broken.T, before.T):
            if (now | was).any():
                self._constraints.write(rows, np.where(now, off, np.where(was, on, self._constraints.read(rows))))
        self._written = broken
