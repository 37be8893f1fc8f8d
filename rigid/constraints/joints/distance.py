"""Distance, and the spring between two points: G = |P_j - P_i| - l0 [4]. No rows of its own: a coordinate.

A rod is its limits (0, 0), a string (-inf, 0); a spring between points is a spring along it. Where the points meet it
has no direction, and does nothing.
"""

import taichi as ti

from rigid.constraints.joints.place import LENGTH, put_length


@ti.func
def put_distance(s: ti.template(), joint, c, at, world):
    """Coordinate of a distance: its length's change since time zero. Arguments: the coordinate; at: of `ends`."""
    put_length(s, c, at, s.joints.numbers[world, joint, LENGTH], world)
