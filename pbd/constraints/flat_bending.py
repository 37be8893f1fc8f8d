"""Flat bending: what pbd/constraints/bending.py is, for surfaces that are flat at rest and keep their lengths; faster.

    C = |a1 + a2|,   a1 = (x2 - p1)/h1,   a2 = (x3 - p2)/h2

where p1 is the foot on the edge x0 x1 of the height h1 of the corner x2, p2 and h2 likewise of x3. The vectors a have
length one, lie in their triangles and point away from the edge: folded by θ they add up to C = 2 sin(θ/2), as there.
Where triangles keep their shapes, p, h and so the coefficients of a1 + a2 = Σ k_i x_i are constant, those of rest:

    k_2 = 1/h1,   k_3 = 1/h2,   k_0 = -(1 - s)/h1 - (1 - t)/h2,   k_1 = -s/h1 - t/h2,

with p1 = (1 - s) x0 + s x1 and p2 = (1 - t) x0 + t x1. Then ∇_i = k_i C/|C|, for a fifth of the other's arithmetic.
Σ k_i = 0, so that momentum is kept, and as the impulses k_i λ C/|C| have no moment, Σ x_i × k_i C = C × C = 0, the
angular one is, too. What stretches a triangle counts as if it bent it, which matters where C²/α of a stretch is not
small beside that of sticks.

Source: Wardetzky, Bergou, Harmon, Zorin, Grinspun, Discrete Quadratic Curvature Energies (2007), whose energy for
isometric deformations is this C²/2α; the derivation by heights in place of cotangents is ours.

Parameters: k_0 ... k_3. Particles: (edge, edge, opposite, opposite).
"""

import taichi as ti

from pbd.constraints.constraint_type import TINY, scalar_constraint


@ti.func
def flat_bending(x, k):
    """C = |Σ k_i x_i| and its gradient."""
    total = k[0] * x[0] + k[1] * x[1] + k[2] * x[2] + k[3] * x[3]
    C = total.norm()
    direction = total * (1.0 / (C + TINY))
    return C, [k[0] * direction, k[1] * direction, k[2] * direction, k[3] * direction]


FLAT_BENDING = scalar_constraint("flat bending", 4, ("k0", "k1", "k2", "k3"), flat_bending)
