"""Distance, and the spring between two points: G = |P_j - P_i| - l0 [4]. It has no rows of its own, but a coordinate.

The limits (0, 0) make it a rod, (-inf, 0) a string; a spring between points is a spring along it. If the points
coincide, it has no direction and does nothing.
"""

import taichi as ti

from rigid.constraints.joints.data import FRAMES
from rigid.constraints.joints.frames import write_length


@ti.func
def write_distance(s: ti.template(), joint, row, c, ends, world):
    """Write the coordinate of a distance: the change of its length since time zero. Args: see special.py."""
    write_length(s, c, ends, s.joints.frames[world, joint, FRAMES.length], world)
