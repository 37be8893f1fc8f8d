"""Volume of a tetrahedron.

    C = (x1 - x0)·((x2 - x0) × (x3 - x0)) / 6 - V

∇_1 = (x2 - x0) × (x3 - x0)/6,  ∇_2 = (x3 - x0) × (x1 - x0)/6,  ∇_3 = (x1 - x0) × (x2 - x0)/6,  ∇_0 = -Σ.

Source: Müller, Heidelberger, Hennix, Ratcliff, Position Based Dynamics (2007), section 4.2. The volume is signed, so an
inverted tetrahedron moves back through itself.

Parameters: the rest volume V [m³]. Particles: four.
"""

import taichi as ti

from pbd.constraints.constraint_type import scalar_constraint


@ti.func
def volume(x, parameters):
    """C = signed volume - V and its gradient."""
    a, b, c = x[1] - x[0], x[2] - x[0], x[3] - x[0]
    gradient_1, gradient_2, gradient_3 = b.cross(c) / 6.0, c.cross(a) / 6.0, a.cross(b) / 6.0
    C = a.dot(gradient_1) - parameters[0]
    return C, [-gradient_1 - gradient_2 - gradient_3, gradient_1, gradient_2, gradient_3]


VOLUME = scalar_constraint("volume", 4, ("volume",), volume)
