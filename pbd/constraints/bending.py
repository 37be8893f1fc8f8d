"""Bending: the dihedral angle of two triangles that share an edge.

    C = 2 sin((θ - θ0)/2),   θ = atan2((n1 × n2)·e/|e|, n1·n2)

Edge x0 x1 with e = x1 - x0, opposite corners x2 and x3, n1 = (x0 - x2) × (x1 - x2), n2 = (x1 - x3) × (x0 - x3):

∇C = cos((θ - θ0)/2) ∇θ, and ∇θ is

    ∇_2 = -|e| m1,   ∇_3 = -|e| m2,   m1 = n1/|n1|²,   m2 = n2/|n2|²
    ∇_0 = -((x2 - x1)·e/|e|) m1 - ((x3 - x1)·e/|e|) m2
    ∇_1 = ((x2 - x0)·e/|e|) m1 + ((x3 - x0)·e/|e|) m2

Source: Bridson, Marino, Fedkiw, Simulation of Clothing with Folds and Wrinkles (2003), section 4, whose u1..u4 are this
gradient up to its sign. Unlike Müller's arc cosine (Position Based Dynamics 2007, appendix A) it has no singularity at the flat pose.
C is θ - θ0 for small angles; its square, and so the
energy C²/2α, has no jump where a fold passes through itself at θ = ±π, as (θ - θ0)² has, which blew up crumpled cloth.
Give it a compliance [rad²/J], or cloth bends like sheet metal.

Parameters: the rest angle θ0 [rad], zero when flat. Particles: (edge, edge, opposite, opposite).
"""

import taichi as ti

from pbd.constraints.kind import TINY, scalar_constraint

@ti.func
def bending(x, parameters):
    """C = 2 sin((θ - θ0)/2) and its gradient."""
    edge = x[1] - x[0]
    length = edge.norm() + TINY
    direction = edge / length
    n1 = (x[0] - x[2]).cross(x[1] - x[2])
    n2 = (x[1] - x[3]).cross(x[0] - x[3])
    # A collapsed triangle has no normal: both vectors are then zero and the constraint is left out for this sweep.
    m1, m2 = n1 / (n1.norm_sqr() + TINY), n2 / (n2.norm_sqr() + TINY)
    theta = ti.atan2(n1.cross(n2).dot(direction), n1.dot(n2))
    half = 0.5 * (theta - parameters[0])
    m1 *= ti.cos(half)
    m2 *= ti.cos(half)
    gradient_0 = -(x[2] - x[1]).dot(direction) * m1 - (x[3] - x[1]).dot(direction) * m2
    gradient_1 = (x[2] - x[0]).dot(direction) * m1 + (x[3] - x[0]).dot(direction) * m2
    return 2.0 * ti.sin(half), [gradient_0, gradient_1, -length * m1, -length * m2]


BENDING = scalar_constraint("bending", 4, ("rest_angle",), bending)
