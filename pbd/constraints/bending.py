"""Bending: the dihedral angle of two triangles that share an edge.

    C = 2 sin((θ - θ0)/2),   θ = atan2((n1 × n2)·e/|e|, n1·n2)

Edge x0 x1 with e = x1 - x0, opposite corners x2 and x3, n1 = (x0 - x2) × (x1 - x2), n2 = (x1 - x3) × (x0 - x3):

∇C = cos((θ - θ0)/2) ∇θ, and ∇θ is

    ∇_2 = -|e| m1,   ∇_3 = -|e| m2,   m1 = n1/|n1|²,   m2 = n2/|n2|²
    ∇_0 = -((x2 - x1)·e/|e|) m1 - ((x3 - x1)·e/|e|) m2
    ∇_1 = ((x2 - x0)·e/|e|) m1 + ((x3 - x0)·e/|e|) m2

Source: Bridson, Marino, Fedkiw, Simulation of Clothing with Folds and Wrinkles (2003), section 4, whose u1..u4 are this
gradient up to its sign. Unlike Müller's arc cosine (Position Based Dynamics 2007, appendix A) it has no singularity at
the flat pose. For small angles C is θ - θ0. The energy C²/2α has no jump where a fold passes through itself at θ = ±π;
with (θ - θ0)² it would, which made crumpled cloth diverge. Without a compliance [rad²/J], cloth bends like sheet metal.

Parameters: sin(θ0/2) of the rest angle, zero when flat; the yield angle of a hinge that creases, see pbd/creasing.py.
Particles: (edge, edge, opposite, opposite).
"""

from dataclasses import replace

import taichi as ti

from pbd.constraints.constraint_type import TINY, scalar_constraint


@ti.func
def bending(x, parameters):
    """C = 2 sin((θ - θ0)/2) and its gradient."""
    edge = x[1] - x[0]
    length = edge.norm() + TINY
    direction = edge / length
    n1 = (x[0] - x[2]).cross(x[1] - x[2])
    n2 = (x[1] - x[3]).cross(x[0] - x[3])
    # A collapsed triangle has no normal: its vector is zero, and θ counts as zero.
    m1, m2 = n1 / (n1.norm_sqr() + TINY), n2 / (n2.norm_sqr() + TINY)
    # Sine and cosine of θ/2 follow from those of θ, and those of (θ - θ0)/2 from there. Roots take a third of the time
    # of arc tangent, sine and cosine, and this is the slowest of a cloth's constraints. cos(θ/2) >= 0, since |θ| <= π.
    scale = ti.sqrt(n1.norm_sqr() * n2.norm_sqr()) + TINY
    sine, cosine = n1.cross(n2).dot(direction) / scale, n1.dot(n2) / scale
    half_sine, half_cosine = 0.0, 0.0
    if cosine >= 0.0:
        half_cosine = ti.sqrt(0.5 + 0.5 * cosine)
        half_sine = 0.5 * sine / half_cosine
    else:
        half_sine = ti.sqrt(0.5 - 0.5 * cosine)
        if sine < 0.0:
            half_sine = -half_sine
        half_cosine = 0.5 * sine / half_sine
    rest_sine = parameters[0]
    rest_cosine = ti.sqrt(ti.max(1.0 - rest_sine * rest_sine, 0.0))
    C = 2.0 * (half_sine * rest_cosine - half_cosine * rest_sine)
    # Beyond 120° from rest the slope cos((θ - θ0)/2) falls from a half to zero, and C/slope, the projection of a rigid
    # constraint, grows without bound. So the slope is at least a half there.
    # (Beyond 180°, which a rest angle makes possible, it is negative: the shorter way back is the other way round.)
    slope = half_cosine * rest_cosine + half_sine * rest_sine
    if slope >= 0.0:
        slope = ti.max(slope, 0.5)
    else:
        slope = ti.min(slope, -0.5)
    m1 *= slope
    m2 *= slope
    gradient_0 = -(x[2] - x[1]).dot(direction) * m1 - (x[3] - x[1]).dot(direction) * m2
    gradient_1 = (x[2] - x[0]).dot(direction) * m1 + (x[3] - x[0]).dot(direction) * m2
    return C, [gradient_0, gradient_1, -length * m1, -length * m2]


BENDING = scalar_constraint("bending", 4, ("half_rest_sine",), bending)
BENDING = replace(BENDING, compliant=replace(BENDING.compliant, slow=True))

_WITH_YIELD = {"name": "bending that creases", "parameters": ("half_rest_sine", "yield_angle")}
BENDING_THAT_CREASES = replace(BENDING, compliant=replace(BENDING.compliant, **_WITH_YIELD), **_WITH_YIELD)
