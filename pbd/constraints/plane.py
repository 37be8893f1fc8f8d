"""Plane limit: a particle stays on one side of the plane through three others.

    C = n·(x0 - x1) - d >= 0,   n = N/|N|,   N = (x2 - x1) × (x3 - x1)

With r = x0 - x1 and t = r - (n·r) n (its part within the plane):
∇_0 = n,  ∇_2 = ((x3 - x1) × t)/|N|,  ∇_3 = -((x2 - x1) × t)/|N|,  ∇_1 = -∇_0 - ∇_2 - ∇_3.

Source: Jakobsen (2001), section 6, the third of his angle limits. The three particles that span the plane move as well,
by their inverse masses, so that momentum is conserved.

Parameters: the least distance d [m]. Particles: (limited, three that span the plane, counter-clockwise seen from the
permitted side).
"""

import taichi as ti

from pbd.constraints.constraint_type import scalar_constraint
from pbd.core.vectors import length_or_huge


@ti.func
def plane(x, parameters):
    """C = n·(x0 - x1) - d and its gradient."""
    arm, side_2, side_3 = x[0] - x[1], x[2] - x[1], x[3] - x[1]
    cross = side_2.cross(side_3)
    area = length_or_huge(cross)
    normal = cross / area
    height = normal.dot(arm)
    tangent = arm - height * normal
    gradient_2 = side_3.cross(tangent) / area
    gradient_3 = -side_2.cross(tangent) / area
    return height - parameters[0], [normal, -normal - gradient_2 - gradient_3, gradient_2, gradient_3]


PLANE_LIMIT = scalar_constraint("plane limit", 4, ("distance",), plane, "at_least")
