"""Flat bending: like bending.py, but faster, for surfaces that are flat at rest and whose triangles keep their shapes.

    C = |a1 + a2|,   a1 = (x2 - p1)/h1,   a2 = (x3 - p2)/h2

where the height h1 of the corner x2 meets the edge x0 x1 in p1, and the height h2 of x3 meets it in p2. The vectors a
have length one, lie in their triangles and point away from the edge. Folded by θ they add up to C = 2 sin(θ/2), as in
bending.py. If triangles keep their shapes, the coefficients of a1 + a2 = Σ k_i x_i are constant, as at rest:

    k_2 = 1/h1,   k_3 = 1/h2,   k_0 = -(1 - s)/h1 - (1 - t)/h2,   k_1 = -s/h1 - t/h2,

with p1 = (1 - s) x0 + s x1 and p2 = (1 - t) x0 + t x1. Then ∇_i = k_i C/|C|, with a fifth of the arithmetic of
bending.py. Momentum is conserved because Σ k_i = 0. Angular momentum is conserved because the impulses k_i λ C/|C| have
no moment, Σ x_i × k_i C = C × C = 0. A stretched triangle counts as bent, which matters if the C²/α of a stretch is not
small beside that of sticks.

Source: Wardetzky, Bergou, Harmon, Zorin, Grinspun, Discrete Quadratic Curvature Energies (2007),
https://doi.org/10.1016/j.cagd.2007.07.006. Their energy for isometric deformations is this C²/2α. They derive it with
cotangents, this file with heights.

The projection is that of XPBD, x_i += w_i k_i Δλ n with n = Σ k_j x_j / C. It is written so that neither a root nor n
stands between reading and writing positions: Δλ n = -(1 + α'λ/C) / (Σ w_j k_j² + α') · Σ k_j x_j. That takes a third of
the time of `scalar_constraint`.

Parameters: k_0 ... k_3. Particles: (edge, edge, opposite, opposite).
"""

from dataclasses import replace

import taichi as ti

from pbd.constraints.constraint_type import TINY, scalar_constraint
from pbd.core.vectors import length_or_huge


@ti.func
def flat_bending(x, k):
    """C = |Σ k_i x_i| and its gradient."""
    total = k[0] * x[0] + k[1] * x[1] + k[2] * x[2] + k[3] * x[3]
    direction = total * (1.0 / length_or_huge(total))
    return total.norm(), [k[0] * direction, k[1] * direction, k[2] * direction, k[3] * direction]


ANY_DIRECTION = scalar_constraint("flat bending", 4, ("k0", "k1", "k2", "k3"), flat_bending)


@ti.func
def project(x, start, w, k, compliance, multiplier, from_start: ti.template()):
    """Project along the present gradient as the head of this file says, or along that at the start of the substep."""
    if ti.static(from_start):
        return ANY_DIRECTION.project(x, start, w, k, compliance, multiplier, True)
    else:
        total = k[0] * x[0] + k[1] * x[1] + k[2] * x[2] + k[3] * x[3]
        weight = w[0] * k[0] * k[0] + w[1] * k[1] * k[1] + w[2] * k[2] * k[2] + w[3] * k[3] * k[3]
        C = total.norm()
        scale = -(1.0 + compliance * multiplier / length_or_huge(total)) / (weight + compliance + TINY)
        if weight <= TINY:
            scale = 0.0  # no particle can move
        return [x[i] + (w[i] * k[i] * scale) * total for i in ti.static(range(4))], multiplier + scale * C


COMPLIANT = replace(ANY_DIRECTION.compliant, project=project, slow=True)
FLAT_BENDING = replace(ANY_DIRECTION, project=project, compliant=COMPLIANT)
